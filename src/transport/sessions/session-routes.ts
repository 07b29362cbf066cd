import type { ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { prologue } from '../../dsl/introspect.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { newSession } from '../../hosting/conversation.js';
import { findDocument } from '../../hosting/find-document.js';
import { checkId, createId } from '../../hosting/ids.js';
import { noSession } from '../../hosting/refusals.js';
import type { SessionQuery, SessionRecord } from '../../records/stores.js';
import { agentIdOf, requireAgent } from '../agents/find-agent.js';
import { type Envelope, success, successPage } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryList, queryText, readDescending, readInput, readOrder, readPage, readTime } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { isTruthy } from '../truth.js';
import { PROLOGUE_ID, sessionRow, sessionView } from './session-view.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', name: 'name' } as const;

const text = z.string({ error: 'expected a text' }).nullish();

/** A session that is made before its first run. */
export const newSessionSchema = z.looseObject({
  name: text.describe('Default "session".'),
  user_id: text.describe('Whatever the client calls its user.'),
  release: z.unknown().optional().describe('true: the published document. Default: the draft.'),
  version: text.describe('Id of a version, or "draft".'),
});

/** Which sessions to delete. */
export const deletedSessionsSchema = z.looseObject({
  ids: z.array(z.string()).nullish().describe('Ids; those in the query count as well.'),
  delete_all: z.unknown().optional().describe('true: all sessions of the agent.'),
});

/** Conversations with an agent: list, create, read, delete. */
export function sessionRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents/:id/sessions', (exchange) => list(parts, exchange));
    router.post('/agents/:id/sessions', (exchange) => create(parts, exchange));
    router.get('/agents/:id/sessions/:session', async (exchange) => {
      exchange.body = success(sessionRow(await findSession(parts, exchange)));
    });
    router.delete('/agents/:id/sessions/:session', async (exchange) => {
      const { id } = await findSession(parts, exchange);
      await remove(parts, exchange, id);
      exchange.body = success(1);
    });
    router.delete('/agents/:id/sessions', (exchange) => removeMany(parts, exchange));
  };
}

async function list(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query, state } = exchange;
  const agent = await requireAgent(parts, exchange);
  const expUser = queryText(query, 'exp_user_id');
  const { items, total } = await parts.stores.sessions.list(state.tenant, {
    agentId: agent.id,
    ...(expUser === undefined ? readPage(query) : { offset: 0, limit: Number.MAX_SAFE_INTEGER }),
    ...readConditions(query, expUser),
    orderBy: readOrder<SessionQuery['orderBy']>(query, ORDERS, 'updatedAt'),
    descending: readDescending(query),
  });
  const showsDsl = queryText(query, 'dsl')?.toLowerCase() !== 'false';
  exchange.body =
    expUser === undefined
      ? successPage(
          items.map((session) => sessionView(session, showsDsl)),
          total,
        )
      : success(items.map(({ id, name }) => ({ id, name })));
}

function readConditions(
  query: ParsedUrlQuery,
  expUser: string | undefined,
): Pick<SessionQuery, 'id' | 'userId' | 'keywords' | 'from' | 'to'> {
  const id = queryText(query, 'id');
  const userId = expUser ?? queryText(query, 'user_id');
  const keywords = queryText(query, 'keywords');
  const from = readTime(query, 'from_date');
  const to = readTime(query, 'to_date');
  return {
    ...(id === undefined ? {} : { id }),
    ...(userId === undefined ? {} : { userId }),
    ...(keywords === undefined ? {} : { keywords }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

async function create(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const agent = await requireAgent(parts, exchange);
  const { name, user_id, version, release } = readInput(newSessionSchema, exchange.request.body ?? {});
  const userId = user_id ?? queryText(exchange.query, 'user_id');
  const { tenant } = exchange.state;
  const dsl = await findDocument(parts.stores.versions, tenant, agent, 'draft', {
    isReleased: isTruthy(release ?? queryText(exchange.query, 'release')),
    ...(version === undefined || version === null ? {} : { version }),
  });
  const now = parts.now();
  const { document } = readDocument(dsl);
  const opening = document === undefined ? '' : prologue(document);
  const session: SessionRecord = {
    ...newSession(
      createId(),
      agent.id,
      dsl,
      { query: '', ...(userId ? { userId } : {}), name: name || 'session' },
      now,
    ),
    source: 'agent',
    messages:
      opening === ''
        ? []
        : [{ role: 'assistant', content: opening, id: PROLOGUE_ID, createdAt: Math.floor(now / 1000) }],
  };
  await parts.stores.sessions.save(tenant, session);
  exchange.body = success(sessionView(session, true));
}

/** Ids from the body or the query; what could not be deleted is named one by one. */
async function removeMany(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const agent = await parts.stores.agents.find(tenant, agentIdOf(exchange));
  if (agent === undefined) throw notOwned(agentIdOf(exchange));
  const body = readInput(deletedSessionsSchema, exchange.request.body ?? {});
  if (isTruthy(body.delete_all ?? queryText(exchange.query, 'delete_all'))) {
    await parts.host.cancel(tenant, { agentId: agent.id });
    await parts.stores.sessions.deleteOf(tenant, agent.id);
    exchange.body = { code: 0 } satisfies Envelope;
    return;
  }
  const given = [...(body.ids ?? []), ...(queryList(exchange.query, 'ids') ?? [])];
  const errors: string[] = [];
  const ids = new Set<string>();
  for (const id of given) {
    if (ids.has(id)) errors.push(`Duplicate session ids: ${id}`);
    ids.add(id);
  }
  let deleted = 0;
  for (const id of ids) {
    const session = await parts.stores.sessions.find(tenant, id);
    if (session?.agentId === agent.id) {
      await remove(parts, exchange, id);
      deleted += 1;
    } else {
      errors.push(`The agent doesn't own the session ${id}`);
    }
  }
  if (deleted === 0 && errors.length > 0) {
    exchange.body = { code: 102, message: errors.join('; ') } satisfies Envelope;
  } else {
    exchange.body = { code: 0, ...(errors.length === 0 ? {} : { data: { success_count: deleted, errors } }) };
  }
}

/** A session that is deleted takes its run with it. */
async function remove(parts: ServerParts, { state }: HttpExchange, sessionId: string): Promise<void> {
  const { sessions } = parts.stores;
  const run = (await sessions.find(state.tenant, sessionId))?.lastRun;
  // First, so that a run that ends now does not keep it.
  await sessions.delete(state.tenant, sessionId);
  await parts.host.cancel(state.tenant, { sessionId });
  if (run !== undefined) await parts.host.cancel(state.tenant, { run });
}

async function findSession(parts: ServerParts, exchange: HttpExchange): Promise<SessionRecord> {
  const agent = await requireAgent(parts, exchange);
  const id = checkId('session_id', exchange.params.session as string);
  const session = await parts.stores.sessions.find(exchange.state.tenant, id);
  if (session === undefined || session.agentId !== agent.id) throw noSession();
  return session;
}

/** The words of RAGFlow for this one path. */
function notOwned(agentId: string): EngineError {
  return new EngineError('NOT_FOUND', `You don't own the agent ${agentId}`);
}
