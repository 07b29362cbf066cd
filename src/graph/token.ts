/**
 * Tokens and frames: where a run stands.
 *
 * A *token* is the permission to run a node. A *frame* is one execution of a scope: the top level of a run, or one pass through
 * a container's body. Both are mutable while a run works on them; what leaves the engine is a snapshot (see `state.ts`).
 */
import type { Json, JsonObject } from '../json.js';
import type { Cells } from './cells.js';
import type { ErrorInfo } from './events.js';
import type { LiveText } from './live-text.js';
import type { Outputs, Settled } from './node-events.js';
import type { Scope, Variables } from './plan.js';

/** `ready`: may run. `held`: waits at a join. `running`: at work. `waiting`: needs an answer, itself or in its body. */
export type TokenStatus = 'ready' | 'held' | 'running' | 'waiting';

/** The values that the nodes of a frame read and write; shared with the frame around it unless the frame is isolated. */
export interface Values {
  readonly cells: Cells<Outputs>;
  variables: Variables;
}

/** Work under way that can be stopped. */
export interface Work {
  /** Stops the work; nothing is heard of it afterwards. */
  stop(): void;
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
  /** Whether the node's text is reported; decided at its first piece, undefined before. */
  isTextReported: boolean | undefined = undefined;
  /** Consumers that were started before this token settled. */
  startedEarly: Token[] | undefined = undefined;
  /** Producers that this token was started before, and that have not settled. */
  awaits = 0;
  /** What the node settled with while it still awaits a producer. */
  deferred: { readonly outcome: Settled; readonly recovered: ErrorInfo | undefined } | undefined = undefined;
  /** What a waiting node asks for. */
  payload: JsonObject | undefined = undefined;
  /** What a node that asked was answered; gone once it asks again. */
  answer: Json | undefined = undefined;
  /** What the node wants back after a resume. */
  nodeState: Json | undefined = undefined;
  /** Outputs that grow item by item. */
  lists: Map<string, Json[]> | undefined = undefined;
  /** Frames of the node's body that are in progress, by round key. */
  frames: Map<string, Frame> | undefined = undefined;
  /** The node's text while it streams. */
  live: LiveText | undefined = undefined;
  /** What is under way for the node; undefined for a node that settles at once. */
  work: Work | undefined = undefined;
  /** Whether the work counts against the run's concurrency. */
  holdsSlot = false;
  attempt = 1;
  startedAt = 0;
  /** Whether the node was started and then waited for one beside it, whose output it reads. */
  wasPutOff = false;

  constructor(id: number, node: number, frame: Frame, status: TokenStatus) {
    this.id = id;
    this.node = node;
    this.frame = frame;
    this.status = status;
  }
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
  /** A node failed and nobody in the body handles it; the container is told when its wave is over. */
  hasFailed = false;
  /** A node left the body early: nothing of it goes on, but its container has not heard of it yet. */
  isLeft = false;
  /** Live tokens by node; only kept where the scope has joins. */
  readonly newest: NewestTokens | undefined;
  /** Called once when the frame ends or can only wait. */
  whenEnded: ((status: 'done' | 'exited' | 'interrupted') => void) | undefined = undefined;
  /** Called once when a node of the body fails and nobody in the body handles it. */
  whenFailed: ((error: Error) => void) | undefined = undefined;

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

/** `container/round` for every frame around, outermost first; empty at the top level. */
export function framePath(frame: Frame, idOf: (node: number) => string): string {
  const { owner } = frame;
  if (owner === undefined) return '';
  const around = framePath(owner.frame, idOf);
  return `${around === '' ? '' : `${around}/`}${idOf(owner.node)}/${frame.key}`;
}

/** Empties a frame that was left early; gives the tokens that were in it. Its listeners are still to be told. */
export function leave(frame: Frame): Token[] {
  const { whenEnded } = frame;
  const tokens = retire(frame);
  frame.isLeft = true;
  frame.first = undefined;
  frame.last = undefined;
  frame.liveCount = 0;
  frame.movingCount = 0;
  frame.heldCount = 0;
  frame.newest?.clear();
  frame.liveAtLevel?.fill(0);
  frame.whenEnded = whenEnded;
  return tokens;
}

/** Takes every token of a frame, and of the bodies inside, out of the run; nobody is told of the frame's end. */
export function retire(frame: Frame): Token[] {
  frame.whenEnded = undefined;
  frame.whenFailed = undefined;
  const tokens: Token[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) {
    token.isLive = false;
    tokens.push(token);
    if (token.frames !== undefined) for (const inner of token.frames.values()) tokens.push(...retire(inner));
  }
  return tokens;
}
