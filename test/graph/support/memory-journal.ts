/** A journal in memory, the processes that write it, and their deaths. */
import { type Journal, type JournalRecord, readRecord } from '../../../src/graph/journal.js';
import type { Plan } from '../../../src/graph/plan.js';
import { replay } from '../../../src/graph/replay.js';
import type { Checkpoint } from '../../../src/graph/state.js';
import { stateFromJson, stateToJson } from '../../../src/graph/state-json.js';

/** A process that writes a journal. Once it is dead nothing of what it writes is kept, and it hears of nothing. */
export interface JournalWriter extends Journal {
  readonly isDead: boolean;
  kill(): void;
}

export class MemoryJournal {
  /** Every record that was ever kept, in order, also those that a snapshot took the place of. */
  readonly history: JournalRecord[] = [];
  readonly snapshots: Checkpoint[] = [];
  bytesWritten = 0;
  #snapshot: string | undefined = undefined;
  #records: string[] = [];

  get bytesKept(): number {
    return (this.#snapshot ?? '').length + this.#records.reduce((sum, { length }) => sum + length, 0);
  }

  /** A new process; it dies by itself after `writes` writes: of records that belong together, or of a snapshot. */
  open(writes = Number.POSITIVE_INFINITY): JournalWriter {
    let left = writes;
    let taken: (() => void)[] = [];
    return {
      get isDead() {
        return left <= 0;
      },
      kill: () => {
        left = 0;
      },
      append: (records) => void taken.push(() => this.#append(records)),
      snapshot: (checkpoint) => void taken.push(() => this.#replace(checkpoint)),
      flush: () => {
        for (const keep of taken.slice(0, Math.max(0, left))) keep();
        left -= taken.length;
        taken = [];
        return left < 0 ? new Promise(() => {}) : Promise.resolve();
      },
    };
  }

  /** Where a run goes on from what was kept; undefined when nothing was. */
  rebuild(plan: Plan): Checkpoint | undefined {
    if (this.#snapshot === undefined) return undefined;
    const checkpoint = JSON.parse(this.#snapshot) as Checkpoint;
    const state = replay(plan, stateFromJson(plan, checkpoint.state), this.#records.map(readRecord));
    return JSON.parse(JSON.stringify({ ...checkpoint, state: stateToJson(plan, state) })) as Checkpoint;
  }

  #append(records: readonly string[]): void {
    this.#records.push(...records);
    this.history.push(...records.map(readRecord));
    this.bytesWritten += records.reduce((sum, { length }) => sum + length, 0);
  }

  #replace(checkpoint: Checkpoint): void {
    this.#snapshot = JSON.stringify(checkpoint);
    this.#records = [];
    this.snapshots.push(checkpoint);
    this.bytesWritten += this.#snapshot.length;
  }
}
