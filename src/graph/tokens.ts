/**
 * Tokens and frames: the position of a run.
 *
 * A *token* is the permission to run a node. A *frame* is one execution of a scope: the top level of a run, or one pass through
 * a container's body. Both are mutable, and changed by `frontier.ts` and `transition.ts` alone; what leaves the engine is a snapshot
 * (see `state.ts`). What a live run does with a token, its *activity*, hangs on the token and is no part of the state.
 */
import type { Json, JsonObject } from '../json.js';
import type { Outputs } from './node-events.js';
import type { Scope, Variables } from './plan.js';
import type { Cells } from './state.js';
import type { StateCell } from './state-cell.js';
import type { Arrival, ChunkInput, ResultSink } from './typed.js';

/** `ready`: may run. `held`: waits at a join. `running`: at work. `waiting`: needs an answer, itself or in its body. */
export type TokenStatus = 'ready' | 'held' | 'running' | 'waiting';

/** The values that the nodes of a frame read and write; shared with the frame around it unless the frame is isolated. */
export interface Values {
  readonly cells: Cells<Outputs>;
  variables: Variables;
}

/** What a live run does with a token; see `activation.ts`. */
export interface Activity {
  /** Stops the node's work, or its pause before the next try; nothing is reported of it afterwards. */
  stop(): void;
}

/** Receives the end of a frame; see `perform.ts`. */
export interface FrameObserver {
  /** The frame is done, was left early, or can only wait. */
  ended(status: 'done' | 'exited' | 'interrupted'): void;
  /** A node of the body failed and nothing in the body handles it. */
  failed(error: Error): void;
}

/** What belongs to a token beside its position. */
export interface TokenData {
  /** What a waiting node asks for. */
  payload: JsonObject | undefined;
  /** What a node that asked was answered; gone once it asks again. */
  answer: Json | undefined;
  /** What the node stored for when it runs again. */
  nodeState: Json | undefined;
  /** Outputs that grow item by item. */
  lists: Map<string, Json[]> | undefined;
  /** Nodes that its router chose before it settled; undefined: all of its successors. */
  chosen?: readonly number[] | undefined;
}

/** Permission to run one node once. All fields are set in the constructor, in one order: one hidden class. */
export class Token {
  /** Unique within the run. A token that is held at a join gets a new one whenever another one comes there. */
  id: number;
  /** Index of the node in the plan. */
  readonly node: number;
  readonly frame: Frame;
  status: TokenStatus;
  /** Neighbours in the frame's list of live tokens, oldest first. */
  previous: Token | undefined = undefined;
  next: Token | undefined = undefined;
  isLive = true;
  /** The live token of the same node that came before; only kept where the scope has joins. */
  older: Token | undefined = undefined;
  /** For a held token: a live token that can still reach its node. */
  witness: Token | undefined = undefined;
  /** The first of the held tokens whose witness this token is, and the next one with the same witness. */
  firstWatcher: Token | undefined = undefined;
  nextWatcher: Token | undefined = undefined;
  /** Whether the node is running and its text comes live. */
  isStreaming = false;
  /** Consumers that were started before this token settled. */
  startedEarly: Token[] | undefined = undefined;
  /** Producers that this token was started before, and that have not settled. */
  awaits = 0;
  /** Made by `dataOf` for the few nodes that need it: every token would otherwise be a fifth larger. */
  data: TokenData | undefined = undefined;
  /** Frames of the node's body that are in progress, by round key. */
  frames: Map<string, Frame> | undefined = undefined;
  /** Whether the token is held although its node joins nothing: it reads the output of a node beside it that is at work. */
  isPutOff = false;
  /** The node at work; undefined before it is announced. */
  activity: Activity | undefined = undefined;
  /** What came over the edges of a typed plan. */
  input: Arrival | undefined = undefined;

  constructor(id: number, node: number, frame: Frame, status: TokenStatus) {
    this.id = id;
    this.node = node;
    this.frame = frame;
    this.status = status;
  }
}

/** The data of a token, made when it has none. */
export function dataOf(token: Token): TokenData {
  token.data ??= { payload: undefined, answer: undefined, nodeState: undefined, lists: undefined };
  return token.data;
}

/** 64 nodes in a chunk: what a small plan needs at once, and a hundredth of a plan of 10,000. */
const SHIFT = 6;
const MASK = (1 << SHIFT) - 1;

/**
 * The newest live token of each node of a frame, with the older ones of the same node behind it.
 *
 * A table in chunks that are made when first written: a lookup is two array reads where a Map hashes, and a frame that visits
 * a few nodes of a large plan pays for those.
 */
export class NewestTokens {
  readonly #chunks: ((Token | undefined)[] | undefined)[] = [];

  get(node: number): Token | undefined {
    const chunk = this.#chunks[node >> SHIFT];
    return chunk === undefined ? undefined : chunk[node & MASK];
  }

  /** The token that waits at a node; at most one does, and no token of that node comes after it. */
  heldAt(node: number): Token | undefined {
    const token = this.get(node);
    return token?.status === 'held' ? token : undefined;
  }

  /** Puts a token in front of those of its node. */
  add(token: Token): void {
    const at = token.node >> SHIFT;
    let chunk = this.#chunks[at];
    if (chunk === undefined) {
      chunk = new Array<Token | undefined>(MASK + 1);
      this.#chunks[at] = chunk;
    }
    token.older = chunk[token.node & MASK];
    chunk[token.node & MASK] = token;
  }

  delete(token: Token): void {
    const chunk = this.#chunks[token.node >> SHIFT] as (Token | undefined)[];
    const { older } = token;
    token.older = undefined;
    let newer = chunk[token.node & MASK];
    if (newer === token) {
      chunk[token.node & MASK] = older;
      return;
    }
    while (newer !== undefined && newer.older !== token) newer = newer.older;
    if (newer !== undefined) newer.older = older;
  }

  clear(): void {
    this.#chunks.length = 0;
  }
}

/** What a frame of a typed plan keeps. */
export class TypedFrame {
  /** Settlements so far. */
  steps = 0;
  /** The value of the node that gives the result, once it has settled. */
  result: { readonly value: unknown } | undefined = undefined;
  /** By name. */
  readonly states: ReadonlyMap<string, StateCell>;
  /** Where the chunks of the result go while they come; undefined when nothing reads them. */
  output: ResultSink | undefined = undefined;
  /** Where the chunks of the input come from; undefined when the input came whole. */
  source: ChunkInput | undefined = undefined;
  /** With `lockstep`: tokens of the wave under way that have not ended, and those of the next one. */
  open = 0;
  readonly parked: Token[] = [];

  constructor(states: ReadonlyMap<string, StateCell>) {
    this.states = states;
  }
}

/** One execution of a scope. */
export class Frame {
  readonly scope: Scope;
  /** Token of the container whose body this is; undefined at the top level. */
  readonly owner: Token | undefined;
  /** Key of the round within its container; empty at the top level. */
  readonly key: string;
  readonly values: Values;
  readonly aliases: JsonObject | undefined;
  readonly isIsolated: boolean;
  readonly isClosing: boolean;
  /** Oldest and newest live token. */
  first: Token | undefined = undefined;
  last: Token | undefined = undefined;
  liveCount = 0;
  /** Live tokens that are ready or running: as long as there are any, the frame can move by itself. */
  movingCount = 0;
  /** Live tokens that wait at a join. */
  heldCount = 0;
  /** Live tokens by level, and the lowest level with any; only kept where the scope has joins. */
  readonly liveAtLevel: Int32Array | undefined;
  lowestLevel = 0;
  /** A node failed and nothing in the body handles it: the body closes when its wave is over. */
  hasFailed = false;
  /** A node left the body early: the frame is empty, and its container has not been told. */
  isLeft = false;
  /** Live tokens by node; only kept where the scope has joins. */
  readonly newest: NewestTokens | undefined;
  /** Told once how the frame ends; undefined before a live run begins it, and afterwards. */
  observer: FrameObserver | undefined = undefined;
  /** What a frame of a typed plan has beside that. */
  typed: TypedFrame | undefined = undefined;

  constructor(
    scope: Scope,
    owner: Token | undefined,
    key: string,
    values: Values,
    options: {
      readonly aliases?: JsonObject | undefined;
      readonly isIsolated?: boolean;
      readonly isClosing?: boolean;
    } = {},
  ) {
    this.scope = scope;
    this.owner = owner;
    this.key = key;
    this.values = values;
    this.aliases = options.aliases;
    this.isIsolated = options.isIsolated ?? false;
    this.isClosing = options.isClosing ?? false;
    this.liveAtLevel = scope.hasJoins ? new Int32Array(scope.levels) : undefined;
    this.newest = scope.hasJoins ? new NewestTokens() : undefined;
  }
}

/** `container/round` for every frame around, outermost first; empty at the top level. In a typed plan `graph` or `map[3]`. */
export function framePath(frame: Frame, idOf: (node: number) => string): string {
  const { owner } = frame;
  if (owner === undefined) return '';
  const around = framePath(owner.frame, idOf);
  const { key } = frame;
  const round = key === '' || key.startsWith('[') ? key : `/${key}`;
  return `${around === '' ? '' : `${around}/`}${idOf(owner.node)}${round}`;
}

/** Empties a frame that was left early; the tokens that were in it are put behind `removed`. Its observer is still to be told. */
export function leave(frame: Frame, removed: Token[]): void {
  const { observer } = frame;
  retire(frame, removed);
  frame.isLeft = true;
  frame.first = undefined;
  frame.last = undefined;
  frame.liveCount = 0;
  frame.movingCount = 0;
  frame.heldCount = 0;
  frame.newest?.clear();
  frame.liveAtLevel?.fill(0);
  frame.observer = observer;
}

/** The states of a frame, and of the bodies inside, change no more. */
export function endStates(frame: Frame): void {
  if (frame.typed === undefined) return;
  for (const cell of frame.typed.states.values()) cell.end();
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.frames !== undefined) for (const inner of token.frames.values()) endStates(inner);
  }
}

/** Takes every token of a frame, and of the bodies inside, out of the run; the observer of the frame is not told. */
export function retire(frame: Frame, removed: Token[]): void {
  frame.observer = undefined;
  for (let token = frame.first; token !== undefined; token = token.next) {
    token.isLive = false;
    removed.push(token);
    if (token.frames !== undefined) for (const inner of token.frames.values()) retire(inner, removed);
  }
}

// ── lists through tokens ────────────────────────────────────────────────────────────────────────────────────────────────────
// A short array beside each token would come to lie in V8's old space, where it keeps its run alive until the next full collection.
// The live tokens of a frame stand in the order in which they may run: adding and removing cost nothing, however many there are, and a
// resumed run goes the same way as one that was never stopped. The watchers of a token are those that wait for it at joins.

/** Puts a token at the end of its frame's list. */
export function appendToList(token: Token): void {
  const { frame } = token;
  token.previous = frame.last;
  token.next = undefined;
  if (frame.last === undefined) frame.first = token;
  else frame.last.next = token;
  frame.last = token;
}

/** Takes a token out of its frame's list. */
export function unlink(token: Token): void {
  const { frame, previous, next } = token;
  if (previous === undefined) frame.first = next;
  else previous.next = next;
  if (next === undefined) frame.last = previous;
  else next.previous = previous;
  // A dead token that was promoted would otherwise keep every later one alive until the next full collection.
  token.previous = undefined;
  token.next = undefined;
}

/** The tokens that wait at joins, oldest first. */
export function heldTokens(frame: Frame): Token[] {
  const held: Token[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) if (token.status === 'held') held.push(token);
  return held;
}

/** From now on `held` waits for `witness`. */
export function watch(held: Token, witness: Token): void {
  held.witness = witness;
  held.nextWatcher = witness.firstWatcher;
  witness.firstWatcher = held;
}

/** Ends that; does nothing when it has no witness. */
export function unwatch(held: Token): void {
  const { witness, nextWatcher } = held;
  held.witness = undefined;
  held.nextWatcher = undefined;
  if (witness?.firstWatcher === held) {
    witness.firstWatcher = nextWatcher;
    return;
  }
  let before = witness?.firstWatcher;
  while (before !== undefined && before.nextWatcher !== held) before = before.nextWatcher;
  if (before !== undefined) before.nextWatcher = nextWatcher;
}

/** Watchers that are sorted where they stand; more are sorted as an array, whose comparisons do not grow with the square. */
const FEW_WATCHERS = 32;

/**
 * Ends all watching of a witness; gives the held tokens in the order in which they came, in which a resumed run finds them too: the first,
 * with the others behind it as `nextWatcher`.
 */
export function takeWatchers(witness: Token): Token | undefined {
  let sorted: Token | undefined;
  let count = 0;
  for (let held = witness.firstWatcher; held !== undefined; count += 1) {
    const next: Token | undefined = held.nextWatcher;
    held.witness = undefined;
    if (count === FEW_WATCHERS) {
      sorted = sortedWatchers(sorted, held, next);
      break;
    }
    sorted = putWatcher(sorted, held);
    held = next;
  }
  witness.firstWatcher = undefined;
  return sorted;
}

/** Mostly the newest comes last, and belongs in front. */
function putWatcher(sorted: Token | undefined, held: Token): Token {
  if (sorted === undefined || held.id < sorted.id) {
    held.nextWatcher = sorted;
    return held;
  }
  let before = sorted;
  while (before.nextWatcher !== undefined && before.nextWatcher.id < held.id) before = before.nextWatcher;
  held.nextWatcher = before.nextWatcher;
  before.nextWatcher = held;
  return sorted;
}

/** Those that are sorted, `held`, and those from `rest` on. */
function sortedWatchers(sorted: Token | undefined, held: Token, rest: Token | undefined): Token {
  const all: Token[] = [held];
  for (const first of [sorted, rest]) {
    for (let other = first; other !== undefined; other = other.nextWatcher) {
      other.witness = undefined;
      all.push(other);
    }
  }
  all.sort((left, right) => left.id - right.id);
  for (let at = 0; at < all.length; at += 1) (all[at] as Token).nextWatcher = all[at + 1];
  return all[0] as Token;
}

// ── stream edges ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The token of a producer whose text `consumer` reads while it comes; undefined when there is none (any more). */
export function liveProducer(consumer: Token, producer: number): Token | undefined {
  if (consumer.awaits === 0) return undefined;
  for (let other = consumer.frame.first; other !== undefined; other = other.next) {
    if (other.node === producer && other.startedEarly?.includes(consumer) === true) return other;
  }
  return undefined;
}

/** Whether one of the consumers that were started early is the token of a node. */
export function hasStarted(early: readonly Token[], node: number): boolean {
  return early.some((token) => token.node === node);
}

/** Separates a producer that does not settle from the consumers it had, which no other producer knows afterwards either. */
export function detachConsumers(producer: Token): readonly Token[] {
  const { startedEarly = [] } = producer;
  producer.isStreaming = false;
  producer.startedEarly = undefined;
  if (startedEarly.length === 0) return startedEarly;
  for (let other = producer.frame.first; other !== undefined; other = other.next) {
    other.startedEarly = other.startedEarly?.filter((early) => !startedEarly.includes(early));
  }
  return startedEarly;
}
