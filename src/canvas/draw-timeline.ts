/** A timeline as a marble diagram: one line a node, time from left to right. */

import { MESSAGE_END } from './ragflow-events.js';
import type { RunTimeline, TimelineEmission } from './timeline.js';
import {
  type BarStatus,
  formatMs,
  formatTick,
  idleMsOf,
  layOut,
  type TimelineBar,
  type TimelineRow,
  ticksOf,
} from './timeline-rows.js';

/** How a diagram is drawn. */
export interface DrawTimelineOptions {
  /** Columns of a line, at least 40. @default 100 */
  readonly columns?: number;
  /** Whose run it is. @default not said */
  readonly agent?: string | undefined;
  /** Whether lines carry colours for a terminal. @default false */
  readonly hasColours?: boolean;
}

/** A character of a diagram, what it means in the legend, and its colour on a terminal; without one it is as it is. */
type Mark = readonly [character: string, meaning: string, colour?: string];

const START: Mark = ['^', 'starts'];
const WORK: Mark = ['-', 'works', '2'];

const EMISSIONS: Readonly<Record<TimelineEmission['kind'], Mark>> = {
  text: ['t', 'text', '32'],
  thinking: ['k', 'thinking', '36'],
  usage: ['u', 'tokens', '34'],
  [MESSAGE_END]: ['m', 'message end', '32;1'],
  audio: ['a', 'audio', '32'],
  notice: ['n', 'notice'],
};

/** How an activation or a call ends. */
const ENDS: Readonly<Record<BarStatus, Mark>> = {
  settled: ['|', 'settles', '1'],
  failed: ['#', 'fails', '31;1'],
  retried: ['!', 'tries again', '33'],
  waiting: ['?', 'waits', '35'],
  skipped: ['s', 'skipped', '2'],
  stopped: ['x', 'stopped', '33'],
  open: ['>', 'goes on'],
};

/** All marks in the order of the legend, which has the entries of those that occur in a drawing. */
const MARKS: readonly Mark[] = [START, WORK, ...Object.values(EMISSIONS), ...Object.values(ENDS)];
const COLOURS: ReadonlyMap<string, string | undefined> = new Map(MARKS.map(([mark, , colour]) => [mark, colour]));

/** Lines that are drawn; further nodes are counted. */
const MAX_LINES = 1_000;

const MIN_COLUMNS = 40;
const MAX_LABEL = 36;

/** Columns between two times of the axis, at least. */
const TICK_COLUMNS = 12;

/** Draws a timeline. Control characters of names and messages are removed: they must not control a terminal. */
export function drawTimeline(
  timeline: RunTimeline,
  { columns = 100, hasColours = false, agent }: DrawTimelineOptions = {},
): string {
  const { rows, fromMs: from, spanMs: span } = layOut(timeline);
  const lines = rows.flatMap(linesOf).slice(0, MAX_LINES);
  const width = Math.max(MIN_COLUMNS, columns);
  const widest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
  const labelWidth = Math.min(MAX_LABEL, Math.floor(width / 3), Math.max(4, widest(lines.map(({ label }) => label))));
  const noteWidth = Math.min(Math.floor(width / 4), widest(lines.map(({ note }) => note)));
  const track = width - labelWidth - noteWidth - 2;
  const marbles = lines.map(({ bars }) => marblesOf(bars, { from, span, track }));
  const drawn = lines.map(({ label, note }, at) => {
    const colouredMarbles = coloured(marbles[at] as string, hasColours);
    return `${padded(label, labelWidth)} ${colouredMarbles} ${cut(note, noteWidth)}`.trimEnd();
  });
  const hidden = rows.filter(({ kind }) => kind === 'node').length - lines.filter(({ isNode }) => isNode).length;
  return [
    ...wrapped(headOf(timeline), width),
    ...wrapped(subjectOf(timeline, agent), width).filter((line) => line !== ''),
    '',
    `${' '.repeat(labelWidth)} ${axisOf(span, track)}`.trimEnd(),
    ...drawn,
    ...(hidden > 0 ? [`… and ${hidden} more nodes`] : []),
    ...(timeline.omitted > 0 ? [`… and ${timeline.omitted} activations that are only counted`] : []),
    '',
    ...wrapped(legendOf(marbles), width),
    '',
  ].join('\n');
}

/** One line of a diagram: a lane of a row. */
interface Line {
  readonly label: string;
  readonly note: string;
  readonly bars: readonly TimelineBar[];
  /** Whether it is the first one of a node. */
  readonly isNode: boolean;
}

function linesOf(row: TimelineRow): readonly Line[] {
  const { kind, label, id, depth, lanes } = row;
  const more = id === undefined ? '' : `  ${plain(id)}`;
  const named = `${'  '.repeat(depth)}${kind === 'node' ? '' : `${kind} `}${plain(label)}${more}`;
  const first: Line = { label: named, note: noteOf(row), bars: lanes[0] ?? [], isNode: kind === 'node' };
  return [first, ...lanes.slice(1).map((bars) => ({ label: '', note: '', bars, isNode: false }))];
}

function legendOf(marbles: readonly string[]): string {
  const used = new Set(marbles.join(''));
  const explained = MARKS.filter(([mark]) => used.has(mark));
  return explained.map(([mark, meaning]) => `${mark} ${meaning}`).join('  ');
}

interface Scale {
  /** Milliseconds since 1970 at the left end. */
  readonly from: number;
  /** Milliseconds of the whole. */
  readonly span: number;
  readonly track: number;
}

/** Marks in order of their weight: work, then emissions, then ends and starts. */
function marblesOf(bars: readonly TimelineBar[], scale: Scale): string {
  const marks: string[] = Array(scale.track).fill(' ');
  const column = (ms: number): number =>
    Math.min(scale.track - 1, Math.max(0, Math.floor(((ms - scale.from) / scale.span) * scale.track)));
  for (const { fromMs, toMs } of bars) marks.fill(WORK[0], column(fromMs), column(toMs) + 1);
  for (const { fromMs } of bars) marks[column(fromMs)] = START[0];
  for (const bar of bars) for (const { kind, atMs } of bar.marks) marks[column(atMs)] = EMISSIONS[kind][0];
  // Where several end in one column, a failure is shown.
  for (const { toMs, status } of bars) if (status === 'settled') marks[column(toMs)] = ENDS.settled[0];
  for (const { toMs, status } of bars) if (status !== 'settled') marks[column(toMs)] = ENDS[status][0];
  return marks.join('');
}

function noteOf({ busyMs, bars, tokens, error }: TimelineRow): string {
  const times = bars > 1 ? ` x${bars}` : '';
  const used = tokens > 0 ? ` ${tokens} tok` : '';
  return `${formatMs(busyMs)}${times}${used}${error === undefined ? '' : ` ${plain(error)}`}`;
}

/** The agent and the question, as far as they are known. */
function subjectOf({ query = '' }: RunTimeline, agent = ''): string {
  const parts = [plain(agent), query === '' ? '' : `"${plain(query)}"`];
  return parts.filter((part) => part !== '').join(' · ');
}

function headOf(timeline: RunTimeline): string {
  const { status, error, elapsedMs, nodes, usage, startedAtMs } = timeline;
  const idleMs = idleMsOf(timeline);
  const idle = idleMs < 1 ? '' : ` · ${formatMs(idleMs)} without a node at work`;
  const when = startedAtMs === undefined ? '' : ` · ${new Date(startedAtMs).toISOString()}`;
  const took = elapsedMs === undefined ? '' : ` after ${formatMs(elapsedMs)}`;
  const tokens = usage.totalTokens === 0 ? '' : ` · ${usage.promptTokens} tokens in, ${usage.completionTokens} out`;
  const why = error === undefined ? '' : ` · ${plain(error.message)} [${plain(error.code)}]`;
  return `${status}${took} · ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}${tokens}${idle}${when}${why}`;
}

/** Round times where they are on the track, each from its column on; the last one is the end. */
function axisOf(span: number, track: number): string {
  const end = formatMs(span);
  let axis = '';
  for (const ms of ticksOf(span, Math.floor(track / TICK_COLUMNS))) {
    const at = Math.floor((ms / span) * track);
    const label = formatTick(ms);
    if (at + label.length + 2 + end.length <= track) axis = axis.padEnd(at) + label;
  }
  return axis.padEnd(track - end.length) + end;
}

function coloured(marbles: string, hasColours: boolean): string {
  if (!hasColours) return marbles;
  return marbles.replace(/(.)\1*/gu, (run, mark: string) => {
    const colour = COLOURS.get(mark);
    return colour === undefined ? run : `\u001b[${colour}m${run}\u001b[0m`;
  });
}

/** On one line, without control and direction characters. */
function plain(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** Columns of a text on a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let start = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    start += character;
  }
  return columns < 1 ? '' : `${start}…`;
}

function padded(text: string, columns: number): string {
  const shown = cut(text, columns);
  return shown + ' '.repeat(Math.max(0, columns - widthOf(shown)));
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= ) ?(?=\S)/u)) {
    if (line !== '' && widthOf(line + word.trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
  }
  return [...lines, cut(line.trimEnd(), columns)];
}
