import { randomBytes } from 'node:crypto';
import { ownedKey } from '../../records/repository.js';

/** Events that a failed write may have left, or may yet leave. */
export interface Doubt {
  /** Of the write. */
  readonly number: number;
  /** Number of its first event. */
  readonly first: number;
  /** How many events it has. */
  readonly count: number;
}

/** This process as the writer of one run, in one epoch. */
export interface RunWriter {
  readonly id: string;
  readonly epoch: number;
  /** Number of the last write that was tried; an older one that arrives late changes nothing. */
  number: number;
  /** Number of the last one that is known to be done; 0 before the first. */
  done: number;
  /** What must be cleared up before anything else is written. */
  doubt: Doubt | undefined;
}

interface Turns {
  /** Of the newest epoch that this process has written with. */
  writer: RunWriter;
  pending: number;
  /** Ends with the last write; never rejects. */
  tail: Promise<unknown>;
}

/** Runs that are remembered after their last write; one that is forgotten gets a writer with another id. */
const MAX_WRITERS = 10_000;

/** The writers of this process. Writes of one run go one after another, so that one that is sent again cannot overtake the next. */
export class RunWriters {
  readonly #turns = new Map<string, Turns>();

  /** Does `work` after everything that was asked for this run before. */
  inTurn<T>(tenant: string, run: string, epoch: number, work: (writer: RunWriter) => Promise<T>): Promise<T> {
    const turns = this.#turnsOf(ownedKey(tenant, run), epoch);
    if (turns.writer.epoch < epoch) turns.writer = newWriter(epoch);
    // Redis refuses the writer of an earlier epoch, whatever it has written.
    const writer = turns.writer.epoch === epoch ? turns.writer : newWriter(epoch);
    turns.pending += 1;
    const done = turns.tail.then(() => work(writer));
    const finish = (): void => {
      turns.pending -= 1;
    };
    turns.tail = done.then(finish, finish);
    return done;
  }

  /** Forgets the writer of a run that has ended or is gone. */
  forget(tenant: string, run: string): void {
    const key = ownedKey(tenant, run);
    if (this.#turns.get(key)?.pending === 0) this.#turns.delete(key);
  }

  #turnsOf(key: string, epoch: number): Turns {
    const known = this.#turns.get(key);
    if (known !== undefined) return known;
    if (this.#turns.size >= MAX_WRITERS) this.#forgetOldest();
    const turns = { writer: newWriter(epoch), pending: 0, tail: Promise.resolve() };
    this.#turns.set(key, turns);
    return turns;
  }

  #forgetOldest(): void {
    for (const [key, { pending }] of this.#turns) {
      if (pending > 0) continue;
      this.#turns.delete(key);
      return;
    }
  }
}

/** A fresh id of a writer: 96 random bits in few characters, because every write has it. */
export function createWriterId(): string {
  return randomBytes(12).toString('base64url');
}

function newWriter(epoch: number): RunWriter {
  return { id: createWriterId(), epoch, number: 0, done: 0, doubt: undefined };
}
