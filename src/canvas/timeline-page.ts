/** A timeline as one page for a browser that asks nobody for anything else. */
import { createHash } from 'node:crypto';
import { escaped } from './escape-html.js';
import { formatMs } from './time-axis.js';
import type { RunTimeline } from './timeline.js';
import { drawChart, MAX_BARS, statusName } from './timeline-chart.js';
import { lastMoment, rowsOf, type TimelineBar, type TimelineRow } from './timeline-rows.js';
import { TIMELINE_STYLE } from './timeline-style.js';

/** Rows that are drawn; further ones are counted. */
const MAX_ROWS = 2_000;

/** Makes the page: every text in it is escaped, nothing in it runs, and its policy lets it load nothing and use its one style. */
export function timelinePage(timeline: RunTimeline, title: string): string {
  const { startedAtMs: fromMs = 0, status, error } = timeline;
  const all = rowsOf(timeline);
  const rows = all.slice(0, MAX_ROWS);
  const scale = { fromMs, spanMs: Math.max(1, lastMoment(timeline) - fromMs) };
  const hash = createHash('sha256').update(TIMELINE_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const why = error === undefined ? '' : `<p class="error">${escaped(error.message)} [${escaped(error.code)}]</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title><style>${TIMELINE_STYLE}</style></head>
<body><h1>${escaped(title)}</h1><span class="status ${status}">${status}</span>
${factsOf(timeline, all, scale.spanMs)}${why}
<span class="zoom">Width</span>${ZOOMS}
${drawChart(rows, scale)}
<details open><summary><h2>Details</h2></summary><div class="wide"><table><thead><tr>${HEAD}</tr></thead>
<tbody>${detailsOf(rows, fromMs).join('\n')}</tbody></table></div></details>
</body></html>
`;
}

const ZOOMS = [1, 4, 16]
  .map((zoom) => {
    const isChosen = zoom === 1 ? ' checked' : '';
    return `<input type="radio" name="zoom" id="zoom${zoom}"${isChosen}><label for="zoom${zoom}">×${zoom}</label>`;
  })
  .join('');

const COLUMNS = ['What', 'Within', 'Try', 'Status', 'Start', 'Took', 'Tokens', 'Pieces', 'Error'];
const NUMBERS = new Set(['Try', 'Start', 'Took', 'Tokens', 'Pieces']);
const HEAD = COLUMNS.map((name) => `<th${NUMBERS.has(name) ? ' class="number"' : ''}>${name}</th>`).join('');

function factsOf(timeline: RunTimeline, rows: readonly TimelineRow[], spanMs: number): string {
  const { startedAtMs, elapsedMs, nodes, usage, omitted } = timeline;
  const count = rows.reduce((sum, { lanes }) => sum + lanes.flat().length, 0);
  const left = omitted + Math.max(0, count - MAX_BARS);
  const hidden = rows.length - Math.min(rows.length, MAX_ROWS);
  const facts = [
    `<b>${formatMs(elapsedMs ?? spanMs)}</b>${elapsedMs === undefined ? ' so far' : ''}`,
    ...(startedAtMs === undefined ? [] : [`from <b>${new Date(startedAtMs).toISOString()}</b>`]),
    `<b>${nodes.length}</b> ${nodes.length === 1 ? 'node' : 'nodes'}`,
    ...(usage.calls === 0 ? [] : [`<b>${usage.calls}</b> model ${usage.calls === 1 ? 'call' : 'calls'}`]),
    ...(usage.totalTokens === 0
      ? []
      : [`<b>${usage.promptTokens}</b> tokens in, <b>${usage.completionTokens}</b> out`]),
    ...(left === 0 ? [] : [`<b>${left}</b> activations are not drawn`]),
    ...(hidden === 0 ? [] : [`<b>${hidden}</b> rows are not drawn`]),
  ];
  return `<ul class="facts">${facts.map((fact) => `<li>${fact}</li>`).join('')}</ul>`;
}

/** A line for each bar, in the order in which the chart counts them. */
function detailsOf(rows: readonly TimelineRow[], fromMs: number): string[] {
  return rows
    .flatMap((row) => row.lanes.flatMap((lane) => lane.map((bar) => ({ row, bar }))))
    .slice(0, MAX_BARS)
    .map(({ row, bar }, at) => detailOf(row, bar, fromMs, at + 1));
}

function detailOf({ kind, label }: TimelineRow, bar: TimelineBar, start: number, number: number): string {
  const { fromMs, toMs, status, within = '', attempt = 1, tokens, marks, error = '' } = bar;
  const pieces = marks.reduce((sum, mark) => sum + (mark.pieces ?? 0), 0);
  const cells = [
    kind === 'node' ? label : `${kind} ${label}`,
    within,
    kind === 'node' ? String(attempt) : '',
    statusName(status),
    formatMs(fromMs - start),
    formatMs(toMs - fromMs),
    tokens === 0 ? '' : String(tokens),
    pieces === 0 ? '' : String(pieces),
    error,
  ];
  const written = cells.map((cell, at) => {
    const style = NUMBERS.has(COLUMNS[at] as string) ? ' class="number"' : '';
    return `<td${style}>${escaped(cell)}</td>`;
  });
  return `<tr id="b${number}">${written.join('')}</tr>`;
}
