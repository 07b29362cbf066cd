import type { Log } from '../logger.js';
import type { Environment } from '../telemetry/telemetry.js';
import { openTelemetry as open, type Telemetry } from '../telemetry/telemetry.js';
import { readVersion } from './command.js';

/**
 * Telemetry as the environment configures it; the caller closes it, after everything else. `closeMs` is how long the last spans may
 * take to get out, by default 3 seconds.
 */
export async function openTelemetry(env: Environment, log: Pick<Log, 'warn'>, closeMs?: number): Promise<Telemetry> {
  return open(env, { version: await readVersion(), log, ...(closeMs === undefined ? {} : { closeMs }) });
}
