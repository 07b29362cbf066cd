/** The result of `runnel eval` for people. */
import { createHash } from 'node:crypto';
import type { CollectionResult, Comparison } from '../knowledge/evaluation/evaluate-collection.js';
import { MEASURES } from '../knowledge/evaluation/metrics.js';
import { escapeHtml } from '../templates/escape-html.js';

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

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left}td.n{font-variant-numeric:tabular-nums;text-align:right}.failed{color:#b00020}`;

/** The report as one page: all texts are escaped, it has no script, and its content policy allows its one style and no requests. */
export function reportHtml({ folder, result, comparison, failures }: EvalReport): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const { means, documents, questions, times } = result;
  const cells = MEASURES.map((name) => {
    const difference = comparison?.differences[name];
    const compared =
      difference === undefined
        ? ''
        : `<td class="n">${signed(difference.mean)}</td><td class="n">${signed(difference.low)} to ${signed(difference.high)}</td>`;
    return `<tr><th scope="row">${name}</th><td class="n">${means[name].toFixed(4)}</td>${compared}</tr>`;
  });
  const heads = comparison === undefined ? '' : '<th>Difference</th><th>95 %</th>';
  const changed = (comparison?.changed ?? []).map(
    ({ id, text, ours, theirs }) =>
      `<tr><td>${escapeHtml(id)}</td><td>${escapeHtml(shortened(text))}</td><td class="n">${theirs.toFixed(3)}</td><td class="n">${ours.toFixed(3)}</td></tr>`,
  );
  const weakest = [...questions]
    .sort((left, right) => left.measures['ndcg@10'] - right.measures['ndcg@10'])
    .slice(0, MAX_CHANGED);
  const rows = weakest.map(
    ({ id, text, measures }) =>
      `<tr><td>${escapeHtml(id)}</td><td>${escapeHtml(shortened(text))}</td><td class="n">${measures['ndcg@10'].toFixed(3)}</td></tr>`,
  );
  const title = escapeHtml(`Evaluation of ${folder}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}"><title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1><p>${documents} documents, ${questions.length} questions. Index ${times.index.toFixed(0)} ms; a question takes ${times.p50.toFixed(1)} ms (median), ${times.p99.toFixed(1)} ms (99 of 100).</p>
${failures.map((failure) => `<p class="failed">Failed: ${escapeHtml(failure)}</p>`).join('\n')}
<table><thead><tr><th>Measure</th><th>Mean</th>${heads}</tr></thead><tbody>${cells.join('\n')}</tbody></table>
${comparison === undefined ? '' : `<h2>Questions that changed</h2><table><thead><tr><th>Id</th><th>Question</th><th>Before</th><th>Now</th></tr></thead><tbody>${changed.join('\n')}</tbody></table>`}
<h2>Weakest questions</h2><table><thead><tr><th>Id</th><th>Question</th><th>nDCG@10</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
</body></html>
`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
