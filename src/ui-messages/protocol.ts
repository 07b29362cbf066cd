/**
 * Messages and chunks of the AI SDK's UI message stream, version 1 of the protocol: what `useChat` sends, and what it reads.
 *
 * Only what releases 6 and 7 of the AI SDK both read. Source: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol.
 */
import type { Json, JsonObject } from '../json.js';

/** The header of an answer in this protocol, and its value. */
export const UI_MESSAGE_HEADER = ['x-vercel-ai-ui-message-stream', 'v1'] as const;

/** One chunk of the stream. */
export type UiMessageChunk =
  | { readonly type: 'start'; readonly messageId?: string; readonly messageMetadata?: JsonObject }
  | { readonly type: 'start-step' | 'finish-step' }
  | {
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
      /** `runnel` has the id of the part and of its node. */
      readonly providerMetadata?: Readonly<Record<string, JsonObject>>;
    }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
    }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly providerExecuted?: boolean;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'source-url'; readonly sourceId: string; readonly url: string; readonly title?: string }
  | {
      readonly type: 'source-document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
    }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown; readonly transient?: boolean }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'message-metadata'; readonly messageMetadata: JsonObject }
  | {
      readonly type: 'finish';
      readonly finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
      readonly messageMetadata?: JsonObject;
    };

/** A part of a message, as a page holds it; which fields it has goes by its `type`, and nothing of it is checked. */
export interface UiMessagePart {
  /** `text`, `reasoning`, `file`, `step-start`, `dynamic-tool`, `tool-` and the name of a tool, `data-` and a name, … */
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message, as a page holds and sends it. */
export interface UiMessage {
  readonly id?: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly UiMessagePart[];
  readonly metadata?: unknown;
}

/** The call in a part about a tool. */
export interface UiToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Json | undefined;
  /** `input-streaming`, `input-available`, `approval-requested`, `approval-responded`, `output-available`, `output-error` or `output-denied`. */
  readonly state: string;
  readonly output: Json | undefined;
  readonly errorText: string;
  readonly approval:
    | { readonly id: string; readonly approved: boolean | undefined; readonly reason: string }
    | undefined;
}

const TOOL = 'tool-';

/** Reads a part about a tool; undefined for any other part, and for one without an id. */
export function toolCallOf(part: UiMessagePart): UiToolCall | undefined {
  const { type, toolName, toolCallId, input, state, output, errorText, approval } = part;
  const name = type === 'dynamic-tool' ? toolName : type.startsWith(TOOL) ? type.slice(TOOL.length) : undefined;
  if (typeof name !== 'string' || typeof toolCallId !== 'string') return undefined;
  const { id, approved, reason } = (typeof approval === 'object' && approval !== null ? approval : {}) as JsonObject;
  return {
    toolCallId,
    toolName: name,
    input: input as Json | undefined,
    state: typeof state === 'string' ? state : '',
    output: output as Json | undefined,
    errorText: typeof errorText === 'string' ? errorText : '',
    approval:
      typeof id === 'string'
        ? {
            id,
            approved: typeof approved === 'boolean' ? approved : undefined,
            reason: typeof reason === 'string' ? reason : '',
          }
        : undefined,
  };
}
