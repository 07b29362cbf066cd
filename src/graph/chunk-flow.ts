/** What a run does beside performing nodes: readers of streams that start early; in typed plans chunks, changes of states, values that have to be storable, waves in step. */
import { ChunkStream } from '../operators/chunk-stream.js';
import { type ActivationFlow, activationOf, type NodeActivation, type StreamOpening } from './activation.js';
import type { Settled } from './node-events.js';
import type { Node, Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { PerformOptions } from './run-options.js';
import type { StatePatch } from './state-cell.js';
import type { Frame, Token, TypedFrame } from './tokens.js';
import { apply, type LiveState } from './transition.js';
import { storeValue, type TypedNode, type ValueCodec } from './typed.js';

/** Readers of chunks that start within each other; further ones start when the chunks are all there. */
const MAX_DEPTH = 256;

/** What the run does for it. */
export interface FlowOptions {
  readonly options: Pick<PerformOptions, 'isStored' | 'isResumable' | 'log'>;
  /** The run ends with the wave under way: no consumer is started any more. */
  readonly isEnding: () => boolean;
  /** Performs tokens at once. */
  readonly start: (tokens: readonly Token[]) => void;
}

/** Chunks, states and stored values of one run. */
export class ChunkFlow implements ActivationFlow {
  readonly #plan: Plan;
  readonly #live: LiveState;
  readonly #reporter: Reporter;
  readonly #options: FlowOptions;
  readonly #noneReady: Token[] = [];
  #depth = 0;

  constructor(live: LiveState, reporter: Reporter, options: FlowOptions) {
    this.#plan = live.plan;
    this.#live = live;
    this.#reporter = reporter;
    this.#options = options;
  }

  /** How many nodes that are being started have started each other. */
  get depth(): number {
    return this.#depth;
  }

  /** The run may go on from where it is stopped: streams keep all of their chunks. */
  get isResumable(): boolean {
    return this.#options.options.isResumable;
  }

  /** A node gives chunks from now on: those that read them are started. */
  open(token: Token, activation: NodeActivation, { next, onUnread }: StreamOpening): ChunkStream<unknown> {
    const node = this.#nodeOf(token);
    const typed = node.typed as TypedNode;
    const { frame } = token;
    const output = typed.isResult ? frame.typed?.output : undefined;
    const isLockstep = frame.scope.typed?.isLockstep === true;
    const startsNone = this.#depth >= MAX_DEPTH || isLockstep;
    const isWhole = typed.keepsChunks || startsNone;
    // The result of a scope is kept for its reader unless that takes it chunk by chunk.
    const isKept = this.isResumable || isWhole || (typed.isResult && output === undefined);
    const isNeeded = isWhole || typed.isResult;
    const stream = new ChunkStream<unknown>({
      name: node.id,
      isKept,
      onUnread: isNeeded ? undefined : onUnread,
      ...node.edge,
    });
    activation.out = stream;
    if (output !== undefined) output.open();
    if (startsNone || this.#options.isEnding() || (next === undefined && node.streamsTo.length === 0)) return stream;
    this.startReaders(token, node, next);
    return stream;
  }

  /** Nodes that read what the node gives while it gives it are started; `next` names some of them, as in `StreamOpening`. */
  startReaders(token: Token, node: Node, next?: readonly string[]): void {
    const early: Token[] = [];
    apply(this.#live, token, { type: 'streaming', next }, early);
    this.#reporter.streaming(token, node, next);
    this.#depth += 1;
    this.#options.start(early);
    this.#depth -= 1;
  }

  /** What a reader passes on is reported there, and what comes out of a body was reported in it. */
  report(token: Token, chunk: unknown): void {
    const activation = activationOf(token);
    const node = this.#nodeOf(token);
    const { startedEarly } = token;
    activation.isTextReported ??= node.body === -1 && (startedEarly === undefined || startedEarly.length === 0);
    if (activation.isTextReported) this.#reporter.chunk(token, node, chunk);
  }

  /** Changes a state of a graph around the node. @throws EngineError VALUE_NOT_STORABLE */
  patch(token: Token, state: string, patch: StatePatch): void {
    const { values } = this.#plan;
    const stored = this.#options.options.isStored ? storeValue(values as ValueCodec, patch, `$.${state}`) : undefined;
    apply(this.#live, token, { type: 'patched', state, patch }, this.#noneReady);
    this.#reporter.patched(token, this.#nodeOf(token), state, patch, stored);
  }

  /** Before anything changes: a value that cannot be stored fails its node. @throws EngineError VALUE_NOT_STORABLE */
  storable(token: Token, outcome: Settled): Settled {
    const stored = storeValue(this.#plan.values as ValueCodec, outcome.value, activationOf(token).path);
    if (this.#options.options.log === undefined) return outcome;
    const { type, outputs, value, next, writes, exit } = outcome;
    const isPlain = next === undefined && writes === undefined && exit === undefined;
    return isPlain ? { type, outputs, value, stored } : { ...outcome, stored };
  }

  #nodeOf(token: Token): Node {
    return this.#plan.nodes[token.node] as Node;
  }
}

/**
 * With `lockstep`: a node of the wave has ended, or the frame begins. Gives the next wave when all of this one have ended, nothing before.
 *
 * @param ready tokens that are to run in the next wave
 */
export function nextWave(frame: Frame, ready: readonly Token[]): Token[] {
  const typed = frame.typed as TypedFrame;
  typed.parked.push(...ready);
  typed.open = Math.max(0, typed.open - 1);
  if (typed.open > 0) return [];
  const wave = typed.parked.splice(0).filter(({ isLive }) => isLive);
  typed.open = wave.length;
  return wave;
}
