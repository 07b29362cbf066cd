/** A timeline as one self-contained HTML page. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../templates/escape-html.js';
import { MESSAGE_END } from './ragflow-events.js';
import type { RunTimeline } from './timeline.js';
import {
  type BarMark,
  type BarStatus,
  formatMs,
  formatTick,
  idleMsOf,
  layOut,
  type TimelineBar,
  type TimelineLayout,
  type TimelineRow,
  ticksOf,
} from './timeline-rows.js';

/** Rows that are drawn; further ones are counted. */
const MAX_ROWS = 2_000;

/** Makes the page: all texts are escaped, it has no script, and its content policy allows its one style and no requests. */
export function timelinePage(timeline: RunTimeline, title: string, agent = ''): string {
  const { status, error } = timeline;
  const { rows: all, ...scale } = layOut(timeline);
  const rows = all.slice(0, MAX_ROWS);
  const hash = createHash('sha256').update(TIMELINE_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const why = error === undefined ? '' : `<p class="error">${escaped(error.message)} [${escaped(error.code)}]</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title><style>${TIMELINE_STYLE}</style></head>
<body><h1>${escaped(title)}</h1><span class="status ${status}">${status}</span>
${subjectOf(timeline, agent)}${factsOf(timeline, all, scale.spanMs)}${why}
<span class="zoom">Width</span>${ZOOM_BUTTONS}
${drawChart(rows, scale)}
<details open><summary><h2>Details</h2></summary><div class="wide"><table><thead><tr>${HEAD}</tr></thead>
<tbody>${detailsOf(rows, scale.fromMs).join('\n')}</tbody></table></div></details>
</body></html>
`;
}

/** The agent and the question, as far as they are known. */
function subjectOf({ query = '' }: RunTimeline, agent: string): string {
  const parts = [agent, query === '' ? '' : `“${query}”`].filter((part) => part !== '');
  return parts.length === 0 ? '' : `<p class="subject">${escaped(parts.join(' · '))}</p>\n`;
}

const ZOOM_BUTTONS = [1, 4, 16]
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
  const idleMs = idleMsOf(timeline);
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
    ...(idleMs < 1 ? [] : [`<b>${formatMs(idleMs)}</b> without a node at work`]),
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

function detailOf({ kind, label, id }: TimelineRow, bar: TimelineBar, start: number, number: number): string {
  const { fromMs, toMs, status, within = '', attempt = 1, tokens, marks, error = '' } = bar;
  const pieces = marks.reduce((sum, mark) => sum + (mark.pieces ?? 0), 0);
  const cells = [
    kind === 'node' ? [label, id].filter((text) => text !== undefined).join(' · ') : `${kind} ${label}`,
    within,
    kind === 'node' ? String(attempt) : '',
    STATUS_NAMES[status],
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

/** Where times lie. */
type ChartScale = Omit<TimelineLayout, 'rows'>;

/** Bars that are drawn; further ones are only in sums. */
const MAX_BARS = 5_000;

/** Marks on bars that are drawn. */
const MAX_MARKS = 20_000;

/** Ticks of the axis at each width, and the class that makes them visible. */
const ZOOMS = [
  [8, 'z1'],
  [32, 'z4'],
  [128, 'z16'],
] as const;

/** Pixels of a lane: a bar, and below it the marks of its emissions. */
const LANE = 26;

/** Shapes of 8 pixels around a point, and what they stand for. */
const MARKS: Readonly<Record<BarMark['kind'], readonly [shape: string, name: string]>> = {
  text: ['M-1 -4h2v8h-2z', 'text'],
  thinking: ['M-3 0a3 3 0 1 1 6 0a3 3 0 1 1 -6 0z', 'thinking'],
  usage: ['M0 -4L4 0L0 4L-4 0z', 'tokens'],
  [MESSAGE_END]: ['M-4 -4h8L0 4z', 'end of a message'],
  audio: ['M-3 -4L4 0L-3 4z', 'audio'],
  notice: ['M-3 -3h6v6h-6z', 'notice'],
};

const STATUS_NAMES: Readonly<Record<BarStatus, string>> = {
  settled: 'settled',
  failed: 'failed',
  retried: 'failed, tried again',
  waiting: 'waits',
  open: 'goes on',
  stopped: 'stopped',
  skipped: 'skipped',
};

/** Draws the rows; bars lead to `#b1`, `#b2` … in the order of rows and lanes. */
function drawChart(rows: readonly TimelineRow[], scale: ChartScale): string {
  const drawing = { bars: 0, marks: 0 };
  return `<div class="chart" role="img" aria-label="What each node did, over time">
${axisOf(scale)}
${rows.map((row) => rowOf(row, scale, drawing)).join('\n')}
</div>
${keyOf(rows)}`;
}

/** Counts what was drawn. */
interface Drawing {
  bars: number;
  marks: number;
}

function axisOf({ spanMs }: ChartScale): string {
  const seen = new Set<number>();
  const groups = ZOOMS.map(([most, zoom]) => {
    const ticks = ticksOf(spanMs, most).filter((ms) => !seen.has(ms));
    for (const ms of ticks) seen.add(ms);
    return { zoom, ticks };
  });
  const at = (ms: number): string => ((ms / spanMs) * 100).toFixed(4);
  const drawn = (tick: (ms: number) => string): string =>
    groups.map(({ zoom, ticks }) => `<g class="${zoom}">${ticks.map(tick).join('')}</g>`).join('');
  const lines = drawn((ms) => `<line x1="${at(ms)}%" x2="${at(ms)}%" y1="0" y2="100%"/>`);
  const labels = drawn((ms) => `<text x="${at(ms)}%" dx="4" y="17">${formatTick(ms)}</text>`);
  return `<div class="row axis"><div class="name"></div><svg class="track" height="${LANE}"><defs><g id="grid" class="grid">${lines}</g></defs><use href="#grid"/>${labels}</svg><div class="note">${formatMs(spanMs)}</div></div>`;
}

function rowOf(row: TimelineRow, scale: ChartScale, drawing: Drawing): string {
  const { kind, label, about, depth, lanes, error } = row;
  const isSilent = lanes.every((lane) => lane.every(({ marks }) => marks.length === 0));
  const bars = lanes.flatMap((lane, at) =>
    lane.map((bar) => barOf(row, bar, at * LANE + (isSilent ? 4 : 0), scale, drawing)),
  );
  const what = kind === 'node' ? '' : `<b>${kind}</b>`;
  const more = kind === 'node' && about !== '' ? `<small>${escaped(about)}</small>` : '';
  const failure = error === undefined ? '' : ` <span class="error">${escaped(error)}</span>`;
  const title = escaped([label, about, error].filter((text) => text !== undefined && text !== '').join('\n'));
  return `<div class="row ${kind}"><div class="name d${depth}" title="${title}">${what}${escaped(label)}${more}</div><svg class="track" height="${Math.max(1, lanes.length) * LANE}"><use href="#grid"/>${bars.join('')}</svg><div class="note" title="${title}">${noteOf(row)}${failure}</div></div>`;
}

function noteOf({ busyMs, bars, tokens }: TimelineRow): string {
  return `${formatMs(busyMs)}${bars > 1 ? ` ×${bars}` : ''}${tokens > 0 ? ` · ${tokens} tok` : ''}`;
}

function barOf(row: TimelineRow, bar: TimelineBar, top: number, scale: ChartScale, drawing: Drawing): string {
  if (drawing.bars >= MAX_BARS) return '';
  drawing.bars += 1;
  const { fromMs, toMs, status, marks } = bar;
  const left = percent(fromMs - scale.fromMs, scale);
  // A rectangle without a width has no border either, and would be invisible.
  const width = Math.max(0.001, Number(percent(toMs - fromMs, scale)));
  const drawn = marks.slice(0, Math.max(0, MAX_MARKS - drawing.marks));
  drawing.marks += drawn.length;
  const rect = `<rect class="bar ${status}" x="${left}%" y="${top + 4}" width="${width}%" height="10" rx="2"/>`;
  return `<a href="#b${drawing.bars}"><title>${escaped(barTitle(row, bar, scale))}</title>${rect}</a>${drawn
    .map((mark) => markOf(mark, top, scale))
    .join('')}`;
}

function barTitle(
  { kind, label }: TimelineRow,
  { fromMs, toMs, status, within, attempt, tokens, error }: TimelineBar,
  scale: ChartScale,
): string {
  const lines = [
    `${kind === 'node' ? '' : `${kind} `}${label}: ${STATUS_NAMES[status]}`,
    `from ${formatMs(fromMs - scale.fromMs)}, for ${formatMs(toMs - fromMs)}`,
    ...(within === undefined ? [] : [`in ${within}`]),
    ...(attempt === undefined ? [] : [`try ${attempt}`]),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(error === undefined ? [] : [error]),
  ];
  return lines.join('\n');
}

function markOf({ kind, atMs, pieces, characters }: BarMark, top: number, scale: ChartScale): string {
  const counted = `${pieces} ${pieces === 1 ? 'piece' : 'pieces'}, ${characters} characters`;
  const [shape, name] = MARKS[kind];
  const what = pieces === undefined ? 'first piece of the answer' : `${name}: ${counted}`;
  const when = formatMs(atMs - scale.fromMs);
  return `<svg class="mark ${kind}" x="${percent(atMs - scale.fromMs, scale)}%" y="${top + 20}"><title>${what}, at ${when}</title><path d="${shape}"/></svg>`;
}

function percent(ms: number, { spanMs }: ChartScale): string {
  return Math.min(100, Math.max(0, (ms / spanMs) * 100)).toFixed(3);
}

/** The legend of the bars and marks that occur. */
function keyOf(rows: readonly TimelineRow[]): string {
  const bars = rows.flatMap(({ lanes }) => lanes.flat());
  const statuses = new Set(bars.map(({ status }) => status));
  const marks = new Set(bars.flatMap((bar) => bar.marks.map(({ kind }) => kind)));
  const barKeys = (Object.keys(STATUS_NAMES) as BarStatus[])
    .filter((status) => statuses.has(status))
    .map(
      (status) =>
        `<svg><rect class="bar ${status}" x="1" y="3" width="20" height="9" rx="2"/></svg>${STATUS_NAMES[status]}`,
    );
  const markKeys = Object.entries(MARKS)
    .filter(([kind]) => marks.has(kind as BarMark['kind']))
    .map(
      ([kind, [shape, name]]) => `<svg><svg class="mark ${kind}" x="11" y="7"><path d="${shape}"/></svg></svg>${name}`,
    );
  return `<ul class="key">${[...barKeys, ...markKeys].map((one) => `<li>${one}</li>`).join('')}</ul>`;
}

/** A text for HTML and its attributes, without control characters and those that turn the direction of what follows. */
function escaped(text: string): string {
  return escapeHtml(text.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, ''));
}

/** Colours have a contrast of at least 4.5 against both backgrounds. */
const TIMELINE_STYLE = `
:root{color-scheme:light dark;--ground:#fff;--band:#f4f6f9;--text:#1b2430;--faint:#566273;--line:#d9dfe7;
--node:#2f66b3;--model:#7444b8;--tool:#0f766e;--agent:#a04f00;--failed:#c3272b;--waiting:#8a5a00;--still:#66707f;--said:#14713d;--thought:#0b6f8a}
@media(prefers-color-scheme:dark){:root{--ground:#12161d;--band:#1a202a;--text:#e7ebf1;--faint:#a3aebd;--line:#2d3644;
--node:#79a9f2;--model:#bd9bf5;--tool:#4fc7ba;--agent:#f2a65a;--failed:#ff7b7b;--waiting:#e2b93b;--still:#9aa5b5;--said:#5fd08f;--thought:#63c8e6}}
*{box-sizing:border-box}
body{font:14px/1.45 system-ui,sans-serif;margin:0;padding:1.5rem 2rem 3rem;background:var(--ground);color:var(--text)}
h1{font-size:1.25rem;margin:0 .6rem 0 0;display:inline;overflow-wrap:anywhere}h2{font-size:1rem;margin:0;display:inline}
.status{display:inline-block;padding:.05rem .6rem;border-radius:1rem;border:1px solid currentColor;font-weight:600;color:var(--faint)}
.status.succeeded{color:var(--said)}.status.failed{color:var(--failed)}.status.running,.status.waiting{color:var(--waiting)}
.facts{margin:.5rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;color:var(--faint);list-style:none}
.subject{margin:.5rem 0 0;overflow-wrap:anywhere}.facts b{color:var(--text);font-weight:600}.error{color:var(--failed);margin:.5rem 0 0;overflow-wrap:anywhere}
.zoom{display:inline-block;margin:1rem 0 0;color:var(--faint)}label{font-size:13px}input[name=zoom]{margin:0 .25rem 0 .9rem;vertical-align:-1px}
.chart{--zoom:1;--z4:none;--z16:none;container-type:inline-size;overflow:auto;max-height:82vh;border:1px solid var(--line);border-radius:6px;margin:.6rem 0}
#zoom4:checked~.chart{--zoom:4;--z4:inline}#zoom16:checked~.chart{--zoom:16;--z4:inline;--z16:inline}
.row{display:grid;grid-template-columns:min(24rem,36cqw) calc((100cqw - min(24rem,36cqw) - min(11rem,22cqw) - 2px)*var(--zoom)) min(11rem,22cqw);align-items:stretch;width:max-content}
.row>*{background:var(--ground)}.row:nth-child(even)>*{background:var(--band)}.row:hover>*{background:color-mix(in srgb,var(--node) 14%,var(--ground))}
.name,.note{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:.2rem .6rem;position:sticky;z-index:1}
.name{left:0;border-right:1px solid var(--line)}.note{right:0;color:var(--faint);font-size:12px;border-left:1px solid var(--line);font-variant-numeric:tabular-nums}
.note .error{margin:0}.name small{color:var(--faint);margin-left:.5em}
.axis{position:sticky;top:0;z-index:2}.axis>*{border-bottom:1px solid var(--line)}.axis .name{z-index:3}
.axis text{font-size:11px;fill:var(--faint);font-variant-numeric:tabular-nums}
.model .name b,.tool .name b,.agent .name b{font-size:11px;font-weight:600;margin-right:.45em}
.model .name b{color:var(--model)}.tool .name b{color:var(--tool)}.agent .name b{color:var(--agent)}
${Array.from({ length: 12 }, (_, at) => `.d${at + 1}{padding-left:${(at + 1) * 1.1 + 0.6}rem}`).join('')}
svg{display:block;width:100%;overflow:visible}.track{overflow:hidden}
.grid line{stroke:var(--line)}.z4{display:var(--z4)}.z16{display:var(--z16)}
.bar{fill:var(--node);stroke:var(--node);fill-opacity:.8}
.model .bar{fill:var(--model);stroke:var(--model)}.tool .bar{fill:var(--tool);stroke:var(--tool)}.agent .bar{fill:var(--agent);stroke:var(--agent)}
.track .failed,.key .failed{fill-opacity:1;fill:var(--failed);stroke:var(--failed)}
.track .retried,.key .retried{fill:var(--failed);fill-opacity:.35;stroke:var(--failed)}
.track .waiting,.key .waiting{fill:var(--ground);stroke:var(--waiting);stroke-dasharray:5 3}
.track .open,.key .open{fill-opacity:.35;stroke-dasharray:5 3}
.track .stopped,.key .stopped{fill:var(--ground);stroke:var(--still);stroke-dasharray:2 3}
.track .skipped,.key .skipped{fill:var(--still);stroke:var(--still)}
a:hover .bar,a:focus-visible .bar{stroke:var(--text)}a{outline:0}
.mark{overflow:visible;width:1px;height:1px}.mark path{fill:var(--faint)}.mark.text path,.mark.${MESSAGE_END} path{fill:var(--said)}.mark.thinking path{fill:var(--thought)}.mark.usage path{fill:var(--model)}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;margin:.6rem 0 1.6rem;padding:0;list-style:none;color:var(--faint);font-size:12px}
.key svg{display:inline-block;width:22px;height:14px;vertical-align:-3px;margin-right:.35rem}
details{margin-top:1rem}summary{cursor:pointer}.wide{overflow:auto;margin-top:.5rem}
table{border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums}
td,th{text-align:left;padding:.2rem 1rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere;min-width:14rem}th{color:var(--faint);font-weight:600}.number{text-align:right}
tr:target td{background:color-mix(in srgb,var(--waiting) 25%,var(--ground))}
@media print{.chart{max-height:none;overflow:visible}}
`;
