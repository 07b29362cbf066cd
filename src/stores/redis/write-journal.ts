import { EngineError } from '../../errors.js';
import type { Argument, Commands } from './commands.js';
import type { RunWriter } from './run-writers.js';
import type { Script } from './script.js';

/** Version of what lies in the keys of a journal; a reader refuses what is newer. */
export const JOURNAL_FORMAT = 1;

/** One of the numbered writes of `journal-scripts.ts`. */
export interface JournalWrite {
  readonly script: Script;
  readonly tenant: string;
  readonly run: string;
  readonly writer: RunWriter;
  /** How long the journal is kept after it. */
  readonly keptMs: number;
  readonly keys: readonly string[];
  /** What follows the arguments that every write has. */
  readonly args: readonly Argument[];
}

/** Does a write. Gives the number of the last event when it was refused because its events do not follow. @throws EngineError */
export async function writeJournal(commands: Commands, write: JournalWrite): Promise<number | undefined> {
  const { script, tenant, run, writer, keptMs, keys, args } = write;
  writer.number += 1;
  const { id, number, done } = writer;
  const common = [tenant, id, number, done, JOURNAL_FORMAT, keptMs];
  const result = await commands.run(script, keys, [...common, ...args]);
  if (typeof result === 'number') return result;
  if (result !== 'ok') throw journalRefusal(run, String(result));
  writer.done = number;
  return undefined;
}

/** Why a journal is not for the caller, by what a script said. */
export function journalRefusal(run: string, reason: string): EngineError {
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
        'JOURNAL_FAILED',
        `Redis has lost earlier records of run "${run}"; start Redis with --appendonly yes, so that it keeps them when it is restarted.`,
      );
  }
}
