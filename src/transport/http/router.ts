import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { z } from 'zod';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { createRateLimit } from '../access/rate-limits.js';
import type { ServerParts } from '../server-parts.js';
import {
  authenticate,
  type GuardOptions,
  limitRate,
  noPageKey,
  requireAdmin,
  requireConfigured,
  sayWhenToRetry,
} from './guards.js';
import { given, readInput, readQuery } from './input.js';
import { readJsonBody } from './read-body.js';
import { type Access, type HttpExchange, type RequestState, type Route, shapeOf } from './route.js';

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
};

export interface RouterOptions {
  readonly parts: ServerParts;
  readonly guard: GuardOptions;
}

/**
 * The router of declared routes, in an order that depends on their paths alone.
 *
 * Guards run only where a route matches: what does not exist is answered with 404 without asking for a key.
 *
 * @throws EngineError CONFIG_INVALID when two routes answer the same requests.
 */
export function createRouter(routes: readonly Route[], options: RouterOptions): Middleware {
  const bySegments = new Map(
    [...createRouters(routes, options)].map(([segments, router]) => [segments, router.routes() as Middleware]),
  );
  return (exchange, next) => bySegments.get(segmentsIn(exchange.path))?.(exchange, next) ?? next();
}

/** The routers by the number of segments in their paths: a router tries each of its routes on every path. */
export function createRouters(
  routes: readonly Route[],
  options: RouterOptions,
): ReadonlyMap<number, Router<RequestState>> {
  const { parts } = options;
  const routers = new Map<number, Router<RequestState>>();
  const guardsOf = createGuards(options);
  for (const route of inOrder(routes)) {
    if (route.access === 'admin' && parts.config.adminKey === undefined) continue;
    const segments = segmentsIn(route.path);
    const router = routers.get(segments) ?? new Router<RequestState>();
    routers.set(segments, router);
    router.register(route.path, [route.method], [...guardsOf(route), (exchange) => answer(route, parts, exchange)]);
  }
  return routers;
}

/** How many segments a path has; a slash at its end begins none. */
function segmentsIn(path: string): number {
  let segments = 0;
  for (let at = 0; at < path.length - 1; at += 1) if (path.charCodeAt(at) === SLASH) segments += 1;
  return segments;
}

const SLASH = 47;

function inOrder(routes: readonly Route[]): readonly Route[] {
  const byKey = new Map<string, Route>();
  for (const route of routes) {
    const key = `${shapeOf(route)} ${route.method}`;
    const other = byKey.get(key);
    if (other !== undefined) {
      const both = `${route.method} ${other.path} and ${route.path}`;
      throw new EngineError('CONFIG_INVALID', `Two routes answer the same requests: ${both}. Give one another path.`);
    }
    byKey.set(key, route);
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, route]) => route);
}

/** The middleware before the handler of a route: form of refusals, key, rate, body. */
function createGuards({ parts, guard }: RouterOptions): (route: Route) => readonly Middleware<RequestState>[] {
  const { config, logger, createCounter } = parts;
  const limit = createRateLimit(createCounter('api', 60), (error) =>
    logger.error({ err: error }, 'requests cannot be counted and are refused'),
  );
  const limited = limitRate(limit, config.requestsPerMinute);
  const json = readJsonBody(config.jsonBytes, parts.bodies);
  const byAccess: Readonly<Record<Access, readonly Middleware<RequestState>[]>> = {
    open: [],
    key: [authenticate(guard), limited],
    configured: [authenticate(guard), limited, requireConfigured],
    page: [authenticate(guard, { takesPage: true }), limited],
    bot: [authenticate(guard, { takesPage: true, refusal: noPageKey }), limited],
    admin: [requireAdmin(config.adminKey, guard.callers)],
  };
  return ({ access = 'key', body, refuse }) => [
    ...(refuse === undefined
      ? []
      : [
          answerErrorsBy((exchange, error) => {
            parts.quotaMetrics.refused(error);
            refuse(exchange, error, parts);
          }),
        ]),
    ...byAccess[access],
    ...(body === 'anything' ? [] : [json]),
  ];
}

function answerErrorsBy(refuse: (exchange: HttpExchange, error: unknown) => void): Middleware<RequestState> {
  return async (exchange, next) => {
    try {
      await next();
    } catch (error) {
      sayWhenToRetry(exchange, error);
      refuse(exchange as HttpExchange, error);
      // Discard the rest of a refused body: a client that cannot finish sending never reads the answer.
      exchange.req.resume();
    }
  };
}

async function answer(route: Route, parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { params, query, state, request } = exchange;
  for (const [name, value] of Object.entries(params)) {
    const label = IDS[name];
    if (label !== undefined) checkId(label, value);
  }
  const { tenant = '', caller = '' } = state as Partial<RequestState>;
  const addressed = { tenant, caller, ...given(callerOf(state)), params };
  if (route.reserves !== undefined) await parts.answers.reserve(exchange.res, tenant, route.reserves);
  const found = await route.finds?.(addressed, parts);
  const body = await route.handle(
    {
      ...addressed,
      found,
      query: route.query === undefined ? {} : readQuery(route.query, query),
      body: isSchema(route.body) ? readInput(route.body, request.body) : request.body,
      exchange,
    },
    parts,
  );
  if (body !== undefined) exchange.body = body;
}

/** What only some keys have. */
function callerOf({ boundAgent, page, isMade }: RequestState) {
  return { boundAgent, page, isMade };
}

function isSchema(body: Route['body']): body is z.ZodType {
  return typeof body === 'object';
}
