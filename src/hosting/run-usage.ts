import { z } from 'zod';
import type { NodeUsage } from '../graph/events.js';
import type { Journal } from '../graph/journal.js';
import type { Checkpoint } from '../graph/state.js';
import type { JournalContents } from '../records/durable-stores.js';
import type { RunUsage } from '../records/stores.js';

/** How a record of usage begins; the records of the engine begin otherwise. */
const PREFIX = '{"type":"usage",';

const count = z.number().int().nonnegative();
const usageSchema = z.object({ promptTokens: count, completionTokens: count, totalTokens: count, calls: count });

/**
 * Counts the tokens of a run, and keeps the count in its journal: in every snapshot, and in a record of its own that goes with those of
 * the engine whenever it has changed since.
 */
export class UsageJournal implements Journal {
  readonly total: { -readonly [K in keyof RunUsage]: RunUsage[K] };
  readonly #journal: Journal;
  #isKept: boolean;

  constructor(journal: Journal, before: RunUsage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 }) {
    this.#journal = journal;
    this.total = { ...before };
    this.#isKept = before.calls === 0;
  }

  count(event: NodeUsage): void {
    this.total.promptTokens += event.promptTokens;
    this.total.completionTokens += event.completionTokens;
    this.total.totalTokens += event.totalTokens;
    this.total.calls += 1;
    this.#isKept = false;
  }

  append(records: readonly string[]): void {
    if (this.#isKept) {
      this.#journal.append(records);
      return;
    }
    this.#isKept = true;
    this.#journal.append([...records, `${PREFIX}${JSON.stringify(this.total).slice(1)}`]);
  }

  snapshot(checkpoint: Checkpoint): void {
    // A snapshot takes the place of every record.
    this.#isKept = true;
    this.#journal.snapshot(this.total.calls === 0 ? checkpoint : { ...checkpoint, usage: { ...this.total } });
  }

  flush(): Promise<void> {
    return this.#journal.flush();
  }
}

/** Takes the usage out of a journal: what is left is the engine's. */
export function splitUsage({ checkpoint, records }: JournalContents): {
  readonly contents: JournalContents;
  readonly usage: RunUsage | undefined;
} {
  const own = records.filter((record) => !record.startsWith(PREFIX));
  const last = records.findLast((record) => record.startsWith(PREFIX));
  const { usage: before, ...bare } = checkpoint ?? {};
  return {
    contents: { ...(checkpoint === undefined ? {} : { checkpoint: bare as Checkpoint }), records: own },
    usage: usageSchema.safeParse(last === undefined ? before : JSON.parse(last)).data,
  };
}
