import { findOrigin, type OriginPorts } from './find-origin.js';
import { foreignRun, noAgent, wentOn } from './refusals.js';
import type { StartTurn } from './start-turn.js';

/**
 * Lets turns go on from runs that failed or were cancelled: nodes that had finished are not run again, the one that failed is.
 *
 * Such a turn belongs to the session of that run, which must not have gone on since. Runs that wait are resumed as ever.
 *
 * @throws EngineError from the function it gives: NOT_FOUND, FORBIDDEN, CONFLICT when the session has gone on, as `findOrigin`, else as
 * `start`.
 */
export function withPastRuns(start: StartTurn, ports: OriginPorts): StartTurn {
  return async (target, request) => {
    const { resumeFrom, ...rest } = request;
    if (resumeFrom === undefined) return start(target, request);
    const { tenant, agentId } = target;
    const record = await ports.hub.record(tenant, resumeFrom);
    if (record?.status !== 'failed' && record?.status !== 'cancelled') return start(target, request);
    const agent = await ports.stores.agents.find(tenant, agentId);
    if (agent === undefined) throw noAgent();
    if (record.agentId !== agentId) throw foreignRun();
    const { session, origin } = await findOrigin(ports, tenant, agent, record, request);
    if (session.lastRun !== resumeFrom) throw wentOn(resumeFrom);
    return start(target, { ...rest, sessionId: session.id, origin });
  };
}
