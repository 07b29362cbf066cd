/** Keeps a fault of one screen from leaving an empty page: says what happened and what to do. */
import { Component, type ErrorInfo, type ReactNode } from 'react';
import { ErrorNote } from '../parts/notes.js';

interface FailuresState {
  readonly error: unknown;
}

/** React has error boundaries as classes only. */
export class Failures extends Component<{ readonly children: ReactNode }, FailuresState> {
  override state: FailuresState = { error: undefined };

  static getDerivedStateFromError(error: unknown): FailuresState {
    return { error };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    console.error('a screen failed', error, componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorNote error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
