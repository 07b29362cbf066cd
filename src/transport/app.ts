import Router from '@koa/router';
import Koa from 'koa';
import { agentRoutes } from './agents/agent-routes.js';
import { completionRoutes } from './completions/completion-routes.js';
import { success } from './envelope.js';
import { fileRoutes } from './files/file-routes.js';
import { answerErrors } from './http/answer-errors.js';
import { allowOrigins, authenticate, type GuardOptions, guardOrigin } from './http/guard.js';
import { readJsonBody } from './http/read-json-body.js';
import type { RequestState } from './http/types.js';
import { runRoutes } from './runs/run-routes.js';
import type { ServerParts } from './server-parts.js';
import { sessionRoutes } from './sessions/session-routes.js';

/** Where the API lies. */
export const API_PREFIX = '/api/v1';

/** Errors that only say that a client went away. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** The HTTP side of the server. */
export function createApp(parts: ServerParts, guard: GuardOptions): Koa {
  const app = new Koa();
  app.on('error', (error: Error & { readonly code?: string }) => {
    if (!GONE.has(error.code ?? '')) parts.journal.error({ err: error }, 'an answer failed');
  });

  const open = new Router();
  open.get('/healthz', (exchange) => {
    exchange.body = success({ status: 'ok' });
  });
  open.get('/', (exchange) => {
    exchange.body = success({ name: 'runnel', api: API_PREFIX, health: '/healthz' });
  });

  const api = new Router<RequestState>({ prefix: API_PREFIX });
  // Only where a route matches: what does not exist is answered with 404, whoever asks.
  api.use(authenticate(guard), readJsonBody(parts.config.jsonBytes));
  // The ones with fixed paths first: `/agents/download` is no agent called "download".
  for (const addRoutes of [fileRoutes, completionRoutes, runRoutes, sessionRoutes, agentRoutes]) addRoutes(parts)(api);

  app.use(answerErrors(parts.journal));
  app.use(guardOrigin(guard));
  app.use(allowOrigins(guard));
  app.use(open.routes());
  app.use(api.routes());
  return app;
}
