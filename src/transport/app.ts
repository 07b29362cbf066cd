/** The Koa application: middleware and routers in their order. */
import Router, { type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import { RateLimit } from './access/rate-limits.js';
import { tokenRoutes } from './access/token-routes.js';
import { adminRoutes, requireAdmin } from './admin/admin-routes.js';
import { metricsRoutes } from './admin/metrics-routes.js';
import { agentRoutes } from './agents/agent-routes.js';
import { draftToolRoutes } from './agents/draft-tools.js';
import { botRoutes, noPageKey } from './bots/bot-routes.js';
import { answerInOpenaiForm, completionRoutes, openaiRoutes } from './completions/completion-routes.js';
import { componentRoutes } from './components/component-routes.js';
import { success } from './envelope.js';
import { fileRoutes, pageFileRoutes } from './files/file-routes.js';
import { answerErrors } from './http/answer-errors.js';
import { allowOrigins, authenticate, type GuardOptions, guardOrigin, limitRate } from './http/guard.js';
import { readJsonBody } from './http/read-json-body.js';
import type { RequestState, Routes } from './http/types.js';
import { mcpRoutes } from './mcp/mcp-routes.js';
import { openapiRoutes } from './openapi/openapi-routes.js';
import { pastRoutes } from './runs/past-routes.js';
import { runRoutes } from './runs/run-routes.js';
import type { ServerParts } from './server-parts.js';
import { sessionRoutes } from './sessions/session-routes.js';
import { templateRoutes } from './templates/template-routes.js';
import { traceRoutes } from './traces/trace-routes.js';
import { versionRoutes } from './versions/version-routes.js';
import { webhookLogRoutes, webhookRoutes, webhookTrialRoutes } from './webhooks/webhook-routes.js';

/** Where the API lies. */
export const API_PREFIX = '/api/v1';

/** Errors that only say that a client went away. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** The HTTP side of the server. */
export function createApp(parts: ServerParts, guard: GuardOptions): Koa {
  const app = new Koa();
  app.on('error', (error: Error & { readonly code?: string }) => {
    if (!GONE.has(error.code ?? '')) parts.logger.error({ err: error }, 'an answer failed');
  });

  const open = new Router();
  open.get('/healthz', (exchange) => {
    exchange.body = success({ status: 'ok' });
  });
  open.get('/', (exchange) => {
    exchange.body = success({ name: 'runnel', api: API_PREFIX, health: '/healthz' });
  });

  app.use(answerErrors(parts.logger));
  app.use(guardOrigin(guard));
  app.use(allowOrigins(guard));
  app.use(open.routes());
  app.use(metricsRoutes(parts).routes());
  for (const router of createRouters(parts, guard)) app.use(router.routes());
  return app;
}

/**
 * Everything below `/api/v1`, by who may call it and how bodies are read.
 *
 * Middleware of a router runs only where one of its routes matches: what does not exist is answered with 404, whoever asks.
 */
export function createRouters(parts: ServerParts, guard: GuardOptions): readonly Router<RequestState>[] {
  const { config, tokens, logger, createCounter } = parts;
  const limit = new RateLimit(createCounter('api', 60), (error) =>
    logger.error({ err: error }, 'requests cannot be counted and are refused'),
  );
  const limited = limitRate(limit, config.requestsPerMinute);
  const json = readJsonBody(config.jsonBytes);
  const keyed = authenticate(guard, { tokens });
  const paged = authenticate(guard, { tokens, takesBeta: true });
  const bot = authenticate(guard, { tokens, takesBeta: true, refusal: noPageKey });
  return [
    routerOf([], [webhookRoutes(parts), openapiRoutes(API_PREFIX)]),
    routerOf([keyed, limited], [webhookTrialRoutes(parts)]),
    routerOf([paged, limited, json], [pageFileRoutes(parts)]),
    routerOf([bot, limited, json], [botRoutes(parts)]),
    ...(config.adminKey === undefined
      ? []
      : [routerOf([requireAdmin(config.adminKey, guard.findTenant), json], [adminRoutes(parts)])]),
    routerOf([answerInOpenaiForm(logger), keyed, limited, json], [openaiRoutes(parts)]),
    // The ones with fixed paths first: `/agents/download` is no agent called "download".
    routerOf(
      [keyed, limited, json],
      [fileRoutes, templateRoutes, draftToolRoutes, completionRoutes, tokenRoutes, runRoutes, pastRoutes, sessionRoutes]
        .concat([versionRoutes, componentRoutes, traceRoutes, webhookLogRoutes, mcpRoutes, agentRoutes])
        .map((routes) => routes(parts)),
    ),
  ];
}

function routerOf(guards: readonly RouterMiddleware<RequestState>[], groups: readonly Routes[]): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: API_PREFIX });
  if (guards.length > 0) router.use(...guards);
  for (const addRoutes of groups) addRoutes(router);
  return router;
}
