import type { RagflowProjection } from '../../canvas/ragflow-events.js';
import type { RunEvent } from '../../graph/events.js';
import { groupBy } from '../../group-by.js';
import type { JsonObject } from '../../json.js';
import { ownedKey } from '../../records/repository.js';
import type { LoggedEvent, RunLog } from '../../records/run-log.js';

/** What one component did, in order: its calls of tools, and its ends as RAGFlow's events tell them. */
export interface ComponentTrace {
  readonly component_id: string;
  readonly trace: readonly JsonObject[];
}

/** Entries of a trace; older ones are forgotten. */
const MAX_ENTRIES = 1_000;

/** Runs whose traces are remembered between two requests; others are read anew. */
const MAX_RUNS = 100;

/** Bytes of events behind all traces that are remembered; a trace that has more is read anew each time. */
const MAX_BYTES = 64 * 1024 * 1024;

/** How long a trace is remembered after it was read last. */
const KEPT_MS = 600_000;

/** Types of the events that make entries. */
const TYPES: ReadonlySet<string> = new Set<RunEvent['type']>(['node-notice', 'node-settled', 'node-failed']);

const PAGE = { maxEvents: 1_000, maxBytes: 4 * 1024 * 1024 };

interface Progress {
  /** Number of the last event that was read. */
  after: number;
  entries: readonly JsonObject[];
  /** Of the events that the entries were read from. */
  bytes: number;
  readAt: number;
}

/**
 * Traces of runs, folded from their event logs: whatever a log knows needs no second record.
 *
 * Clients ask again every few seconds while a run goes on, so what was read is remembered and only what is new is read.
 */
export class TraceReader {
  readonly #log: RunLog;
  readonly #now: () => number;
  /** In the order in which they were read last. */
  readonly #known = new Map<string, Progress>();

  constructor(log: RunLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** What the components of a run did so far; undefined when nothing of it is kept. */
  async read(
    tenant: string,
    run: string,
    projection: RagflowProjection,
  ): Promise<readonly ComponentTrace[] | undefined> {
    const key = ownedKey(tenant, run);
    const known = this.#recall(key);
    // A copy: two requests at once must not add the same events twice.
    const progress: Progress = { after: 0, entries: [], bytes: 0, ...known, readAt: this.#now() };
    for (;;) {
      const events = await this.#log.read(tenant, run, progress.after, PAGE);
      if (events === undefined) return undefined;
      const last = events.at(-1);
      if (last === undefined) break;
      progress.after = last.seq;
      const telling = events.filter(({ event }) => TYPES.has(event));
      progress.bytes += telling.reduce((sum, { json }) => sum + json.length, 0);
      const entries = telling.flatMap((event) => entryOf(event, projection));
      progress.entries = [...progress.entries, ...entries].slice(-MAX_ENTRIES);
    }
    this.#remember(key, progress);
    return grouped(progress.entries);
  }

  #recall(key: string): Progress | undefined {
    const known = this.#known.get(key);
    return known !== undefined && known.readAt + KEPT_MS > this.#now() ? known : undefined;
  }

  #remember(key: string, progress: Progress): void {
    this.#known.delete(key);
    this.#known.set(key, progress);
    let bytes = 0;
    for (const one of this.#known.values()) bytes += one.bytes;
    for (const [oldest, one] of this.#known) {
      if (this.#known.size <= MAX_RUNS && bytes <= MAX_BYTES) break;
      this.#known.delete(oldest);
      bytes -= one.bytes;
    }
  }
}

/** What a tool did for a node, under the id of the node, as RAGFlow's clients read it; or what the node did. */
function entryOf({ json }: LoggedEvent, projection: RagflowProjection): readonly JsonObject[] {
  const event = JSON.parse(json) as RunEvent;
  if (event.type === 'node-notice') {
    return event.name === 'tool-called' ? [{ ...event.data, component_id: event.node }] : [];
  }
  const data = projection.project(event)?.data;
  return data === undefined ? [] : [{ ...data }];
}

/** By component, in the order of their first entries. */
function grouped(entries: readonly JsonObject[]): ComponentTrace[] {
  const traces = groupBy(entries, (entry) => String(entry.component_id ?? ''));
  return [...traces].map(([component_id, trace]) => ({ component_id, trace }));
}
