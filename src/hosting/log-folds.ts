import type { RunEvent } from '../graph/events.js';
import { ownedKey } from '../records/repository.js';
import type { RunLog } from '../records/run-log.js';

const PAGE = { maxEvents: 1_000, maxBytes: 4 * 1024 * 1024 };

/** Which folds are remembered between two requests, and which events they are made of. */
export interface LogFoldsOptions {
  /** Runs whose folds are remembered; others are read anew. */
  readonly maxRuns: number;
  /** Bytes of events behind all folds that are remembered; one that has more is read anew each time. @default unlimited */
  readonly maxBytes?: number;
  /** Types of the events that are folded. @default all */
  readonly types?: ReadonlySet<string>;
}

/** What was read of a run so far. */
interface Reading<F> {
  readonly fold: F;
  /** Number of the last event that was read. */
  after: number;
  /** Of the events that were folded. */
  bytes: number;
  /** Resolves when the readings so far are done: one at a time, or events would be counted twice. */
  tail: Promise<unknown>;
}

/** What is folded from the logs of runs. It is remembered: clients that watch a run ask again and again. */
export class LogFolds<F extends { add(event: RunEvent): void }> {
  readonly #log: RunLog;
  readonly #options: LogFoldsOptions;
  /** In the order of the last request. */
  readonly #readings = new Map<string, Reading<F>>();

  constructor(log: RunLog, options: LogFoldsOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** The fold of a run so far, begun by `create`; undefined when nothing of its log is stored. */
  async read(tenant: string, run: string, create: () => F): Promise<F | undefined> {
    const key = ownedKey(tenant, run);
    const reading = this.#readings.get(key) ?? { fold: create(), after: 0, bytes: 0, tail: Promise.resolve() };
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    const read = reading.tail.then(() => this.#readOn(tenant, run, reading));
    reading.tail = read.catch(() => {});
    const isStored = await read;
    if (!isStored) this.#readings.delete(key);
    this.#forget();
    return isStored ? reading.fold : undefined;
  }

  /** Whether anything is stored. */
  async #readOn(tenant: string, run: string, reading: Reading<F>): Promise<boolean> {
    const { types } = this.#options;
    for (;;) {
      const events = await this.#log.read(tenant, run, reading.after, PAGE);
      if (events === undefined || events.length === 0) return events !== undefined;
      for (const { seq, event, json } of events) {
        reading.after = seq;
        if (types?.has(event) === false) continue;
        reading.fold.add(JSON.parse(json) as RunEvent);
        reading.bytes += json.length;
      }
    }
  }

  #forget(): void {
    const { maxRuns, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    let bytes = 0;
    for (const reading of this.#readings.values()) bytes += reading.bytes;
    for (const [oldest, reading] of this.#readings) {
      if (this.#readings.size <= maxRuns && bytes <= maxBytes) break;
      this.#readings.delete(oldest);
      bytes -= reading.bytes;
    }
  }
}
