/** Asking a question of a session differently: a session of its own, with what was said before that question. */
import { z } from 'zod';
import { newSession } from '../../hosting/conversation.js';
import { createId } from '../../hosting/ids.js';
import type { AgentRecord } from '../../records/agents.js';
import type { ChatMessageRecord } from '../../records/chats.js';
import type { SessionRecord } from '../../records/sessions.js';
import { success } from '../envelope.js';
import { PAGE_BYTES } from '../http/input.js';
import type { RouteGroup } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import type { ServerParts } from '../server-parts.js';
import { string } from '../shapes.js';
import { withoutTurn } from './chat-messages.js';
import { sessionOf } from './chat-sessions.js';
import { findChat } from './find-chat.js';
import { dataError } from './refusals.js';
import { chatSessionShape, showSession } from './session-view.js';

/** Longest name of a session; a longer one is cut. */
const MAX_NAME = 255;

/** Runs and messages of a session that are looked through, and how many are read at a time. */
const MOST = 2_000;
const BATCH = 100;

const forkBody = z.looseObject({
  message_id: string.describe('The question that is asked differently: it and all behind it are left out.'),
  name: z.unknown().optional().describe('Default: that of the session.'),
});

export const forkSessionRoutes: RouteGroup = {
  name: 'chat forks',
  description: 'Sessions that go on from what was said in another one.',
  routes: [
    looseRoute('POST /chats/:chat/sessions/:session/fork', {
      summary: 'Makes a session of what was said before a question; the other one stays as it is',
      reserves: 2 * PAGE_BYTES,
      finds: findChat,
      body: forkBody,
      data: chatSessionShape,
      handle: async ({ tenant, params, body, found }, parts) => {
        const before = await sessionOf(parts, tenant, found.id, params.session);
        const { message_id: message, name } = body;
        const given = typeof name === 'string' ? name.trim().slice(0, MAX_NAME) : '';
        return success(showSession(await forkSession(parts, tenant, found, { before, message, name: given })));
      },
    }),
  ],
};

interface Fork {
  readonly before: SessionRecord;
  /** Id of the question. */
  readonly message: string;
  /** Empty: that of the session. */
  readonly name: string;
}

/** @throws EngineError NOT_FOUND (envelope 102) for a question that the session does not have, QUOTA_EXCEEDED, and others of the stores */
async function forkSession(
  parts: ServerParts,
  tenant: string,
  agent: AgentRecord,
  { before, message, name }: Fork,
): Promise<SessionRecord> {
  const { sessions, chats } = parts.stores;
  const asked = before.messages.findIndex(({ id, role }) => id === message && role === 'user');
  if (asked < 0) {
    const text = JSON.stringify(message.slice(0, 200));
    throw dataError(`\`message_id\` must be the id of a question of session ${before.id}; received ${text}.`);
  }
  const dropped = new Set(before.messages.slice(asked).map(({ id }) => id));
  const kept = [...dropped].reduce(withoutTurn, before);
  const about = { query: '', userId: before.userId };
  const forked: SessionRecord = {
    ...newSession(createId(), agent.id, before.dsl, about, parts.now()),
    name: name === '' ? before.name : name,
    source: before.source,
    messages: kept.messages,
    references: kept.references,
    forkedFrom: { session: before.id, message },
    // What runs remember of the conversation, without what the last one waited for.
    ...(kept.conversation && { conversation: { version: 1, variables: kept.conversation.variables } }),
  };
  await parts.host.admitSession(tenant);
  const told = await toldBefore(parts, tenant, before, dropped);
  try {
    for (let at = 0; at < told.length; at += BATCH) {
      await chats?.append(tenant, forked.id, told.slice(at, at + BATCH));
    }
    await sessions.save(tenant, forked);
  } catch (error) {
    await chats?.delete(tenant, forked.id);
    throw error;
  }
  return forked;
}

/** What later questions are told of the turns that are kept, the newest ones; their ids are those of their messages from now on. */
async function toldBefore(
  { stores }: ServerParts,
  tenant: string,
  session: SessionRecord,
  dropped: ReadonlySet<string>,
): Promise<readonly ChatMessageRecord[]> {
  if (stores.chats === undefined) return [];
  const messageOf = await messagesOfRuns(stores.runs, tenant, session);
  const told: ChatMessageRecord[] = [];
  for (const { position: _, ...one } of await stores.chats.messages(tenant, session.id, {
    limit: MOST,
    newest: true,
  })) {
    const [turn = '', part = ''] = one.id.split(':');
    const message = messageOf.get(turn) ?? turn;
    if (!dropped.has(message)) told.push({ ...one, id: part === '' ? message : `${message}:${part}` });
  }
  return told;
}

/** Ids of the messages of runs, by id of the run. */
async function messagesOfRuns(
  runs: ServerParts['stores']['runs'],
  tenant: string,
  { id: sessionId, agentId }: SessionRecord,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let offset = 0; offset < MOST; offset += BATCH) {
    const { items } = await runs.list(tenant, { agentId, sessionId, offset, limit: BATCH });
    for (const { id, messageId } of items) found.set(id, messageId);
    if (items.length < BATCH) break;
  }
  return found;
}
