/** Sessions with an assistant: list, create, read, rename, delete. */
import { z } from 'zod';
import { newSession } from '../../hosting/conversation.js';
import { createId } from '../../hosting/ids.js';
import type { Json, JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/agents.js';
import type { SessionQuery, SessionRecord } from '../../records/sessions.js';
import { endSession } from '../agents/delete-agent.js';
import { type Envelope, leftOut, success } from '../envelope.js';
import { given, listFitting, PAGE_BYTES } from '../http/input.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import type { ServerParts } from '../server-parts.js';
import { string } from '../shapes.js';
import { settingsOf } from './assistant.js';
import { changeSession } from './change-session.js';
import { deletionBody, deletionShape, readDeletion, sumUp } from './deletion.js';
import { findChat } from './find-chat.js';
import { chatPage, chatSessionsQuery, orderOfSessions } from './list-query.js';
import { dataError, noChatSession } from './refusals.js';
import { chatSessionShape, PROLOGUE_ID, showSession } from './session-view.js';

/** Longest name of a session; a longer one is cut, as RAGFlow does. */
const MAX_NAME = 255;

/** Sessions that are deleted without being named are read so many at a time. */
const BATCH = 100;

const nameOf = z.unknown().optional();
const newSessionBody = z.looseObject({
  name: nameOf.describe('Default "New session"; a longer one is cut after 255 characters.'),
  user_id: nameOf.describe("The client's name for its user; default the tenant."),
});
const sessionChangeBody = z.looseObject({ name: nameOf.describe('What else is sent is not changed.') });

export const chatSessionRoutes: RouteGroup = {
  name: 'chat sessions',
  description: 'Conversations with an assistant.',
  routes: [
    looseRoute('GET /chats/:chat/sessions', {
      summary: 'Lists sessions',
      reserves: PAGE_BYTES,
      finds: findChat,
      query: chatSessionsQuery,
      data: z.array(chatSessionShape),
      handle: list,
    }),
    looseRoute('POST /chats/:chat/sessions', {
      summary: 'Makes a session before its first question',
      finds: findChat,
      body: newSessionBody,
      data: chatSessionShape,
      handle: async ({ tenant, body, found }, parts) => {
        const name = readName(body.name, 'New session');
        const session = await insertSession(parts, tenant, found, { name, userId: textOf(body.user_id) });
        return success(showSession(session));
      },
    }),
    looseRoute('DELETE /chats/:chat/sessions', {
      summary: 'Deletes sessions',
      finds: findChat,
      body: deletionBody,
      data: deletionShape,
      handle: removeMany,
    }),
    looseRoute('GET /chats/:chat/sessions/:session', {
      summary: 'Reads a session',
      reserves: 2 * PAGE_BYTES,
      finds: findChat,
      data: chatSessionShape.extend({ avatar: string.describe('The icon of the assistant.') }),
      handle: async ({ tenant, params, found }, parts) => {
        const session = await sessionOf(parts, tenant, found.id, params.session);
        return success({ ...showSession(session), avatar: found.avatar ?? '' });
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      looseRoute(`${method} /chats/:chat/sessions/:session`, {
        summary: method === 'PUT' ? 'The same as PATCH' : 'Renames a session',
        finds: findChat,
        body: sessionChangeBody,
        data: chatSessionShape,
        handle: rename,
      }),
    ),
  ],
};

async function list(
  { tenant, query, found }: RouteRequest<'chat', typeof chatSessionsQuery, z.ZodUnknown, AgentRecord>,
  { stores: { sessions } }: ServerParts,
): Promise<Envelope> {
  const { id, name, user_id: userId } = query;
  const page = chatPage(query);
  const wanted: SessionQuery = {
    ...page,
    ...orderOfSessions(query),
    agentId: found.id,
    omitsShared: true,
    ...given({ id, name, userId }),
  };
  const { items, total } = await listFitting(wanted, (one) => sessions.list(tenant, one));
  return { ...success(items.map((session) => showSession(session))), ...leftOut(items.length, total, page) };
}

/** What is known of a session before its first question. */
export interface SessionAbout {
  readonly name: string;
  readonly userId: string | undefined;
}

/** Stores a session that begins with the prologue of its assistant. @throws EngineError QUOTA_EXCEEDED and others of the store */
export async function insertSession(
  parts: ServerParts,
  tenant: string,
  agent: AgentRecord,
  { name, userId = tenant }: SessionAbout,
): Promise<SessionRecord> {
  const now = parts.now();
  const { prologue } = settingsOf(agent).prompt_config;
  const content = typeof prologue === 'string' ? prologue : '';
  const createdAt = Math.floor(now / 1000);
  const session: SessionRecord = {
    ...newSession(createId(), agent.id, agent.dsl, { query: '', userId }, now),
    name,
    source: 'agent',
    messages: [{ role: 'assistant', content, id: PROLOGUE_ID, createdAt }],
  };
  await parts.host.admitSession(tenant);
  await parts.stores.sessions.save(tenant, session);
  return session;
}

async function rename(
  { tenant, params, body, found }: RouteRequest<'chat' | 'session', z.ZodObject, typeof sessionChangeBody, AgentRecord>,
  parts: ServerParts,
): Promise<Envelope> {
  const given = body as JsonObject;
  const session = await parts.stores.sessions.find(tenant, params.session);
  if (session === undefined || session.agentId !== found.id) throw noChatSession();
  for (const name of ['messages', 'message', 'reference']) {
    if (Object.hasOwn(given, name)) throw dataError(`\`${name === 'message' ? 'messages' : name}\` cannot be changed`);
  }
  if (given.name === undefined || given.name === null) return success(showSession(session));
  const name = readName(given.name, '');
  const about = { tenant, chatId: found.id, sessionId: session.id };
  const now = parts.now();
  return success(showSession(await changeSession(parts, about, (before) => ({ ...before, name, updatedAt: now }))));
}

async function removeMany(
  { tenant, body, found }: RouteRequest<'chat', z.ZodObject, typeof deletionBody, AgentRecord>,
  parts: ServerParts,
): Promise<Envelope> {
  const { ids, twice, all } = readDeletion(body, 'session');
  if (all) return sumUp({ count: await removeAll(parts, tenant, found.id), errors: [] }, 'sessions', true);
  let count = 0;
  const errors: string[] = [];
  for (const id of ids) {
    const session = await parts.stores.sessions.find(tenant, id);
    const isThere = session?.agentId === found.id && (await endSession(parts, tenant, id));
    if (isThere) count += 1;
    else errors.push(`The chat doesn't own the session ${id}`);
  }
  return sumUp({ count, errors: [...errors, ...twice] }, 'sessions', true);
}

async function removeAll(parts: ServerParts, tenant: string, chatId: string): Promise<number> {
  let count = 0;
  for (;;) {
    const page = { agentId: chatId, offset: 0, limit: BATCH, orderBy: 'createdAt', descending: false } as const;
    const { items } = await parts.stores.sessions.select(tenant, page, ['name']);
    let deleted = 0;
    for (const { id } of items) if (await endSession(parts, tenant, id)) deleted += 1;
    count += deleted;
    // Another request may delete the same ones.
    if (items.length < BATCH || deleted === 0) return count;
  }
}

/** A session of an assistant. @throws EngineError NOT_FOUND */
export async function sessionOf(
  { stores }: Pick<ServerParts, 'stores'>,
  tenant: string,
  chatId: string,
  id: string,
): Promise<SessionRecord> {
  const session = await stores.sessions.find(tenant, id);
  if (session === undefined) throw noChatSession();
  if (session.agentId !== chatId) throw dataError('Session does not belong to this chat!');
  return session;
}

/** @throws EngineError NOT_FOUND (envelope 102) for a name that is none. */
function readName(given: unknown, fallback: string): string {
  if (given === undefined) return fallback;
  const name = typeof given === 'string' ? given.trim() : '';
  if (name === '') throw dataError('`name` can not be empty');
  return name.slice(0, MAX_NAME);
}

function textOf(given: unknown): string | undefined {
  const text: Json | undefined = typeof given === 'string' ? given.slice(0, MAX_NAME) : undefined;
  return text === '' ? undefined : text;
}
