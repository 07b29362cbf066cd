/** The chart of a timeline's page: bars on a time axis, without a style or a script of its own. */
import { escaped } from './escape-html.js';
import { formatMs, formatTick, ticksOf } from './time-axis.js';
import type { BarMark, BarStatus, TimelineBar, TimelineRow } from './timeline-rows.js';

/** Where times lie. */
export interface ChartScale {
  /** Milliseconds since 1970 at the left end. */
  readonly fromMs: number;
  readonly spanMs: number;
}

/** Bars that are drawn; further ones are only in sums. */
export const MAX_BARS = 5_000;

/** Marks on bars that are drawn. */
const MAX_MARKS = 20_000;

/** Times on the axis at each width, and the class that shows them. */
const ZOOMS = [
  [8, 'z1'],
  [32, 'z4'],
  [128, 'z16'],
] as const;

/** Pixels of a lane: a bar, and below it what was said. */
const LANE = 26;

/** Shapes of 8 pixels around a point. */
const SHAPES: Readonly<Record<BarMark['kind'], string>> = {
  text: 'M-1 -4h2v8h-2z',
  thinking: 'M-3 0a3 3 0 1 1 6 0a3 3 0 1 1 -6 0z',
  usage: 'M0 -4L4 0L0 4L-4 0z',
  message_end: 'M-4 -4h8L0 4z',
  audio: 'M-3 -4L4 0L-3 4z',
  notice: 'M-3 -3h6v6h-6z',
};

const MARK_NAMES: Readonly<Record<BarMark['kind'], string>> = {
  text: 'text',
  thinking: 'thinking',
  usage: 'tokens',
  message_end: 'end of a message',
  audio: 'audio',
  notice: 'notice',
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

/** What a status is called. */
export function statusName(status: BarStatus): string {
  return STATUS_NAMES[status];
}

/** Draws the rows; bars lead to `#b1`, `#b2` … in the order of rows and lanes. */
export function drawChart(rows: readonly TimelineRow[], scale: ChartScale): string {
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
  const lines = groups.map(
    ({ zoom, ticks }) =>
      `<g class="${zoom}">${ticks.map((ms) => `<line x1="${at(ms)}%" x2="${at(ms)}%" y1="0" y2="100%"/>`).join('')}</g>`,
  );
  const labels = groups.map(
    ({ zoom, ticks }) =>
      `<g class="${zoom}">${ticks.map((ms) => `<text x="${at(ms)}%" dx="4" y="17">${formatTick(ms)}</text>`).join('')}</g>`,
  );
  return `<div class="row axis"><div class="name"></div><svg class="track" height="${LANE}"><defs><g id="grid" class="grid">${lines.join('')}</g></defs><use href="#grid"/>${labels.join('')}</svg><div class="note">${formatMs(spanMs)}</div></div>`;
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
  // Without a width there would be no border either, and nothing to see.
  const width = Math.max(0.001, Number(percent(toMs - fromMs, scale)));
  const said = marks.slice(0, Math.max(0, MAX_MARKS - drawing.marks));
  drawing.marks += said.length;
  const rect = `<rect class="bar ${status}" x="${left}%" y="${top + 4}" width="${width}%" height="10" rx="2"/>`;
  return `<a href="#b${drawing.bars}"><title>${escaped(barTitle(row, bar, scale))}</title>${rect}</a>${said
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
  const what = pieces === undefined ? 'first piece of the answer' : `${MARK_NAMES[kind]}: ${counted}`;
  const when = formatMs(atMs - scale.fromMs);
  return `<svg class="mark ${kind}" x="${percent(atMs - scale.fromMs, scale)}%" y="${top + 20}"><title>${what}, at ${when}</title><path d="${SHAPES[kind]}"/></svg>`;
}

function percent(ms: number, { spanMs }: ChartScale): string {
  return Math.min(100, Math.max(0, (ms / spanMs) * 100)).toFixed(3);
}

/** Explains the bars and marks that are there. */
function keyOf(rows: readonly TimelineRow[]): string {
  const bars = rows.flatMap(({ lanes }) => lanes.flat());
  const statuses = new Set(bars.map(({ status }) => status));
  const marks = new Set(bars.flatMap(({ marks: said }) => said.map(({ kind }) => kind)));
  const barKeys = (Object.keys(STATUS_NAMES) as BarStatus[])
    .filter((status) => statuses.has(status))
    .map(
      (status) =>
        `<svg><rect class="bar ${status}" x="1" y="3" width="20" height="9" rx="2"/></svg>${STATUS_NAMES[status]}`,
    );
  const markKeys = (Object.keys(SHAPES) as BarMark['kind'][])
    .filter((kind) => marks.has(kind))
    .map(
      (kind) =>
        `<svg><svg class="mark ${kind}" x="11" y="7"><path d="${SHAPES[kind]}"/></svg></svg>${MARK_NAMES[kind]}`,
    );
  return `<ul class="key">${[...barKeys, ...markKeys].map((one) => `<li>${one}</li>`).join('')}</ul>`;
}
