/** Conversations with an agent: list, create, read, delete. */
import { z } from 'zod';
import { documentWithState } from '../canvas/conversation.js';
import { prologue } from '../dsl/introspect.js';
import { readDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import { findDocument, versionAsked } from '../hosting/canvases.js';
import { newSession } from '../hosting/conversation.js';
import { checkId, createId } from '../hosting/ids.js';
import { noSession } from '../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type AgentRecord, isAssistant } from '../records/agents.js';
import type { SessionMessage, SessionQuery, SessionRecord } from '../records/sessions.js';
import { endSession } from './agents/delete-agent.js';
import { findAgent } from './agents/find-agent.js';
import { type Envelope, leftOut, success, successPage } from './envelope.js';
import {
  bodyText,
  flag,
  given,
  isTruthy,
  listQuery,
  orderOf,
  PAGE_BYTES,
  pageOf,
  periodQuery,
  text,
  textList,
  textUpTo,
} from './http/input.js';
import { type NoQuery, type PathRequest, type RouteGroup, type RouteRequest, route } from './http/route.js';
import type { ServerParts } from './server-parts.js';
import { listAllSessions, listedSessionShape, sessionListQuery } from './session-list.js';
import { anyObject, defineView, none, string, timeFields, whole } from './shapes.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', name: 'name' } as const;

/** Most sessions are smaller by far. */
const SESSION_BYTES = 2 * PAGE_BYTES;

/** A record with its document. */
const LARGEST_SESSION_BYTES = 68 * 1024 ** 2;

/** The most sessions of a user that are listed by their names. */
const MOST_NAMES = 10_000;

/** Id of the message with which an agent opens a conversation. */
const PROLOGUE_ID = 'prologue';

const messageShape = z.looseObject({
  role: string,
  content: string,
  id: string.optional().describe('The message id of the turn; absent for the prologue.'),
  created_at: whole.describe('Seconds since 1970.'),
  files: z.array(anyObject).optional(),
});

const sessionView = defineView<SessionRecord, [showsDsl: boolean]>()({
  id: [string, 'id'],
  name: [string, 'name'],
  agent_id: [string, 'agentId'],
  user_id: [string, 'userId'],
  exp_user_id: [z.null(), none],
  message: [
    z.array(messageShape.extend({ reference: z.array(anyObject).optional().describe('What an answer cites.') })),
    messagesOf,
  ],
  tokens: [whole, 'tokens'],
  source: [z.enum(['workflow', 'agent']), 'source'],
  duration: [z.number().describe('Seconds that its turns took.'), ({ durationMs }) => durationMs / 1000],
  round: [whole, 'round'],
  thumb_up: [whole, () => 0],
  errors: [string.nullable(), 'errors'],
  version_title: [z.null(), none],
  ...timeFields('createdAt', 'updatedAt'),
  dsl: [
    anyObject.optional().describe('The document that the session runs, with what its runs left in it.'),
    ({ dsl, conversation }, showsDsl) => (showsDsl ? documentWithState(dsl, conversation) : undefined),
  ],
});

const { agent_id: agentId, message: _, ...sessionFields } = sessionView.fields;

const sessionRow = defineView<SessionRecord, [showsDsl: boolean]>()({
  ...sessionFields,
  dialog_id: [string.describe('Id of the agent.'), agentId[1]],
  message: [z.array(messageShape), ({ messages }) => messages.map(messageView)],
  reference: [z.array(anyObject).describe('One entry for each answer of a run.'), 'references'],
});

/** Columns of a session that is too large for a list. */
interface TooLarge {
  readonly id: string;
  readonly name: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const tooLargeView = defineView<TooLarge, [agent: string]>()({
  id: [string, 'id'],
  name: [string, 'name'],
  agent_id: [string, (_, agent) => agent],
  user_id: [string, 'user_id'],
  ...timeFields('created_at', 'updated_at'),
});

/** A session that is created before its first run. */
const newSessionSchema = z.looseObject({
  name: textUpTo(255).describe('Default "session".'),
  user_id: textUpTo(255).describe("The client's name for its user."),
  release: z.unknown().optional().describe('true: the published document. Default: the draft.'),
  version: bodyText.describe('Id of a version, or "draft".'),
});

/** Which sessions to delete. */
const deletedSessionsSchema = z.looseObject({
  ids: z.array(z.string()).nullish().describe('Ids; those in the query count as well.'),
  delete_all: z.unknown().optional().describe('true: all sessions of the agent.'),
});

const sessionsQuery = listQuery.extend({
  id: text,
  user_id: text,
  exp_user_id: text.describe('All sessions of a user, as `[{id, name}]`.'),
  keywords: text.describe('Part of the id, the name or a message.'),
  ...periodQuery.shape,
  dsl: text.transform((value) => value?.toLowerCase() !== 'false').describe('"false" leaves the documents out.'),
});

const newSessionQuery = z.object({ release: flag.describe('"true": only what is published.'), user_id: text });
const deletedSessionsQuery = z.object({ ids: textList, delete_all: flag });

export const sessionRoutes: RouteGroup = {
  name: 'sessions',
  description: 'Conversations with an agent.',
  routes: [
    route('GET /sessions', {
      summary: 'Lists sessions with all agents, without their messages, those first that were used last',
      reserves: PAGE_BYTES,
      query: sessionListQuery,
      answers: 'page',
      data: z.array(listedSessionShape),
      handle: listAllSessions,
    }),
    route('GET /agents/:id/sessions', {
      summary: 'Lists sessions',
      reserves: PAGE_BYTES,
      finds: findAgent,
      query: sessionsQuery,
      answers: 'page',
      data: z
        .union([z.array(sessionView.shape), z.array(z.looseObject({ id: string, name: string }))])
        .describe('As many as fit into 4 MiB; `left_out` says how many of the page do not.'),
      handle: list,
    }),
    route('POST /agents/:id/sessions', {
      summary: 'Makes a session before its first turn',
      finds: findAgent,
      query: newSessionQuery,
      body: newSessionSchema,
      data: sessionView.shape,
      handle: async ({ tenant, query, body, found: agent }, parts) => {
        const userId = body.user_id || query.user_id;
        const asked = { isReleased: isTruthy(body.release ?? query.release), ...given({ version: body.version }) };
        const dsl = await findDocument(parts.stores.versions, tenant, agent, 'draft', asked);
        const version = versionAsked(agent, 'draft', asked);
        const now = parts.now();
        const { document } = readDocument(dsl);
        const content = document === undefined ? '' : prologue(document);
        const user = userId ? { userId: checkId('user_id', userId) } : {};
        const about = { query: '', ...user, name: body.name || 'session', version };
        const createdAt = Math.floor(now / 1000);
        const session: SessionRecord = {
          ...newSession(createId(), agent.id, dsl, about, now),
          source: 'agent',
          messages: content === '' ? [] : [{ role: 'assistant', content, id: PROLOGUE_ID, createdAt }],
        };
        await parts.host.admitSession(tenant);
        await parts.stores.sessions.save(tenant, session);
        return success(sessionView.of(session, true));
      },
    }),
    route('DELETE /agents/:id/sessions', {
      summary: 'Deletes several sessions',
      finds: findOwned,
      query: deletedSessionsQuery,
      body: deletedSessionsSchema,
      data: z
        .looseObject({ success_count: whole, errors: z.array(string) })
        .describe('Only when some were deleted and some were not.'),
      handle: removeMany,
    }),
    route('GET /agents/:id/sessions/:session', {
      summary: 'Reads a session',
      reserves: SESSION_BYTES,
      finds: findAgent,
      data: sessionRow.shape,
      handle: async (request, parts) => success(sessionRow.of(await readSession(request, parts), true)),
    }),
    route('DELETE /agents/:id/sessions/:session', {
      summary: 'Deletes a session',
      finds: findSession,
      data: whole,
      handle: async ({ tenant, found }, parts) => {
        await endSession(parts, tenant, found.id);
        return success(1);
      },
    }),
  ],
};

/** A page of sessions as large as they fit, or with `exp_user_id` the names of a user's sessions. */
async function list(
  { tenant, query, found }: RouteRequest<'id', typeof sessionsQuery, z.ZodUnknown, AgentRecord>,
  { stores: { sessions } }: ServerParts,
): Promise<Envelope> {
  const { id, keywords, exp_user_id: expUser, from_date: from, to_date: to } = query;
  const page = expUser === undefined ? pageOf(query) : { offset: 0, limit: MOST_NAMES, maxBytes: PAGE_BYTES };
  const wanted: SessionQuery = {
    agentId: found.id,
    ...page,
    omitsShared: !query.dsl,
    ...orderOf<SessionQuery['orderBy']>(query, ORDERS, 'updatedAt'),
    ...given({ id, userId: expUser ?? query.user_id, keywords, from, to }),
  };
  if (expUser !== undefined) {
    const { items, total } = await sessions.select(tenant, wanted, ['name']);
    return {
      ...success(items.map(({ id, name }) => ({ id, name }))),
      ...leftOut(items.length, total, page, 'Narrow the list with `keywords`, `from_date` or `to_date`.'),
    };
  }
  const { items, total } = await sessions.list(tenant, wanted);
  if (items.length > 0 || page.offset >= total) {
    return successPage(
      items.map((session) => sessionView.of(session, query.dsl)),
      total,
      page,
    );
  }
  const columns = await sessions.select(tenant, { ...wanted, limit: 1 }, [
    'name',
    'user_id',
    'created_at',
    'updated_at',
  ]);
  const message = `The first session of the page takes more than ${PAGE_BYTES} bytes, so only its name is given. Read it by its id, or leave the documents out with \`dsl=false\`.`;
  const row = columns.items.map((one) => tooLargeView.of(one as unknown as TooLarge, found.id));
  return { ...successPage(row, total, page), message };
}

/** Ids from the body or the query; each that could not be deleted is named. */
async function removeMany(
  {
    tenant,
    query,
    body,
    found: agent,
  }: RouteRequest<'id', typeof deletedSessionsQuery, typeof deletedSessionsSchema, AgentRecord>,
  parts: ServerParts,
): Promise<Envelope> {
  if (isTruthy(body.delete_all ?? query.delete_all)) {
    await parts.host.cancel(tenant, { agentId: agent.id });
    await parts.stores.sessions.deleteOf(tenant, agent.id);
    return { code: 0 };
  }
  const errors: string[] = [];
  const ids = new Set<string>();
  for (const id of [...(body.ids ?? []), ...(query.ids ?? [])]) {
    if (ids.has(id)) errors.push(`Duplicate session ids: ${id}`);
    ids.add(id);
  }
  let deleted = 0;
  for (const id of ids) {
    const session = await parts.stores.sessions.find(tenant, id);
    if (session?.agentId === agent.id) {
      await endSession(parts, tenant, id);
      deleted += 1;
    } else {
      errors.push(`The agent doesn't own the session ${id}`);
    }
  }
  if (deleted === 0 && errors.length > 0) return { code: 102, message: errors.join('; ') };
  return { code: 0, ...(errors.length === 0 ? {} : { data: { success_count: deleted, errors } }) };
}

/** The agent, refused in RAGFlow's words on this path. */
async function findOwned({ tenant, params }: PathRequest<'id'>, { stores }: ServerParts): Promise<AgentRecord> {
  const agent = await stores.agents.find(tenant, params.id);
  if (agent === undefined || isAssistant(agent)) {
    throw new EngineError('NOT_FOUND', `You don't own the agent ${params.id}`);
  }
  return agent;
}

/** Reads a session when the process has room for it, which few need more of than was reserved. */
async function readSession(
  request: RouteRequest<'id' | 'session', NoQuery, z.ZodUnknown, AgentRecord>,
  parts: ServerParts,
): Promise<SessionRecord> {
  const { tenant, params, found: agent, exchange } = request;
  const page = { offset: 0, limit: 1, maxBytes: SESSION_BYTES, orderBy: 'createdAt', descending: true } as const;
  const { items, total } = await parts.stores.sessions.list(tenant, { ...page, agentId: agent.id, id: params.session });
  const [session] = items;
  if (session === undefined && total > 0) {
    await parts.answers.reserve(exchange.res, tenant, LARGEST_SESSION_BYTES);
    return findSession(request, parts);
  }
  if (session === undefined) throw noSession();
  return session;
}

async function findSession(request: PathRequest<'id' | 'session'>, parts: ServerParts): Promise<SessionRecord> {
  const agent = await findAgent(request, parts);
  const session = await parts.stores.sessions.find(request.tenant, request.params.session);
  if (session === undefined || session.agentId !== agent.id) throw noSession();
  return session;
}

/** References belong to answers of runs, not to the prologue. */
function messagesOf({ messages, references }: SessionRecord): Json[] {
  let answers = 0;
  // The oldest entries of both lists may have been dropped, so they are matched from the end.
  const answered = messages.filter(({ role, id }) => role === 'assistant' && id !== PROLOGUE_ID).length;
  const skipped = references.length - answered;
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.id === PROLOGUE_ID) return messageView(message);
    const reference = references[skipped + answers];
    answers += 1;
    return { ...messageView(message), reference: citationsOf(reference) };
  });
}

function messageView({ role, content, id, createdAt, files }: SessionMessage): Record<string, Json> {
  return {
    role,
    content,
    ...(id === PROLOGUE_ID ? {} : { id }),
    created_at: createdAt,
    ...(files === undefined ? {} : { files }),
  };
}

/** Chunks of a reference as a list; `citation_id` is the number that the text cites. */
function citationsOf(reference: JsonObject | undefined): Json[] {
  const chunks = reference?.chunks;
  const entries = Array.isArray(chunks)
    ? chunks.map((chunk): [string | undefined, Json] => [undefined, chunk])
    : Object.entries(isJsonObject(chunks) ? chunks : {});
  return entries.flatMap(([key, chunk]) => {
    if (!isJsonObject(chunk)) return [];
    const { id, content, document_id, document_name, dataset_id, image_id, positions } = chunk;
    const shown = { id, content, document_id, document_name, dataset_id, image_id, positions };
    const filled = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, value ?? null]));
    return [{ ...filled, ...(key === undefined ? {} : { citation_id: key }) }];
  });
}
