/** The log of a run for hosts that store records and snapshots apart from the events that clients see; goes with the last of them. */
import type { RunEvent } from './events.js';
import { changesState, type EventLog, readEvent } from './log.js';
import type { Plan } from './plan.js';
import type { Checkpoint, State } from './state.js';
import { foldState } from './transition.js';

/** One change of a run's state: an event whose `seq` is the number of the last event that clients saw before it. */
export type JournalRecord = RunEvent;

/** Where a run writes its journal; bound to that run. */
export interface Journal {
  /** Takes records, each one JSON text, behind those that are there; they are stored together or not at all. */
  append(records: readonly string[]): void;
  /** Takes a snapshot in the place of everything before. */
  snapshot(checkpoint: Checkpoint): void;
  /** As `EventLog.flush`. */
  flush(): Promise<void>;
}

/** Writes a journal as a log. */
export class JournalLog implements EventLog {
  readonly #journal: Journal;
  readonly #position: (() => number) | undefined;
  #records: string[] = [];
  #seq = 0;

  constructor(journal: Journal, position: (() => number) | undefined) {
    this.#journal = journal;
    this.#position = position;
  }

  append(event: RunEvent): number {
    this.#seq = event.seq;
    // The host counts usage itself.
    if (!changesState(event) || event.type === 'node-usage') return 0;
    const text = JSON.stringify({ ...event, seq: this.#position?.() ?? this.#seq });
    this.#records.push(text);
    return text.length;
  }

  snapshot(checkpoint: Checkpoint): void {
    this.#commit();
    this.#journal.snapshot({ ...checkpoint, mark: this.#position?.() ?? this.#seq });
  }

  flush(): Promise<void> {
    this.#commit();
    return this.#journal.flush();
  }

  #commit(): void {
    if (this.#records.length === 0) return;
    this.#journal.append(this.#records);
    this.#records = [];
  }
}

/** Reads a record as it was written. @throws EngineError CHECKPOINT_INVALID saying what is wrong with it. */
export const readRecord = readEvent;

/** The state after records. @throws EngineError CHECKPOINT_INVALID. */
export function replay(plan: Plan, state: State, records: Iterable<JournalRecord>): State {
  return foldState(plan, state, records);
}
