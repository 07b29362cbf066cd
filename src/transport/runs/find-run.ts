import type { RunRecord } from '../../graph/service-ports.js';
import { requireAgent } from '../agents/find-agent.js';
import type { HttpExchange } from '../http/types.js';
import { checkId } from '../ids.js';
import { noRun } from '../refusals.js';
import type { ServerParts } from '../server-parts.js';

/** The run in `/agents/:id/runs/:run`. @throws EngineError FORBIDDEN, NOT_FOUND. */
export async function findRun(parts: ServerParts, exchange: HttpExchange): Promise<RunRecord> {
  const { id } = await requireAgent(parts, exchange);
  const record = await parts.hub.record(exchange.state.tenant, checkId('run_id', exchange.params.run as string));
  if (record === undefined || record.agentId !== id) throw noRun();
  return record;
}
