import type { Checkpoint } from '../../../../src/graph/state.js';
import type { LoggedEvent } from '../../../../src/records/run-log.js';
import type { RunRecord } from '../../../../src/records/runs.js';
import { runRecord as anyRunRecord, newId } from '../../support/records.js';

/** An id that no other test uses: the server may be shared. */
export const freshId = newId;

export function runRecord(change: Partial<RunRecord> = {}): RunRecord {
  return anyRunRecord(newId(), { sessionId: newId(), messageId: 'm', startedAt: 1_700_000_000_000, ...change });
}

export function checkpointOf(run: string, state: Checkpoint['state'] = {}): Checkpoint {
  return { version: 1, run, planHash: 'p', at: 1_700_000_000_000, seq: 0, state };
}

/** Events `from` to `to`. */
export function eventsOf(from: number, to: number, text = 'e'): LoggedEvent[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({
    seq: from + at,
    event: 'message',
    json: JSON.stringify({ text, seq: from + at }),
  }));
}

export const NO_BOUNDS = { maxEvents: 100_000, maxBytes: Number.POSITIVE_INFINITY };
