/** Reports of `runnel eval` as pages that need nothing else. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../templates/escape-html.js';

/** A table of texts; a table without rows is left out. */
export interface ReportTable {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What two results differ by: the mean, and the bounds in which it lies with 95 % certainty. */
export interface Difference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** A report. */
export interface ReportPage {
  readonly title: string;
  /** What it is about, in a sentence or two. */
  readonly about: string;
  readonly failures: readonly string[];
  readonly tables: readonly ReportTable[];
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left}td.n{font-variant-numeric:tabular-nums;text-align:right}.failed{color:#b00020}`;

/** The report as one page: all texts are escaped, it has no script, and its content policy allows its one style and no requests. */
export function reportPage({ title, about, failures, tables }: ReportPage): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const named = escapeHtml(title);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}"><title>${named}</title><style>${STYLE}</style></head>
<body><h1>${named}</h1><p>${escapeHtml(about)}</p>
${failures.map((failure) => `<p class="failed">Failed: ${escapeHtml(failure)}</p>`).join('\n')}
${tables
  .filter(({ rows }) => rows.length > 0)
  .map(tableOf)
  .join('\n')}
</body></html>
`;
}

function tableOf({ title, heads, rows }: ReportTable): string {
  const head = heads.map((name) => `<th>${escapeHtml(name)}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map(cellOf).join('')}</tr>`).join('');
  return `<h2>${escapeHtml(title)}</h2><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

const NUMBER = /^[+-]?\d[\d.]*$/;

function cellOf(cell: string): string {
  return `<td${NUMBER.test(cell) ? ' class="n"' : ''}>${escapeHtml(cell)}</td>`;
}

/** A number with its sign. */
export function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
}

/** The mean of a difference, and its bounds, as two cells; none where nothing was compared. */
export function differenceCells(difference: Difference | undefined): string[] {
  if (difference === undefined) return [];
  const { mean, low, high } = difference;
  return [signed(mean), `${signed(low)} to ${signed(high)}`];
}

/** A text as one line of at most 100 characters. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
