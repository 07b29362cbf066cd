import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { LoggedEvent, RunLog } from '../../graph/service-ports.js';
import { mayHaveBeenDone } from './commands.js';
import { eventsKey, KEPT_MS } from './keys.js';
import type { Redis } from './redis.js';
import { APPEND_EVENTS, READ_EVENTS, WITHDRAW_EVENTS } from './run-log-scripts.js';

/** An event as it lies in the list: version, name and JSON text; neither of them has a line end. */
const FORMAT = '1';
const ENTRY = /^1\n([^\n]+)\n([^\n]+)$/;

const entriesSchema = z.array(z.string());

/** Runs whose last events are in doubt; beyond that the oldest doubt is dropped, and its run gets an error should it go on. */
const MAX_DOUBTS = 1_000;

/** An append of which nobody knows whether it was done. */
interface Doubt {
  readonly first: number;
  readonly entries: readonly string[];
}

/**
 * Events of runs in Redis lists, kept for 30 days after the last one. The event numbered `seq` is at `seq - 1`, so there is no place for a
 * gap.
 *
 * All events of an append are there, or none. When one failed without an answer, the next append of that run first takes back what it may
 * have left, because nobody was shown it.
 */
export function createRedisRunLog(redis: Redis): RunLog {
  const { commands } = redis;
  const doubts = new Map<string, Doubt>();

  const withdraw = async (key: string): Promise<void> => {
    const doubt = doubts.get(key);
    if (doubt === undefined) return;
    await commands.run(WITHDRAW_EVENTS, [key], [doubt.first, ...doubt.entries]);
    doubts.delete(key);
  };
  const remember = (key: string, doubt: Doubt): void => {
    if (doubts.size >= MAX_DOUBTS) {
      const [oldest] = doubts.keys();
      doubts.delete(oldest as string);
    }
    doubts.set(key, doubt);
  };

  return {
    async append(tenant, run, events) {
      const [head] = events;
      if (head === undefined) return;
      const first = head.seq;
      const entries = events.map((event, at) => entryOf(run, event, first + at));
      const key = eventsKey(tenant, run);
      if (doubts.size > 0) await withdraw(key);
      const result = await commands
        .run(APPEND_EVENTS, [key], [first, KEPT_MS.run, ...entries])
        .catch((error: unknown) => {
          if (mayHaveBeenDone(error)) remember(key, { first, entries });
          throw error;
        });
      if (result !== -1) throw outOfOrder(run, Math.max(first, Number(result) + 1), Number(result));
    },
    async read(tenant, run, after, { maxEvents, maxBytes }) {
      const start = Math.max(0, after);
      const reply = await commands.run(
        READ_EVENTS,
        [eventsKey(tenant, run)],
        [start, finite(maxEvents), finite(maxBytes)],
      );
      if (reply === null) return undefined;
      return entriesSchema.parse(reply).map((entry, at) => eventOf(run, entry, start + at + 1));
    },
    async end(tenant, run) {
      const key = eventsKey(tenant, run);
      await commands.send('PEXPIRE', [key, KEPT_MS.run]);
      doubts.delete(key);
    },
    async delete(tenant, run) {
      const key = eventsKey(tenant, run);
      await commands.send('UNLINK', [key]);
      doubts.delete(key);
    },
  };
}

function entryOf(run: string, { seq, event, json }: LoggedEvent, expected: number): string {
  if (seq !== expected || seq < 1) throw outOfOrder(run, seq, expected - 1);
  return `${FORMAT}\n${event}\n${json}`;
}

function eventOf(run: string, entry: string, seq: number): LoggedEvent {
  const parts = ENTRY.exec(entry);
  if (parts === null) {
    throw new EngineError(
      'INTERNAL',
      `Event ${seq} of run "${run}" cannot be read: its entry in Redis is of no known form.`,
    );
  }
  return { seq, event: parts[1] as string, json: parts[2] as string };
}

function outOfOrder(run: string, seq: number, last: number): EngineError {
  return new EngineError(
    'INTERNAL',
    `Event ${seq} of run "${run}" does not follow event ${last}; events were lost, or another process works on this run.`,
  );
}

/** Lua reads no `Infinity`. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}
