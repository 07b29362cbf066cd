import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { type RunTimeline, TimelineFold } from '../canvas/timeline.js';
import type { RunEvent } from '../graph/events.js';
import { ownedKey } from '../records/repository.js';
import type { RunLog } from '../records/run-log.js';

/** Runs whose timelines are remembered between two requests; others are read anew. */
const MAX_RUNS = 8;

const PAGE = { maxEvents: 1_000, maxBytes: 4 * 1024 * 1024 };

/** What was read of a run so far. */
interface Reading {
  readonly fold: TimelineFold;
  /** Number of the last event that was read. */
  after: number;
  isStored: boolean;
  /** Resolves when the readings so far are done: one at a time, or events would be counted twice. */
  tail: Promise<void>;
}

/** Timelines of runs, folded from their logs. What was read is remembered: clients that watch a run ask again and again. */
export class RunTimelines {
  readonly #log: RunLog;
  /** In the order of the last request. */
  readonly #readings = new Map<string, Reading>();

  constructor(log: RunLog) {
    this.#log = log;
  }

  /** The timeline of a run so far; undefined when nothing of its log is stored. `projection` knows types and names of its nodes. */
  async read(tenant: string, run: string, projection: RagflowProjection): Promise<RunTimeline | undefined> {
    const key = ownedKey(tenant, run);
    const reading = this.#readings.get(key) ?? {
      fold: new TimelineFold((node) => projection.describe(node)),
      after: 0,
      isStored: false,
      tail: Promise.resolve(),
    };
    this.#remember(key, reading);
    const read = reading.tail.then(() => this.#readOn(tenant, run, reading));
    reading.tail = read.catch(() => {});
    await read;
    if (reading.isStored) return reading.fold.timeline;
    this.#readings.delete(key);
    return undefined;
  }

  async #readOn(tenant: string, run: string, reading: Reading): Promise<void> {
    for (;;) {
      const events = await this.#log.read(tenant, run, reading.after, PAGE);
      reading.isStored = events !== undefined;
      if (events === undefined || events.length === 0) return;
      for (const { seq, json } of events) {
        reading.fold.add(JSON.parse(json) as RunEvent);
        reading.after = seq;
      }
    }
  }

  #remember(key: string, reading: Reading): void {
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    const [oldest] = this.#readings.keys();
    if (this.#readings.size > MAX_RUNS && oldest !== undefined) this.#readings.delete(oldest);
  }
}
