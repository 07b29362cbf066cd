/** Logs of runs in Redis: the events in a list, the first and the newest snapshot beside it. */

import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { readCheckpoint } from '../../graph/snapshot.js';
import { parseOwnJson } from '../../json.js';
import { FIRST_EPOCH, type LoggedEvent, type RunLog } from '../../records/run-log.js';
import { lengthen } from '../event-lines.js';
import { eventsKey, logKeys, runKey } from './keys.js';
import { unpack } from './pack.js';
import { readReply } from './read-reply.js';
import type { Redis } from './redis.js';
import { type Committer, LOG_FORMAT, refusal, whatOf } from './redis-commit.js';
import { CLAIM_LOG, DELETE_LOG, END_LOG, LOAD_SNAPSHOT, READ_EVENTS } from './run-log-scripts.js';

const entriesSchema = z.array(z.string());
const snapshotSchema = z.tuple([z.number().int(), z.instanceof(Buffer).nullable()]);

/**
 * Logs of runs in Redis, stored for 30 days after the last write. The event numbered `seq` is at `seq - 1` of its list, so there is no
 * place for a gap. All events of a batch are stored, or none; then its snapshot, without which a recovery only folds more events.
 *
 * One process writes a run at a time: that of the newest epoch. When Redis itself has lost writes, what would follow them is refused (JOURNAL_FAILED).
 *
 * @param maxBytes of one snapshot as JSON text
 */
export function createRedisRunLog({ commands, runKeptMs }: Redis, committer: Committer, maxBytes: number): RunLog {
  return {
    async claim(tenant, run) {
      const keys = [logKeys(run)[0], runKey(run)];
      const epoch = await commands.run(CLAIM_LOG, keys, [tenant, LOG_FORMAT, runKeptMs]);
      if (typeof epoch === 'number') return epoch;
      if (epoch !== 'gone') throw refusal(run, String(epoch));
      throw new EngineError('NOT_FOUND', `There is no run "${run}" to claim.`);
    },
    append: (tenant, run, batch) =>
      committer.commit({ tenant, run, ...(batch.epoch !== undefined && { epoch: batch.epoch }), batches: [batch] }),
    confirm: (tenant, run, epoch = FIRST_EPOCH) => committer.confirm(tenant, run, epoch),
    async read(tenant, run, after, { maxEvents, maxBytes: pageBytes }) {
      const start = Math.max(0, after);
      const args = [start, finite(maxEvents), finite(pageBytes)];
      const reply = await commands.run(READ_EVENTS, [eventsKey(tenant, run)], args);
      if (reply === null) return undefined;
      const found: LoggedEvent[] = [];
      let left = pageBytes;
      for (const entry of readReply(entriesSchema, reply, whatOf(run))) {
        const event = eventOf(run, entry, start + found.length + 1);
        // Redis counts what it has, which is less.
        left -= Buffer.byteLength(event.json);
        if (left < 0 && found.length > 0) break;
        found.push(event);
      }
      return found;
    },
    async snapshot(tenant, run, atMost = Number.MAX_SAFE_INTEGER) {
      const reply = await commands.run(LOAD_SNAPSHOT, logKeys(run), [tenant, atMost], { asBytes: true });
      if (reply === null) return undefined;
      const loaded = snapshotSchema.safeParse(reply);
      if (!loaded.success) throw unreadable(run, z.prettifyError(loaded.error));
      const [format, packed] = loaded.data;
      if (format > LOG_FORMAT) throw refusal(run, 'newer');
      if (packed === null) throw unreadable(run, 'its checkpoint is missing, although the rest is there');
      const checkpoint = parseOwnJson(await unpack(whatOf(run), packed, maxBytes));
      if (checkpoint === undefined) throw unreadable(run, 'its checkpoint is not JSON');
      return readCheckpoint(checkpoint);
    },
    async end(tenant, run, epoch = FIRST_EPOCH) {
      const keys = [logKeys(run)[0], eventsKey(tenant, run)];
      const result = await committer.last(tenant, run, () => commands.run(END_LOG, keys, [epoch, runKeptMs]));
      if (result !== 'ok') throw refusal(run, String(result));
    },
    async delete(tenant, run) {
      const keys = [...logKeys(run), eventsKey(tenant, run)];
      await committer.last(tenant, run, () => commands.run(DELETE_LOG, keys, [tenant]));
    },
  };
}

/** Version, name and JSON text, one line each; a name or a JSON text has no line end. The text of version 2 is shortened. */
const ENTRY = /^([12])\n([^\n]+)\n([^\n]+)$/;

/** @throws EngineError INTERNAL when the entry is of no known form. */
function eventOf(run: string, entry: string, seq: number): LoggedEvent {
  const parts = ENTRY.exec(entry);
  if (parts !== null) {
    const [, version, event, json] = parts as unknown as readonly [string, string, string, string];
    return { seq, event, json: version === '1' ? json : lengthen(run, { seq, event, json }) };
  }
  throw new EngineError(
    'INTERNAL',
    `Event ${seq} of run "${run}" cannot be read: its entry in Redis is of no known form.`,
  );
}

/** Lua reads no `Infinity`. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function unreadable(run: string, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `${whatOf(run)} cannot be read: ${why}.`);
}
