/** What an agent says while it works, from its first model call to its answer. */

import type { References } from '../adapters/tool-event.js';
import type { CallEnd, CallKind, CallMoment, CallStart, Usage } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import type { Artifact } from '../tools/tool.js';
import type { AgentState, PendingCall } from './agent-state.js';

/** A piece of text or of reasoning, as the model writes it. */
export interface AgentText {
  readonly type: 'text' | 'thinking';
  readonly text: string;
}

/** A call of a model, a tool or an agent begins. `parent` is the call that it is part of. */
export interface CallBegan extends Pick<CallStart, 'id' | 'kind' | 'name' | 'parent' | 'attributes'> {
  readonly type: 'call-began';
}

/** Something happens in a call, such as its first piece of an answer (`stream_started`). */
export interface CallHappened extends Pick<CallMoment, 'id' | 'name'> {
  readonly type: 'call-moment';
}

/** A tool says how far it is. */
export interface CallProgress {
  readonly type: 'call-progress';
  readonly id: string;
  readonly message: string;
}

/** A call is over. */
export interface CallEnded extends Pick<CallEnd, 'id' | 'error' | 'usage' | 'attributes'> {
  readonly type: 'call-ended';
  readonly kind: CallKind;
}

/** A tool was called: one entry of the log that people read. */
export interface ToolLogEntry {
  readonly type: 'tool-log';
  /** Names of the agents from the outermost one, joined by `-->`. */
  readonly path: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** What the model was given; cut when it is long. */
  readonly result: string;
  readonly elapsedMs: number;
}

/** A round of tool calls is over, or one of an agent called in it: from here the agent can go on after a crash or a pause. */
export interface AgentMark {
  readonly type: 'mark';
  readonly state: AgentState;
}

/** Calls that somebody must allow first; the last event before the agent pauses. */
export interface ApprovalNeeded {
  readonly type: 'approval';
  readonly state: AgentState;
  readonly calls: readonly PendingCall[];
}

/** The answer; the last event. */
export interface AgentAnswer {
  readonly type: 'answer';
  /** Text of the last model call, without what was thought. */
  readonly text: string;
  /** The conversation up to and without the answer. */
  readonly state: AgentState;
  readonly references: References;
  readonly artifacts: readonly Artifact[];
  /** The provider's reason for the end of the answer. */
  readonly finishReason: string;
}

export type AgentEvent =
  | AgentText
  | CallBegan
  | CallHappened
  | CallProgress
  | CallEnded
  | ToolLogEntry
  | Usage
  | AgentMark
  | ApprovalNeeded
  | AgentAnswer;

/** Events of an inner agent that its outer one passes on. */
export type InnerEvent = CallBegan | CallHappened | CallProgress | CallEnded | ToolLogEntry | Usage;
