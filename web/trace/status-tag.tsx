/** A state in words, with a sign and its colour. */
import { Check, CircleSlash, Clock, Loader, Square, X } from 'lucide-react';
import { useTexts } from '../shell/texts.js';
import style from './status-tag.module.css';
import { type AnyStatus, type StatusTone, statusTexts, toneOf } from './statuses.js';

const SIGNS: Readonly<Record<StatusTone, typeof Check>> = {
  running: Loader,
  done: Check,
  waiting: Clock,
  failed: X,
  stopped: Square,
  skipped: CircleSlash,
};

export interface StatusTagProps {
  readonly status: AnyStatus;
  /** Whether only its sign is seen, and the word is for readers of the screen. @default false */
  readonly isSmall?: boolean;
}

export function StatusTag({ status, isSmall = false }: StatusTagProps) {
  const words = useTexts(statusTexts);
  const tone = toneOf(status);
  const Sign = SIGNS[tone];
  return (
    <span
      className={`${style.tag} ${style[tone]} ${isSmall ? style.small : ''}`}
      title={isSmall ? words[status] : undefined}
    >
      <Sign size={12} aria-hidden="true" />
      <span className={isSmall ? 'unseen' : undefined}>{words[status]}</span>
    </span>
  );
}
