import { WITHDRAW_BATCH } from './journal-scripts.js';
import { eventsKey, journalKeys } from './keys.js';
import type { Redis } from './redis.js';
import { WITHDRAW_EVENTS } from './run-log-scripts.js';
import type { RunWriter } from './run-writers.js';
import { writeJournal } from './write-journal.js';

/** Clears up what the last write of a run may have left; nothing may be written before. */
export type RunClearing = (tenant: string, run: string, writer: RunWriter) => Promise<void>;

/**
 * Takes back what a write that failed without an answer may have left: its caller was told that it failed, so nobody was shown its events,
 * and their numbers are free again.
 */
export function createRunClearing({ commands, runKeptMs }: Redis): RunClearing {
  return async (tenant, run, writer) => {
    const { doubt } = writer;
    if (doubt === undefined) return;
    const { first, events, journal } = doubt;
    const key = eventsKey(tenant, run);
    if (journal === undefined) {
      await commands.run(WITHDRAW_EVENTS, [key], [first, ...events]);
    } else {
      await writeJournal(commands, {
        ...{ script: WITHDRAW_BATCH, tenant, run, writer, keptMs: runKeptMs },
        keys: [...journalKeys(run), key],
        args: [journal.number, journal.records, first, ...events],
      });
    }
    writer.doubt = undefined;
  };
}
