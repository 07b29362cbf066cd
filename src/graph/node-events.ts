/**
 * What a node may say while it is active.
 *
 * Exactly one `Settled` or `Interrupt` ends an activation. Text travels as `Delta` and never through State; everything that
 * other nodes may read goes through `Settled` (or `Progress`, for a node that is still at work).
 */
import type { Reference } from '../dsl/reference.js';
import type { Json, JsonObject } from '../json.js';

/** Values of a node by output name. */
export type Outputs = JsonObject;

/** A piece of text, as it comes. `port` is the output it belongs to; reasoning comes on the port `thinking`. */
export interface Delta {
  readonly type: 'delta';
  readonly port: string;
  readonly text: string;
}

/** Something for the outside only: `message_end`, `warning`, `audio` … */
export interface Notice {
  readonly type: 'notice';
  readonly name: string;
  readonly data: JsonObject;
}

/** What one model call consumed, in tokens. */
export interface Usage {
  readonly type: 'usage';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** What a node wants kept while it is still at work. */
export interface Progress {
  readonly type: 'progress';
  /** Readable by other nodes from now on, replacing the node's outputs. */
  readonly outputs?: Outputs;
  /** Items to add to outputs that are lists; the lists are not copied, however long they are. */
  readonly append?: Outputs;
  /** Given back as `activation.memo` when the run is resumed. */
  readonly memo?: Json;
}

/** The node cannot go on without an answer from outside; the last event of an activation. */
export interface Interrupt {
  readonly type: 'interrupt';
  /** What is asked for, shown in `run-interrupted`; absent when it is the node's body that waits. */
  readonly payload?: JsonObject;
  /** Readable by other nodes while the node waits. */
  readonly outputs?: Outputs;
}

/** A value for something that is not the node's own output: a variable, or an output of another node. */
export interface Write {
  readonly to: Reference;
  readonly value: Json;
}

/** The node is done; the last event of an activation. */
export interface Settled {
  readonly type: 'settled';
  readonly outputs: Outputs;
  /** Ids of the nodes that may run next; absent means every downstream node. */
  readonly next?: readonly string[];
  /** Applied in order, after the outputs. */
  readonly writes?: readonly Write[];
  /** Ends the body that the node is in; without a body it has no effect. */
  readonly exit?: boolean;
}

/** Anything a node may emit. */
export type NodeEvent = Delta | Notice | Usage | Progress | Interrupt | Settled;

export const delta = (port: string, text: string): Delta => ({ type: 'delta', port, text });

export const notice = (name: string, data: JsonObject = {}): Notice => ({ type: 'notice', name, data });

/** A hint for the people who watch the run; it never changes the run. */
export const warning = (message: string): Notice => ({ type: 'notice', name: 'warning', data: { message } });

export const settled = (outputs: Outputs, options: Omit<Settled, 'type' | 'outputs'> = {}): Settled => ({
  type: 'settled',
  outputs,
  ...options,
});

export const interrupt = (payload?: JsonObject, outputs?: Outputs): Interrupt => ({
  type: 'interrupt',
  ...(payload === undefined ? {} : { payload }),
  ...(outputs === undefined ? {} : { outputs }),
});
