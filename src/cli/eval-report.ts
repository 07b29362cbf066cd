/** The result of `runnel eval` for people. */
import type { CollectionResult, Comparison } from '../knowledge/evaluation/evaluate-collection.js';
import { MEASURES } from '../knowledge/evaluation/metrics.js';
import { differenceCells, reportPage, shortened, signed } from './report-page.js';

/** What was measured. */
export interface EvalReport {
  readonly folder: string;
  readonly result: CollectionResult;
  readonly comparison: Comparison | undefined;
  /** Why the exit code is 1; empty otherwise. */
  readonly failures: readonly string[];
}

/** Changed questions that are listed. */
const MAX_CHANGED = 20;

/** The report as lines of a terminal. */
export function reportText({ folder, result, comparison, failures }: EvalReport): string {
  const { means, documents, questions, times } = result;
  const lines = [`${folder}: ${documents} documents, ${questions.length} questions`, ''];
  for (const name of MEASURES) {
    const difference = comparison?.differences[name];
    const compared =
      difference === undefined
        ? ''
        : `   ${signed(difference.mean)} [${signed(difference.low)}, ${signed(difference.high)}]`;
    lines.push(`  ${name.padEnd(12)}${means[name].toFixed(4)}${compared}`);
  }
  lines.push(
    '',
    `  index ${times.index.toFixed(0)} ms, question p50 ${times.p50.toFixed(1)} ms, p99 ${times.p99.toFixed(1)} ms`,
  );
  if (comparison !== undefined) {
    lines.push('', `${comparison.changed.length} questions changed (nDCG@10):`);
    for (const { id, text, ours, theirs } of comparison.changed.slice(0, MAX_CHANGED)) {
      lines.push(`  ${theirs.toFixed(3)} -> ${ours.toFixed(3)}  ${id}: ${shortened(text)}`);
    }
  }
  for (const failure of failures) lines.push(`failed: ${failure}`);
  return `${lines.join('\n')}\n`;
}

/** The report as one page; see {@link reportPage}. */
export function reportHtml({ folder, result, comparison, failures }: EvalReport): string {
  const { means, documents, questions, times } = result;
  const heads = comparison === undefined ? [] : ['Difference', '95 %'];
  const measured = MEASURES.map((name) => [
    name,
    means[name].toFixed(4),
    ...differenceCells(comparison?.differences[name]),
  ]);
  const changed = (comparison?.changed ?? []).map(({ id, text, ours, theirs }) => [
    id,
    shortened(text),
    theirs.toFixed(3),
    ours.toFixed(3),
  ]);
  const weakest = [...questions]
    .sort((left, right) => left.measures['ndcg@10'] - right.measures['ndcg@10'])
    .slice(0, MAX_CHANGED)
    .map(({ id, text, measures }) => [id, shortened(text), measures['ndcg@10'].toFixed(3)]);
  return reportPage({
    title: `Evaluation of ${folder}`,
    about: `${documents} documents, ${questions.length} questions. Index ${times.index.toFixed(0)} ms; a question takes ${times.p50.toFixed(1)} ms (median), ${times.p99.toFixed(1)} ms (99 of 100).`,
    failures,
    tables: [
      { title: 'Measures', heads: ['Measure', 'Mean', ...heads], rows: measured },
      { title: 'Questions that changed', heads: ['Id', 'Question', 'Before', 'Now'], rows: changed },
      { title: 'Weakest questions', heads: ['Id', 'Question', 'nDCG@10'], rows: weakest },
    ],
  });
}
