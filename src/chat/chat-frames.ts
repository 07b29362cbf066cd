/** The events of a chat's run as its clients read them: a pure projection, so that a client can start behind any of them. */
import { ownList, ownValue } from '../dsl/json-copy.js';
import { type ErrorCode, shownMessage } from '../errors.js';
import type { NodeNotice, RunEvent, RunSettled } from '../graph/events.js';
import { isJsonObject } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import type { ChatEvent } from './pipeline/chat-events.js';
import { CHAT_NODE } from './service/chat-document.js';

/** What of a chat its run's events do not say. */
export interface ChatRunInfo {
  readonly sessionId: string;
  readonly traceId: string;
  /** Id of the chat, where the request named one. */
  readonly chatId?: string | undefined;
}

/** Name of the notices that hold events of a chat. */
export const CHAT_NOTICE = 'chat';

/** The output of a chat's node that holds what only its last event says. */
export const CHAT_OUTPUT = 'chat';

/** What the last event of a chat says beside the answer, its evidence and what the run knows. */
export type ChatOutput = Omit<
  Extract<ChatEvent, { type: 'final' }>,
  'type' | 'trace_id' | 'response' | 'evidence' | 'citations'
>;

/**
 * The event of a chat that one event of its run is, under the same number; undefined when it is none.
 *
 * ```text
 * run     S--s--n--d--d--n--e--E|     (run-started, node-started, notice, deltas, notice, node-settled, run-settled)
 * chat    S-----n--t--t--n-----F|     (session, stage_start …, tokens, stage_end, final)
 * ```
 *
 * A chat that begins anew in another process begins with `retract`. The last event of a run is the last of the chat: `final`, or `error`.
 */
export function toChatEvent(event: RunEvent, about: ChatRunInfo): ChatEvent | undefined {
  requireObject('toChatEvent', 'event', event, 'an event of a run');
  requireObject('toChatEvent', 'about', about);
  const { sessionId, traceId, chatId } = about;
  switch (event.type) {
    case 'run-started':
      if (event.seq > 1) return undefined;
      return {
        type: 'session',
        session_id: sessionId,
        run_id: event.run,
        ...(chatId !== undefined && { chat_id: chatId }),
        trace_id: traceId,
      };
    case 'node-started':
      if (event.node !== CHAT_NODE || event.retractFrom === undefined) return undefined;
      return { type: 'retract', reason: 'the process that answered was lost' };
    case 'node-delta':
      if (event.node !== CHAT_NODE) return undefined;
      return { type: event.port === 'thinking' ? 'thinking' : 'token', content: event.text };
    case 'node-notice':
      return event.node === CHAT_NODE && event.name === CHAT_NOTICE ? noticed(event) : undefined;
    case 'node-failed':
      if (event.node !== CHAT_NODE || event.then !== 'retry') return undefined;
      return { type: 'retract', reason: 'the answer failed and is tried again' };
    case 'run-settled':
      return finalOf(event, traceId);
    case 'run-failed':
      return { type: 'error', code: event.error.code, message: shownMessage(event.error) };
    case 'run-cancelled':
      return errorOf('RUN_CANCELLED', 'The chat was cancelled.');
    case 'run-interrupted':
      return errorOf('INTERNAL', 'The chat waits for an answer, which chats cannot be given.');
    case 'node-thinking':
    case 'node-call':
    case 'node-usage':
    case 'node-progress':
    case 'node-streaming':
    case 'node-chunk':
    case 'node-patched':
    case 'node-settled':
    case 'node-skipped':
    case 'node-interrupted':
    case 'body-opened':
    case 'body-resumed':
    case 'body-closed':
      return undefined;
    default:
      // Of a later version, or forged.
      event satisfies never;
      return undefined;
  }
}

/** {@link toChatEvent} as JSON, the type first. */
export function toChatFrame(event: RunEvent, about: ChatRunInfo): string | undefined {
  const told = toChatEvent(event, about);
  if (told === undefined) return undefined;
  const { type, ...others } = told;
  return JSON.stringify({ type, ...others });
}

/** Written by the node as it is. */
function noticed({ data }: NodeNotice): ChatEvent {
  return data as unknown as ChatEvent;
}

function finalOf({ outputs }: RunSettled, traceId: string): ChatEvent {
  const chat = ownValue(outputs, CHAT_OUTPUT);
  if (!isJsonObject(chat)) return errorOf('INTERNAL', 'The run ended without the answer of a chat.');
  const response = ownValue(outputs, 'content');
  return {
    type: 'final',
    trace_id: traceId,
    ...(chat as unknown as ChatOutput),
    response: typeof response === 'string' ? response : '',
    evidence: ownList(outputs, 'evidence') as never,
    citations: ownList(outputs, 'citations') as never,
  };
}

function errorOf(code: ErrorCode, message: string): ChatEvent {
  return { type: 'error', code, message };
}
