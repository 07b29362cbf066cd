/**
 * What a run reports: a closed union of events with a gap-free `seq`, from which everything else is derived.
 *
 * The order within one run is the order in which things happened; of nodes that work side by side it is arrival order. Events marked
 * *state* carry everything that they change in the run's State, so that the State is a fold over them (see `foldState`); the others
 * are for observers.
 */

import type { EngineError, ErrorCode } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import type { CallSummary } from './calls.js';
import type { BodyRound, CallReport, Outputs, Write } from './node-events.js';
import type { StatePatch } from './state-cell.js';
import type { StoredValue } from './typed.js';

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

/** The path of a node, as `within` of the nodes in its body begins: the node, and the round of a body that it is in. */
export function pathOf({ node, within }: Pick<NodeHeader, 'node' | 'within'>): string {
  return within === undefined ? node : `${within}/${node}`;
}

/** An error as an event carries it. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  readonly node?: string;
}

/** Tokens of models that a run has used. */
export interface RunUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Model calls that reported their usage. */
  readonly calls: number;
}

/** The run began, or began anew in another process. */
export interface RunStarted extends EventHeader {
  readonly type: 'run-started';
  readonly input: Json;
  /** The run starts from a checkpoint of an earlier run. */
  readonly resumed: boolean;
  /** The same run, recovered after its process was lost. */
  readonly recovered?: true;
}

/** An activation began. A node that asks is reported as started when its answer has come. */
export interface NodeStarted extends NodeHeader {
  readonly type: 'node-started';
  readonly attempt: number;
  /** The node is a container that continues with a body from before a resume. */
  readonly resumed?: true;
  /** seq of the `node-started` that this one repeats after a recovery: clients drop the text that the node reported since. */
  readonly retractFrom?: number;
}

/** A piece of text. */
export interface NodeDelta extends NodeHeader {
  readonly type: 'node-delta';
  readonly port: string;
  readonly text: string;
}

/** The text on the port `thinking` begins, or is followed by something else. */
export interface NodeThinking extends NodeHeader {
  readonly type: 'node-thinking';
  readonly phase: 'started' | 'ended';
}

/** A chunk of a value, in a typed plan; of neighbours along a stream only the last reports them. */
export interface NodeChunk extends NodeHeader {
  readonly type: 'node-chunk';
  readonly value: unknown;
}

/** Something for observers only. */
export interface NodeNotice extends NodeHeader {
  readonly type: 'node-notice';
  readonly name: string;
  readonly data: JsonObject;
}

/** A call of a model, a tool or an agent began, had a moment worth reporting, or ended. */
export interface NodeCall extends NodeHeader {
  readonly type: 'node-call';
  readonly call: CallReport;
}

/** One model call reported what it used. *State*: adds to `usage`. */
export interface NodeUsage extends NodeHeader {
  readonly type: 'node-usage';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** A node that is still at work stored something. *State*. */
export interface NodeProgress extends NodeHeader {
  readonly type: 'node-progress';
  /** In place of the node's outputs. */
  readonly outputs?: Outputs;
  /** Items added to outputs that are lists. */
  readonly append?: Outputs;
  readonly nodeState?: Json;
}

/** The node's text comes live from now on: consumers on stream edges may have been started. *State*. */
export interface NodeStreaming extends NodeHeader {
  readonly type: 'node-streaming';
  /** In a typed plan: ids of the nodes that its chunks go to; absent when it is all successors. */
  readonly next?: readonly string[];
}

/** A node of a typed plan changed a state of a graph around it. *State*. */
export interface NodePatched extends NodeHeader {
  readonly type: 'node-patched';
  /** Name of the state. */
  readonly state: string;
  /** Absent in a log, which has it as `stored`. */
  readonly patch?: StatePatch;
  readonly stored?: StoredValue;
}

/** What the end of an activation carries about its calls. */
export interface CallsOfNode {
  /** Absent when there was none, or only that of the node's one model. */
  readonly calls?: readonly CallSummary[];
  /** Calls that were only counted. */
  readonly callsOmitted?: number;
  /** Data of the `tool-called` notices, at most 200. */
  readonly toolCalls?: readonly JsonObject[];
}

/** The activation is done. *State*. */
export interface NodeSettled extends NodeHeader, CallsOfNode {
  readonly type: 'node-settled';
  readonly outputs: Outputs;
  /** In a typed plan: what goes over its edges; absent in a log, which has it as `stored`. */
  readonly value?: unknown;
  readonly stored?: StoredValue;
  /** Ids of the chosen successors; absent when all of them run. */
  readonly next?: readonly string[];
  /** Values of variables and of other nodes that changed, in order. */
  readonly writes?: readonly Write[];
  /** The node ended the body that it is in. */
  readonly exit?: boolean;
  readonly elapsedMs: number;
  /** The error that a default value stands in for. */
  readonly recovered?: ErrorInfo;
}

/** The activation failed. *State*. */
export interface NodeFailed extends NodeHeader, CallsOfNode {
  readonly type: 'node-failed';
  readonly error: ErrorInfo;
  /** Outputs at that moment, `_ERROR` among them. */
  readonly outputs: Outputs;
  readonly elapsedMs: number;
  /** `goto`: other nodes run instead of the successors. `retry`: the node is tried again. `body`: the body around fails. `run`: the run does. */
  readonly then: 'goto' | 'retry' | 'body' | 'run';
  /** With `goto`: ids of the nodes that run instead. */
  readonly next?: readonly string[];
  /** With `retry`: how many tries there are at most. */
  readonly attempts?: number;
}

/** The node was reached and passed over. *State*. */
export interface NodeSkipped extends NodeHeader {
  readonly type: 'node-skipped';
  /** Nodes that it reads and that have no value in this run. */
  readonly missing: readonly string[];
}

/** The activation waits for an answer from outside. *State*. */
export interface NodeInterrupted extends NodeHeader {
  readonly type: 'node-interrupted';
  /** What is asked for; absent when it is the node's body that waits. */
  readonly payload?: JsonObject;
  /** Readable while the node waits. */
  readonly outputs?: Outputs;
}

/** A pass through the body of the node began. *State*. */
export interface BodyOpened extends NodeHeader {
  readonly type: 'body-opened';
  readonly round: BodyRound;
}

/** A pass that waited continues with answers. *State*. */
export interface BodyResumed extends NodeHeader {
  readonly type: 'body-resumed';
  readonly key: string;
  readonly answers?: Json;
}

/** A pass ended, or was cut short. *State*. */
export interface BodyClosed extends NodeHeader {
  readonly type: 'body-closed';
  readonly key: string;
}

/** One question of a waiting run. */
export interface PendingQuestion {
  readonly node: string;
  readonly within?: string;
  readonly token: number;
  readonly payload: JsonObject;
}

/** One question of a waiting run of a step. */
export interface AddressedQuestion {
  /** Where it is asked, such as `review/each[3]/send#call_1`; the same after a restart. */
  readonly address: string;
  /** `ask`: a step asked. `before` and `after`: the graph stopped at a node. */
  readonly kind: 'ask' | 'before' | 'after';
  /** What the step asked with; undefined for a stop. */
  readonly question: unknown;
  /** The JSON Schema of an answer, where the question has one. */
  readonly schema?: JsonObject;
  /** When it expires, in milliseconds since 1970. @default never */
  readonly expiresAt?: number;
}

/** A call of a node that was still at work when the run ended. */
export interface OpenCall extends CallSummary {
  readonly node: string;
  readonly token: number;
}

/** What every end of a run carries. */
export interface RunEndFields {
  /** Milliseconds since the run first started. */
  readonly elapsedMs: number;
  /** What the run was started (or resumed) with. */
  readonly input: Json;
  readonly usage: RunUsage;
  /** Absent when there are none. */
  readonly openCalls?: readonly OpenCall[];
}

/** The run waits for answers. */
export interface RunInterrupted extends EventHeader, RunEndFields {
  readonly type: 'run-interrupted';
  readonly pending: readonly PendingQuestion[];
  /** In a run of a step: the same by address, as programs answer them. */
  readonly questions?: readonly AddressedQuestion[];
}

/** Every node that could run has run. */
export interface RunSettled extends EventHeader, RunEndFields {
  readonly type: 'run-settled';
  /** Outputs of the node that ran last; null when none ran. */
  readonly outputs: Outputs | null;
  /** In a typed plan: the result of the graph; absent in a log, which has it as `stored`. */
  readonly value?: unknown;
  readonly stored?: StoredValue;
}

/** A failure that nothing in the graph handles, a limit, or a store that refused. */
export interface RunFailed extends EventHeader, RunEndFields {
  readonly type: 'run-failed';
  readonly error: ErrorInfo;
}

/** The run was cancelled from outside. */
export interface RunCancelled extends EventHeader, RunEndFields {
  readonly type: 'run-cancelled';
}

/** Events that end a run; each run that is not unsubscribed has exactly one, and it is last. */
export type TerminalEvent = RunInterrupted | RunSettled | RunFailed | RunCancelled;

/** Events about one activation. */
export type NodeReport =
  | NodeStarted
  | NodeDelta
  | NodeChunk
  | NodeThinking
  | NodeNotice
  | NodeCall
  | NodeUsage
  | NodeProgress
  | NodeStreaming
  | NodePatched
  | NodeSettled
  | NodeFailed
  | NodeSkipped
  | NodeInterrupted
  | BodyOpened
  | BodyResumed
  | BodyClosed;

/** Every event of a run. */
export type RunEvent = RunStarted | NodeReport | TerminalEvent;

/** An event before the run stamps it. */
export type Unstamped<E extends EventHeader = RunEvent> = E extends EventHeader ? Omit<E, keyof EventHeader> : never;

/** Whether an event is the last of its run. */
export function isTerminal(event: RunEvent): event is TerminalEvent {
  requireObject('isTerminal', 'event', event, 'an event of a run');
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

/** What other nodes can read of a node that failed. */
export function errorOutputs({ message }: ErrorInfo): Outputs {
  return { _ERROR: message };
}

/** An error as events carry it. */
export function infoOf(error: EngineError, node: string | undefined = error.node): ErrorInfo {
  return { code: error.code, message: error.message, ...(node === undefined ? {} : { node }) };
}
