/** A text as it was and as it is, with what was taken away and what came. */
import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { useTexts } from '../shell/texts.js';
import style from './compare.module.css';
import { compareTexts } from './compare-texts.js';

export interface WordDifferencesProps {
  readonly a: string;
  readonly b: string;
}

/** What is longer, or takes longer, is shown whole beside each other. */
const MAX_CHARACTERS = 40_000;
const MAX_MS = 200;

export function WordDifferences({ a, b }: WordDifferencesProps) {
  const words = useTexts(compareTexts);
  const parts = useMemo(() => differences(a, b), [a, b]);
  if (parts === undefined) {
    return (
      <>
        <p className={style.note}>{words.tooLong}</p>
        <div className={style.both}>
          <pre>{a.slice(0, MAX_CHARACTERS)}</pre>
          <pre>{b.slice(0, MAX_CHARACTERS)}</pre>
        </div>
      </>
    );
  }
  return (
    <p className={style.words}>
      {parts.map(({ key, kind, text }) => {
        if (kind === 'both') return <span key={key}>{text}</span>;
        const Element = kind === 'removed' ? 'del' : 'ins';
        return (
          <Element key={key} className={style[kind]}>
            <span className="unseen">{kind === 'removed' ? words.removed : words.added}: </span>
            {text}
          </Element>
        );
      })}
    </p>
  );
}

interface TextPart {
  /** Where it begins. */
  readonly key: string;
  readonly kind: 'both' | 'removed' | 'added';
  readonly text: string;
}

/** Undefined when that would take too long. */
function differences(a: string, b: string): readonly TextPart[] | undefined {
  if (a === b) return [{ key: 'all', kind: 'both', text: a }];
  if (a.length + b.length > MAX_CHARACTERS) return undefined;
  const changes = diffWordsWithSpace(a, b, { timeout: MAX_MS });
  let at = 0;
  return changes?.map(({ value, added, removed }) => {
    at += value.length;
    return { key: `${at} ${added}`, kind: added ? 'added' : removed ? 'removed' : 'both', text: value };
  });
}
