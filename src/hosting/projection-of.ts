import { RagflowProjection } from '../canvas/ragflow-events.js';
import { toEngineError } from '../errors.js';
import type { Plan } from '../graph/plan.js';
import type { RunRecord, SessionStore } from '../records/stores.js';
import type { OpenCanvas } from './canvas-opener.js';

/** The projection of a run by its record and its plan. */
export function projectionOf(
  run: Pick<RunRecord, 'messageId' | 'sessionId' | 'startedAt' | 'parentRun'>,
  plan: Plan | undefined,
): RagflowProjection {
  const { messageId, sessionId, startedAt, parentRun } = run;
  return new RagflowProjection({ plan, messageId, sessionId, startedAt, resumes: parentRun !== undefined });
}

/** The projection of a run that is not at work here; without its names when its session or its document is gone. */
export async function findProjection(
  sessions: SessionStore,
  openCanvas: OpenCanvas,
  tenant: string,
  run: RunRecord,
): Promise<RagflowProjection> {
  try {
    const session = await sessions.find(tenant, run.sessionId);
    return projectionOf(run, session && openCanvas(session.dsl).plan);
  } catch (error) {
    // A store that is away is tried again; what is wrong with the data stays wrong.
    if (toEngineError(error, 'INTERNAL').retryable) throw error;
    return projectionOf(run, undefined);
  }
}
