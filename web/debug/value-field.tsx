/** The field in which a value is given another one: as text for texts, as JSON for everything else. */
import { useId } from 'react';
import { useTexts } from '../shell/texts.js';
import { forkTexts } from './fork-texts.js';
import style from './value-field.module.css';

/** Lines that are seen at once; others are scrolled to. */
const MAX_LINES = 12;

export interface ValueFieldProps {
  /** Name for readers of the screen. */
  readonly title: string;
  readonly text: string;
  /** It is to be JSON, and is none. */
  readonly isBroken: boolean;
  /** Id of what says more about the field. */
  readonly describedBy?: string;
  readonly onEdit: (text: string) => void;
}

export function ValueField({ title, text, isBroken, describedBy, onEdit }: ValueFieldProps) {
  const words = useTexts(forkTexts);
  const problem = useId();
  return (
    <>
      <textarea
        className={style.field}
        aria-label={title}
        aria-invalid={isBroken}
        aria-describedby={isBroken ? problem : describedBy}
        rows={Math.min(MAX_LINES, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => onEdit(event.target.value)}
      />
      {isBroken && (
        <p id={problem} className={style.problem}>
          {words.broken}
        </p>
      )}
    </>
  );
}
