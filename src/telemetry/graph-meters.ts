/** Metrics of the graphs of datasets, from what is told of their builds. */
import type { MetricRegistry } from './metric-registry.js';

/** Bounds of what a graph may have of something. */
const SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** Bounds of stale reports, of which a graph has a thousand at most. */
const STALE = [0, 1, 10, 100, 1_000];

/** How large a graph is. */
export interface GraphSizes {
  readonly entities: number;
  readonly relations: number;
  readonly passages: number;
  /** Reports of a model in which something has changed since they were written. */
  readonly staleReports: number;
}

/** Counts builds of graphs. */
export interface GraphMeters {
  /** A build has ended; `partial`: something is missing. */
  built(outcome: 'complete' | 'partial' | 'failed'): void;
  /** How large the graph of a build is at its end. */
  measured(sizes: GraphSizes): void;
}

/** Counts builds into a registry. */
export function createGraphMeters(registry: MetricRegistry): GraphMeters {
  const builds = registry.counter(
    'runnel_graph_builds_total',
    'Builds of graphs that ended: complete, partial as something is missing, failed.',
    ['outcome'],
  );
  const sizes = registry.histogram(
    'runnel_graph_size',
    'Entities, relations and passages of graphs at the end of a build.',
    ['of'],
    SIZES,
  );
  const stale = registry.histogram(
    'runnel_graph_stale_reports',
    'Reports of graphs at the end of a build in which something has changed since.',
    [],
    STALE,
  );
  return {
    built: (outcome) => builds.add(1, outcome),
    measured({ entities, relations, passages, staleReports }) {
      for (const [of, size] of Object.entries({ entities, relations, passages })) sizes.observe(size, of);
      stale.observe(staleReports);
    },
  };
}
