import { EngineError } from '../errors.js';
import type { Checkpoint } from '../graph/state.js';
import type { RunJournal } from '../records/durable-stores.js';
import type { RunLog } from '../records/stores.js';
import { jsonBytes } from './bounded-map.js';

export interface MemoryJournalLimits {
  /** The journals of all runs together. @default 256 MiB */
  readonly maxBytes?: number;
}

/** The journal of one run. */
interface Entry {
  readonly checkpoint: Checkpoint | undefined;
  readonly records: string[];
  bytes: number;
}

/** A journal whose runs end: what is kept of them goes when room is needed. */
export interface MemoryJournal extends RunJournal {
  /** Says that a run has ended. Its journal stays for forks, until there is no room for others. */
  end(tenant: string, run: string): void;
}

/** Journals of runs in memory; their events go to `log`. That of a run that goes on goes when it is deleted, and only then. */
export function createMemoryJournal(log: RunLog, limits: MemoryJournalLimits = {}): MemoryJournal {
  const { maxBytes = 256 * 1024 * 1024 } = limits;
  const entries = new Map<string, Entry>();
  /** Keys of runs that have ended, oldest first. */
  const ended = new Set<string>();
  let totalBytes = 0;

  const reserve = (bytes: number, freed: number): void => {
    for (const key of ended) {
      if (totalBytes - freed + bytes <= maxBytes) break;
      replace(key, undefined);
    }
    if (totalBytes - freed + bytes > maxBytes) throw full(totalBytes, maxBytes);
  };
  const replace = (key: string, entry: Entry | undefined): void => {
    totalBytes += (entry?.bytes ?? 0) - (entries.get(key)?.bytes ?? 0);
    ended.delete(key);
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
  };

  return {
    async append(tenant, run, { events, records }) {
      const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
      // The log is the last that can refuse, so that both take the batch or neither.
      reserve(bytes, 0);
      if (events.length > 0) await log.append(tenant, run, events);
      if (records.length === 0) return;
      const key = keyOf(tenant, run);
      const entry = entries.get(key) ?? { checkpoint: undefined, records: [], bytes: 0 };
      entries.set(key, entry);
      for (const record of records) entry.records.push(record);
      entry.bytes += bytes;
      totalBytes += bytes;
    },
    async snapshot(tenant, run, checkpoint) {
      const key = keyOf(tenant, run);
      const bytes = jsonBytes(checkpoint);
      reserve(bytes, entries.get(key)?.bytes ?? 0);
      replace(key, { checkpoint, records: [], bytes });
    },
    async load(tenant, run) {
      const entry = entries.get(keyOf(tenant, run));
      if (entry === undefined) return undefined;
      const { checkpoint, records } = entry;
      return { ...(checkpoint === undefined ? {} : { checkpoint }), records: [...records] };
    },
    async delete(tenant, run) {
      replace(keyOf(tenant, run), undefined);
    },
    end(tenant, run) {
      const key = keyOf(tenant, run);
      if (entries.has(key)) ended.add(key);
    },
  };
}

function full(bytes: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The journals of all runs together take ${bytes} bytes, of at most ${most}; let other runs end, or raise the limit.`,
  );
}

/** The length keeps tenant and run apart, whatever characters they have. */
function keyOf(tenant: string, run: string): string {
  return `${tenant.length}:${tenant}${run}`;
}
