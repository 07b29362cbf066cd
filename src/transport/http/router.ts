import type { Middleware, ParameterizedContext } from 'koa';
import type { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { createRateLimit } from '../access/rate-limits.js';
import type { ServerParts } from '../server-parts.js';
import {
  authenticate,
  type Guard,
  type GuardOptions,
  leaveAllowed,
  limitRate,
  noPageKey,
  requireAdmin,
  requireConfigured,
  sayWhenToRetry,
} from './guards.js';
import { given, readInput, readQuery } from './input.js';
import { readJsonBody, readJsonOf } from './read-body.js';
import type { Access, HttpExchange, RequestState, Route } from './route.js';
import { RouteTable } from './route-table.js';

/** What a refusal calls the ids of a path. Other parameters are checked by their handlers. */
const IDS: Readonly<Record<string, string>> = {
  id: 'agent_id',
  version: 'version_id',
  session: 'session_id',
  run: 'run_id',
  message: 'message_id',
  component: 'component_id',
  task: 'task_id',
  token: 'token',
  tenant: 'tenant_id',
  chat: 'chat_id',
  dataset: 'dataset_id',
  document: 'document_id',
  chunk: 'chunk_id',
};

export interface RouterOptions {
  readonly parts: ServerParts;
  readonly guard: GuardOptions;
}

/** Answers a request of one route. */
type Answer = (exchange: HttpExchange) => Promise<void>;

/**
 * The router of declared routes, in which the order of declaration means nothing.
 *
 * Guards run only where a route matches: what does not exist is answered with 404 without asking for a key.
 *
 * @throws EngineError CONFIG_INVALID when two routes answer the same requests.
 */
export function createRouter(routes: readonly Route[], options: RouterOptions): Middleware {
  const table = createRouteTable(routes, options);
  return (given, next) => {
    const exchange = given as HttpExchange;
    const { method, path } = exchange;
    const match = table.find(method, path);
    if (match === undefined) {
      leaveAllowed(exchange, table.methodsOf(path));
      return next();
    }
    exchange.params = match.params;
    return match.value(exchange);
  };
}

/** What answers each route that the server has. */
export function createRouteTable(routes: readonly Route[], options: RouterOptions): RouteTable<Answer> {
  const { parts } = options;
  const table = new RouteTable<Answer>();
  const guardsOf = createGuards(options);
  for (const route of routes) {
    if (route.access === 'admin' && parts.config.adminKey === undefined) continue;
    const answered = guarded(guardsOf(route), (exchange) => answer(route, parts, exchange));
    table.add(route, route.refuse === undefined ? answered : refusing(answered, route.refuse, parts));
  }
  return table;
}

/** The guards of a route: key, rate, body. */
function createGuards({ parts, guard }: RouterOptions): (route: Route) => readonly Guard[] {
  const { config, logger, createCounter } = parts;
  const limit = createRateLimit(createCounter('api', 60), (error) =>
    logger.error({ err: error }, 'requests cannot be counted and are refused'),
  );
  const limited = limitRate(limit, config.requestsPerMinute);
  const json = readJsonBody(config.jsonBytes, parts.bodies);
  const byAccess: Readonly<Record<Access, readonly Guard[]>> = {
    open: [],
    key: [authenticate(guard), limited],
    configured: [authenticate(guard), limited, requireConfigured],
    page: [authenticate(guard, { takesPage: true }), limited],
    bot: [authenticate(guard, { takesPage: true, refusal: noPageKey }), limited],
    admin: [requireAdmin(config.adminKey, guard.callers)],
  };
  return ({ access = 'key', body, dialect }) => {
    if (dialect === undefined) return [...byAccess[access], ...(body === 'anything' ? [] : [json])];
    const keyed = access === 'key' ? [authenticate(guard, { refusal: dialect.noKey }), limited] : byAccess[access];
    return isSchema(body) ? [...keyed, readJsonOf(dialect, config.jsonBytes, parts.bodies)] : keyed;
  };
}

function guarded(guards: readonly Guard[], answered: Answer): Answer {
  return async (exchange) => {
    for (const guard of guards) {
      const checked = guard(exchange);
      // Most have nothing to wait for, and a turn of the event loop costs more than they do.
      if (checked !== undefined) await checked;
    }
    return answered(exchange);
  };
}

function refusing(answered: Answer, refuse: NonNullable<Route['refuse']>, parts: ServerParts): Answer {
  return async (exchange) => {
    try {
      await answered(exchange);
    } catch (error) {
      parts.quotaMetrics.refused(error);
      sayWhenToRetry(exchange as ParameterizedContext, error);
      refuse(exchange, error, parts);
      // Discard the rest of a refused body: a client that cannot finish sending never reads the answer.
      exchange.req.resume();
    }
  };
}

async function answer(route: Route, parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { params, state, request } = exchange;
  for (const name in params) {
    const label = IDS[name];
    if (label !== undefined) checkId(label, params[name] as string);
  }
  const { tenant = '', caller = '', boundAgent, page, isMade } = state as Partial<RequestState>;
  const isPlain = boundAgent === undefined && page === undefined && isMade === undefined;
  const addressed = isPlain
    ? { tenant, caller, params }
    : { tenant, caller, params, ...given({ boundAgent, page, isMade }) };
  if (route.reserves !== undefined) await parts.answers.reserve(exchange.res, tenant, route.reserves);
  const found = route.finds === undefined ? undefined : await route.finds(addressed, parts);
  const { query: readsQuery = readQuery, body: readsBody = readInput } = route.dialect ?? {};
  const body = await route.handle(
    {
      ...addressed,
      found,
      query: route.query === undefined ? {} : readsQuery(route.query, exchange.query),
      body: isSchema(route.body) ? readsBody(route.body, request.body) : request.body,
      exchange,
    },
    parts,
  );
  if (body !== undefined) exchange.body = body;
}

function isSchema(body: Route['body']): body is z.ZodType {
  return typeof body === 'object';
}
