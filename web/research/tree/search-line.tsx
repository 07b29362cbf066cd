/** Where was searched for a question, and how much was found. */
import { formatMs } from '../../../src/canvas/timeline-rows.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { Search } from './tree-model.js';
import { treeTexts } from './tree-texts.js';

export interface SearchLineProps {
  readonly searched: readonly Search[];
  /** What was searched for, where the line stands alone. */
  readonly of?: string;
}

export function SearchLine({ searched, of }: SearchLineProps) {
  const words = useTexts(treeTexts);
  if (searched.length === 0) return null;
  const parts = searched.map(({ where, found, ms }) => words.found(words.places[where] ?? where, found, formatMs(ms)));
  return (
    <p className={style.soft}>
      {of !== undefined && `${of} – `}
      {parts.join(' · ')}
    </p>
  );
}
