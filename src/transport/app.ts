/** The Koa application: what the server's routes are, and the middleware around them. */
import Koa from 'koa';
import { tokenRoutes } from './access/tokens.js';
import { adminRoutes, metricsRoute } from './admin/admin.js';
import { healthRoute } from './admin/health.js';
import { agentFileRoutes } from './agents/agent-files.js';
import { agentRoutes } from './agents/agents.js';
import { draftToolRoutes } from './agents/draft-tools.js';
import { validateRoutes } from './agents/validate.js';
import { botRoutes } from './bots.js';
import { chatRoutes } from './chat/chat-routes.js';
import { chatEvaluationRoutes } from './chat/evaluate.js';
import { modelTargetRoutes } from './chat/model-targets.js';
import { assistantGroups } from './chats/index.js';
import { completionRoutes } from './completions/completions.js';
import { catalogueRoutes } from './components/catalogue.js';
import { componentRoutes } from './components/components.js';
import { datasetGroups } from './datasets/index.js';
import { success } from './envelope.js';
import { fileRoutes } from './files/files.js';
import { countAnswers } from './http/count-answers.js';
import { allowOrigins, answerErrors, checkOrigin, type GuardOptions } from './http/guards.js';
import { type Route, type RouteGroup, route, routesBelow } from './http/route.js';
import { createRouter } from './http/router.js';
import { mcpRoutes } from './mcp/mcp-routes.js';
import { mcpServerRoutes } from './mcp/server-list.js';
import { modelRoutes } from './models/models.js';
import { openapiRoutes } from './openapi.js';
import { researchRoutes } from './research/research-routes.js';
import type { AgentRunners } from './runners/agent-runners.js';
import { runInputRoutes } from './runs/run-inputs.js';
import { runRoutes } from './runs/runs.js';
import type { ServerParts } from './server-parts.js';
import { sessionRoutes } from './sessions.js';
import { serveStudio } from './studio/serve-studio.js';
import { systemRoutes } from './system/system-info.js';
import { templateRoutes } from './templates.js';
import { traceRoutes } from './traces/trace-routes.js';
import { uiMessageRoutes } from './ui-messages/ui-message-routes.js';
import { versionRoutes } from './versions/versions.js';
import { webhookRoutes } from './webhooks/webhooks.js';

/** Where the API lies. */
export const API_PREFIX = '/api/v1';

/** Error codes of connections that the client closed. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** What lies outside the API. */
const SYSTEM: readonly Route[] = [
  healthRoute,
  route('GET /', {
    summary: 'Where the API lies',
    access: 'open',
    handle: () => success({ name: 'runnel', api: API_PREFIX, health: '/healthz' }),
  }),
  metricsRoute,
];

/** All routes of the API, for one server. `more` are added to them. */
export function createApi(more: readonly RouteGroup[] = []): readonly RouteGroup[] {
  const groups: readonly RouteGroup[] = [
    agentRoutes,
    agentFileRoutes,
    draftToolRoutes,
    validateRoutes,
    componentRoutes,
    catalogueRoutes,
    versionRoutes,
    sessionRoutes,
    runRoutes,
    runInputRoutes,
    completionRoutes,
    uiMessageRoutes,
    traceRoutes,
    fileRoutes,
    botRoutes,
    webhookRoutes,
    mcpRoutes(),
    mcpServerRoutes(),
    modelRoutes,
    templateRoutes(),
    tokenRoutes,
    systemRoutes,
    adminRoutes,
    chatRoutes,
    chatEvaluationRoutes,
    modelTargetRoutes,
    researchRoutes,
    ...assistantGroups,
    ...datasetGroups,
    ...more,
    openapiRoutes(API_PREFIX, () => groups),
  ];
  return groups;
}

/** The HTTP side of the server. @throws EngineError CONFIG_INVALID when two routes answer the same requests. */
export function createApp(
  parts: ServerParts,
  guard: GuardOptions,
  more: readonly RouteGroup[] = [],
  runners?: AgentRunners,
): Koa {
  const app = new Koa();
  app.on('error', (error: Error & { readonly code?: string }) => {
    const { code = '' } = error;
    // What is no HTTP is its client's fault, and such an error holds the request as it came, with its key.
    if (!GONE.has(code) && !code.startsWith('HPE_')) parts.logger.error({ err: error }, 'an answer failed');
  });
  app.use(timeAnswers(parts.meter));
  app.use(answerErrors(parts.logger, (error) => parts.quotaMetrics.refused(error)));
  if (parts.studio !== undefined) app.use(serveStudio(parts.studio, guard));
  app.use(({ headers }, next) => {
    checkOrigin(guard, headers);
    return next();
  });
  app.use(allowOrigins(guard));
  app.use(countAnswers(parts.answers) as Koa.Middleware);
  if (runners !== undefined) app.use(runners.middleware());
  const routes = [...SYSTEM, ...routesBelow(API_PREFIX, createApi(more))];
  app.use(createRouter(routes, { parts, guard }));
  return app;
}

/** Times requests until their answers begin: event streams go on for as long as their clients like. */
function timeAnswers(meter: ServerParts['meter']): Koa.Middleware {
  return async (_exchange, next) => {
    const start = performance.now();
    try {
      await next();
    } finally {
      meter.answered(performance.now() - start);
    }
  };
}
