/** The comparison itself: both runs in sum, then step by step. */
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { spokenText } from '../chat/transcript.js';
import { useSpeaks } from '../chat/use-speaks.js';
import { runAddress } from '../run/place.js';
import { useTexts } from '../shell/texts.js';
import { StatusTag } from '../trace/status-tag.js';
import { endOf } from '../trace/trace-bars.js';
import style from './compare.module.css';
import { compareRuns } from './compare-runs.js';
import { compareTexts } from './compare-texts.js';
import { ComparedLine } from './compared-line.js';
import { WordDifferences } from './word-differences.js';

export interface ComparedRun {
  readonly run: string;
  readonly picture: RunPicture;
}

export interface ComparedRunsProps {
  readonly agent: string;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  /** The event of A that B goes on from, when it is a fork of it. */
  readonly forkedAt: number | undefined;
}

export function ComparedRuns({ agent, a, b, forkedAt }: ComparedRunsProps) {
  const words = useTexts(compareTexts);
  const [isShort, setIsShort] = useState(false);
  const steps = useMemo(
    () => compareRuns(a.picture, b.picture, forkedAt === undefined ? undefined : { forkedAt }),
    [a.picture, b.picture, forkedAt],
  );
  const shown = isShort ? steps.filter(({ difference }) => difference !== 'same' && difference !== 'kept') : steps;
  const answerA = spokenText(a.picture, useSpeaks(a.picture.nodes));
  const answerB = spokenText(b.picture, useSpeaks(b.picture.nodes));
  return (
    <>
      <div className={style.sums}>
        <RunSum agent={agent} label={words.runA} {...a} />
        <RunSum agent={agent} label={words.runB} {...b} />
      </div>
      {forkedAt !== undefined && <p className={style.fork}>{words.fork(forkedAt)}</p>}
      <section className={style.answer} aria-label={words.answer}>
        <h2>{words.answer}</h2>
        <WordDifferences a={answerA} b={answerB} />
      </section>
      <section aria-label={words.steps}>
        <div className={style.stepsHead}>
          <h2>{words.steps}</h2>
          <label>
            <input type="checkbox" checked={isShort} onChange={(event) => setIsShort(event.target.checked)} />{' '}
            {words.onlyChanges}
          </label>
        </div>
        {shown.length === 0 ? (
          <p className={style.note}>{words.allSame}</p>
        ) : (
          <table className={style.steps}>
            <thead>
              <tr>
                <th scope="col">{words.step}</th>
                <th scope="col">{words.runA}</th>
                <th scope="col">{words.runB}</th>
                <th scope="col">{words.difference}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((step) => (
                <ComparedLine key={step.key} step={step} />
              ))}
            </tbody>
          </table>
        )}
      </section>
    </>
  );
}

function RunSum({ agent, label, run, picture }: ComparedRun & { readonly agent: string; readonly label: string }) {
  const words = useTexts(compareTexts);
  const { status, usage, query = '', startedAtMs = 0, elapsedMs = endOf(picture) - startedAtMs } = picture;
  return (
    <section className={style.sum} aria-label={label}>
      <h2>
        {label} <StatusTag status={status} />
        <Link href={runAddress(agent, run)}>{words.open}</Link>
      </h2>
      <p>
        {formatMs(elapsedMs)} · {words.tokens(usage.totalTokens)} · {words.calls(usage.calls)}
      </p>
      {query !== '' && (
        <p className={style.note}>
          {words.question}: {query}
        </p>
      )}
    </section>
  );
}
