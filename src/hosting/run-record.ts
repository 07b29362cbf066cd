/** The record of a run: what names it, and how it ended. */
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import type { TerminalEvent } from '../graph/events.js';
import { FIRST_EPOCH } from '../records/run-log.js';
import type { RunIdentity, RunRecord } from '../records/runs.js';

/** What every record of a run has. */
export type NamesOfRun = Omit<RunIdentity, 'tenant'> & { readonly epoch?: number };

/** What every record of a run has; the first epoch is not written down. */
export function namesOf(identity: RunIdentity, epoch: number): NamesOfRun {
  // One by one: leaving a property out of a copy takes ten times as long.
  const { id, agentId, sessionId, messageId, parentRun, forkedAt } = identity;
  const plain = { id, agentId, sessionId, messageId };
  if (parentRun === undefined && forkedAt === undefined && epoch === FIRST_EPOCH) return plain;
  return {
    ...plain,
    ...(parentRun !== undefined && { parentRun }),
    ...(forkedAt !== undefined && { forkedAt }),
    ...(epoch !== FIRST_EPOCH && { epoch }),
  };
}

/** What the last event of a run says of how it ended. */
export function endIn(
  event: TerminalEvent,
  projection: RagflowProjection,
): Pick<RunRecord, 'status' | 'error' | 'pending'> {
  switch (event.type) {
    case 'run-interrupted':
      return { status: 'waiting', pending: projection.project(event)?.data ?? {} };
    case 'run-settled':
      return { status: 'succeeded' };
    case 'run-cancelled':
      return { status: 'cancelled' };
    case 'run-failed': {
      const { code, message } = event.error;
      return { status: 'failed', error: { code, message } };
    }
  }
}
