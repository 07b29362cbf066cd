import type { Middleware } from 'koa';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import { METRICS_TYPE, renderMetrics } from '../../telemetry/metric-registry.js';
import { type FindTenant, tokenOf } from '../access/api-keys.js';
import { sameSecret } from '../access/secrets.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { readInput, received } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { runtimeOf } from './canvas-runtimes.js';

/** Which engine is to run a tenant's canvases. */
export const runtimeSchema = z.looseObject({
  runtime: z.string().nullish().describe('One of the names in RUNNEL_CANVAS_RUNTIMES.'),
});

/** Lets in who has the administrator's key. @throws EngineError UNAUTHENTICATED, FORBIDDEN (HTTP 403) for a key of a tenant. */
export function requireAdmin(adminKey: string, findTenant: FindTenant | undefined): Middleware {
  return async ({ headers }, next) => {
    const key = tokenOf(headers.authorization);
    if (key === undefined) throw new EngineError('UNAUTHENTICATED', 'Missing Authorization header');
    if (!sameSecret(key, adminKey)) {
      if (findTenant?.(key) === undefined) throw new EngineError('UNAUTHENTICATED', 'Invalid access token');
      throw new EngineError('FORBIDDEN', 'This needs the administrator key.', { details: { httpStatus: 403 } });
    }
    await next();
  };
}

/** Administration: which engine runs a tenant's canvases, and how many runs there were. */
export function adminRoutes(parts: ServerParts): Routes {
  const { runtimes, config, telemetry } = parts;
  const answer = async (exchange: HttpExchange): Promise<void> => {
    const tenant = tenantOf(exchange);
    const choice = await runtimeOf(runtimes, config.defaultRuntime, tenant);
    exchange.body = success({ tenant_id: tenant, ...choice });
  };
  return (router) => {
    router.get('/admin/canvas-runtime', (exchange) => {
      exchange.body = success({ runtimes: config.runtimes, default: config.defaultRuntime });
    });
    router.get('/admin/canvas-runtime/:tenant', answer);
    router.post('/admin/canvas-runtime/:tenant', async (exchange) => {
      const { runtime } = readInput(runtimeSchema, exchange.request.body ?? {});
      if (!runtime || !config.runtimes.includes(runtime)) {
        throw badArgument(`\`runtime\` must be one of ${config.runtimes.join(', ')}; received ${received(runtime)}.`);
      }
      await runtimes.save(tenantOf(exchange), runtime);
      await answer(exchange);
    });
    router.delete('/admin/canvas-runtime/:tenant', async (exchange) => {
      await runtimes.delete(tenantOf(exchange));
      await answer(exchange);
    });
    router.get('/admin/metrics', async (exchange) => {
      exchange.type = METRICS_TYPE;
      exchange.body = await renderMetrics(telemetry.registry);
    });
  };
}

function tenantOf({ params }: HttpExchange): string {
  return checkId('tenant_id', params.tenant as string);
}
