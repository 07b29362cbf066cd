import { EngineError } from '../../errors.js';
import type { CanvasRuntimeStore } from '../../records/canvas-runtimes.js';

/** This engine's own name. */
const OWN_RUNTIME = 'runnel';

/** The engine of a tenant, and whether an administrator chose it. */
export async function runtimeOf(
  runtimes: CanvasRuntimeStore,
  fallback: string,
  tenant: string,
): Promise<{ readonly runtime: string; readonly source: 'override' | 'default' }> {
  const chosen = await runtimes.find(tenant);
  return chosen === undefined ? { runtime: fallback, source: 'default' } : { runtime: chosen, source: 'override' };
}

/** Refuses turns of tenants whose canvases another engine runs. @throws EngineError FORBIDDEN (HTTP 501). */
export async function refuseOtherRuntimes(
  runtimes: CanvasRuntimeStore,
  fallback: string,
  tenant: string,
): Promise<void> {
  const { runtime } = await runtimeOf(runtimes, fallback, tenant);
  if (runtime === OWN_RUNTIME) return;
  const message = `The canvases of this tenant run on "${runtime}", which is not this server.`;
  throw new EngineError('FORBIDDEN', message, { details: { httpStatus: 501 } });
}
