/** What stands where there is nothing to show: nothing yet, still loading, or an error. */
import { CircleAlert, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { Button } from './button.js';
import style from './notes.module.css';

const texts = defineTexts({
  en: {
    loading: 'Loading',
    again: 'Try again',
    unreachable: 'The server cannot be reached. Is it still running?',
  },
  zh: {
    loading: '正在加载',
    again: '重试',
    unreachable: '无法连接服务器。它还在运行吗？',
  },
});

/** Nothing yet, and what to do about it. */
export function EmptyNote({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={style.note}>
      <p className={style.title}>{title}</p>
      {children}
    </div>
  );
}

export function LoadingNote() {
  const { loading } = useTexts(texts);
  return (
    <div className={style.note} role="status">
      <LoaderCircle className={style.turning} aria-hidden="true" />
      <span>{loading}</span>
    </div>
  );
}

/** An error with what the server says of it; with `onRetry`, a way to try again. */
export function ErrorNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { again, unreachable } = useTexts(texts);
  return (
    <div className={`${style.note} ${style.error}`} role="alert">
      <CircleAlert aria-hidden="true" />
      <p>{messageOf(error, unreachable)}</p>
      {onRetry !== undefined && <Button onClick={onRetry}>{again}</Button>}
    </div>
  );
}

function messageOf(error: unknown, unreachable: string): string {
  if (error instanceof ApiError) return error.status === 0 ? unreachable : error.message;
  return error instanceof Error ? error.message : String(error);
}
