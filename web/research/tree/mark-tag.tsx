/** How a task or question stands, in words, with a sign and its colour. */
import { BookOpen, Check, CircleSlash, Clock, Search, SkipForward, Square, X } from 'lucide-react';
import style from '../research.module.css';
import type { Mark } from './tree-model.js';

const SIGNS: Readonly<Record<Mark, typeof Check>> = {
  queued: Clock,
  searching: Search,
  reading: BookOpen,
  verified: Check,
  failed: X,
  skipped: SkipForward,
  dropped: CircleSlash,
  unfinished: Square,
};

export function MarkTag({ mark, word }: { readonly mark: Mark; readonly word: string }) {
  const Sign = SIGNS[mark];
  return (
    <span className={style.mark} data-mark={mark}>
      <Sign size={12} aria-hidden="true" /> {word}
    </span>
  );
}
