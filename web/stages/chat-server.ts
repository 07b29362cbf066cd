/** Chats on the server: assistants, their sessions, and what a conversation asks of them. */
import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import type { RunPlace } from '../api/socket-link.js';
import type { ConversationServer } from '../run/conversation-server.js';
import { RunStore } from '../run/run-store.js';
import { MAX_ITEMS, type SessionDetail, type SessionItem, type SessionMessage } from '../run/session.js';
import { type RunItem, startedRun } from '../run/start-turn.js';
import { useClient } from '../shell/studio.js';

/** An assistant: the fields that are used. */
export interface ChatItem {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly dataset_ids: readonly string[];
}

/** What a question is asked with beside its words; as the address has it. */
export interface ChatSettings {
  /** The assistant; undefined: one that searches all datasets. */
  readonly chat: string | undefined;
  /** Ids of the only datasets that are searched; empty: those of the assistant. */
  readonly datasets: readonly string[];
  readonly mode: Mode | undefined;
}

export const MODES = ['KB', 'MCP', 'HYBRID', 'SYSTEM'] as const;
export type Mode = (typeof MODES)[number];

export function readSettings(query: URLSearchParams): ChatSettings {
  return {
    chat: query.get('chat') ?? undefined,
    datasets: (query.get('datasets') ?? '').split(',').filter(Boolean),
    mode: MODES.find((mode) => mode === query.get('mode')),
  };
}

const chatRunPath = (run: string): string => `/chat/runs/${encodeURIComponent(run)}`;

const sessionPath = (chat: string, session: string): string =>
  `/chats/${encodeURIComponent(chat)}/sessions/${encodeURIComponent(session)}`;

const chatRun = (run: string): RunPlace => ({ agent: '', run, live: '/chat/live', path: chatRunPath(run) });

/** Conversations with chats. */
export interface ChatServer extends ConversationServer {
  /** Makes a conversation of what was said before the question of a run; gives its id. */
  fork(run: string, name: string): Promise<string>;
}

/** Name of the assistant that the server makes for questions that name none. */
export const DEFAULT_CHAT = 'default';

/** A question is asked with the settings of that moment. */
export function chatServer(client: Client, settings: () => ChatSettings): ChatServer {
  /** Of conversations that were made here and have no run yet, which would name their assistant. */
  const chats = new Map<string, string>();
  return {
    fork: async (run, name) => {
      const { agent_id: chat, session_id: session, message_id } = await client.call<RunItem>(chatRunPath(run));
      const { id } = await client.call<SessionItem>(`${sessionPath(chat, session)}/fork`, {
        method: 'POST',
        body: { message_id, name },
      });
      chats.set(id, chat);
      return id;
    },
    readRun: (run) => client.call<RunItem>(chatRunPath(run)),
    readSession: async (session) => {
      const runs = await listRuns(client, session);
      // A session is below its assistant, which its runs name.
      const named = runs[0]?.agent_id ?? chats.get(session) ?? settings().chat;
      const chat = named ?? (await listChats(client)).find(({ name }) => name === DEFAULT_CHAT)?.id ?? '';
      const detail = await client.call<ChatSession>(sessionPath(chat, session));
      const taken = await takenOver(client, chat, detail, runs);
      return { detail: { ...detail, message: detail.messages }, runs: [...runs, ...taken] };
    },
    start: async ({ query, session }) => {
      const { chat, datasets, mode } = settings();
      const body: JsonObject = {
        message: query,
        ...(session !== undefined && { session_id: session }),
        // A session has its assistant.
        ...(session === undefined && chat !== undefined && { chat_id: chat }),
        ...(datasets.length > 0 && { dataset_ids: datasets }),
        ...(mode !== undefined && { options: { mode } }),
        detach: true,
      };
      return startedRun(await client.answer('/chat/stream', { method: 'POST', body }));
    },
    store: (run) => new RunStore({ client, place: chatRun(run) }),
  };
}

/** A session as chats have it. */
type ChatSession = Omit<SessionDetail, 'message'> & { readonly messages: readonly SessionMessage[] };

/** Sessions that are looked through for what another one took over from them. */
const MAX_ORIGINS = 10;

function listRuns(client: Client, session: string): Promise<readonly RunItem[]> {
  return client.call('/chat/runs', { query: { session_id: session, page_size: MAX_ITEMS } });
}

/** Runs of what a session took over: they belong to the sessions that it goes on from. */
async function takenOver(
  client: Client,
  chat: string,
  { messages, forked_from: from }: ChatSession,
  own: readonly RunItem[],
): Promise<readonly RunItem[]> {
  const wanted = new Set(messages.flatMap(({ role, id }) => (role === 'user' && id !== undefined ? [id] : [])));
  for (const { message_id: message } of own) wanted.delete(message);
  const found: RunItem[] = [];
  let origin = from?.session_id;
  for (let looked = 0; origin !== undefined && wanted.size > 0 && looked < MAX_ORIGINS; looked += 1) {
    const runs = await listRuns(client, origin);
    for (const run of runs) if (wanted.delete(run.message_id)) found.push(run);
    if (wanted.size === 0) break;
    // One that was deleted leaves what was said, without how it came about.
    const session = await client.call<ChatSession>(sessionPath(chat, origin)).catch(() => undefined);
    origin = session?.forked_from?.session_id;
  }
  return found;
}

/** Assistants, those that changed last first. */
export function useChats() {
  const client = useClient();
  return useQuery({ queryKey: ['chats', 'list'], queryFn: ({ signal }) => listChats(client, signal) });
}

async function listChats(client: Client, signal?: AbortSignal): Promise<readonly ChatItem[]> {
  const query = { page_size: MAX_ITEMS };
  const { chats } = await client.call<{ readonly chats: readonly ChatItem[] }>('/chats', {
    query,
    ...(signal !== undefined && { signal }),
  });
  return chats;
}

/** Sessions with an assistant, the newest first. */
export function useChatSessions(chat: string | undefined) {
  const client = useClient();
  return useQuery({
    queryKey: ['chats', 'sessions', chat],
    enabled: chat !== undefined,
    queryFn: ({ signal }) =>
      client.call<readonly SessionItem[]>(`/chats/${encodeURIComponent(chat ?? '')}/sessions`, {
        query: { page_size: MAX_ITEMS, orderby: 'update_time' },
        signal,
      }),
  });
}
