import type { IncomingHttpHeaders } from 'node:http';
import cors from '@koa/cors';
import type { RouterContext } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import type { TokenStore } from '../../records/tokens.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { type FindTenant, findOwner, nameOfSecret, sameSecret, tokenOf } from '../access/api-keys.js';
import { refusalOf } from '../access/origins.js';
import { type RateLimit, tooManyRequests } from '../access/rate-limits.js';
import { failureOf, notAllowed, notFound } from '../envelope.js';
import type { RequestState } from './route.js';

/** Keys and origins that may call the server. */
export interface GuardOptions {
  /** The tenant of a key; undefined: the server has no keys. */
  readonly findTenant: FindTenant | undefined;
  readonly corsOrigins: readonly string[];
}

/** Which keys a route takes. */
export interface KeyOptions {
  /** Keys that tenants made for themselves. */
  readonly tokens: TokenStore;
  /** Also those of chat pages. @default false */
  readonly takesBeta?: boolean;
  /** The refusal of a request without a valid key. @default UNAUTHENTICATED (HTTP 401) */
  readonly refusal?: () => EngineError;
}

/** Answers errors in RAGFlow's envelope, paths without a route with 404, and methods that a path does not take with 405. */
export function answerErrors(logger: Log): Middleware {
  return async (exchange, next) => {
    try {
      await next();
      if (exchange.status !== 404 || exchange.body !== undefined) return;
      const allowed = methodsOf(exchange);
      const { status, body } =
        allowed.length === 0 ? notFound(exchange.path) : notAllowed(exchange.method, exchange.path, allowed);
      if (allowed.length > 0) exchange.set('Allow', allowed.join(', '));
      exchange.status = status;
      exchange.body = body;
    } catch (error) {
      const { status, body } = failureOf(error);
      if (status >= 500)
        logger.error({ err: error, method: exchange.method, path: exchange.path }, 'a request crashed');
      exchange.status = status;
      exchange.body = body;
      // Discard the rest of a refused body: a client that cannot finish sending never reads the answer.
      exchange.req.resume();
    }
  };
}

/** The methods that routes of the path take; none when there is no such path. */
function methodsOf(exchange: ParameterizedContext): readonly string[] {
  // The router leaves every route of the path there, whatever its method is.
  const { matched = [] } = exchange as { readonly matched?: RouterContext['matched'] };
  return [...new Set(matched.flatMap(({ methods }) => methods))].sort();
}

/**
 * Without keys: refuses other names than loopback ones, and pages of other origins. With keys a page can do nothing without one, and no
 * browser adds it by itself.
 *
 * @throws EngineError FORBIDDEN (HTTP 403).
 */
export function checkOrigin({ findTenant, corsOrigins }: GuardOptions, headers: IncomingHttpHeaders): void {
  const refusal = findTenant === undefined ? refusalOf(headers, corsOrigins) : undefined;
  if (refusal !== undefined) throw new EngineError('FORBIDDEN', refusal, { details: { httpStatus: 403 } });
}

/** Lets browsers of the named origins read answers. */
export function allowOrigins({ corsOrigins }: GuardOptions): Middleware {
  return cors({
    origin: ({ headers: { origin = '' } }) => {
      if (corsOrigins.includes('*')) return '*';
      return corsOrigins.includes(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    exposeHeaders: 'X-Run-Id,Content-Disposition,Retry-After,Mcp-Session-Id',
    maxAge: 600,
  });
}

/** Finds the tenant of a request. @throws EngineError UNAUTHENTICATED, or what `refusal` gives. */
export function authenticate({ findTenant }: GuardOptions, options: KeyOptions): Middleware<RequestState> {
  return async ({ state, headers }, next) => {
    if (findTenant === undefined) Object.assign(state, { tenant: LOCAL_TENANT, caller: '' });
    else Object.assign(state, await callerOf(findTenant, headers.authorization, options));
    await next();
  };
}

async function callerOf(
  findTenant: FindTenant,
  header: string | undefined,
  { tokens, takesBeta = false, refusal }: KeyOptions,
): Promise<RequestState> {
  const key = tokenOf(header);
  if (key === undefined) throw refusal?.() ?? new EngineError('UNAUTHENTICATED', 'Missing Authorization header');
  const caller = nameOfSecret(key);
  const tenant = await findOwner(findTenant, tokens, key);
  if (tenant !== undefined) return { tenant, caller };
  const page = takesBeta ? await tokens.findByBeta(key) : undefined;
  if (page === undefined) throw refusal?.() ?? new EngineError('UNAUTHENTICATED', 'Invalid access token');
  const { agentId } = page.record;
  return { tenant: page.tenant, caller, ...(agentId === undefined ? {} : { boundAgent: agentId }) };
}

/** The refusal of a chat page without a valid key, in RAGFlow's words. */
export const noPageKey = (): EngineError => new EngineError('NOT_FOUND', 'Authorization is not valid!');

/**
 * Requires the administrator's key; without one in the settings no key is accepted.
 *
 * @throws EngineError UNAUTHENTICATED; FORBIDDEN (HTTP 403) for a key of a tenant.
 */
export function requireAdmin(adminKey: string | undefined, findTenant: FindTenant | undefined): Middleware {
  return async ({ headers }, next) => {
    const key = tokenOf(headers.authorization);
    if (key === undefined) throw new EngineError('UNAUTHENTICATED', 'Missing Authorization header');
    if (adminKey === undefined || !sameSecret(key, adminKey)) {
      if (findTenant?.(key) === undefined) throw new EngineError('UNAUTHENTICATED', 'Invalid access token');
      throw new EngineError('FORBIDDEN', 'This needs the administrator key.', { details: { httpStatus: 403 } });
    }
    await next();
  };
}

/** Refuses a key that calls too often; without keys there is no limit. @throws EngineError LIMIT_REACHED (HTTP 429). */
export function limitRate(limit: RateLimit, mostPerMinute: number): Middleware<RequestState> {
  return async (exchange, next) => {
    const { caller } = exchange.state;
    const waitMs = caller === '' ? undefined : await limit(caller, mostPerMinute);
    if (waitMs !== undefined) {
      exchange.set('Retry-After', String(Math.ceil(waitMs / 1000)));
      throw tooManyRequests(mostPerMinute);
    }
    await next();
  };
}
