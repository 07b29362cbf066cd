/** Means of a result, or of two with what differs and how sure that is. */
import { useMemo } from 'react';
import { useTexts } from '../shell/texts.js';
import { compareMeasures, type MeasureLine, SEED } from './compare-results.js';
import style from './evaluation.module.css';
import type { EvaluationResult } from './evaluation-result.js';
import { evaluationTexts } from './evaluation-texts.js';

export interface ResultsProps {
  readonly a: EvaluationResult;
  readonly b: EvaluationResult | undefined;
}

export function MeasureTable({ a, b }: ResultsProps) {
  const words = useTexts(evaluationTexts);
  const lines = useMemo(() => compareMeasures(a, b), [a, b]);
  return (
    <section className={style.section} aria-label={words.measures}>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.measure}</th>
            <th scope="col" className={style.number}>
              {words.mean('A')}
            </th>
            {b !== undefined && (
              <>
                <th scope="col" className={style.number}>
                  {words.mean('B')}
                </th>
                <th scope="col" className={style.number}>
                  {words.difference}
                </th>
                <th scope="col" className={style.number}>
                  {words.interval}
                </th>
                <th scope="col">{words.verdict}</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <MeasureRow key={line.measure} line={line} isCompared={b !== undefined} />
          ))}
        </tbody>
      </table>
      {b !== undefined && <p className={style.soft}>{words.method(SEED)}</p>}
    </section>
  );
}

function MeasureRow({ line, isCompared }: { readonly line: MeasureLine; readonly isCompared: boolean }) {
  const words = useTexts(evaluationTexts);
  const { measure, a, b, difference } = line;
  const isBetter = difference !== undefined && difference.low > 0;
  const isWorse = difference !== undefined && difference.high < 0;
  return (
    <tr>
      <th scope="row">{measure}</th>
      <td className={style.number}>{a?.toFixed(4)}</td>
      {isCompared && (
        <>
          <td className={style.number}>{b?.toFixed(4)}</td>
          <td className={style.number}>{difference !== undefined && signed(difference.mean)}</td>
          <td className={style.number}>
            {difference !== undefined && `[${signed(difference.low)}, ${signed(difference.high)}]`}
          </td>
          <td className={isBetter ? style.better : isWorse ? style.worse : style.soft}>
            {difference !== undefined && (isBetter ? words.better : isWorse ? words.worse : words.open)}
          </td>
        </>
      )}
    </tr>
  );
}

/** `+0.0213`, `-0.0040`. */
export function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`;
}
