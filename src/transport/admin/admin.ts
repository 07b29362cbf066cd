/** Administration: which engine runs a tenant's canvases, and metrics. */
import type { Context } from 'koa';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { isLoopbackName } from '../../own-pages.js';
import { METRICS_TYPE, renderMetrics } from '../../telemetry/metric-registry.js';
import { refusalOf } from '../access/origins.js';
import { type Envelope, success } from '../envelope.js';
import { requireAdmin } from '../http/guards.js';
import { received } from '../http/input.js';
import { type HttpExchange, type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { string } from '../shapes.js';
import { runtimeOf } from './canvas-runtimes.js';

/** Headers by which a proxy names itself or the client behind it. */
const FORWARDING =
  'via forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-server x-real-ip x-client-ip true-client-ip cf-connecting-ip'.split(
    ' ',
  );

const runtimeShape = z.looseObject({ tenant_id: string, runtime: string, source: z.enum(['override', 'default']) });

/** Which engine is to run a tenant's canvases. */
const runtimeSchema = z.looseObject({
  runtime: string.nullish().describe('One of the names in RUNNEL_CANVAS_RUNTIMES.'),
});

export const adminRoutes: RouteGroup = {
  name: 'admin',
  description: "For the administrator's key.",
  routes: [
    route('GET /admin/canvas-runtime', {
      summary: 'Which engines there are',
      access: 'admin',
      data: z.looseObject({ runtimes: z.array(string), default: string }),
      handle: (_, { config }) => success({ runtimes: config.runtimes, default: config.defaultRuntime }),
    }),
    route('GET /admin/canvas-runtime/:tenant', {
      summary: "Which engine runs a tenant's canvases",
      access: 'admin',
      data: runtimeShape,
      handle: ({ params }, parts) => runtimeView(params.tenant, parts),
    }),
    route('POST /admin/canvas-runtime/:tenant', {
      summary: 'Gives a tenant to an engine',
      access: 'admin',
      body: runtimeSchema,
      data: runtimeShape,
      handle: async ({ params, body: { runtime } }, parts) => {
        const { runtimes } = parts.config;
        if (!runtime || !runtimes.includes(runtime)) {
          throw badArgument(`\`runtime\` must be one of ${runtimes.join(', ')}; received ${received(runtime)}.`);
        }
        await parts.stores.canvasRuntimes.save(params.tenant, runtime);
        return runtimeView(params.tenant, parts);
      },
    }),
    route('DELETE /admin/canvas-runtime/:tenant', {
      summary: 'Gives a tenant back to the default engine',
      access: 'admin',
      data: runtimeShape,
      handle: async ({ params }, parts) => {
        await parts.stores.canvasRuntimes.delete(params.tenant);
        return runtimeView(params.tenant, parts);
      },
    }),
    route('GET /admin/metrics', {
      summary: "Counts of runs in Prometheus' text format",
      access: 'admin',
      answers: 'text',
      handle: ({ exchange }, parts) => metricsText(exchange, parts),
    }),
  ],
};

/**
 * Metrics for Prometheus: to this machine without a key, to others with the administrator's.
 *
 * Behind a proxy on this machine every peer is local; so forwarded requests need the key, and so does a browser page that
 * reaches loopback under another name. A proxy that adds none of the usual headers and rewrites Host cannot be noticed.
 */
export const metricsRoute = route('GET /metrics', {
  summary: "Counts in Prometheus' text format",
  access: 'open',
  answers: 'text',
  handle: async ({ exchange }, parts) => {
    const { callers, config } = parts;
    const { adminKey } = config;
    if (!isLocal(exchange)) {
      if (adminKey === undefined) throw notLocal();
      // A caller from elsewhere does not learn whether a key is one of a tenant.
      const asked = { isSecret: callers.isSecret.bind(callers), isConfigured: () => false };
      await requireAdmin(adminKey, asked)(exchange);
    }
    return metricsText(exchange, parts);
  },
});

async function runtimeView(tenant: string, parts: ServerParts): Promise<Envelope> {
  return success({ tenant_id: tenant, ...(await runtimeOf(parts, tenant)) });
}

async function metricsText(
  exchange: HttpExchange,
  { telemetry, quotaMetrics, breakers }: ServerParts,
): Promise<string> {
  await Promise.all([quotaMetrics.refresh(), breakers.refresh()]);
  exchange.type = METRICS_TYPE;
  return renderMetrics(telemetry.registry);
}

function isLocal({ req, headers }: Context): boolean {
  const peer = (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (!isLoopbackName(peer) || headers.authorization !== undefined) return false;
  if (FORWARDING.some((name) => headers[name] !== undefined)) return false;
  return refusalOf(headers, []) === undefined;
}

function notLocal(): EngineError {
  const message = 'Metrics are open to this machine only; set RUNNEL_ADMIN_KEY to read them from elsewhere.';
  return new EngineError('FORBIDDEN', message, { details: { httpStatus: 403 } });
}
