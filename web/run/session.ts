/** Conversations as the server keeps them. */
import type { Json, JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { agentPath } from './paths.js';
import type { RunItem } from './start-turn.js';

/** A message of a conversation: the fields that are used. */
export interface SessionMessage {
  readonly role: string;
  readonly content: string;
  /** That of its turn's run. */
  readonly id?: string;
  /** Seconds since 1970. */
  readonly created_at: number;
  readonly files?: readonly JsonObject[];
}

/** A conversation: the fields that are used. */
export interface SessionItem {
  readonly id: string;
  readonly name: string;
  readonly round?: number;
  /** Milliseconds since 1970. */
  readonly update_time: number;
}

/** A conversation with what was said in it. */
export interface SessionDetail extends SessionItem {
  readonly message: readonly SessionMessage[];
  /** What the answers cite: an entry for each of them. */
  readonly reference: readonly Json[];
  /** The conversation that it goes on from, and the question there that it asks differently; of chats. */
  readonly forked_from?: { readonly session_id: string; readonly message_id: string };
}

/** Runs that are looked up of one conversation, and conversations of a list. */
export const MAX_ITEMS = 100;

/** A conversation with its runs, the newest first. */
export interface SessionRuns {
  readonly detail: SessionDetail;
  readonly runs: readonly RunItem[];
}

/** A conversation with an agent. @throws ApiError. */
export async function readSession(client: Client, agent: string, session: string): Promise<SessionRuns> {
  const [detail, runs] = await Promise.all([
    client.call<SessionDetail>(`${agentPath(agent)}/sessions/${encodeURIComponent(session)}`),
    client.call<readonly RunItem[]>(`${agentPath(agent)}/runs`, {
      query: { session_id: session, page_size: MAX_ITEMS },
    }),
  ]);
  return { detail, runs };
}

/** The newest conversations of an agent. @throws ApiError. */
export function listSessions(client: Client, agent: string, signal: AbortSignal): Promise<readonly SessionItem[]> {
  return client.call(`${agentPath(agent)}/sessions`, { query: { dsl: false, page_size: MAX_ITEMS }, signal });
}
