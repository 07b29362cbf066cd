import { checkId } from '../../hosting/ids.js';
import { noRun } from '../../hosting/refusals.js';
import type { RunRecord } from '../../records/stores.js';
import { requireAgent } from '../agents/find-agent.js';
import type { HttpExchange } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';

/** The run in `/agents/:id/runs/:run`. @throws EngineError FORBIDDEN, NOT_FOUND. */
export async function findRun(parts: ServerParts, exchange: HttpExchange): Promise<RunRecord> {
  const { id } = await requireAgent(parts, exchange);
  const record = await parts.host.record(exchange.state.tenant, checkId('run_id', exchange.params.run as string));
  if (record === undefined || record.agentId !== id) throw noRun();
  return record;
}
