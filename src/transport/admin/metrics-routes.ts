import Router from '@koa/router';
import type { Context } from 'koa';
import { EngineError } from '../../errors.js';
import { isLoopbackName } from '../../settings/access.js';
import { METRICS_TYPE, renderMetrics } from '../../telemetry/metric-registry.js';
import { refusalOf } from '../access/origins.js';
import type { ServerParts } from '../server-parts.js';
import { requireAdmin } from './admin-routes.js';

/** Say that somebody else stands behind the peer. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/**
 * `GET /metrics` for Prometheus: to this machine without a key, to others with the administrator's.
 *
 * A proxy on this machine makes everybody look near; so what it forwards needs the key, and so does a page of a browser that
 * reaches loopback under another name.
 */
export function metricsRoutes({ telemetry, config }: ServerParts): Router {
  const router = new Router();
  const needsKey = config.adminKey === undefined ? refuse : requireAdmin(config.adminKey, undefined);
  router.get('/metrics', async (exchange) => {
    if (!isNear(exchange)) await needsKey(exchange, async () => {});
    exchange.type = METRICS_TYPE;
    exchange.body = await renderMetrics(telemetry.registry);
  });
  return router;
}

function isNear({ req, headers }: Context): boolean {
  const peer = (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (!isLoopbackName(peer) || headers.authorization !== undefined) return false;
  if (FORWARDING.some((name) => headers[name] !== undefined)) return false;
  return refusalOf({ host: headers.host, origin: headers.origin }, []) === undefined;
}

async function refuse(): Promise<void> {
  const message = 'Metrics are open to this machine only; set RUNNEL_ADMIN_KEY to read them from elsewhere.';
  throw new EngineError('FORBIDDEN', message, { details: { httpStatus: 403 } });
}
