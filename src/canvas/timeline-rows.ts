/** What a drawing of a timeline is made of: a row for each node, and below it rows for what it called. */
import type { CallSummary } from '../graph/calls.js';
import type { CallKind } from '../graph/node-events.js';
import { groupBy } from '../group-by.js';
import type { ActivationStatus, RunTimeline, TimelineActivation, TimelineEmission, TimelineNode } from './timeline.js';

/** How a bar ends. `stopped`: without an end of its own, with its node or its run. */
export type BarStatus = ActivationStatus | 'stopped';

/** Something at a point of time on a bar; without `pieces` it is the first piece of an answer. */
export interface BarMark {
  readonly kind: TimelineEmission['kind'];
  readonly atMs: number;
  readonly pieces?: number;
  readonly characters?: number;
}

/** One activation or one call. Times in milliseconds since 1970. */
export interface TimelineBar {
  readonly fromMs: number;
  /** The end of what is drawn, when it has none of its own. */
  readonly toMs: number;
  readonly status: BarStatus;
  readonly within?: string;
  readonly attempt?: number;
  readonly error?: string;
  readonly tokens: number;
  readonly marks: readonly BarMark[];
}

/** A row of a drawing. */
export interface TimelineRow {
  readonly kind: 'node' | CallKind;
  /** Name of the node, its id where it has no other name, or the name of what is called. */
  readonly label: string;
  /** Id of a node that has a name; absent otherwise. */
  readonly id?: string;
  /** Id and type of a node, as far as the label is not one of them; of a call its kind. */
  readonly about: string;
  /** How deep it lies in bodies and calls. */
  readonly depth: number;
  /** Bars that are at the same time lie in different lanes, as long as there are lanes; in order of their beginning. */
  readonly lanes: readonly (readonly TimelineBar[])[];
  readonly bars: number;
  /** Milliseconds of all bars together. */
  readonly busyMs: number;
  readonly tokens: number;
  /** Why the first one failed that did. */
  readonly error?: string;
}

/** Lanes of one row; further bars at the same time overlap in the last one. */
const MAX_LANES = 8;

const MAX_DEPTH = 12;

/** What is drawn, and where times lie. */
export interface TimelineLayout {
  /** Each node's in the order in which the nodes began. */
  readonly rows: readonly TimelineRow[];
  /** Milliseconds since 1970 at the left end. */
  readonly fromMs: number;
  /** Milliseconds of the whole, at least one. */
  readonly spanMs: number;
}

/** Lays a timeline out. */
export function layOut(timeline: RunTimeline): TimelineLayout {
  const { startedAtMs: fromMs = 0, status, nodes } = timeline;
  const activations = groupBy(timeline.activations, ({ node }) => node);
  const end = lastMoment(timeline);
  const isOver = status !== 'running' && status !== 'waiting';
  const rows = nodes.flatMap((node) => {
    const own = activations.get(node.node) ?? [];
    const depth = Math.min(MAX_DEPTH, Math.floor((own[0]?.within?.split('/').length ?? 0) / 2));
    const bars = own.map((one) => activationBar(one, end, isOver));
    return [nodeRow(node, depth, bars), ...callRows(own, depth + 1, end)];
  });
  return { rows, fromMs, spanMs: Math.max(1, end - fromMs) };
}

/** The end of what is drawn, in milliseconds since 1970. */
function lastMoment({ startedAtMs = 0, endedAtMs, activations }: RunTimeline): number {
  let last = endedAtMs ?? startedAtMs;
  for (const { startedAtMs: began, endedAtMs: ended, emissions, calls } of activations) {
    last = Math.max(last, ended ?? began, emissions.at(-1)?.atMs ?? 0);
    for (const call of calls) last = Math.max(last, call.endedAtMs ?? call.startedAtMs);
  }
  return last;
}

/**
 * Milliseconds in which no node was at work: before the first one, while something was stored, while a place to run was waited for. None
 * for a run without activations, and for one whose activations are not all listed.
 */
export function idleMsOf(timeline: RunTimeline): number {
  const { startedAtMs, activations, omitted } = timeline;
  if (startedAtMs === undefined || activations.length === 0 || omitted > 0) return 0;
  const end = lastMoment(timeline);
  let idle = 0;
  let covered = startedAtMs;
  for (const one of [...activations].sort((a, b) => a.startedAtMs - b.startedAtMs)) {
    idle += Math.max(0, one.startedAtMs - covered);
    covered = Math.max(covered, one.endedAtMs ?? end);
  }
  return idle + Math.max(0, end - covered);
}

function nodeRow({ node, type, name, usage, activations, busyMs }: TimelineNode, depth: number, bars: TimelineBar[]) {
  // A node without a name of its own is called as its type.
  const isNamed = name !== undefined && name !== '' && name !== type && name.toLowerCase() !== node.toLowerCase();
  const label = isNamed ? name : node;
  const about = [...new Set([node, type])].filter((text) => text !== undefined && text !== label).join(' · ');
  const row = rowOf({ kind: 'node', label, ...(isNamed && { id: node }), about, depth }, bars);
  const unended = bars.filter(({ status }) => status === 'open' || status === 'stopped');
  // The sums include activations that are not listed, but none without an end.
  return { ...row, bars: activations, busyMs: busyMs + timeOf(unended), tokens: usage.totalTokens };
}

function activationBar(one: TimelineActivation, end: number, isOver: boolean): TimelineBar {
  const { status, within, attempt, error, startedAtMs: fromMs, endedAtMs: toMs = end, usage, emissions } = one;
  return {
    fromMs,
    toMs,
    status: status === 'open' && isOver ? 'stopped' : status,
    ...(within !== undefined && { within }),
    ...(attempt > 1 && { attempt }),
    ...(error !== undefined && { error }),
    tokens: usage.totalTokens,
    marks: emissions.map(({ kind, atMs, pieces, characters }) => ({ kind, atMs, pieces, characters })),
  };
}

/** Calls of one kind and name in one place, and those that belong to them below. */
interface CallGroup {
  readonly kind: CallKind;
  readonly name: string;
  readonly calls: CallSummary[];
  readonly inside: Map<string, CallGroup>;
}

function callRows(activations: readonly TimelineActivation[], depth: number, end: number): TimelineRow[] {
  const groups = new Map<string, CallGroup>();
  for (const { calls } of activations) {
    const groupOf = new Map<number, CallGroup>();
    for (const call of calls) {
      const around = (call.parent === undefined ? undefined : groupOf.get(call.parent))?.inside ?? groups;
      const key = `${call.kind} ${call.name}`;
      const group: CallGroup = around.get(key) ?? { kind: call.kind, name: call.name, calls: [], inside: new Map() };
      around.set(key, group);
      group.calls.push(call);
      groupOf.set(call.id, group);
    }
  }
  return rowsOfGroups(groups, depth, end);
}

function rowsOfGroups(groups: ReadonlyMap<string, CallGroup>, depth: number, end: number): TimelineRow[] {
  return [...groups.values()].flatMap(({ kind, name, calls, inside }) => {
    const bars = calls.map((call) => callBar(call, end));
    const row = rowOf({ kind, label: name, about: kind, depth: Math.min(MAX_DEPTH, depth) }, bars);
    return [row, ...rowsOfGroups(inside, depth + 1, end)];
  });
}

function callBar(
  { status, error, startedAtMs, firstPieceAtMs, endedAtMs, usage }: CallSummary,
  end: number,
): TimelineBar {
  return {
    fromMs: startedAtMs,
    toMs: endedAtMs ?? end,
    status: status === 'done' ? 'settled' : status,
    ...(error !== undefined && { error }),
    tokens: usage?.totalTokens ?? 0,
    marks: firstPieceAtMs === undefined ? [] : [{ kind: 'text', atMs: firstPieceAtMs }],
  };
}

function rowOf(
  head: Pick<TimelineRow, 'kind' | 'label' | 'id' | 'about' | 'depth'>,
  bars: readonly TimelineBar[],
): TimelineRow {
  const error = bars.find((bar) => bar.status === 'failed' && bar.error !== undefined)?.error;
  return {
    ...head,
    lanes: lanesOf(bars),
    bars: bars.length,
    busyMs: timeOf(bars),
    tokens: bars.reduce((sum, { tokens }) => sum + tokens, 0),
    ...(error !== undefined && { error }),
  };
}

function timeOf(bars: readonly TimelineBar[]): number {
  return bars.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

/** Bars in lanes: each goes to the first one that is free when it begins; of too many at the same time the further ones overlap in the last. */
export function lanesOf<B extends Pick<TimelineBar, 'fromMs' | 'toMs'>>(bars: readonly B[]): B[][] {
  const lanes: B[][] = [];
  for (const bar of [...bars].sort((one, other) => one.fromMs - other.fromMs)) {
    const free = lanes.find((lane) => (lane.at(-1)?.toMs ?? 0) <= bar.fromMs);
    if (free !== undefined) free.push(bar);
    else if (lanes.length < MAX_LANES) lanes.push([bar]);
    else lanes.at(-1)?.push(bar);
  }
  return lanes;
}

/** Steps of an axis in milliseconds, of which the smallest that fits is taken; above them whole hours. */
const STEPS_MS: readonly number[] = [
  ...[1, 10, 100, 1_000].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600].map((seconds) => seconds * 1_000),
];
const HOUR_MS = 3_600_000;

/** Milliseconds between two round times, of which at most `most` lie in `spanMs`. */
export function tickStepOf(spanMs: number, most: number): number {
  const room = spanMs / Math.max(1, most);
  return STEPS_MS.find((one) => one >= room) ?? Math.ceil(room / HOUR_MS) * HOUR_MS;
}

/** Round times from 0 to before `spanMs`, `most` of them at most, at least one. */
export function ticksOf(spanMs: number, most: number): readonly number[] {
  const step = tickStepOf(spanMs, most);
  return Array.from({ length: Math.max(1, Math.ceil(spanMs / step)) }, (_, at) => at * step);
}

/** A time on an axis, as short as possible. */
export function formatTick(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1_000) return `${ms} ms`;
  return ms < 60_000 ? `${ms / 1_000} s` : formatMs(ms).replace(/ 0 (?:s|min)$/, '');
}

/** A duration as text, such as `1.50 s`. */
export function formatMs(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1_000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
