import { z } from 'zod';
import type { LoggedEvent, RunLog } from '../../records/stores.js';
import { mayHaveBeenDone } from './commands.js';
import { entriesOf, eventOf, outOfOrder } from './event-entries.js';
import { eventsKey } from './keys.js';
import { readReply } from './read-reply.js';
import type { Redis } from './redis.js';
import type { RunClearing } from './run-clearing.js';
import { APPEND_EVENTS, READ_EVENTS } from './run-log-scripts.js';
import type { RunWriters } from './run-writers.js';

const entriesSchema = z.array(z.string());

/**
 * Events of runs in Redis lists, kept for 30 days after the last one. The event numbered `seq` is at `seq - 1`, so there is no place
 * for a gap. All events of an append are there, or none.
 */
export function createRedisRunLog({ commands, runKeptMs }: Redis, writers: RunWriters, clear: RunClearing): RunLog {
  return {
    async append(tenant, run, events) {
      const [head] = events;
      if (head === undefined) return;
      const first = head.seq;
      const entries = entriesOf(run, events);
      await writers.inTurn(tenant, run, async (writer) => {
        await clear(tenant, run, writer);
        const result = await commands
          .run(APPEND_EVENTS, [eventsKey(tenant, run)], (mayBeDone) => [
            first,
            runKeptMs,
            Number(mayBeDone),
            ...entries,
          ])
          .catch((error: unknown) => {
            if (mayHaveBeenDone(error)) writer.doubt = { first, events: entries };
            throw error;
          });
        if (result !== -1) throw outOfOrder(run, first, Number(result));
      });
    },
    async read(tenant, run, after, { maxEvents, maxBytes }) {
      const start = Math.max(0, after);
      const args = [start, finite(maxEvents), finite(maxBytes)];
      const reply = await commands.run(READ_EVENTS, [eventsKey(tenant, run)], args);
      if (reply === null) return undefined;
      return readReply(entriesSchema, reply, `The log of run "${run}"`).map(
        (entry, at): LoggedEvent => eventOf(run, entry, start + at + 1),
      );
    },
    async end(tenant, run) {
      await commands.send('PEXPIRE', [eventsKey(tenant, run), runKeptMs]);
      writers.forget(tenant, run);
    },
    async delete(tenant, run) {
      await commands.send('UNLINK', [eventsKey(tenant, run)]);
      writers.forget(tenant, run);
    },
  };
}

/** Lua reads no `Infinity`. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}
