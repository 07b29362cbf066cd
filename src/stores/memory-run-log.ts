import { EngineError } from '../errors.js';
import type { Checkpoint } from '../graph/state.js';
import { ownedKey } from '../records/repository.js';
import { FIRST_EPOCH, type LoggedEvent, outOfOrder, type RunLog, superseded } from '../records/run-log.js';
import { jsonBytes } from './bounded-map.js';

/** What logs in memory may take. */
export interface MemoryRunLogLimits {
  /** The events and snapshots of all runs together. @default 512 MiB */
  readonly maxBytes?: number;
  /** The events of one run, so that a few runs that never end leave room for the others. @default an eighth of `maxBytes` */
  readonly maxRunBytes?: number;
}

interface StoredSnapshot {
  readonly checkpoint: Checkpoint;
  readonly bytes: number;
}

/** The log of one run; the event numbered `seq` lies at `seq - 1`. */
interface Entries {
  /** Of its writer. */
  epoch: number;
  readonly events: LoggedEvent[];
  /** Of the events. */
  bytes: number;
  /** The first and the newest one. */
  snapshots: readonly StoredSnapshot[];
  hasEnded: boolean;
}

/** Logs of runs in memory. When room is needed, the logs of ended runs go, the oldest first. */
export function createMemoryRunLog(limits: MemoryRunLogLimits = {}): RunLog {
  const { maxBytes = 512 * 1024 * 1024, maxRunBytes = maxBytes / 8 } = limits;
  /** By tenant and run, in order of the first batch. */
  const logs = new Map<string, Entries>();
  let totalBytes = 0;

  const drop = (key: string): void => {
    const log = logs.get(key);
    if (log === undefined) return;
    totalBytes -= log.bytes + bytesOf(log.snapshots);
    logs.delete(key);
  };
  const makeRoom = (bytes: number): void => {
    for (const [key, { hasEnded }] of logs) {
      if (totalBytes + bytes <= maxBytes) return;
      if (hasEnded) drop(key);
    }
    if (totalBytes + bytes <= maxBytes) return;
    throw new EngineError(
      'LIMIT_REACHED',
      `The logs of all runs together take ${totalBytes} bytes, of at most ${maxBytes}; let other runs end, or raise the limit.`,
    );
  };

  return {
    async claim(tenant, run) {
      const key = ownedKey(tenant, run);
      const log = logs.get(key) ?? emptyLog();
      logs.set(key, log);
      log.epoch += 1;
      return log.epoch;
    },
    append(tenant, run, { events, snapshot, epoch = FIRST_EPOCH }) {
      const key = ownedKey(tenant, run);
      const log = logs.get(key) ?? emptyLog();
      if (epoch !== log.epoch) throw superseded(run, epoch, log.epoch);
      let last = log.events.length;
      let bytes = 0;
      // Everything is checked before anything is stored.
      for (const event of events) {
        if (event.seq !== last + 1) throw outOfOrder(run, event.seq, last);
        last = event.seq;
        bytes += event.bytes ?? Buffer.byteLength(event.json);
      }
      if (snapshot !== undefined && snapshot.seq !== last) throw outOfOrder(run, snapshot.seq + 1, last);
      if (log.bytes + bytes > maxRunBytes) throw tooLong(run, maxRunBytes);
      const snapshots = snapshot === undefined ? log.snapshots : withNewest(log.snapshots, snapshot);
      const added = bytes + bytesOf(snapshots) - bytesOf(log.snapshots);
      if (totalBytes + added > maxBytes) makeRoom(added);
      logs.set(key, log);
      // As they are: one that writes its JSON when it is read need not write it here.
      for (const event of events) log.events.push(event);
      log.bytes += bytes;
      log.snapshots = snapshots;
      totalBytes += added;
    },
    async read(tenant, run, after, bounds) {
      const log = logs.get(ownedKey(tenant, run));
      if (log === undefined || isEmpty(log)) return undefined;
      return readAfter(log, after, bounds.maxEvents, bounds.maxBytes);
    },
    async snapshot(tenant, run, atMost = Number.POSITIVE_INFINITY) {
      const snapshots = logs.get(ownedKey(tenant, run))?.snapshots ?? [];
      return snapshots.findLast(({ checkpoint }) => checkpoint.seq <= atMost)?.checkpoint;
    },
    async end(tenant, run, epoch = FIRST_EPOCH) {
      const log = logs.get(ownedKey(tenant, run));
      if (log === undefined) return;
      if (epoch !== log.epoch) throw superseded(run, epoch, log.epoch);
      log.hasEnded = true;
    },
    async delete(tenant, run) {
      drop(ownedKey(tenant, run));
    },
  };
}

function emptyLog(): Entries {
  return { epoch: FIRST_EPOCH, events: [], bytes: 0, snapshots: [], hasEnded: false };
}

/** Claimed, and nothing was stored. */
function isEmpty({ events, snapshots }: Entries): boolean {
  return events.length === 0 && snapshots.length === 0;
}

function withNewest(snapshots: readonly StoredSnapshot[], checkpoint: Checkpoint): readonly StoredSnapshot[] {
  const newest = { checkpoint, bytes: jsonBytes(checkpoint) };
  const [first] = snapshots;
  return first === undefined || first.checkpoint.seq === checkpoint.seq ? [newest] : [first, newest];
}

function bytesOf(snapshots: readonly StoredSnapshot[]): number {
  return snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
}

function readAfter(log: Entries, after: number, maxEvents: number, maxBytes: number): LoggedEvent[] {
  const found: LoggedEvent[] = [];
  let bytes = 0;
  for (let at = Math.max(0, after); at < log.events.length && found.length < maxEvents; at += 1) {
    const event = log.events[at] as LoggedEvent;
    bytes += event.bytes ?? event.json.length;
    if (bytes > maxBytes && found.length > 0) break;
    found.push(event);
  }
  return found;
}

function tooLong(run: string, maxRunBytes: number): EngineError {
  const message = `The events of run "${run}" take more than the ${maxRunBytes} bytes that one run may take in memory; let it report less.`;
  return new EngineError('RUN_LOG_FULL', message);
}
