/** What a server is, for pages that have to know before they ask for anything else. */
import type { ServerConfig } from '../../settings/read-settings.js';
import { tokenOf } from '../access/callers.js';
import { success } from '../envelope.js';
import { authenticate } from '../http/guards.js';
import { type HttpExchange, type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { type SystemInfo, systemInfoShape } from './system-shapes.js';

export const systemRoutes: RouteGroup = {
  name: 'system',
  description: 'What the server is.',
  routes: [
    route('GET /system/info', {
      summary:
        'Whether the server needs keys; with a valid key, or where there are none, what it has and how much it takes',
      access: 'open',
      data: systemInfoShape,
      handle: async ({ exchange }, parts) => success(await infoFor(exchange, parts)),
    }),
  ],
};

/** A wrong key is refused, as elsewhere: who gives one wants to know whether it is good. */
async function infoFor(exchange: HttpExchange, parts: ServerParts): Promise<SystemInfo> {
  const { callers, strangers, config, about = {}, studio } = parts;
  const { version, kept } = about;
  const open: SystemInfo = {
    name: 'runnel',
    ...(version !== undefined && { version }),
    keys: callers.hasKeys,
    studio: studio !== undefined,
  };
  if (callers.hasKeys && tokenOf(exchange.headers.authorization) === undefined) return open;
  await authenticate({ callers, strangers, corsOrigins: [] })(exchange);
  const { tenant, isMade = false } = exchange.state;
  return {
    ...open,
    tenant,
    made_key: isMade,
    parts: partsOf(parts),
    limits: limitsOf(config, callers.hasKeys),
    ...(kept !== undefined && { kept: { ...kept } }),
  };
}

function partsOf({ services, stores, openKnowledge, databaseProbe }: ServerParts): string[] {
  const optional: Readonly<Record<string, boolean>> = {
    datasets: openKnowledge !== undefined,
    chat: stores.chats !== undefined,
    models: !services.models.isScripted,
    mcp: services.mcp !== undefined,
    code: services.code !== undefined,
    browser: services.browsers !== undefined,
    databases: databaseProbe !== undefined,
  };
  return ['agents', 'runs', ...Object.keys(optional).filter((name) => optional[name])];
}

function limitsOf(config: ServerConfig, hasKeys: boolean): NonNullable<SystemInfo['limits']> {
  return {
    json_bytes: config.jsonBytes,
    document_bytes: config.documentBytes,
    upload_bytes: config.uploadBytes,
    upload_files: config.uploadFiles,
    frame_bytes: config.frameBytes,
    // Without keys every caller is at this machine, and none is counted.
    requests_per_minute: hasKeys ? config.requestsPerMinute : null,
    frames_per_second: hasKeys ? config.framesPerSecond : null,
    runs_per_minute: hasKeys ? config.runsPerMinute : null,
    runs: config.maxRuns,
    run_concurrency: config.runConcurrency,
    run_steps: config.maxSteps,
    run_timeout_ms: config.runTimeoutMs,
  };
}
