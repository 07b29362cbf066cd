import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { EngineError } from '../../errors.js';
import { type FindTenant, LOCAL_TENANT, tokenOf } from '../access/api-keys.js';
import { refusalOf } from '../access/origins.js';
import type { RequestState } from './types.js';

/** Who may call the server. */
export interface GuardOptions {
  /** Whose a key is; undefined: the server has no keys. */
  readonly findTenant: FindTenant | undefined;
  readonly corsOrigins: readonly string[];
}

/** Without keys: refuses other names than loopback ones, and pages of other origins. @throws EngineError FORBIDDEN (HTTP 403). */
export function guardOrigin({ findTenant, corsOrigins }: GuardOptions): Middleware {
  return async ({ headers }, next) => {
    if (findTenant === undefined) {
      const refusal = refusalOf({ host: headers.host, origin: headers.origin }, corsOrigins);
      if (refusal !== undefined) throw new EngineError('FORBIDDEN', refusal, { details: { httpStatus: 403 } });
    }
    await next();
  };
}

/** Lets browsers of the named origins read answers. */
export function allowOrigins({ corsOrigins }: GuardOptions): Middleware {
  return cors({
    origin: ({ headers: { origin = '' } }) => {
      if (corsOrigins.includes('*')) return '*';
      return corsOrigins.includes(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    exposeHeaders: 'X-Run-Id,Content-Disposition',
    maxAge: 600,
  });
}

/** Finds the tenant of a request. @throws EngineError UNAUTHENTICATED. */
export function authenticate({ findTenant }: GuardOptions): Middleware<RequestState> {
  return async (exchange, next) => {
    exchange.state.tenant =
      findTenant === undefined ? LOCAL_TENANT : tenantOf(findTenant, exchange.headers.authorization);
    await next();
  };
}

/** @throws EngineError UNAUTHENTICATED. */
export function tenantOf(findTenant: FindTenant, header: string | undefined): string {
  const token = tokenOf(header);
  if (token === undefined) throw new EngineError('UNAUTHENTICATED', 'Missing Authorization header');
  const tenant = findTenant(token);
  if (tenant === undefined) throw new EngineError('UNAUTHENTICATED', 'Invalid access token');
  return tenant;
}
