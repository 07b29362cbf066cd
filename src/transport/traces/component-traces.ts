import type { RagflowProjection } from '../../canvas/ragflow-events.js';
import type { RunEvent } from '../../graph/events.js';
import { groupBy } from '../../group-by.js';
import { LogFolds } from '../../hosting/log-folds.js';
import type { JsonObject } from '../../json.js';
import type { RunLog } from '../../records/run-log.js';

/** What one component did, in order: its calls of tools, and its ends as RAGFlow's events describe them. */
export interface ComponentTrace {
  readonly component_id: string;
  readonly trace: readonly JsonObject[];
}

/** Entries of a trace; older ones are forgotten. */
const MAX_ENTRIES = 1_000;

/** Types of the events that make entries. */
const TYPES: ReadonlySet<string> = new Set<RunEvent['type']>(['node-notice', 'node-settled', 'node-failed']);

/** What the components of a run did so far, folded from its events. */
export class ComponentTraces {
  readonly #projection: RagflowProjection;
  #entries: JsonObject[] = [];

  constructor(projection: RagflowProjection) {
    this.#projection = projection;
  }

  /** By component, in the order of their first entries. */
  get list(): readonly ComponentTrace[] {
    const traces = groupBy(this.#entries.slice(-MAX_ENTRIES), (entry) => String(entry.component_id ?? ''));
    return [...traces].map(([component_id, trace]) => ({ component_id, trace }));
  }

  add(event: RunEvent): void {
    const entry = this.#entryOf(event);
    if (entry !== undefined) this.#entries.push(entry);
    // Rarely, so that an entry costs nothing beyond itself.
    if (this.#entries.length >= 2 * MAX_ENTRIES) this.#entries = this.#entries.slice(-MAX_ENTRIES);
  }

  /** What a tool did for a node, under the id of the node, as RAGFlow's clients read it; or what the node did. */
  #entryOf(event: RunEvent): JsonObject | undefined {
    if (event.type !== 'node-notice') return this.#projection.project(event)?.data;
    return event.name === 'tool-called' ? { ...event.data, component_id: event.node } : undefined;
  }
}

/** The traces of runs, remembered between requests: of 100 runs and 64 MiB of events at most. */
export function openTraces(log: RunLog): LogFolds<ComponentTraces> {
  return new LogFolds(log, { maxRuns: 100, maxBytes: 64 * 1024 * 1024, types: TYPES });
}
