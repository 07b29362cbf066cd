import { randomUUID } from 'node:crypto';

/** This process as the writer of one run's journal. */
export interface JournalWriter {
  readonly id: string;
  /** Number of the last write that was tried. */
  writes: number;
  /** Whether a write failed, so that records may be missing until the next snapshot. */
  isBroken: boolean;
  /** Writes that have not ended. */
  pending: number;
  /** Ends with the last write; never rejects. */
  tail: Promise<unknown>;
}

/** Writers that are remembered; one that is forgotten begins anew under another id. */
const MAX_WRITERS = 10_000;

/** The writers of this process. Writes of one run go one after another, so that a write sent twice cannot overtake the next one. */
export class JournalWriters {
  readonly #writers = new Map<string, JournalWriter>();

  /** Does `work` after everything that was asked for this run before. */
  async inTurn<T>(tenant: string, run: string, work: (writer: JournalWriter) => Promise<T>): Promise<T> {
    const writer = this.#writerOf(`${tenant.length}:${tenant}${run}`);
    writer.pending += 1;
    const done = writer.tail.then(() => work(writer));
    writer.tail = done.then(
      () => {},
      () => {},
    );
    try {
      return await done;
    } finally {
      writer.pending -= 1;
    }
  }

  /** Forgets the writer of a run that is gone. */
  forget(tenant: string, run: string): void {
    this.#writers.delete(`${tenant.length}:${tenant}${run}`);
  }

  #writerOf(key: string): JournalWriter {
    const known = this.#writers.get(key);
    if (known !== undefined) return known;
    if (this.#writers.size >= MAX_WRITERS) this.#dropOldest();
    const writer = { id: randomUUID(), writes: 0, isBroken: false, pending: 0, tail: Promise.resolve() };
    this.#writers.set(key, writer);
    return writer;
  }

  #dropOldest(): void {
    for (const [key, { pending }] of this.#writers) {
      if (pending > 0) continue;
      this.#writers.delete(key);
      return;
    }
  }
}
