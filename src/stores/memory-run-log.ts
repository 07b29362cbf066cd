import { EngineError } from '../errors.js';
import type { LoggedEvent, RunLog } from '../records/stores.js';

export interface MemoryRunLogLimits {
  /** The events of all runs together. @default 512 MiB */
  readonly maxBytes?: number;
  /** The events of one run, so that a few runs that never end leave room for the others. @default an eighth of `maxBytes` */
  readonly maxRunBytes?: number;
}

/** The events of one run; the one numbered `seq` lies at `seq - 1`. */
interface Entries {
  readonly names: string[];
  readonly texts: string[];
  bytes: number;
  hasEnded: boolean;
}

/** Events of runs in memory. When room is needed, the logs of ended runs go, the oldest first. */
export function createMemoryRunLog(limits: MemoryRunLogLimits = {}): RunLog {
  const { maxBytes = 512 * 1024 * 1024, maxRunBytes = maxBytes / 8 } = limits;
  /** By tenant and run, in order of the first event. */
  const logs = new Map<string, Entries>();
  let totalBytes = 0;

  const drop = (key: string): void => {
    totalBytes -= logs.get(key)?.bytes ?? 0;
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
      `The events of all runs together take ${totalBytes} bytes, of at most ${maxBytes}; let other runs end, or raise the limit.`,
    );
  };

  return {
    append(tenant, run, events) {
      const key = keyOf(tenant, run);
      const log = logs.get(key) ?? { names: [], texts: [], bytes: 0, hasEnded: false };
      logs.set(key, log);
      for (const { seq, event, json, bytes = Buffer.byteLength(json) } of events) {
        if (seq !== log.texts.length + 1) throw outOfOrder(run, seq, log.texts.length);
        if (log.bytes + bytes > maxRunBytes) throw tooLong(run, maxRunBytes);
        if (totalBytes + bytes > maxBytes) makeRoom(bytes);
        log.names.push(event);
        log.texts.push(json);
        log.bytes += bytes;
        totalBytes += bytes;
      }
    },
    async read(tenant, run, after, bounds) {
      const log = logs.get(keyOf(tenant, run));
      return log === undefined ? undefined : readAfter(log, after, bounds.maxEvents, bounds.maxBytes);
    },
    async end(tenant, run) {
      const log = logs.get(keyOf(tenant, run));
      if (log !== undefined) log.hasEnded = true;
    },
    async delete(tenant, run) {
      drop(keyOf(tenant, run));
    },
  };
}

function readAfter(log: Entries, after: number, maxEvents: number, maxBytes: number): LoggedEvent[] {
  const found: LoggedEvent[] = [];
  let bytes = 0;
  for (let at = Math.max(0, after); at < log.texts.length && found.length < maxEvents; at += 1) {
    const json = log.texts[at] as string;
    bytes += json.length;
    if (bytes > maxBytes && found.length > 0) break;
    found.push({ seq: at + 1, event: log.names[at] as string, json });
  }
  return found;
}

function tooLong(run: string, maxRunBytes: number): EngineError {
  const message = `The events of run "${run}" take more than the ${maxRunBytes} bytes that one run may take in memory; let it say less.`;
  return new EngineError('RUN_LOG_FULL', message);
}

function outOfOrder(run: string, seq: number, last: number): EngineError {
  return new EngineError('CONFLICT', `Event ${seq} of run "${run}" does not follow event ${last}.`);
}

function keyOf(tenant: string, run: string): string {
  return `${tenant.length}:${tenant}${run}`;
}
