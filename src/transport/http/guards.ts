import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import cors from '@koa/cors';
import type { Middleware, Next, ParameterizedContext } from 'koa';
import { EngineError } from '../../errors.js';
import type { Shares } from '../../hosting/shares.js';
import { isJsonObject } from '../../json.js';
import type { Log } from '../../logger.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { type CallerOptions, type Callers, tokenOf } from '../access/callers.js';
import { refusalOf } from '../access/origins.js';
import { type RateLimit, tooManyRequests } from '../access/rate-limits.js';
import type { Strangers } from '../access/strangers.js';
import { emptyId, failureOf, notAllowed, notFound } from '../envelope.js';
import type { HttpExchange, RequestState } from './route.js';

/** Keys and origins that may call the server. */
export interface GuardOptions {
  readonly callers: Callers;
  /** Connections that no valid key speaks for. */
  readonly strangers: Pick<Strangers, 'admit'>;
  readonly corsOrigins: readonly string[];
}

/** Which keys a route takes. */
export interface KeyOptions extends CallerOptions {
  /** The refusal of a request without a valid key. @default UNAUTHENTICATED (HTTP 401) */
  readonly refusal?: (message: string) => EngineError;
}

/** Checks a request before it is answered; a promise where it has to wait. @throws EngineError the refusal, also from the promise */
export type Guard = (exchange: HttpExchange) => Promise<void> | void;

/** Answers errors in RAGFlow's envelope, paths without a route with 404, and methods that a path does not take with 405. */
export function answerErrors(logger: Log, onError: (error: unknown) => void = () => {}): Middleware {
  return async (exchange, next) => {
    try {
      await next();
      if (exchange.status !== 404 || exchange.body !== undefined) return;
      const allowed = methodsOf(exchange);
      const { method, path } = exchange;
      const { status, body } =
        emptyId(method, path) ?? (allowed.length === 0 ? notFound(path) : notAllowed(method, path, allowed));
      if (allowed.length > 0) exchange.set('Allow', allowed.join(', '));
      exchange.status = status;
      exchange.body = body;
    } catch (error) {
      onError(error);
      sayWhenToRetry(exchange, error);
      const { status, body } = failureOf(error);
      // Being asked to come back later is no fault.
      if (status >= 500 && !(status === 503 && EngineError.is(error) && error.code === 'LIMIT_REACHED'))
        logger.error({ err: error, method: exchange.method, path: exchange.path }, 'a request crashed');
      exchange.status = status;
      exchange.body = body;
      // Discard the rest of a refused body: a client that cannot finish sending never reads the answer.
      exchange.req.resume();
    }
  };
}

/** Sets the headers of a refusal that ends at a known time, and of a rate that is exceeded. */
export function sayWhenToRetry(exchange: ParameterizedContext, error: unknown): void {
  const { retryAfterSeconds } = failureOf(error);
  if (retryAfterSeconds !== undefined) exchange.set('Retry-After', String(retryAfterSeconds));
  const rate = EngineError.is(error) && isJsonObject(error.details) ? error.details.rateLimit : undefined;
  if (!isJsonObject(rate)) return;
  exchange.set('X-RateLimit-Limit', String(rate.limit));
  exchange.set('X-RateLimit-Remaining', String(rate.remaining));
  exchange.set('X-RateLimit-Reset', String(rate.resetSeconds));
}

/** Where the router leaves, for {@link answerErrors}, the methods that a path takes when it does not take the one of the request. */
const allowedOf = new WeakMap<object, readonly string[]>();

/** Notes the methods that routes of the path take; none when there is no such path. */
export function leaveAllowed(exchange: HttpExchange, methods: readonly string[]): void {
  allowedOf.set(exchange.req, methods);
}

function methodsOf(exchange: ParameterizedContext): readonly string[] {
  return allowedOf.get(exchange.req) ?? [];
}

/**
 * Without keys: refuses other names than loopback ones, and pages of other origins. With keys a page can do nothing without one, and no
 * browser adds it by itself.
 *
 * @throws EngineError FORBIDDEN (HTTP 403).
 */
export function checkOrigin({ callers, corsOrigins }: GuardOptions, headers: IncomingHttpHeaders): void {
  const refusal = callers.hasKeys ? undefined : refusalOf(headers, corsOrigins);
  if (refusal !== undefined) throw new EngineError('FORBIDDEN', refusal, { details: { httpStatus: 403 } });
}

/** Lets browsers of the named origins read answers. */
export function allowOrigins({ corsOrigins }: GuardOptions): Middleware {
  const allow = cors({
    origin: ({ headers: { origin = '' } }) => {
      if (corsOrigins.includes('*')) return '*';
      return corsOrigins.includes(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    exposeHeaders:
      'X-Run-Id,Content-Disposition,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Mcp-Session-Id',
    maxAge: 600,
  });
  return (exchange: ParameterizedContext, next: Next) => {
    if (exchange.headers.origin !== undefined) return allow(exchange, next);
    exchange.res.setHeader('Vary', 'Origin');
    return next();
  };
}

/**
 * Finds the tenant of a request.
 *
 * @throws EngineError UNAUTHENTICATED, or what `refusal` gives; LIMIT_REACHED (HTTP 429) after too many wrong keys.
 */
export function authenticate({ callers, strangers }: GuardOptions, options: KeyOptions = {}): Guard {
  if (!callers.hasKeys) {
    return ({ state, req }) => {
      state.tenant = LOCAL_TENANT;
      state.caller = '';
      strangers.admit(req.socket);
    };
  }
  return async ({ state, req }) => {
    Object.assign(state, await callerOf(callers, req, options));
    strangers.admit(req.socket);
  };
}

async function callerOf(callers: Callers, request: IncomingMessage, options: KeyOptions): Promise<RequestState> {
  const { refusal = unauthenticated } = options;
  const key = tokenOf(request.headers.authorization);
  if (key === undefined) throw refusal('Missing Authorization header');
  const caller = await callers.find(request, key, options);
  if (caller === undefined) throw refusal('Invalid access token');
  return caller;
}

const unauthenticated = (message: string): EngineError => new EngineError('UNAUTHENTICATED', message);

/** The refusal of a chat page without a valid key, in RAGFlow's words. */
export const noPageKey = (): EngineError => new EngineError('NOT_FOUND', 'Authorization is not valid!');

/**
 * Requires the administrator's key; without one in the settings no key is accepted.
 *
 * @throws EngineError UNAUTHENTICATED; FORBIDDEN (HTTP 403) for a key of a tenant; LIMIT_REACHED (HTTP 429) after too many wrong keys.
 */
export function requireAdmin(adminKey: string | undefined, callers: Pick<Callers, 'isSecret' | 'isConfigured'>): Guard {
  return async ({ req }) => {
    const key = tokenOf(req.headers.authorization);
    if (key === undefined) throw unauthenticated('Missing Authorization header');
    if (adminKey !== undefined && (await callers.isSecret(req, key, adminKey))) return;
    if (!callers.isConfigured(key)) throw unauthenticated('Invalid access token');
    throw new EngineError('FORBIDDEN', 'This needs the administrator key.', { details: { httpStatus: 403 } });
  };
}

/** Takes a place for a party; gives what gives it back. @throws EngineError LIMIT_REACHED when there is none for it. */
export function takePlace(shares: Shares, party: string, what: string): () => void {
  if (shares.hasRoom(party)) return shares.take(party);
  throw new EngineError('LIMIT_REACHED', shares.refusal(party, what));
}

/** Refuses keys that tenants made. @throws EngineError FORBIDDEN (HTTP 403). */
export const requireConfigured: Guard = ({ state }) => {
  if (state.isMade !== true) return;
  const message = 'Only a key of RUNNEL_API_KEYS may manage keys; this one was made by its tenant.';
  throw new EngineError('FORBIDDEN', message, { details: { httpStatus: 403 } });
};

/** Refuses a key that calls too often; without keys there is no limit. @throws EngineError LIMIT_REACHED (HTTP 429). */
export function limitRate(limit: RateLimit, mostPerMinute: number): Guard {
  const refuse = async (exchange: HttpExchange, caller: string): Promise<void> => {
    const waitMs = await limit(caller, mostPerMinute);
    if (waitMs === undefined) return;
    exchange.set('Retry-After', String(Math.ceil(waitMs / 1000)));
    throw tooManyRequests(mostPerMinute);
  };
  return (exchange) => {
    const { caller } = exchange.state;
    return caller === '' ? undefined : refuse(exchange, caller);
  };
}
