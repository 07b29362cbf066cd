/** What a node begins with: one value, or chunks, made of what came over its edges. */
import { concat, from, merge, mergeMap, Observable, of } from 'rxjs';
import { EngineError, errorAt, toEngineError } from '../../errors.js';
import type { NodeActivation } from '../../graph/activation.js';
import { type Arrival, Chunks, COMING } from '../../graph/typed.js';
import { messageOf } from '../../models/concat-messages.js';
import type { AssistantChunk } from '../../models/messages.js';
import type { Room } from '../../operators/chunk-reader.js';
import { ChunkStream } from '../../operators/chunk-stream.js';
import { pour } from '../../operators/pour.js';
import { concatValues } from '../chunks/concat-values.js';
import { type ConcatRule, END, type InputRule, type NodeBlueprint } from '../step.js';
import type { RunContext } from './context.js';

/** Where a value may come from. */
export interface Source {
  /** What the graph calls it: the id of a node, or `start`. */
  readonly id: string;
  /** Index in the plan. */
  readonly node: number;
  /** How its chunks become one value; undefined: by their type. */
  readonly rule: ConcatRule<unknown> | undefined;
  /** Its path, for errors of its chunks; that of the reader where they come from outside. */
  readonly path: string | undefined;
}

/** What an {@link Inlet} is made of. */
export interface InletParts {
  /** The path of the node, for errors. */
  readonly path: string;
  /** In the order of the edges. */
  readonly sources: readonly Source[];
  /** Read without an edge. */
  readonly reads: readonly Source[];
  readonly input: InputRule | undefined;
  readonly merge: NodeBlueprint['merge'];
}

type Gather = (values: readonly unknown[]) => unknown;

/** What a node reads. */
export class Inlet implements InletParts {
  readonly path: string;
  readonly sources: readonly Source[];
  readonly reads: readonly Source[];
  readonly input: InputRule | undefined;
  readonly merge: NodeBlueprint['merge'];
  #gather: Gather | null | undefined = undefined;

  constructor({ path, sources, reads, input, merge }: InletParts) {
    this.path = path;
    this.sources = sources;
    this.reads = reads;
    this.input = input;
    this.merge = merge;
  }

  /** The input of one value from each source, in their order; null where that does not tell it. Asked for once all sources are known. */
  get gather(): Gather | null {
    if (this.#gather === undefined) this.#gather = this.#gatherer();
    return this.#gather;
  }

  #gatherer(): Gather | null {
    const { input, merge, reads, sources } = this;
    if (reads.length > 0 || new Set(sources.map(({ id }) => id)).size < sources.length) return null;
    if (input === undefined)
      return merge === undefined ? null : (values) => (values.length === 1 ? values[0] : merge(values));
    const { inOrder } = input;
    const isSame = inOrder?.ids.length === sources.length && sources.every(({ id }, at) => inOrder.ids[at] === id);
    return isSame ? inOrder.whole : null;
  }
}

type Rule = ConcatRule<unknown> | undefined;

/** Where something failed, for errors: a path, or the activation that has it with the rounds around. */
export type Where = string | NodeActivation;

/** The path of an activation from the outermost run, with rounds. It is made when it is asked for, which is when something failed. */
export function pathAt(where: Where): string {
  return typeof where === 'string' ? where : (where.services as RunContext).prefix + where.path;
}

/**
 * The whole input of a node.
 *
 * @throws EngineError MERGE_CONFLICT, CHUNKS_INVALID, STREAM_EMPTY, and what its input rule throws.
 */
export function wholeInput(inlet: Inlet, at: NodeActivation, rule: Rule): unknown {
  const { arrival } = at;
  if (arrival === undefined) return undefined;
  const { input, sources } = inlet;
  if (input === undefined && arrival.next === undefined) {
    const { value } = arrival;
    return value instanceof Chunks ? wholeFrom(sourceOf(sources, arrival.from), value, rule, at) : value;
  }
  const { gather } = inlet;
  const values = gather === null ? undefined : valuesInOrder(sources, arrival, rule, at);
  if (values !== undefined) return (gather as Gather)(values);
  if (input === undefined && gather !== null && sources.length <= FEW)
    return gather(valuesOf(inlet, arrival, rule, at));
  const arrived = arrivedAt(inlet, at, rule);
  if (input !== undefined) return input.whole(arrived);
  return arrived.size === 1 ? arrived.values().next().value : merged(inlet, arrived, at);
}

function wholeFrom(source: Source | undefined, value: unknown, rule: Rule, reader: Where): unknown {
  return wholeOf(value, source?.rule ?? rule, reader, source?.path);
}

/**
 * One value of all chunks. `reader` is where it is needed, `producer` where the chunks come from.
 *
 * @throws EngineError STREAM_EMPTY, CHUNKS_INVALID
 */
export function wholeOf(value: unknown, rule: Rule, reader: Where, producer?: string): unknown {
  if (!(value instanceof Chunks)) return value;
  if (value.items.length === 0) {
    const path = pathAt(reader);
    const message = `"${path}" needs a value, but the stream that should give it ended without any chunk. Let the step before it give at least one; "pick" gives none for a key that is not there.`;
    throw new EngineError('STREAM_EMPTY', message, { node: path });
  }
  if (value.items.length === 1) return finished(value.items[0]);
  try {
    return finished(concatValues(value.items, rule));
  } catch (thrown) {
    const node = producer ?? pathAt(reader);
    throw errorAt(toEngineError(thrown, 'NODE_FAILED', { node }), node);
  }
}

/** Chunks of messages have indexes, by which further ones would join them; once nothing follows they are messages. */
function finished(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isAssistantChunk) ? value.map(finishedMessage) : value;
  return finishedMessage(value);
}

function finishedMessage(value: unknown): unknown {
  return isAssistantChunk(value) ? messageOf(value) : value;
}

function isAssistantChunk(value: unknown): value is AssistantChunk {
  if (typeof value !== 'object' || value === null || !('role' in value) || value.role !== 'assistant') return false;
  const { toolCalls, parts } = value as Partial<AssistantChunk>;
  return (toolCalls ?? []).some(hasIndex) || (parts ?? []).some(hasIndex) || !('content' in value);
}

function hasIndex(part: object): boolean {
  return 'index' in part;
}

function sourceOf(sources: readonly Source[], node: number): Source | undefined {
  for (let at = 0; at < sources.length; at += 1) if ((sources[at] as Source).node === node) return sources[at];
  return undefined;
}

/** Sources among which an arrival is looked for one by one. */
const FEW = 8;

/** The values of {@link arrivedAt} for a few sources, without maps. */
function valuesOf({ sources }: Inlet, first: Arrival, rule: Rule, at: NodeActivation): unknown[] {
  const values: unknown[] = [];
  for (let index = 0; index < sources.length; index += 1) {
    const source = sources[index] as Source;
    const arrival = newestOf(first, source.node);
    if (arrival !== undefined) values.push(wholeFrom(source, arrival.value, rule, at));
  }
  return values;
}

/** Mostly each source gave once, in the order of the edges, of which the newest comes first; undefined when it was otherwise. */
function valuesInOrder(
  sources: readonly Source[],
  first: Arrival,
  rule: Rule,
  reader: NodeActivation,
): unknown[] | undefined {
  const values = new Array<unknown>(sources.length);
  let arrival: Arrival | undefined = first;
  for (let at = sources.length - 1; at >= 0; at -= 1) {
    const source = sources[at] as Source;
    if (arrival === undefined || arrival.from !== source.node) return undefined;
    const { value }: Arrival = arrival;
    values[at] = value instanceof Chunks ? wholeFrom(source, value, rule, reader) : value;
    arrival = arrival.next;
  }
  return arrival === undefined ? values : undefined;
}

function newestOf(first: Arrival, node: number): Arrival | undefined {
  for (let arrival: Arrival | undefined = first; arrival !== undefined; arrival = arrival.next) {
    if (arrival.from === node) return arrival;
  }
  return undefined;
}

/** Whole values by source, in the order of the edges; of several from one source the newest. */
function arrivedAt(inlet: Inlet, at: NodeActivation, rule: Rule): Map<string, unknown> {
  const { sources } = inlet;
  const arrivals = arrivalsOf(sources, at.arrival);
  const arrived = new Map<string, unknown>();
  for (let index = 0; index < sources.length; index += 1) {
    const arrival = arrivals[index];
    const source = sources[index] as Source;
    if (arrival !== undefined) arrived.set(source.id, wholeFrom(source, arrival.value, rule, at));
  }
  for (const source of inlet.reads) {
    const read = at.read(source.node);
    if (read !== undefined) arrived.set(source.id, wholeFrom(source, read.value, rule, at));
  }
  return arrived;
}

/** The newest arrival of each source. */
function arrivalsOf(sources: readonly Source[], first: Arrival | undefined): readonly (Arrival | undefined)[] {
  const arrivals = new Array<Arrival | undefined>(sources.length);
  let left = sources.length;
  let arrival = first;
  // Mostly each source gave once, in the order of the edges; the newest comes first.
  while (arrival !== undefined && left > 0 && (sources[left - 1] as Source).node === arrival.from) {
    left -= 1;
    arrivals[left] = arrival;
    arrival = arrival.next;
  }
  if (left === 0 && arrival === undefined) return arrivals;
  const newest = newestArrivals(first);
  return sources.map(({ node }) => newest.get(node));
}

function newestArrivals(first: Arrival | undefined): Map<number, Arrival> {
  const newest = new Map<number, Arrival>();
  for (let arrival = first; arrival !== undefined; arrival = arrival.next) {
    if (!newest.has(arrival.from)) newest.set(arrival.from, arrival);
  }
  return newest;
}

/** Values that came together, as one: by the rule of the node, or the keys of all of them in one object. */
function merged({ merge: rule }: Inlet, arrived: ReadonlyMap<string, unknown>, at: NodeActivation): unknown {
  if (rule !== undefined) return rule([...arrived.values()]);
  const guard = new MergeGuard(at);
  const all: Record<string, unknown> = {};
  for (const [from, value] of arrived) {
    guard.check(from, value);
    for (const [key, part] of Object.entries(value as object)) defineOwn(all, key, part);
  }
  return all;
}

function defineOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Sees that values which become one object are objects with different keys. */
class MergeGuard {
  readonly #at: NodeActivation;
  /** Who gave a key. */
  readonly #givers = new Map<string, string>();

  constructor(at: NodeActivation) {
    this.#at = at;
  }

  /** @throws EngineError MERGE_CONFLICT naming the key and both nodes. */
  check(from: string, value: unknown): void {
    if (!isPlainObject(value)) {
      throw this.#conflict(`"${from}" gave ${kindOf(value)}, and only objects with different keys become one`);
    }
    for (const key of Object.keys(value)) {
      const giver = this.#givers.get(key);
      if (giver === undefined) this.#givers.set(key, from);
      else if (giver !== from) throw this.#conflict(`"${giver}" and "${from}" both gave the key "${key}"`);
    }
  }

  #conflict(why: string): EngineError {
    const node = pathAt(this.#at);
    // An end has no options.
    const isEnd = node === END || node.endsWith(`/${END}`);
    const advice = isEnd
      ? 'Join them: g.join({ … }, g.end), or lead them to a node with a merge function.'
      : 'Give the node a merge function, or use join.';
    return new EngineError('MERGE_CONFLICT', `Several values came together at "${node}": ${why}. ${advice}`, { node });
  }
}

/** Whether a value is an object of no class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object of a class' : `a ${typeof value}`;
}

/**
 * The input of a node in chunks, live where producers are at work. To be called while the node is started: a reader that is not taken then
 * misses what comes.
 *
 * @param room Whether what is made of the chunks has room: producers that can pause wait while it has none. @default that of the node's edges
 */
export function chunkInput(
  inlet: Inlet,
  at: NodeActivation,
  rule: Rule,
  room: Room = () => at.room(),
): Observable<unknown> {
  const { arrival } = at;
  if (arrival === undefined) return of(undefined);
  if (arrival.next === undefined && inlet.input === undefined) return chunksOf(arrival, at, room);
  // Without chunks, or a rule for their pieces, the input is whole, and so one chunk.
  const isWhole = inlet.input?.piece === undefined || !hasChunks(inlet, at);
  if (inlet.input !== undefined && isWhole) return of(wholeInput(inlet, at, rule));
  const newest = newestArrivals(arrival);
  const sources = distinct(inlet.sources.filter(({ node }) => newest.has(node)));
  if (inlet.input !== undefined) return pieces(inlet, inlet.input, sources, { newest, at, room });
  if (sources.length === 1) return chunksOf(newest.get((sources[0] as Source).node) as Arrival, at, room);
  if (inlet.merge !== undefined) return mergedWhole(inlet, sources, newest, at, rule);
  const guard = new MergeGuard(at);
  return merge(
    ...sources.map(({ id, node }) =>
      chunksOf(newest.get(node) as Arrival, at, room).pipe(
        mergeMap((chunk) => {
          guard.check(id, chunk);
          return [chunk];
        }),
      ),
    ),
  );
}

/** Whether some of what a node gets comes in chunks. */
export function hasChunks({ reads }: Inlet, at: NodeActivation): boolean {
  for (let arrival = at.arrival; arrival !== undefined; arrival = arrival.next)
    if (isStream(arrival.value)) return true;
  return reads.some(({ node }) => isStream(at.read(node)?.value));
}

function isStream(value: unknown): boolean {
  return value === COMING || value instanceof Chunks;
}

/** One of those that give on the same value. */
function distinct(sources: readonly Source[]): readonly Source[] {
  return sources.length < 2 ? sources : [...new Map(sources.map((source) => [source.id, source])).values()];
}

function chunksOf({ from: node, value }: Arrival, at: NodeActivation, room?: Room): Observable<unknown> {
  if (value === COMING) return at.chunksFrom(node)?.toObservable(room) ?? of();
  return value instanceof Chunks ? from(value.items) : of(value);
}

/** Every source gives its part of the input. */
function pieces(
  { reads }: Inlet,
  rule: InputRule,
  sources: readonly Source[],
  { newest, at, room }: { newest: ReadonlyMap<number, Arrival>; at: NodeActivation; room: Room },
): Observable<unknown> {
  const piecesOf = (id: string) => mergeMap((chunk: unknown) => rule.piece?.(id, chunk) ?? []);
  const stored = reads.flatMap(({ id, node }) => {
    const read = at.read(node);
    return read === undefined ? [] : [{ id, value: read.value }];
  });
  return merge(
    from(rule.first?.() ?? []),
    ...stored.map(({ id, value }) => (value instanceof Chunks ? from(value.items) : of(value)).pipe(piecesOf(id))),
    ...sources.map(({ id, node }) => chunksOf(newest.get(node) as Arrival, at, room).pipe(piecesOf(id))),
  );
}

/** A merge function needs whole values, so the input is one chunk once all producers have ended. */
function mergedWhole(
  inlet: Inlet,
  sources: readonly Source[],
  newest: ReadonlyMap<number, Arrival>,
  at: NodeActivation,
  rule: Rule,
): Observable<unknown> {
  const collected = sources.map(() => [] as unknown[]);
  const gathering = sources.map(({ node }, index) =>
    chunksOf(newest.get(node) as Arrival, at).pipe(
      mergeMap((chunk) => {
        (collected[index] as unknown[]).push(chunk);
        return [];
      }),
    ),
  );
  const whole = (): unknown => {
    const arrived = sources.map((source, index) => {
      const value = wholeFrom(source, new Chunks(collected[index] as unknown[]), rule, at);
      return [source.id, value] as const;
    });
    return merged(inlet, new Map(arrived), at);
  };
  return concat(
    merge(...gathering),
    new Observable<unknown>((subscriber) => {
      subscriber.next(whole());
      subscriber.complete();
    }),
  );
}

/** The same, pulled: a producer that can pause waits for the reader. To be called while the node is started. */
export function pulledInput(inlet: Inlet, at: NodeActivation, rule: Rule): PulledChunks {
  const { arrival } = at;
  if (arrival !== undefined && arrival.next === undefined && inlet.input === undefined) {
    if (arrival.value === COMING) {
      const reader = at.chunksFrom(arrival.from);
      if (reader !== undefined) return { chunks: reader, release: () => reader.leave() };
    }
    return {
      chunks: iterate(arrival.value instanceof Chunks ? arrival.value.items : [arrival.value]),
      release: () => {},
    };
  }
  return pulled((room) => chunkInput(inlet, at, rule, room), inlet.path, rule);
}

/** Chunks to be pulled, once; `release` gives them up. */
export interface PulledChunks {
  readonly chunks: AsyncIterable<unknown>;
  readonly release: () => void;
}

/** An Observable, pulled; what is not asked for waits in the buffer of an edge. */
export function pulled(open: (room: Room) => Observable<unknown>, name: string, rule: Rule): PulledChunks {
  const stream = new ChunkStream<unknown>({ name, concat: (neighbours) => concatValues(neighbours, rule) });
  const reader = stream.reader();
  const pouring = pour(
    open(() => stream.room()),
    stream,
  );
  return {
    chunks: reader,
    release: () => {
      pouring.unsubscribe();
      reader.leave();
    },
  };
}

async function* iterate(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items;
}
