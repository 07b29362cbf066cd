/** The run that a path names. */
import { noRun } from '../../hosting/refusals.js';
import type { RunRecord } from '../../records/runs.js';
import { opensSession } from '../access/page-keys.js';
import { findAgent } from '../agents/find-agent.js';
import type { PathRequest } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';

/** The run of a request for `/agents/:id/runs/:run`. @throws EngineError FORBIDDEN, NOT_FOUND. */
export async function findRun(request: PathRequest<'id' | 'run'>, parts: ServerParts): Promise<RunRecord> {
  const { id } = await findAgent(request, parts);
  const record = await parts.host.record(request.tenant, request.params.run);
  if (record === undefined || record.agentId !== id) throw noRun();
  if (!(await opensSession(request, parts.stores, record.sessionId))) throw noRun();
  return record;
}
