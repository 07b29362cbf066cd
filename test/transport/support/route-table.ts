import { createHost } from '../../../src/hosting/host.js';
import { SILENT_LOG } from '../../../src/hosting/log.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment, readConfig } from '../../../src/settings/read-settings.js';
import { createMemoryStores } from '../../../src/stores/index.js';
import { createTelemetry } from '../../../src/telemetry/telemetry.js';
import { createRouters } from '../../../src/transport/app.js';
import { createServerParts } from '../../../src/transport/server-parts.js';
import { createProbes } from './test-components.js';

export interface Route {
  readonly method: string;
  /** As the router has it, prefix included. */
  readonly path: string;
}

/** Every route of the API, as the routers have them; HEAD comes with GET and is left out. */
export async function routeTable(): Promise<readonly Route[]> {
  const config = readConfig({ RUNNEL_ADMIN_KEY: 'a-key-for-the-administrator', RUNNEL_API_KEYS: 'k' });
  const stores = createMemoryStores();
  const services = { models: createModels(await modelsFromEnvironment({}, async () => '')) };
  const parts = createServerParts({
    stores,
    host: createHost({ stores, services }),
    checkDocument: () => [],
    registry: createProbes().registry,
    openCanvas: () => {
      throw new Error('routes are only listed');
    },
    telemetry: createTelemetry(),
    services,
    config,
    logger: SILENT_LOG,
    now: Date.now,
  });
  const routers = createRouters(parts, { findTenant: () => undefined, corsOrigins: [] });
  return routers
    .flatMap(({ stack }) => stack)
    .flatMap(({ methods, path }) =>
      [...new Set(methods)].filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
    );
}
