/**
 * What a run says: a closed list of events with a gap-free `seq`, from which everything else is derived.
 *
 * The order within one run is the order in which things happened; of nodes that work side by side it is arrival order.
 */

import type { ErrorCode } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import type { Outputs } from './node-events.js';

/** Fields of every event. */
export interface EventHeader {
  /** Id of the run. */
  readonly run: string;
  /** 1, 2, 3 … within the run, also across a resume that continues its log. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Fields of every event about a node. */
export interface NodeHeader extends EventHeader {
  /** Id of the node. */
  readonly node: string;
  /** Where the node ran when it was in a body: `container/round`, outermost first. */
  readonly within?: string;
  /** Number of the token, unique within the run. */
  readonly token: number;
}

/** An error as an event carries it. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  readonly node?: string;
}

export interface RunStarted extends EventHeader {
  readonly type: 'run-started';
  readonly input: Json;
  /** True when the run goes on from a checkpoint. */
  readonly resumed: boolean;
}
export interface NodeStarted extends NodeHeader {
  readonly type: 'node-started';
  readonly attempt: number;
  /** The node is a container that goes on with a body from before a resume. */
  readonly resumed?: true;
}
export interface NodeDelta extends NodeHeader {
  readonly type: 'node-delta';
  readonly port: string;
  readonly text: string;
}
export interface NodeNotice extends NodeHeader {
  readonly type: 'node-notice';
  readonly name: string;
  readonly data: JsonObject;
}
export interface NodeUsage extends NodeHeader {
  readonly type: 'node-usage';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}
export interface NodeSettled extends NodeHeader {
  readonly type: 'node-settled';
  readonly outputs: Outputs;
  /** Ids of the chosen successors; absent when all of them run. */
  readonly next?: readonly string[];
  readonly elapsedMs: number;
  /** The error that a default value stands in for. */
  readonly recovered?: ErrorInfo;
}
export interface NodeFailed extends NodeHeader {
  readonly type: 'node-failed';
  readonly error: ErrorInfo;
  /** Outputs at that moment, `_ERROR` among them. */
  readonly outputs: Outputs;
  readonly elapsedMs: number;
  /** `goto`: other nodes take over. `retry`: the node is tried again. `body`: the body around fails. `run`: the run does. */
  readonly then: 'goto' | 'retry' | 'body' | 'run';
}
export interface NodeSkipped extends NodeHeader {
  readonly type: 'node-skipped';
  /** Nodes that it reads and that have no value in this run. */
  readonly missing: readonly string[];
}
export interface NodeInterrupted extends NodeHeader {
  readonly type: 'node-interrupted';
  readonly payload: JsonObject;
  /** Readable while the node waits. */
  readonly outputs: Outputs;
}
/** One thing that a waiting run asks for. */
export interface PendingQuestion {
  readonly node: string;
  readonly within?: string;
  readonly token: number;
  readonly payload: JsonObject;
}
export interface RunInterrupted extends EventHeader {
  readonly type: 'run-interrupted';
  readonly pending: readonly PendingQuestion[];
  readonly elapsedMs: number;
}
export interface RunSettled extends EventHeader {
  readonly type: 'run-settled';
  /** Outputs of the node that ran last; null when none ran. */
  readonly outputs: Outputs | null;
  readonly elapsedMs: number;
}
export interface RunFailed extends EventHeader {
  readonly type: 'run-failed';
  readonly error: ErrorInfo;
  readonly elapsedMs: number;
}
export interface RunCancelled extends EventHeader {
  readonly type: 'run-cancelled';
  readonly elapsedMs: number;
}

/** Events that end a run; each run that is not unsubscribed has exactly one, and it is last. */
export type TerminalEvent = RunInterrupted | RunSettled | RunFailed | RunCancelled;

export type RunEvent =
  | RunStarted
  | NodeStarted
  | NodeDelta
  | NodeNotice
  | NodeUsage
  | NodeSettled
  | NodeFailed
  | NodeSkipped
  | NodeInterrupted
  | TerminalEvent;

/** An event before the run stamps it. */
export type Unstamped<E extends EventHeader = RunEvent> = E extends EventHeader ? Omit<E, keyof EventHeader> : never;

/** Whether an event is the last of its run. */
export function isTerminal(event: RunEvent): event is TerminalEvent {
  switch (event.type) {
    case 'run-interrupted':
    case 'run-settled':
    case 'run-failed':
    case 'run-cancelled':
      return true;
    default:
      return false;
  }
}
