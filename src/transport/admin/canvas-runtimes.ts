import { EngineError } from '../../errors.js';
import type { CanvasRuntimeStore } from '../../records/canvas-runtimes.js';
import type { ServerConfig } from '../../settings/read-settings.js';

/** This engine's own name. */
const OWN_RUNTIME = 'runnel';

/** The engine of a tenant, and whether an administrator chose it. */
export async function runtimeOf(
  { stores, config }: RuntimeParts,
  tenant: string,
): Promise<{ readonly runtime: string; readonly source: 'override' | 'default' }> {
  const runtime = await stores.canvasRuntimes.find(tenant);
  return runtime === undefined
    ? { runtime: config.defaultRuntime, source: 'default' }
    : { runtime, source: 'override' };
}

/** Refuses turns of tenants whose canvases another engine runs. @throws EngineError FORBIDDEN (HTTP 501). */
export async function refuseOtherRuntimes(parts: RuntimeParts, tenant: string): Promise<void> {
  const { runtime } = await runtimeOf(parts, tenant);
  if (runtime === OWN_RUNTIME) return;
  const message = `The canvases of this tenant run on "${runtime}", which is not this server.`;
  throw new EngineError('FORBIDDEN', message, { details: { httpStatus: 501 } });
}

/** The parts of a server that say which engine runs what. */
interface RuntimeParts {
  readonly stores: { readonly canvasRuntimes: CanvasRuntimeStore };
  readonly config: Pick<ServerConfig, 'defaultRuntime'>;
}
