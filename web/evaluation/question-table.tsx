/** The questions of a result, or of two: those that changed most, or are weakest, first. A line opens what the file has of it. */
import { useMemo } from 'react';
import type { Json } from '../../src/json.js';
import { JsonView } from '../parts/json-view.js';
import { useQueryValues } from '../parts/location.js';
import { PageTurner } from '../parts/page-turner.js';
import { useTexts } from '../shell/texts.js';
import { routeOf } from './answer-routes.js';
import { orderedQuestions, type QuestionLine } from './compare-results.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import { type ResultsProps, signed } from './measure-table.js';

const PAGE_SIZE = 50;

export function QuestionTable({ a, b }: ResultsProps) {
  const words = useTexts(evaluationTexts);
  const [query, change] = useQueryValues();
  const measure = a.measures.find((one) => one === query.get('measure')) ?? a.measures[0] ?? '';
  const lines = useMemo(() => orderedQuestions(a, b, measure), [a, b, measure]);
  const pages = Math.max(1, Math.ceil(lines.length / PAGE_SIZE));
  const asked = Number(query.get('page'));
  const page = Number.isSafeInteger(asked) && asked > 0 ? Math.min(asked, pages) : 1;
  return (
    <section className={style.section} aria-label={words.questions(lines.length)}>
      <div className={style.tools}>
        <h2>{words.questions(lines.length)}</h2>
        <label>
          {words.order}{' '}
          <select value={measure} onChange={({ target }) => change({ measure: target.value, page: undefined })}>
            {a.measures.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.question}</th>
            <th scope="col" className={style.number}>
              {b === undefined ? measure : 'A'}
            </th>
            {b !== undefined && (
              <>
                <th scope="col" className={style.number}>
                  B
                </th>
                <th scope="col" className={style.number}>
                  {words.difference}
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {lines.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map((line) => (
            <QuestionRow key={line.id} line={line} measure={measure} isCompared={b !== undefined} />
          ))}
        </tbody>
      </table>
      {pages > 1 && (
        <PageTurner page={page} pages={pages} onTurn={(next) => change({ page: next === 1 ? undefined : next })} />
      )}
    </section>
  );
}

interface QuestionRowProps {
  readonly line: QuestionLine;
  readonly measure: string;
  readonly isCompared: boolean;
}

function QuestionRow({ line: { id, a, b }, measure, isCompared }: QuestionRowProps) {
  const words = useTexts(evaluationTexts);
  const [before, now] = [a?.values[measure], b?.values[measure]];
  const changed = before === undefined || now === undefined ? undefined : now - before;
  const about: Json = isCompared ? { A: a?.about ?? null, B: b?.about ?? null } : (a?.about ?? {});
  return (
    <tr>
      <th scope="row">
        <details>
          <summary>
            {id} <RouteNote line={{ id, a, b }} />
          </summary>
          <JsonView label={words.details(id)} value={about} />
        </details>
      </th>
      <td className={style.number}>{before?.toFixed(4)}</td>
      {isCompared && (
        <>
          <td className={style.number}>{now?.toFixed(4)}</td>
          <td
            className={`${style.number} ${changed === undefined || changed === 0 ? '' : changed > 0 ? style.better : style.worse}`}
          >
            {changed !== undefined && signed(changed)}
          </td>
        </>
      )}
    </tr>
  );
}

/** The way that the answer took; of two results both, where they differ. */
function RouteNote({ line: { a, b } }: { readonly line: QuestionLine }) {
  const words = useTexts(evaluationTexts);
  const routes = new Set([a, b].flatMap((one) => (one === undefined ? [] : (routeOf(one) ?? []))));
  return <span className={style.soft}>{[...routes].map((route) => words.routes[route] ?? route).join(' → ')}</span>;
}
