/** Reports on the communities of a graph by a model: those that are missing or stale, the largest first, within the budget. */
import { defer, EMPTY, from, mergeMap, type Observable, toArray } from 'rxjs';
import { availableChunks } from '../../knowledge/base/retrieval.js';
import { writesReports } from '../../knowledge/graph/build/build-options.js';
import { askTwice } from '../../knowledge/graph/calls/ask-twice.js';
import { type CommunityMaterial, communityReportCall } from '../../knowledge/graph/calls/community-report.js';
import type { GraphModel } from '../../knowledge/graph/calls/graph-model.js';
import type { GraphAnswers, ReportMaterial } from '../../knowledge/graph/graph-answers.js';
import { MAX_WRITTEN, REPORT_NOTE, reportNote } from '../../knowledge/graph/reports/written-report.js';
import { firstValue } from '../../operators/from-abortable.js';
import type { ChunkRecord } from '../../records/knowledge.js';
import { BuildBudget } from './build-budget.js';
import type { BuildWork } from './build-work.js';
import { graphModelOf } from './graph-model-of.js';
import { ofGraph } from './of-graph.js';

/** Communities of one look at the graph, which is loaded anew behind it, and reports that are written at once. */
export const COMMUNITIES_A_LOOK = 40;
const CONCURRENT_CALLS = 4;
/** UTF-16 units of a passage that a model is shown. */
const MAX_PASSAGE = 1_500;

/** Writes reports where the build asks for them. A report that no community has any more is deleted once all others are written. */
export async function writeReports(work: BuildWork, signal: AbortSignal): Promise<void> {
  if (!writesReports(work.request)) return;
  const { graphs, parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  const { model } = work;
  if (model === undefined || graphs === undefined) {
    work.miss('reports: no chat model is configured');
    return;
  }
  const look = (): Promise<GraphAnswers['material']> =>
    ofGraph({ material: [], of: 0, lost: [] }, () =>
      graphs.ask(tenant, datasetId, { kind: 'material', limit: COMMUNITIES_A_LOOK }),
    );
  const budget = new BuildBudget(work, model.name, 'reports: the budget was reached before all communities had one');
  const asked = graphModelOf(model);
  let found = await look();
  const { reports: before = 0 } = work.progress.done;
  await work.tell({
    of: { ...work.progress.of, reports: Math.min(before + found.of, MAX_WRITTEN) },
    message: 'writes reports on communities',
  });
  const seen = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const fresh = found.material.filter(({ community }) => !seen.has(community));
    for (const { community } of fresh) seen.add(community);
    const written$ = from(fresh).pipe(
      mergeMap((material) => writeReport(work, { material, model: asked, budget, signal }), CONCURRENT_CALLS),
      toArray(),
    );
    await firstValue(written$, signal);
    if (budget.isReached) return;
    found = await look();
    if (found.material.every(({ community }) => seen.has(community)) || seen.size >= MAX_WRITTEN) break;
  }
  await parts.store.deleteNotes(tenant, datasetId, REPORT_NOTE, found.lost);
}

interface ReportWork {
  readonly material: ReportMaterial;
  readonly model: GraphModel;
  readonly budget: BuildBudget;
  readonly signal: AbortSignal;
}

/** Writes one report and stores it; one that is of no use is stored as that, so that it is not asked for again. */
function writeReport(work: BuildWork, { material, model, budget, signal }: ReportWork): Observable<unknown> {
  const { parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  return defer(() => from(availableChunks(parts, tenant, material.chunks, signal))).pipe(
    mergeMap((chunks) => {
      const read = readMaterial(
        material,
        [...chunks.values()].map(({ chunk }) => chunk),
      );
      // All were deleted meanwhile.
      if (read.passages.length === 0 || budget.isReached) return EMPTY;
      return askTwice(model, communityReportCall(read), budget).pipe(
        mergeMap((end) => {
          if (end.state === 'no-room') return EMPTY;
          if (end.state === 'unusable') work.miss('reports: some answers could not be used');
          const report = end.state === 'answered' ? end.value : undefined;
          const sources = read.passages.map(({ id }) => id);
          return from(keep(work, datasetId, reportNote(material, sources, report)));
        }),
      );
    }),
  );
}

async function keep(work: BuildWork, datasetId: string, note: ReturnType<typeof reportNote>): Promise<void> {
  const { parts, claimed } = work.options;
  await parts.store.putNotes(claimed.tenant, datasetId, REPORT_NOTE, [note]);
  await work.tell({ done: { ...work.progress.done, reports: (work.progress.done.reports ?? 0) + 1 } });
}

/** What a model reads of a community: its material with the texts of its passages, in their order. */
export function readMaterial(
  { entities, relations, chunks }: ReportMaterial,
  found: readonly ChunkRecord[],
): CommunityMaterial {
  const byId = new Map(found.map((chunk) => [chunk.id, chunk]));
  const passages = chunks.flatMap((id) => {
    const text = byId.get(id)?.text;
    return text === undefined ? [] : [{ id, text: text.slice(0, MAX_PASSAGE) }];
  });
  return { entities, relations, passages };
}
