/** `resume_from=<run>`: going on from a run rather than from a session. */
import { EngineError } from '../errors.js';
import type { SessionRecord } from '../records/stores.js';
import { busySession, foreignRun, noRun } from './refusals.js';
import type { RunHub } from './run-hub.js';

/**
 * The session of the run to go on from; undefined when none is asked for.
 *
 * @throws EngineError NOT_FOUND, FORBIDDEN for a run of another agent, SESSION_BUSY while it is going on.
 */
export async function sessionToResume(
  hub: RunHub,
  { tenant, agentId }: { readonly tenant: string; readonly agentId: string },
  run: string | undefined,
): Promise<string | undefined> {
  if (run === undefined) return undefined;
  const record = await hub.record(tenant, run);
  if (record === undefined) throw noRun();
  if (record.agentId !== agentId) throw foreignRun();
  if (record.status === 'running') throw busySession();
  return record.sessionId;
}

/** @throws EngineError NOT_FOUND unless the session waits where `run` stopped: only that state is kept. */
export function requireWaiting(session: SessionRecord, run: string): void {
  if (session.conversation?.waiting !== undefined && session.lastRun === run) return;
  throw new EngineError('NOT_FOUND', `No checkpoint for run ${run}`);
}
