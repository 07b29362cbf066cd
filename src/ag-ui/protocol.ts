/**
 * Events and requests of AG-UI, as far as Runnel writes and reads them. Source: https://docs.ag-ui.com, protocol 1.0.
 *
 * Fields keep the names of the protocol.
 */
import type { JsonObject } from '../json.js';

/** A question that a run waits for. */
export interface AgUiInterrupt {
  /** The address of the question. */
  readonly id: string;
  /** `input_required` for a question, `approval_required` for one of yes or no. */
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: JsonObject;
  /** In ISO 8601. */
  readonly expiresAt?: string;
}

/** How a run ended that did not fail. */
export type AgUiOutcome =
  | { readonly type: 'success' | 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] };

/** One event. */
export type AgUiEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly result?: unknown;
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code?: string }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | {
      readonly type: 'TEXT_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'assistant';
      readonly name?: string;
    }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_START'; readonly toolCallId: string; readonly toolCallName: string }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

/** What a client sends to start a run, or to go on with one. */
export interface AgUiInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly { readonly role: string; readonly [field: string]: unknown }[];
  /** Answers to the interrupts of the run before. */
  readonly resume?: readonly {
    readonly interruptId: string;
    readonly status: 'resolved' | 'cancelled';
    readonly payload?: unknown;
  }[];
  readonly [field: string]: unknown;
}
