import { type RunTimeline, TimelineFold } from '../canvas/timeline.js';
import type { WorkingNode } from '../canvas/wire-calls.js';
import type { WireEvent } from '../canvas/ragflow-events.js';
import { isJsonObject, type Json } from '../json.js';
import type { LoggedEvent, RunLog } from '../records/stores.js';

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

  /**
   * The timeline of a run so far; undefined when nothing of its log is kept. The log tells what a node called when the node is
   * done: `working` is what nodes of this process called that are not.
   */
  async read(tenant: string, run: string, working: readonly WorkingNode[] = []): Promise<RunTimeline | undefined> {
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
    if (reading.isKept) return withCalls(reading.fold.timeline, working);
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

/** Activations that are still open, with what they called so far. */
function withCalls(timeline: RunTimeline, working: readonly WorkingNode[]): RunTimeline {
  if (working.length === 0) return timeline;
  const callsOf = new Map(working.map(({ token, calls }) => [token, calls]));
  const activations = timeline.activations.map((one) => {
    const calls = one.status === 'open' && one.token !== undefined ? callsOf.get(one.token) : undefined;
    return calls === undefined ? one : { ...one, calls };
  });
  return { ...timeline, activations };
}

/** What a failure has in the log, where it has no envelope. */
interface Failure {
  readonly error?: unknown;
  readonly message?: unknown;
  readonly calls?: Json;
}

function wireOf({ event, json }: LoggedEvent): WireEvent {
  const value = JSON.parse(json) as WireEvent & Failure;
  if (event !== 'error' || isJsonObject(value.data)) return value;
  const { calls } = value;
  const data = {
    code: String(value.error ?? 'INTERNAL'),
    message: String(value.message ?? ''),
    ...(calls !== undefined && { calls }),
  };
  return { ...value, event: 'error', created_at: 0, data };
}
