/** A timeline as a marble diagram: one line a node, time from left to right. */
import type { ActivationStatus, RunTimeline, TimelineActivation, TimelineEmission } from './run-timeline.js';

/** How a diagram is drawn. */
export interface DrawTimelineOptions {
  /** Columns of a line, at least 40. @default 100 */
  readonly columns?: number;
  /** Whether lines carry colours for a terminal. @default false */
  readonly hasColours?: boolean;
}

/** What a node says, as a letter. */
const EMISSION: Readonly<Record<TimelineEmission['kind'], string>> = {
  text: 't',
  thinking: 'k',
  usage: 'u',
  message_end: 'm',
  audio: 'a',
  notice: 'n',
};

/** How an activation ends, as a mark. */
const END: Readonly<Record<ActivationStatus, string>> = {
  open: '>',
  settled: '|',
  failed: '#',
  retried: '!',
  skipped: 's',
  waiting: '?',
};

const LEGEND =
  '^ starts  - works  t text  k thinking  u tokens  m message end  a audio  n notice  | settles  # fails  ! tries again  ? waits  s skipped  > goes on';

/** Colours of a terminal by mark; a mark without one is as it is. */
const COLOUR: Readonly<Record<string, string>> = {
  '#': '31;1',
  '!': '33',
  '?': '35',
  s: '2',
  '-': '2',
  t: '32',
  k: '36',
  u: '34',
  m: '32;1',
  a: '32',
  '|': '1',
};

/** Nodes that are drawn; further ones are counted. */
const MAX_LINES = 1_000;

const MIN_COLUMNS = 40;
const MAX_LABEL = 32;

/** Draws a timeline. Control characters of names and messages are left out, so that none of them can steer a terminal. */
export function drawTimeline(
  timeline: RunTimeline,
  { columns = 100, hasColours = false }: DrawTimelineOptions = {},
): string {
  const lines = linesOf(timeline).slice(0, MAX_LINES);
  const width = Math.max(MIN_COLUMNS, columns);
  const labelWidth = Math.min(
    MAX_LABEL,
    Math.floor(width / 3),
    Math.max(4, ...lines.map(({ label }) => widthOf(label))),
  );
  const notes = lines.map(noteOf);
  const noteWidth = Math.min(Math.floor(width / 4), Math.max(0, ...notes.map(widthOf)));
  const track = width - labelWidth - noteWidth - 2;
  const from = timeline.startedAtMs ?? 0;
  const span = Math.max(1, endOf(timeline) - from);
  const drawn = lines.map((line, at) => {
    const marbles = marblesOf(line.activations, { from, span, track });
    return `${padded(line.label, labelWidth)} ${coloured(marbles, hasColours)} ${cut(notes[at] ?? '', noteWidth)}`.trimEnd();
  });
  const hidden = timeline.nodes.length - lines.length;
  return [
    ...wrapped(headOf(timeline), width),
    '',
    `${' '.repeat(labelWidth)} ${axisOf(span, track)}`.trimEnd(),
    ...drawn,
    ...(hidden > 0 ? [`… and ${hidden} more nodes`] : []),
    ...(timeline.omitted > 0 ? [`… and ${timeline.omitted} activations that are only counted`] : []),
    '',
    ...wrapped(LEGEND, width),
    '',
  ].join('\n');
}

/** All activations of one node in one place. */
interface Line {
  readonly label: string;
  readonly activations: TimelineActivation[];
}

function linesOf({ activations, nodes }: RunTimeline): Line[] {
  const lines = new Map<string, Line>(nodes.map(({ node }) => [node, { label: '', activations: [] }]));
  for (const one of activations) lines.get(one.node)?.activations.push(one);
  return [...lines].map(([node, { activations: own }]) => {
    const depth = (own[0]?.within?.split('/').length ?? 0) / 2;
    return { label: `${'  '.repeat(Math.min(8, Math.floor(depth)))}${plain(node)}`, activations: own };
  });
}

interface Scale {
  /** Milliseconds since 1970 at the left end. */
  readonly from: number;
  /** Milliseconds of the whole. */
  readonly span: number;
  readonly track: number;
}

/** Marks in order of their weight: work, then what was said, then ends and starts. */
function marblesOf(activations: readonly TimelineActivation[], scale: Scale): string {
  const marks: string[] = Array(scale.track).fill(' ');
  const column = (ms: number): number =>
    Math.min(scale.track - 1, Math.max(0, Math.floor(((ms - scale.from) / scale.span) * scale.track)));
  const ends = activations.map((one) => column(one.endedAtMs ?? scale.from + scale.span));
  for (const [at, one] of activations.entries()) marks.fill('-', column(one.startedAtMs), (ends[at] ?? 0) + 1);
  for (const one of activations) marks[column(one.startedAtMs)] = '^';
  for (const one of activations) for (const { kind, atMs } of one.emissions) marks[column(atMs)] = EMISSION[kind];
  for (const [at, { status }] of activations.entries()) marks[ends[at] ?? 0] = END[status];
  return marks.join('');
}

function noteOf({ activations }: Line): string {
  const failed = activations.find(({ status, error }) => status === 'failed' && error !== undefined);
  const tokens = activations.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  const took = activations.reduce((sum, { elapsedMs = 0 }) => sum + elapsedMs, 0);
  const times = activations.length > 1 ? ` x${activations.length}` : '';
  const used = tokens > 0 ? ` ${tokens} tok` : '';
  return `${formatMs(took)}${times}${used}${failed === undefined ? '' : ` ${plain(failed.error ?? '')}`}`;
}

function headOf({ status, error, elapsedMs, nodes, usage, startedAtMs }: RunTimeline): string {
  const when = startedAtMs === undefined ? '' : ` · ${new Date(startedAtMs).toISOString()}`;
  const took = elapsedMs === undefined ? '' : ` after ${formatMs(elapsedMs)}`;
  const tokens = usage.totalTokens === 0 ? '' : ` · ${usage.promptTokens} tokens in, ${usage.completionTokens} out`;
  const why = error === undefined ? '' : ` · ${plain(error.message)} [${plain(error.code)}]`;
  return `${status}${took} · ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}${tokens}${when}${why}`;
}

function endOf({ startedAtMs = 0, endedAtMs, activations }: RunTimeline): number {
  let last = endedAtMs ?? startedAtMs;
  for (const one of activations)
    last = Math.max(last, one.endedAtMs ?? one.startedAtMs, one.emissions.at(-1)?.atMs ?? 0);
  return last;
}

function axisOf(span: number, track: number): string {
  const [left, middle, right] = ['0', formatMs(span / 2), formatMs(span)];
  const half = Math.floor(track / 2);
  if (track < left.length + middle.length + right.length + 4) return `${left}${right.padStart(track - 1)}`;
  return `${left.padEnd(half)}${middle}`.padEnd(track - right.length) + right;
}

/** Milliseconds for people. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

function coloured(marbles: string, hasColours: boolean): string {
  if (!hasColours) return marbles;
  return marbles.replace(/(.)\1*/gu, (run, mark: string) => {
    const colour = Object.hasOwn(COLOUR, mark) ? COLOUR[mark] : undefined;
    return colour === undefined ? run : `\u001b[${colour}m${run}\u001b[0m`;
  });
}

/** On one line, without characters that steer a terminal or turn the direction of what follows. */
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
  let kept = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return columns < 1 ? '' : `${kept}…`;
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
