/**
 * The state of a run as a value: what `state$` holds, what a checkpoint stores, what `transition` takes and gives.
 *
 * A State is immutable and shares its cells with the run it was taken from. See `snapshot.ts` for how it is taken, `state-json.ts` for
 * its JSON.
 */
import type { Json, JsonObject } from '../json.js';
import type { RunUsage } from './events.js';
import type { Outputs } from './node-events.js';

/** A live token of a State. */
export interface TokenState {
  readonly id: number;
  readonly node: number;
  readonly status: 'ready' | 'held' | 'waiting';
  readonly payload?: JsonObject;
  readonly answer?: Json;
  readonly nodeState?: Json;
  readonly frames?: readonly FrameState[];
  /** The node is at work and its text comes live. */
  readonly isStreaming?: boolean;
  /** Tokens of the consumers that were started before the node settled. */
  readonly startedEarly?: readonly number[];
  /** In a typed plan: what came over its edges, the newest first; a value that is still coming is absent. */
  readonly input?: readonly ArrivalState[];
  /** In a typed plan: indexes of the nodes that it goes on to, when it has chosen before it settled. */
  readonly chosen?: readonly number[];
}

/** What came over an edge of a typed plan. */
export interface ArrivalState {
  /** Index of the node it came from. */
  readonly from: number;
  readonly value: unknown;
}

/** One execution of a scope in a State. */
export interface FrameState {
  readonly key: string;
  readonly tokens: readonly TokenState[];
  readonly aliases?: JsonObject;
  readonly isClosing?: boolean;
  /** A node left the body early, and the container has not been notified. */
  readonly isLeft?: boolean;
  /** A node of the body failed, and the body is about to close. */
  readonly hasFailed?: boolean;
  /** Own values of an isolated frame. */
  readonly values?: { readonly cells: Cells<Outputs>; readonly variables: JsonObject };
  /** What a frame of a typed plan has. */
  readonly typed?: TypedFrameState;
}

/** What a frame of a typed plan keeps. */
export interface TypedFrameState {
  /** Settlements so far. */
  readonly steps: number;
  readonly result?: { readonly value: unknown };
  /** Values of the states that it owns, by name. */
  readonly states: Readonly<Record<string, unknown>>;
}

/** Where a run stands. */
export interface State {
  /** Number of settlements so far. */
  readonly step: number;
  readonly nextToken: number;
  readonly cells: Cells<Outputs>;
  readonly variables: JsonObject;
  readonly root: FrameState;
  /** Token and outputs of the node that ran last. */
  readonly last?: { readonly token: number; readonly outputs: Outputs };
  /** Tokens of models that the run used; absent when there are none. */
  readonly usage?: RunUsage;
}

/** A run that has not called a model. */
export const NO_USAGE: RunUsage = Object.freeze({ promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 });

/** The usage after one more call. */
export function addUsage(usage: RunUsage, call: Omit<RunUsage, 'calls'>): RunUsage {
  return {
    promptTokens: usage.promptTokens + call.promptTokens,
    completionTokens: usage.completionTokens + call.completionTokens,
    totalTokens: usage.totalTokens + call.totalTokens,
    calls: usage.calls + 1,
  };
}

/** A State that can be written down and resumed from. */
export interface Checkpoint {
  readonly version: 1;
  readonly run: string;
  readonly planHash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Sequence number of the last event before the checkpoint; a resumed run continues from it when asked to. */
  readonly seq: number;
  /** What the run was started with; a recovered run continues with it. */
  readonly input?: Json;
  readonly state: JsonObject;
}

/**
 * A two-level persistent vector: one cell per node, cheap to fork, cheap to write.
 *
 * A run writes one cell per settlement and takes a snapshot only when one is requested. Cells are stored in chunks of about
 * the square root of their number; a write copies its chunk only when the chunk is shared with a fork. So a write costs an
 * array store, a fork costs nothing, and the first write after a fork costs two arrays of about √n.
 */
export class Cells<T> {
  readonly length: number;
  readonly #shift: number;
  readonly #mask: number;
  #chunks: (T | undefined)[][];
  /** True where the chunk belongs to this vector alone and may be written in place; a plain array, as a typed one costs more to make than most runs write. */
  #owned: (true | undefined)[];
  #ownsTop: boolean;

  private constructor(
    length: number,
    shift: number,
    chunks: (T | undefined)[][],
    owned: (true | undefined)[],
    ownsTop: boolean,
  ) {
    this.length = length;
    this.#shift = shift;
    this.#mask = (1 << shift) - 1;
    this.#chunks = chunks;
    this.#owned = owned;
    this.#ownsTop = ownsTop;
  }

  /** A vector of `length` empty cells (indexes 0 to length - 1). */
  static empty<T>(length: number): Cells<T> {
    const shift = Math.max(4, Math.ceil(Math.log2(Math.max(1, length)) / 2));
    const count = Math.ceil(length / (1 << shift));
    return new Cells<T>(length, shift, new Array(count), new Array(count), true);
  }

  get(index: number): T | undefined {
    const chunk = this.#chunks[index >> this.#shift];
    return chunk === undefined ? undefined : chunk[index & this.#mask];
  }

  /** Writes a cell of this vector; forks taken before keep the old value. */
  set(index: number, value: T | undefined): void {
    const at = index >> this.#shift;
    if (!this.#ownsTop) {
      this.#chunks = this.#chunks.slice();
      this.#owned = new Array(this.#chunks.length);
      this.#ownsTop = true;
    }
    let chunk = this.#chunks[at];
    if (this.#owned[at] === undefined) {
      chunk = chunk === undefined ? [] : chunk.slice();
      this.#chunks[at] = chunk;
      this.#owned[at] = true;
    }
    (chunk as (T | undefined)[])[index & this.#mask] = value;
  }

  /** An independent copy that shares every chunk until one side writes. */
  fork(): Cells<T> {
    this.#ownsTop = false;
    return new Cells<T>(this.length, this.#shift, this.#chunks, this.#owned, false);
  }
}
