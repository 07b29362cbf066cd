/** Metrics of the graphs of datasets, from what their builds report. */
import { catchError, concat, EMPTY, ignoreElements, type MonoTypeOperatorFunction, mergeMap, of, tap } from 'rxjs';
import { EngineError } from '../errors.js';
import type { BuildProgress } from '../knowledge/graph/build/build-options.js';
import type { BuildReport } from '../knowledge/graph/build/graph-builds.js';
import type { GraphAnswers } from '../knowledge/graph/graph-answers.js';
import type { KnowledgeGraphs } from '../knowledge/graph/knowledge-graphs.js';
import { fromAbortable } from '../operators/from-abortable.js';
import type { MetricRegistry } from './metric-registry.js';

/** Bounds of what a graph may have of something. */
const SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** Bounds of stale reports, of which a graph has a thousand at most. */
const STALE = [0, 1, 10, 100, 1_000];

/** Of a graph that nothing contributes to. */
const NOTHING: GraphAnswers['sizes'] = { entities: 0, relations: 0, chunks: 0, staleReports: 0 };

/** Counts the builds of graphs. */
export interface GraphMeters {
  /**
   * Counts each build that ends, and how large its graph is then. Nothing of the source waits for that.
   *
   * ```text
   * source    --p--p--E-----p--
   * result    --p--p--E-----p--
   * sizes              --s|        (asked at the end of a build; a graph that does not tell is not counted)
   * ```
   */
  counted(graphs: Pick<KnowledgeGraphs, 'ask'>): MonoTypeOperatorFunction<BuildReport>;
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
  const measured = ({ entities, relations, chunks: passages, staleReports }: GraphAnswers['sizes']): void => {
    for (const [of, size] of Object.entries({ entities, relations, passages })) sizes.observe(size, of);
    stale.observe(staleReports);
  };
  return {
    counted: (graphs) =>
      mergeMap((report) => {
        const { tenant, datasetId, progress } = report;
        if (progress.finishedAt === null) return of(report);
        const outcome = outcomeOf(progress);
        builds.add(1, outcome);
        if (outcome === 'failed') return of(report);
        const sizes$ = fromAbortable(() => graphs.ask(tenant, datasetId, { kind: 'sizes' })).pipe(
          catchError((error: unknown) =>
            EngineError.is(error) && error.code === 'GRAPH_MISSING' ? of(NOTHING) : EMPTY,
          ),
          tap(measured),
          ignoreElements(),
        );
        return concat(of(report), sizes$);
      }),
  };
}

function outcomeOf({ progress, missing }: BuildProgress): 'complete' | 'partial' | 'failed' {
  if (progress < 1) return 'failed';
  return missing.length === 0 ? 'complete' : 'partial';
}
