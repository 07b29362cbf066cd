/** Logs of runs in Redis: the events in a list, the first and the newest snapshot beside it. */

import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { readCheckpoint } from '../../graph/snapshot.js';
import { parseJson } from '../../json.js';
import { FIRST_EPOCH, type LoggedEvent, outOfOrder, type RunLog } from '../../records/run-log.js';
import { type Argument, mayHaveBeenDone } from './commands.js';
import { eventsKey, logKeys, runKey } from './keys.js';
import { pack, unpack } from './pack.js';
import { readReply } from './read-reply.js';
import type { Redis } from './redis.js';
import {
  APPEND_EVENTS,
  CLAIM_LOG,
  DELETE_LOG,
  END_LOG,
  LOAD_SNAPSHOT,
  READ_EVENTS,
  TAKE_SNAPSHOT,
  WITHDRAW_EVENTS,
} from './run-log-scripts.js';
import { type RunWriter, RunWriters } from './run-writers.js';
import type { Script } from './script.js';

/** Version of what lies in the keys of a log; a reader refuses what is newer. */
const LOG_FORMAT = 1;

const entriesSchema = z.array(z.string());
const snapshotSchema = z.tuple([z.number().int(), z.instanceof(Buffer).nullable()]);

/** One numbered write to the log of one run. */
interface Write {
  readonly tenant: string;
  readonly run: string;
  readonly writer: RunWriter;
  readonly script: Script;
  readonly keys: readonly string[];
  /** What follows the arguments that every write has. */
  readonly args: readonly Argument[];
}

/**
 * Logs of runs in Redis, stored for 30 days after the last write. The event numbered `seq` is at `seq - 1` of its list, so there is no
 * place for a gap. All events of a batch are stored, or none; then its snapshot, without which a recovery only folds more events.
 *
 * One process writes a run at a time: that of the newest epoch. When Redis itself has lost writes, what would follow them is refused (JOURNAL_FAILED).
 *
 * @param maxBytes of one snapshot as JSON text
 */
export function createRedisRunLog({ commands, runKeptMs }: Redis, maxBytes: number = 64 * 1024 ** 2): RunLog {
  const writers = new RunWriters();

  /** Gives the number of the last event when the write was refused because it does not follow. */
  const write = async ({ tenant, run, writer, script, keys, args }: Write): Promise<number | undefined> => {
    writer.number += 1;
    const { id, number, done, epoch } = writer;
    const known = [tenant, id, number, done, LOG_FORMAT, runKeptMs, epoch];
    const result = await commands.run(script, keys, [...known, ...args]);
    if (typeof result === 'number') return result;
    if (result !== 'ok') throw refusal(run, String(result));
    writer.done = number;
    return undefined;
  };
  /**
   * Takes back what a write that failed without an answer may have left: to its caller it has failed, so its events were not
   * delivered, and their numbers are free again.
   */
  const withdraw = async (tenant: string, run: string, writer: RunWriter): Promise<void> => {
    const { doubt } = writer;
    if (doubt === undefined) return;
    const keys = [logKeys(run)[0], eventsKey(tenant, run)];
    const args = [doubt.number, doubt.first, doubt.count];
    await write({ tenant, run, writer, script: WITHDRAW_EVENTS, keys, args });
    writer.doubt = undefined;
  };

  return {
    async claim(tenant, run) {
      const keys = [logKeys(run)[0], runKey(run)];
      const epoch = await commands.run(CLAIM_LOG, keys, [tenant, LOG_FORMAT, runKeptMs]);
      if (typeof epoch === 'number') return epoch;
      if (epoch !== 'gone') throw refusal(run, String(epoch));
      throw new EngineError('NOT_FOUND', `There is no run "${run}" to claim.`);
    },
    async append(tenant, run, { events, snapshot, epoch = FIRST_EPOCH }) {
      const [head] = events;
      if (head === undefined && snapshot === undefined) return;
      const entries = entriesOf(run, events);
      const [hash, newest, first] = logKeys(run);
      const list = eventsKey(tenant, run);
      await writers.inTurn(tenant, run, epoch, async (writer) => {
        await withdraw(tenant, run, writer);
        if (head !== undefined) {
          const { seq } = head;
          const adding = { tenant, run, writer, script: APPEND_EVENTS, keys: [hash, list], args: [seq, ...entries] };
          const last = await write(adding).catch((error: unknown) => {
            if (mayHaveBeenDone(error)) writer.doubt = { number: writer.number, first: seq, count: entries.length };
            throw error;
          });
          if (last !== undefined) throw outOfOrder(run, seq, last);
        }
        if (snapshot === undefined) return;
        const packed = await pack(whatOf(run), JSON.stringify(snapshot), maxBytes);
        const keys = [hash, list, newest, first, runKey(run)];
        const args = [packed, snapshot.seq, run];
        const last = await write({ tenant, run, writer, script: TAKE_SNAPSHOT, keys, args }).catch((error: unknown) => {
          // The events came before the claim of another process, so that one has read them; its own snapshots follow.
          if (head === undefined || !EngineError.is(error) || error.code !== 'CONFLICT') throw error;
          return undefined;
        });
        if (last !== undefined) throw outOfOrder(run, snapshot.seq + 1, last);
      });
    },
    async read(tenant, run, after, { maxEvents, maxBytes: pageBytes }) {
      const start = Math.max(0, after);
      const args = [start, finite(maxEvents), finite(pageBytes)];
      const reply = await commands.run(READ_EVENTS, [eventsKey(tenant, run)], args);
      if (reply === null) return undefined;
      return readReply(entriesSchema, reply, whatOf(run)).map(
        (entry, at): LoggedEvent => eventOf(run, entry, start + at + 1),
      );
    },
    async snapshot(tenant, run, atMost = Number.MAX_SAFE_INTEGER) {
      const reply = await commands.run(LOAD_SNAPSHOT, logKeys(run), [tenant, atMost], { asBytes: true });
      if (reply === null) return undefined;
      const loaded = snapshotSchema.safeParse(reply);
      if (!loaded.success) throw unreadable(run, z.prettifyError(loaded.error));
      const [format, packed] = loaded.data;
      if (format > LOG_FORMAT) throw refusal(run, 'newer');
      if (packed === null) throw unreadable(run, 'its checkpoint is missing, although the rest is there');
      const checkpoint = parseJson(await unpack(whatOf(run), packed, maxBytes));
      if (checkpoint === undefined) throw unreadable(run, 'its checkpoint is not JSON');
      return readCheckpoint(checkpoint);
    },
    async end(tenant, run, epoch = FIRST_EPOCH) {
      const keys = [logKeys(run)[0], eventsKey(tenant, run)];
      const result = await commands.run(END_LOG, keys, [epoch, runKeptMs]);
      writers.forget(tenant, run);
      if (result !== 'ok') throw refusal(run, String(result));
    },
    async delete(tenant, run) {
      const keys = [...logKeys(run), eventsKey(tenant, run)];
      await writers.inTurn(tenant, run, FIRST_EPOCH, () => commands.run(DELETE_LOG, keys, [tenant]));
      writers.forget(tenant, run);
    },
  };
}

/** Version, name and JSON text, one line each; a name or a JSON text has no line end. */
const ENTRY = /^1\n([^\n]+)\n([^\n]+)$/;

/** Entries of events that follow each other. @throws EngineError CONFLICT when there is a gap between two of them. */
function entriesOf(run: string, events: readonly LoggedEvent[]): readonly string[] {
  const first = events[0]?.seq ?? 1;
  return events.map(({ seq, event, json }, at) => {
    if (seq !== first + at || seq < 1) throw outOfOrder(run, seq, first + at - 1);
    return `1\n${event}\n${json}`;
  });
}

/** @throws EngineError INTERNAL when the entry is of no known form. */
function eventOf(run: string, entry: string, seq: number): LoggedEvent {
  const parts = ENTRY.exec(entry);
  if (parts !== null) return { seq, event: parts[1] as string, json: parts[2] as string };
  throw new EngineError(
    'INTERNAL',
    `Event ${seq} of run "${run}" cannot be read: its entry in Redis is of no known form.`,
  );
}

/** Lua reads no `Infinity`. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function whatOf(run: string): string {
  return `The log of run "${run}"`;
}

function unreadable(run: string, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `${whatOf(run)} cannot be read: ${why}.`);
}

/** Why a log is not for the caller, by the result of a script. */
function refusal(run: string, reason: string): EngineError {
  switch (reason) {
    case 'foreign':
      return new EngineError('CONFLICT', `Run "${run}" has a log already, of another tenant; take another id.`);
    case 'superseded':
      return new EngineError('CONFLICT', `Run "${run}" was claimed by another process; this one must stop it.`);
    case 'newer':
      return new EngineError(
        'CHECKPOINT_INVALID',
        `The log of run "${run}" was written by a newer version of Runnel; let that one continue the run.`,
      );
    default:
      return new EngineError(
        'JOURNAL_FAILED',
        `Redis has lost earlier events of run "${run}"; start Redis with --appendonly yes, so that it keeps them when it is restarted.`,
      );
  }
}
