/** Two texts line by line; what is the same for long is left out. */
import { diffLines } from 'diff';
import { useMemo } from 'react';
import { useTexts } from '../shell/texts.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

interface LineDifferencesProps {
  readonly a: string;
  readonly b: string;
}

/** What is longer, or takes longer, is not compared. */
const MAX_CHARACTERS = 1_000_000;
const MAX_MS = 500;
/** Equal lines that are shown around a difference. */
const AROUND = 3;

export function LineDifferences({ a, b }: LineDifferencesProps) {
  const words = useTexts(versionsTexts);
  const parts = useMemo(
    () => (a.length + b.length > MAX_CHARACTERS ? undefined : diffLines(a, b, { timeout: MAX_MS })),
    [a, b],
  );
  if (a === b) return <p className={style.same}>{words.same}</p>;
  if (parts === undefined) return <p>{words.tooLong}</p>;
  let at = 0;
  return (
    // It scrolls by itself, so people without a pointer must be able to reach it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus
    <pre className={style.lines} tabIndex={0}>
      {parts.map(({ value, added, removed }) => {
        at += value.length;
        const key = `${at} ${added} ${removed}`;
        if (added) return <ins key={key}>{signed(value, '+ ')}</ins>;
        if (removed) return <del key={key}>{signed(value, '- ')}</del>;
        return <span key={key}>{signed(shortened(value, words.lines), '  ')}</span>;
      })}
    </pre>
  );
}

function signed(text: string, sign: string): string {
  return text.replace(/^(?=.)/gm, sign);
}

function shortened(text: string, say: (count: number) => string): string {
  const lines = text.split('\n');
  if (lines.length <= 2 * AROUND + 2) return text;
  const left = lines.length - 2 * AROUND - 1;
  return [...lines.slice(0, AROUND), `… ${say(left)} …`, ...lines.slice(-AROUND - 1)].join('\n');
}
