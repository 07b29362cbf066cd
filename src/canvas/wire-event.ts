/** The events of RAGFlow's clients, as they are written. */
import type { JsonObject } from '../json.js';

/** Names of RAGFlow's events, and one of ours: a node starts anew because the process it was at work in was lost. */
export type WireEventName =
  | 'workflow_started'
  | 'node_started'
  | 'message'
  | 'message_end'
  | 'node_finished'
  | 'node_restarted'
  | 'user_inputs'
  | 'workflow_finished'
  | 'error';

/** What all events of a run share. */
export interface WireHeader {
  readonly message_id: string;
  /** Seconds since 1970, at the start of the run. */
  readonly created_at: number;
  readonly task_id: string;
  readonly session_id: string;
}

/** One event as RAGFlow's clients read it. */
export interface WireEvent extends WireHeader {
  readonly event: WireEventName;
  readonly data: JsonObject;
}

/** Whose words they are. */
export interface Speaker {
  /** Id of the node. */
  readonly node: string;
  /** Where it is when it is in a body: `container/round`, outermost first. */
  readonly within?: string;
}

/** The event of a piece of text. */
export function pieceEvent(header: WireHeader, speaker: Speaker, text: string): WireEvent {
  return eventOf(header, 'message', { content: text, ...speakerOf(speaker) });
}

/** Whose words they are, as events say it: in a body one node speaks for several rounds at once. */
export function speakerOf({ node, within }: Speaker): JsonObject {
  return within === undefined ? { component_id: node } : { component_id: node, within };
}

/** An event, made field by field: a spread costs several times as much. */
export function eventOf(header: WireHeader, event: WireEventName, data: JsonObject): WireEvent {
  const { message_id, created_at, task_id, session_id } = header;
  return { event, message_id, created_at, task_id, session_id, data };
}
