import { RagflowProjection } from '../canvas/ragflow-events.js';
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
  const session = await sessions.find(tenant, run.sessionId);
  return projectionOf(run, session && planOf(openCanvas, session.dsl));
}

function planOf(openCanvas: OpenCanvas, dsl: Parameters<OpenCanvas>[0]): Plan | undefined {
  try {
    return openCanvas(dsl).plan;
  } catch {
    return undefined;
  }
}
