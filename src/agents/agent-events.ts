/** The events of an agent, from its first model call to its answer, and its state between two rounds. */

import { z } from 'zod';
import type { References } from '../adapters/tool-event.js';
import type { Call, Usage } from '../graph/node-events.js';
import type { Json, JsonObject } from '../json.js';
import type { ChatMessage, ToolCall } from '../models/chat-model.js';
import type { AssistantPart } from '../models/content-parts.js';
import { assistantPartSchema, messageSchema, toolCallSchema } from '../models/message-schema.js';
import type { Artifact } from '../tools/tool.js';

/** A piece of text or of reasoning, as the model writes it. */
export interface AgentText {
  readonly type: 'text' | 'thinking';
  readonly text: string;
}

/** Progress of a tool call. */
export interface CallProgress {
  readonly type: 'call-progress';
  readonly id: string;
  readonly message: string;
}

/** A tool was called: one entry of the log of tools. */
export interface ToolLogEntry {
  readonly type: 'tool-log';
  /** Names of the agents from the outermost one, joined by `-->`. */
  readonly path: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** The result for the model; cut when it is long. */
  readonly result: string;
  readonly elapsedMs: number;
}

/** What a person said meanwhile has joined the conversation. */
export interface InputJoined {
  readonly type: 'input-delivered';
  readonly id: string;
  /** Its text. */
  readonly content: string;
  /** The call of the model that is the first to be told, from 1; counted from where the agent began, or went on. */
  readonly round: number;
}

/** The state after a round of tool calls, or after one of an inner agent: a resumed or recovered run continues from it. */
export interface AgentStateEvent {
  readonly type: 'state';
  readonly state: AgentState;
}

/** Calls that need an approval; the last event before the agent pauses. */
export interface ApprovalNeeded {
  readonly type: 'approval';
  readonly state: AgentState;
  readonly calls: readonly PendingCall[];
}

/** The answer; the last event. */
export interface AgentAnswer {
  readonly type: 'answer';
  /** Text of the last model call, without thinking. */
  readonly text: string;
  /** The whole answer in its order, when it has more than text, such as an image. */
  readonly parts?: readonly AssistantPart[];
  /** The conversation up to and without the answer. */
  readonly state: AgentState;
  readonly references: References;
  readonly artifacts: readonly Artifact[];
  /** The provider's reason for the end of the answer. */
  readonly finishReason: string;
}

/** What an agent reports while it works, in order. */
export type AgentEvent =
  | AgentText
  | Call
  | CallProgress
  | ToolLogEntry
  | Usage
  | InputJoined
  | AgentStateEvent
  | ApprovalNeeded
  | AgentAnswer;

/** Events of an inner agent that its outer one passes on. */
export type InnerEvent = Call | CallProgress | ToolLogEntry | Usage;

const records = z.record(z.string(), z.record(z.string(), z.json()));

const stateSchema: z.ZodType = z.object({
  version: z.literal(1),
  messages: z.array(messageSchema),
  round: z.int().min(0),
  tokens: z.number().min(0),
  elapsedMs: z.number().min(0),
  pending: z
    .object({
      text: z.string(),
      calls: z.array(toolCallSchema),
      parts: z.array(assistantPartSchema).exactOptional(),
    })
    .optional(),
  inner: z.array(z.object({ at: z.int().min(0), state: z.lazy(() => stateSchema) })).optional(),
  failed: z.array(z.string()).optional(),
  references: z.object({ chunks: records, doc_aggs: records }),
  artifacts: z.array(z.object({ name: z.string(), url: z.string(), mimeType: z.string(), bytes: z.number() })),
});

/** A call that a model asked for and that has no result yet. */
export type PendingCall = ToolCall;

/** See the schema; `round` counts rounds of tool calls, `tokens` and `elapsedMs` what the budget has been charged. */
export interface AgentState {
  readonly version: 1;
  readonly messages: readonly ChatMessage[];
  readonly round: number;
  readonly tokens: number;
  readonly elapsedMs: number;
  /** The newest answer with its calls, while they wait for an approval or inner agents run; `parts` when it has more than text and calls. */
  readonly pending?: {
    readonly text: string;
    readonly calls: readonly PendingCall[];
    readonly parts?: readonly AssistantPart[];
  };
  /** The states of running inner agents, by position of the pending call. */
  readonly inner?: readonly InnerState[];
  /** Ids of the calls of the newest round that failed or were declined; only those are made again unchanged. */
  readonly failed?: readonly string[];
  readonly references: References;
  readonly artifacts: readonly Artifact[];
}

/** The state of an inner agent. */
export interface InnerState {
  readonly at: number;
  readonly state: AgentState;
}

/** The state of an agent that has not started yet. */
export function newAgentState(messages: readonly ChatMessage[]): AgentState {
  const references = { chunks: {}, doc_aggs: {} };
  return { version: 1, messages, round: 0, tokens: 0, elapsedMs: 0, references, artifacts: [] };
}

/** Reads a stored state; undefined when it is not valid, so that the agent starts anew. */
export function readAgentState(stored: Json | undefined): AgentState | undefined {
  const parsed = stateSchema.safeParse(stored);
  return parsed.success ? (parsed.data as AgentState) : undefined;
}

/** A state as JSON, which it is already. */
export function stateAsJson(state: AgentState): Json {
  return state as unknown as Json;
}
