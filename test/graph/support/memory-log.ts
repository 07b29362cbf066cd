/** A log in memory, the processes that write it, and their deaths. */
import type { RunEvent } from '../../../src/graph/events.js';
import { foldState, undisturbed } from '../../../src/graph/fold.js';
import { changesState, type EventLog, readEvent } from '../../../src/graph/log.js';
import type { Plan } from '../../../src/graph/plan.js';
import { stateFromJson, stateToJson } from '../../../src/graph/snapshot.js';
import type { Checkpoint } from '../../../src/graph/state.js';

/** A process that writes a log. Once it is dead nothing of what it writes is stored, and it is told nothing. */
export interface LogProcess extends EventLog {
  readonly isDead: boolean;
  kill(): void;
}

export class MemoryLog {
  /** Every event that was ever stored, in order. */
  readonly events: RunEvent[] = [];
  readonly snapshots: Checkpoint[] = [];
  bytesWritten = 0;
  #snapshot: string | undefined = undefined;

  /** Events that change the state, of all processes. */
  get history(): readonly StateEvent[] {
    return this.events.filter((event): event is StateEvent => changesState(event));
  }

  /** Number of the last event that was stored. */
  get seq(): number {
    return Math.max(0, ...this.events.slice(-1).map(({ seq }) => seq));
  }

  /** A new process; it dies by itself after `writes` writes: of an event that changes the state, or of a snapshot. */
  open(writes = Number.POSITIVE_INFINITY): LogProcess {
    let left = writes;
    let taken: { readonly weight: number; readonly store: () => void }[] = [];
    return {
      get isDead() {
        return left <= 0;
      },
      kill: () => {
        left = 0;
      },
      append: (event) => {
        const text = JSON.stringify(event);
        taken.push({ weight: changesState(event) ? 1 : 0, store: () => this.#append(text) });
        return text.length;
      },
      snapshot: (checkpoint) => {
        const text = JSON.stringify(checkpoint);
        taken.push({ weight: 1, store: () => this.#replace(text) });
      },
      flush: () => {
        const all = taken;
        taken = [];
        for (const { weight, store } of all) {
          if (left <= 0) return new Promise(() => {});
          left -= weight;
          store();
        }
        return left < 0 || (left === 0 && Number.isFinite(writes)) ? new Promise(() => {}) : Promise.resolve();
      },
    };
  }

  /** Where a run continues from what was stored; undefined when nothing was. */
  rebuild(plan: Plan): Checkpoint | undefined {
    if (this.#snapshot === undefined) return undefined;
    const checkpoint = JSON.parse(this.#snapshot) as Checkpoint;
    const later = undisturbed(this.events.filter(({ seq }) => seq > checkpoint.seq));
    const state = foldState(plan, stateFromJson(plan, checkpoint.state), later);
    return JSON.parse(JSON.stringify({ ...checkpoint, seq: this.seq, state: stateToJson(plan, state) })) as Checkpoint;
  }

  #append(text: string): void {
    this.events.push(readEvent(text));
    this.bytesWritten += text.length;
  }

  #replace(text: string): void {
    this.#snapshot = text;
    this.snapshots.push(JSON.parse(text) as Checkpoint);
    this.bytesWritten += text.length;
  }
}

/** An event that changes the state. */
export type StateEvent = Extract<RunEvent, { token: number }>;

/** Whether an event ends a token for good. */
export function isEnd(event: RunEvent): boolean {
  return (
    event.type === 'node-settled' ||
    event.type === 'node-skipped' ||
    (event.type === 'node-failed' && event.then === 'goto')
  );
}
