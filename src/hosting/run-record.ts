/** The record of a run: what names it, and how it ended. */
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import type { TerminalEvent } from '../graph/events.js';
import { FIRST_EPOCH } from '../records/run-log.js';
import type { RunIdentity, RunRecord } from '../records/runs.js';

/** What a record of a run is made of. */
export interface RecordParts {
  readonly identity: RunIdentity;
  /** Of the process that has the run; the first one is not written down. */
  readonly epoch: number;
  readonly startedAt: number;
  readonly usage: RunRecord['usage'];
  readonly lastSeq: number;
}

/** The record of a run that is at work. */
export function recordOfStart(parts: RecordParts, launch: RunRecord['launch']): RunRecord {
  const record = baseOf(parts, 'running');
  if (launch !== undefined) record.launch = launch;
  return record;
}

/** The record of a run that has ended. */
export function recordOfEnd(
  parts: RecordParts,
  end: Pick<RunRecord, 'status' | 'error' | 'pending'>,
  at: number,
): RunRecord {
  const record = baseOf(parts, end.status);
  if (end.error !== undefined) record.error = end.error;
  if (end.pending !== undefined) record.pending = end.pending;
  record.finishedAt = at;
  return record;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** One property after another: each record is made twice a run, and copies of copies take several times as long. */
function baseOf(parts: RecordParts, status: RunRecord['status']): Writable<RunRecord> {
  const { identity, epoch, startedAt, usage, lastSeq } = parts;
  const { id, agentId, sessionId, messageId, parentRun, forkedAt, documentVersion, userId, isChat } = identity;
  const record: Writable<RunRecord> = { id, agentId, sessionId, messageId, startedAt, usage, lastSeq, status };
  if (parentRun !== undefined) record.parentRun = parentRun;
  if (forkedAt !== undefined) record.forkedAt = forkedAt;
  if (documentVersion !== undefined) record.documentVersion = documentVersion;
  if (userId !== undefined) record.userId = userId;
  if (isChat !== undefined) record.isChat = isChat;
  if (epoch !== FIRST_EPOCH) record.epoch = epoch;
  return record;
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
