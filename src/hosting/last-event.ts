import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError } from '../errors.js';
import type { ErrorInfo, RunFailed, TerminalEvent } from '../graph/events.js';
import { NO_USAGE } from '../graph/state.js';
import type { RunRecord } from '../records/stores.js';

/** What the host adds to a run that the engine did not end, or not with this failure. */
export interface FailureParts {
  readonly run: string;
  readonly startedAt: number;
  readonly at: number;
  /** @default that the run ended without saying how */
  readonly failure: EngineError | undefined;
  /** What the engine ended it with, if it did. */
  readonly terminal: TerminalEvent | undefined;
}

/** The event that ends a run which failed outside of the engine; its number is given by the log. */
export function failureEvent({ run, startedAt, at, failure, terminal }: FailureParts): RunFailed {
  const { code, message } = failure ?? new EngineError('INTERNAL', `Run "${run}" ended without saying how.`);
  const { input = {}, usage = NO_USAGE, openCalls } = terminal ?? {};
  return {
    type: 'run-failed',
    run,
    seq: 0,
    at,
    error: { code, message },
    elapsedMs: Math.max(0, at - startedAt),
    input,
    usage,
    ...(openCalls === undefined ? {} : { openCalls }),
  };
}

/** What the last event of a run says of how it ended. */
export function endIn(
  event: TerminalEvent,
  projection: RagflowProjection,
): Pick<RunRecord, 'status' | 'error' | 'pending'> {
  switch (event.type) {
    case 'run-interrupted':
      return { status: 'waiting', pending: projection.project(event)?.data ?? {} };
    case 'run-settled':
      return { status: 'succeeded' };
    case 'run-cancelled':
      return { status: 'cancelled' };
    case 'run-failed':
      return { status: 'failed', error: errorOf(event.error) };
  }
}

/** An error as the record of a run has it. */
export function errorOf({ code, message }: ErrorInfo): NonNullable<RunRecord['error']> {
  return { code, message };
}
