/**
 * What a node may say while it is active.
 *
 * Exactly one `Settled` or `Interrupt` ends an activation. Text travels as `Delta` and never through State; everything that
 * other nodes may read goes through `Settled` (or `Progress`, for a node that is still at work).
 */

import type { Reference } from '../dsl/reference.js';
import type { ErrorCode } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import type { StoredValue } from './typed.js';

/** Values of a node by output name. */
export type Outputs = JsonObject;

/** A piece of text, as it comes. `port` is the output it belongs to; reasoning comes on the port `thinking`. */
export interface Delta {
  readonly type: 'delta';
  readonly port: string;
  readonly text: string;
}

/** Something for observers only: `message-ended`, `warning`, `audio`, `tool-called`, `tool-progress`, `tool-partial` … */
export interface Notice {
  readonly type: 'notice';
  readonly name: string;
  readonly data: JsonObject;
}

/** What is called. */
export type CallKind = 'model' | 'tool' | 'agent';

/**
 * Facts about a call by their names in OpenTelemetry's semantic conventions (`gen_ai.request.temperature`, `server.address` …).
 * Never the question or the answer, never a key: they leave the process.
 */
export type CallAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A call begins. */
export interface CallStart {
  /** Unique among the calls of one activation. */
  readonly id: string;
  readonly kind: CallKind;
  /** Name of the model, the tool or the agent, as its provider has it. */
  readonly name: string;
  /** Id of the call that this one is part of. @default the node itself makes it */
  readonly parent?: string;
  /** @default none */
  readonly attributes?: CallAttributes;
  /** What is asked, shortened: for the log of the run, and never for telemetry. @default it is not told */
  readonly asked?: JsonObject;
}

/** Something happens in a call, such as its first piece of text (`stream_started`). */
export interface CallMoment {
  readonly id: string;
  readonly name: string;
  /** @default none */
  readonly attributes?: CallAttributes;
}

/** A call is over. One that is stopped with its node has no end of its own. */
export interface CallEnd {
  readonly id: string;
  /** Why it failed. @default it did not */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** Tokens that it took. The node reports them also as `usage` events, which are what is added up for users. */
  readonly usage?: Omit<Usage, 'type'>;
  /** @default none */
  readonly attributes?: CallAttributes;
}

/** What a node reports of one of its calls. */
export type CallReport =
  | ({ readonly type: 'started' } & CallStart)
  | ({ readonly type: 'moment' } & CallMoment)
  | ({ readonly type: 'finished' } & CallEnd);

/** What a node reports of a call that it makes; see `callStarted`, `callEvent` and `callFinished`. */
export interface Call {
  readonly type: 'call';
  readonly call: CallReport;
}

/** What one model call consumed, in tokens. */
export interface Usage {
  readonly type: 'usage';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** What a node stores while it is still at work. */
export interface Progress {
  readonly type: 'progress';
  /** Readable by other nodes from now on, replacing the node's outputs. */
  readonly outputs?: Outputs;
  /** Items to add to outputs that are lists; the lists are not copied, however long they are. */
  readonly append?: Outputs;
  /** Given back as `activation.nodeState` when the node runs again after a resume or a recovery. */
  readonly nodeState?: Json;
}

/** A pass through the body of a container (Iteration, Loop, Parallel …). */
export interface BodyRound {
  /** Names the pass within its container: stable over a resume, such as the item's index. */
  readonly key: string;
  /** Values of the aliases `item`, `index`, `result` inside the body. */
  readonly aliases?: JsonObject;
  /** The pass works on a copy of all values; what it writes is seen only through `BodyEnd.source`. */
  readonly isolated?: boolean;
  /** Outputs of body nodes from earlier passes are forgotten first. */
  readonly fresh?: boolean;
  /** The pass only tells the entry node that no further pass follows (`activation.closing`). */
  readonly closing?: boolean;
  /** How many passes there are to be, as far as the node knows now; for observers. */
  readonly of?: number;
  /** In a typed plan: what the pass begins with; in a log it is `stored`. */
  readonly value?: unknown;
  readonly stored?: StoredValue;
  /** In a typed plan: the input comes live. */
  readonly isLive?: boolean;
}

/** The node cannot continue without an answer from outside; the last event of an activation. */
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
  /** Ends the body that the node is in; without a body it has no effect, except in a typed plan, where it ends the run. */
  readonly exit?: boolean;
  /** In a typed plan: what goes over its edges; in a log it is `stored`. */
  readonly value?: unknown;
  readonly stored?: StoredValue;
}

/** Anything a node may emit. */
export type NodeEvent = Delta | Notice | Call | Usage | Progress | Interrupt | Settled;

/** The event of a piece of text for an output. */
export const delta = (port: string, text: string): Delta => ({ type: 'delta', port, text });

/** The event of something that a node says for observers only. */
export const notice = (name: string, data: JsonObject = {}): Notice => ({ type: 'notice', name, data });

/** A hint for the people who watch the run; it never changes the run. */
export const warning = (message: string): Notice => ({ type: 'notice', name: 'warning', data: { message } });

/** The event that ends an activation with its outputs. */
export const settled = (outputs: Outputs, options: Omit<Settled, 'type' | 'outputs'> = {}): Settled => ({
  type: 'settled',
  outputs,
  ...options,
});

/** The event that ends an activation with a question; it runs again with the answer. */
export const interrupt = (payload?: JsonObject, outputs?: Outputs): Interrupt => ({
  type: 'interrupt',
  ...(payload === undefined ? {} : { payload }),
  ...(outputs === undefined ? {} : { outputs }),
});

/** The event of a node that begins a call. */
export function callStarted(call: CallStart): Call {
  requireObject('callStarted', 'call', call, 'an object with "id", "kind" and "name"');
  const { id, kind, name, parent, attributes, asked } = call;
  return {
    type: 'call',
    call: {
      type: 'started',
      id,
      kind,
      name,
      ...(parent !== undefined && { parent }),
      ...(attributes && { attributes }),
      ...(asked && { asked }),
    },
  };
}

/** The event of something that happens in a call. */
export function callEvent(moment: CallMoment): Call {
  requireObject('callEvent', 'moment', moment, 'an object with "id" and "name"');
  const { id, name, attributes } = moment;
  return { type: 'call', call: { type: 'moment', id, name, ...(attributes && { attributes }) } };
}

/** The event of a call that is over. */
export function callFinished(end: CallEnd): Call {
  requireObject('callFinished', 'end', end, 'an object with "id"');
  const { id, error, usage, attributes } = end;
  return {
    type: 'call',
    call: {
      type: 'finished',
      id,
      ...(error && { error: { code: error.code, message: error.message } }),
      ...(usage && { usage: { ...usage } }),
      ...(attributes && { attributes }),
    },
  };
}
