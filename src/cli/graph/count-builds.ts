/** Counts the builds of graphs that end, and how large their graphs are then. */
import { catchError, concat, EMPTY, ignoreElements, type MonoTypeOperatorFunction, mergeMap, of, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { BuildProgress } from '../../knowledge/graph/build/build-options.js';
import type { BuildReport } from '../../knowledge/graph/build/graph-builds.js';
import type { GraphAnswers } from '../../knowledge/graph/graph-answers.js';
import type { KnowledgeGraphs } from '../../knowledge/graph/knowledge-graphs.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { GraphMeters } from '../../telemetry/graph-meters.js';

/** Of a graph that nothing contributes to. */
const NOTHING: GraphAnswers['sizes'] = { entities: 0, relations: 0, chunks: 0, staleReports: 0 };

/**
 * Passes the reports of builds on; each build that ends is counted, and its graph is asked for its sizes. Nothing waits for that, and a graph that does not
 * tell them is left out.
 *
 * ```text
 * source    --p--p--E-----p--
 * sizes             --s|
 * result    --p--p--E-----p--
 * ```
 */
export function countBuilds(
  meters: GraphMeters,
  graphs: Pick<KnowledgeGraphs, 'ask'>,
): MonoTypeOperatorFunction<BuildReport> {
  return mergeMap((report) => {
    const { tenant, datasetId, progress } = report;
    if (progress.finishedAt === null) return of(report);
    const outcome = outcomeOf(progress);
    meters.built(outcome);
    if (outcome === 'failed') return of(report);
    const sizes$ = fromAbortable(() => graphs.ask(tenant, datasetId, { kind: 'sizes' })).pipe(
      catchError((error: unknown) => (EngineError.is(error) && error.code === 'GRAPH_MISSING' ? of(NOTHING) : EMPTY)),
      tap(({ chunks: passages, ...others }) => meters.measured({ ...others, passages })),
      ignoreElements(),
    );
    return concat(of(report), sizes$);
  });
}

function outcomeOf({ progress, missing }: BuildProgress): 'complete' | 'partial' | 'failed' {
  if (progress < 1) return 'failed';
  return missing.length === 0 ? 'complete' : 'partial';
}
