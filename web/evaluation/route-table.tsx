/** Answers by the way that they took: how many, how good, how long, how dear; of one result, or of two. */
import { useMemo } from 'react';
import { useTexts } from '../shell/texts.js';
import { answerRoutes, movedCount, type RouteLine } from './answer-routes.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import type { ResultsProps } from './measure-table.js';

export function RouteTable({ a, b }: ResultsProps) {
  const words = useTexts(evaluationTexts);
  const lines = useMemo(() => answerRoutes(a, b), [a, b]);
  if (lines.length === 0) return null;
  const { measures } = a;
  return (
    <section className={style.section} aria-label={words.byRoute}>
      <h2>{words.byRoute}</h2>
      <div className={style.wide}>
        <table className={style.table}>
          <thead>
            <tr>
              <th scope="col">{words.route}</th>
              {b !== undefined && <th scope="col">{words.result}</th>}
              {[words.answers, ...measures, words.median, words.tokens].map((head) => (
                <th key={head} scope="col" className={style.number}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <RouteRow
                key={`${line.route} ${line.slot}`}
                line={line}
                measures={measures}
                isCompared={b !== undefined}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p className={style.soft}>
        {b !== undefined && `${words.moved(movedCount(a, b))} `}
        {words.routeHint}
      </p>
    </section>
  );
}

interface RouteRowProps {
  readonly line: RouteLine;
  readonly measures: readonly string[];
  readonly isCompared: boolean;
}

function RouteRow({ line, measures, isCompared }: RouteRowProps) {
  const words = useTexts(evaluationTexts);
  const { route, slot, count, share, means, medianMs, meanTokens } = line;
  return (
    <tr>
      <th scope="row">{words.routes[route] ?? route}</th>
      {isCompared && <td>{slot.toUpperCase()}</td>}
      <td className={style.number}>{`${count} (${Math.round(share * 100)} %)`}</td>
      {measures.map((measure) => (
        <td key={measure} className={style.number}>
          {means[measure]?.toFixed(4)}
        </td>
      ))}
      <td className={style.number}>{medianMs !== undefined && `${(medianMs / 1000).toFixed(2)} s`}</td>
      <td className={style.number}>{meanTokens !== undefined && Math.round(meanTokens)}</td>
    </tr>
  );
}
