import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { JournalContents, RunJournal } from '../../graph/durable-ports.js';
import type { Checkpoint } from '../../graph/state.js';
import { readCheckpoint } from '../../graph/state-json.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { APPEND_RECORDS, DELETE_JOURNAL, LOAD_JOURNAL, TAKE_SNAPSHOT } from './journal-scripts.js';
import { type JournalWriter, JournalWriters } from './journal-writers.js';
import { checkpointKey, journalKey, KEPT_MS, recordsKey, runKey } from './keys.js';
import { pack, unpack } from './pack.js';
import type { Redis } from './redis.js';
import type { Script } from './script.js';

export interface RedisJournalOptions {
  /** The most that one snapshot or one group of records may have as JSON, in bytes. @default 64 MiB */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Version of what lies in the keys; a reader refuses what is newer. */
const FORMAT = 1;

const groupSchema = z.object({
  version: z.literal(FORMAT),
  records: z.array(z.custom<JsonObject>(isJsonObject, 'expected an object')),
});

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
 * One process writes a run at a time. The first write of another takes it over, and then the earlier writer is refused (CONFLICT): it
 * has lost its lease without noticing. After a write that failed only a snapshot is taken, so that no record is missing unnoticed.
 */
export function createRedisJournal(redis: Redis, options: RedisJournalOptions = {}): RunJournal {
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  const { commands } = redis;
  const writers = new JournalWriters();

  const write = async (writer: JournalWriter, operation: Operation): Promise<void> => {
    const { script, tenant, run, value } = operation;
    const packed = await pack(`The journal of run "${run}"`, value, maxBytes);
    writer.writes += 1;
    const writes = writer.writes;
    // Until the answer is there, nobody knows whether it was done.
    writer.isBroken = true;
    const result = await commands.run(
      script,
      [...keysOf(run), runKey(run)].slice(0, script === TAKE_SNAPSHOT ? 4 : 3),
      [tenant, writer.id, writes, FORMAT, packed, KEPT_MS.run, run],
    );
    if (result !== 'ok') throw refused(run, String(result));
    writer.isBroken = false;
  };

  return {
    async append(tenant, run, records) {
      if (records.length === 0) return;
      await writers.inTurn(tenant, run, (writer) => {
        if (writer.isBroken) throw refused(run, 'lost');
        return write(writer, { script: APPEND_RECORDS, tenant, run, value: { version: FORMAT, records } });
      });
    },
    snapshot(tenant, run, checkpoint) {
      return writers.inTurn(tenant, run, (writer) =>
        write(writer, { script: TAKE_SNAPSHOT, tenant, run, value: checkpoint }),
      );
    },
    async load(tenant, run) {
      const reply = await commands.run(LOAD_JOURNAL, keysOf(run), [tenant], { asBytes: true });
      return reply === null ? undefined : readContents(run, reply, maxBytes);
    },
    async delete(tenant, run) {
      await writers.inTurn(tenant, run, () => commands.run(DELETE_JOURNAL, keysOf(run), [tenant]));
      writers.forget(tenant, run);
    },
  };
}

interface Operation {
  readonly script: Script;
  readonly tenant: string;
  readonly run: string;
  readonly value: Checkpoint | z.input<typeof groupSchema>;
}

function keysOf(run: string): string[] {
  return [journalKey(run), recordsKey(run), checkpointKey(run)];
}

async function readContents(run: string, reply: unknown, maxBytes: number): Promise<JournalContents> {
  const what = `The journal of run "${run}"`;
  const loaded = loadedSchema.safeParse(reply);
  if (!loaded.success) throw unreadable(what, z.prettifyError(loaded.error));
  const [format, groups, hasCheckpoint, checkpoint, packed] = loaded.data;
  if (format > FORMAT) throw refused(run, 'newer');
  if (packed.length !== groups || (checkpoint !== null) !== (hasCheckpoint === 1)) {
    throw unreadable(what, 'a part of it is missing, although the rest is there');
  }
  const records: JsonObject[] = [];
  for (const group of packed) {
    const parsed = groupSchema.safeParse(await unpack(what, group, maxBytes));
    if (!parsed.success) throw unreadable(what, z.prettifyError(parsed.error));
    for (const record of parsed.data.records) records.push(record);
  }
  if (checkpoint === null) return { records };
  return { checkpoint: readCheckpoint(await unpack(what, checkpoint, maxBytes)), records };
}

function unreadable(what: string, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `${what} cannot be read: ${why}.`);
}

function refused(run: string, reason: string): EngineError {
  switch (reason) {
    case 'foreign':
      return new EngineError(
        'CONFLICT',
        `Run "${run}" has a journal already, which is somebody else's; take another id.`,
      );
    case 'superseded':
      return new EngineError('CONFLICT', `Run "${run}" was taken over by another process; this one must stop it.`);
    case 'newer':
      return new EngineError(
        'CHECKPOINT_INVALID',
        `The journal of run "${run}" was written by a newer version of Runnel; let that one continue the run.`,
      );
    default:
      return new EngineError(
        'INTERNAL',
        `Earlier records in the journal of run "${run}" are lost; take a snapshot before anything is added.`,
      );
  }
}
