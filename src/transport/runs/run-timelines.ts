import { type RunTimeline, TimelineFold } from '../../canvas/run-timeline.js';
import type { WireEvent } from '../../canvas/wire-event.js';
import type { LoggedEvent, RunLog } from '../../graph/service-ports.js';
import { isJsonObject } from '../../json.js';

/** Runs whose timelines are remembered between two requests; others are read anew. */
const MAX_RUNS = 8;

const PAGE = { maxEvents: 1_000, maxBytes: 4 * 1024 * 1024 };

/** What was read of a run so far. */
interface Reading {
  readonly fold: TimelineFold;
  /** Number of the last event that was read. */
  after: number;
  isKept: boolean;
  /** Resolves when the readings that were asked for are done: one at a time, or events would be counted twice. */
  tail: Promise<void>;
}

/** Timelines of runs, folded from their logs. What was read is remembered: who watches a run asks again and again. */
export class RunTimelines {
  readonly #log: RunLog;
  /** In the order in which they were asked for last. */
  readonly #readings = new Map<string, Reading>();

  constructor(log: RunLog) {
    this.#log = log;
  }

  /** The timeline of a run so far; undefined when nothing of its log is kept. */
  async read(tenant: string, run: string): Promise<RunTimeline | undefined> {
    const key = `${tenant.length}:${tenant}${run}`;
    const reading = this.#readings.get(key) ?? {
      fold: new TimelineFold(),
      after: 0,
      isKept: false,
      tail: Promise.resolve(),
    };
    this.#remember(key, reading);
    const read = reading.tail.then(() => this.#readOn(tenant, run, reading));
    reading.tail = read.catch(() => {});
    await read;
    if (reading.isKept) return reading.fold.timeline;
    this.#readings.delete(key);
    return undefined;
  }

  async #readOn(tenant: string, run: string, reading: Reading): Promise<void> {
    for (;;) {
      const events = await this.#log.read(tenant, run, reading.after, PAGE);
      reading.isKept = events !== undefined;
      if (events === undefined || events.length === 0) return;
      for (const event of events) {
        reading.fold.add({ ...wireOf(event), seq: event.seq });
        reading.after = event.seq;
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

/** A failure has no envelope in the log. */
function wireOf({ event, json }: LoggedEvent): WireEvent {
  const value = JSON.parse(json) as WireEvent & { readonly error?: unknown; readonly message?: unknown };
  if (event !== 'error' || isJsonObject(value.data)) return value;
  const data = { code: String(value.error ?? 'INTERNAL'), message: String(value.message ?? '') };
  return { ...value, event: 'error', created_at: 0, data };
}
