/** Journals of runs in Redis: the last snapshot, and the records behind it. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { readCheckpoint } from '../../graph/state-json.js';
import type { JournalContents, RunJournal } from '../../records/durable-stores.js';
import { mayHaveBeenDone } from './commands.js';
import { entriesOf, outOfOrder } from './event-entries.js';
import { APPEND_BATCH, DELETE_JOURNAL, LOAD_JOURNAL, TAKE_SNAPSHOT } from './journal-scripts.js';
import { eventsKey, journalKeys, runKey } from './keys.js';
import { pack, unpack } from './pack.js';
import type { Redis } from './redis.js';
import type { RunClearing } from './run-clearing.js';
import type { RunWriters } from './run-writers.js';
import { JOURNAL_FORMAT, journalRefusal, writeJournal } from './write-journal.js';

export interface RedisJournalOptions {
  /** The most that one snapshot or one record may have as JSON text, in bytes. @default 64 MiB */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

const loadedSchema = z.tuple([
  z.number().int(),
  z.number().int().nonnegative(),
  z.literal([0, 1]),
  z.instanceof(Buffer).nullable(),
  z.array(z.instanceof(Buffer)),
]);

/**
 * Journals of runs in Redis, kept for 30 days after the last write.
 *
 * One process writes a run at a time: the first write of another takes the run over, and then the earlier one is refused (CONFLICT),
 * because it has lost its lease without noticing. When Redis itself has lost records, what would follow them is refused (JOURNAL_FAILED)
 * until a snapshot is taken.
 */
export function createRedisJournal(
  { commands, runKeptMs: keptMs }: Redis,
  writers: RunWriters,
  clear: RunClearing,
  options: RedisJournalOptions = {},
): RunJournal {
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  return {
    async append(tenant, run, batch) {
      if (batch.events.length === 0 && batch.records.length === 0) return;
      const events = entriesOf(run, batch.events);
      const first = batch.events[0]?.seq ?? 0;
      await writers.inTurn(tenant, run, async (writer) => {
        await clear(tenant, run, writer);
        const records = await Promise.all(batch.records.map((record) => pack(whatOf(run), record, maxBytes)));
        const keys = [...journalKeys(run), eventsKey(tenant, run)];
        const args = [first, events.length, ...events, ...records];
        const last = await writeJournal(commands, {
          script: APPEND_BATCH,
          tenant,
          run,
          writer,
          keptMs,
          keys,
          args,
        }).catch((error: unknown) => {
          const journal = { number: writer.number, records: records.length };
          if (mayHaveBeenDone(error)) writer.doubt = { first, events, journal };
          throw error;
        });
        if (last !== undefined) throw outOfOrder(run, first, last);
      });
    },
    async snapshot(tenant, run, checkpoint) {
      await writers.inTurn(tenant, run, async (writer) => {
        await clear(tenant, run, writer);
        const packed = await pack(whatOf(run), JSON.stringify(checkpoint), maxBytes);
        const keys = [...journalKeys(run), runKey(run), eventsKey(tenant, run)];
        const { mark = -1 } = checkpoint;
        const args = [packed, run, mark];
        const last = await writeJournal(commands, { script: TAKE_SNAPSHOT, tenant, run, writer, keptMs, keys, args });
        if (last !== undefined) throw outOfOrder(run, mark + 1, last);
      });
    },
    async load(tenant, run) {
      const reply = await commands.run(LOAD_JOURNAL, journalKeys(run), [tenant], { asBytes: true });
      return reply === null ? undefined : readContents(run, reply, maxBytes);
    },
    async delete(tenant, run) {
      await writers.inTurn(tenant, run, () => commands.run(DELETE_JOURNAL, journalKeys(run), [tenant]));
      writers.forget(tenant, run);
    },
  };
}

async function readContents(run: string, reply: unknown, maxBytes: number): Promise<JournalContents | undefined> {
  const loaded = loadedSchema.safeParse(reply);
  if (!loaded.success) throw unreadable(run, z.prettifyError(loaded.error));
  const [format, count, hasCheckpoint, checkpoint, packed] = loaded.data;
  if (format > JOURNAL_FORMAT) throw journalRefusal(run, 'newer');
  if (packed.length !== count || (checkpoint !== null) !== (hasCheckpoint === 1)) {
    throw unreadable(run, 'a part of it is missing, although the rest is there');
  }
  const records: string[] = [];
  for (const record of packed) records.push(await unpack(whatOf(run), record, maxBytes));
  if (checkpoint !== null) {
    return { checkpoint: readCheckpoint(parse(run, await unpack(whatOf(run), checkpoint, maxBytes))), records };
  }
  return records.length === 0 ? undefined : { records };
}

function parse(run: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadable(run, 'its checkpoint is not JSON');
  }
}

function whatOf(run: string): string {
  return `The journal of run "${run}"`;
}

function unreadable(run: string, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `${whatOf(run)} cannot be read: ${why}.`);
}
