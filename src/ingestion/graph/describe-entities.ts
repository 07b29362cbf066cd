/** One description of each entity that the layer of a model describes in many ways: those that are missing or stale, within the budget. */
import { EMPTY, from, mergeMap, type Observable, toArray } from 'rxjs';
import {
  DESCRIPTION_NOTE,
  descriptionNote,
  MAX_DESCRIBED,
} from '../../knowledge/graph/by-model/written-description.js';
import { askTwice } from '../../knowledge/graph/calls/ask-twice.js';
import type { GraphModel } from '../../knowledge/graph/calls/graph-model.js';
import { summariseCall } from '../../knowledge/graph/calls/summarise.js';
import type { DescribedMaterial, GraphAnswers } from '../../knowledge/graph/graph-answers.js';
import { firstValue } from '../../operators/from-abortable.js';
import { BuildBudget } from './build-budget.js';
import type { BuildWork } from './build-work.js';
import { graphModelOf } from './graph-model-of.js';
import { ofGraph } from './of-graph.js';

/** Entities of one look at the graph, which is loaded anew behind it, and descriptions that are written at once. */
const ENTITIES_A_LOOK = 100;
const CONCURRENT_CALLS = 4;

/** Writes descriptions in a build with the layer of a model. One of which no entity has use any more is deleted once all others are written. */
export async function describeEntities(work: BuildWork, signal: AbortSignal): Promise<void> {
  const { graphs, parts, claimed } = work.options;
  const { model } = work;
  // Without a model the layer has said so.
  if (!work.request.layers.includes('model') || model === undefined || graphs === undefined) return;
  const { tenant, datasetId } = claimed;
  const look = (): Promise<GraphAnswers['undescribed']> =>
    ofGraph({ material: [], of: 0, lost: [] }, () =>
      graphs.ask(tenant, datasetId, { kind: 'undescribed', limit: ENTITIES_A_LOOK }),
    );
  let found = await look();
  if (found.of > 0) {
    const { descriptions: before = 0 } = work.progress.done;
    await work.tell({
      of: { ...work.progress.of, descriptions: Math.min(before + found.of, MAX_DESCRIBED) },
      message: 'describes entities',
    });
  }
  const missing = 'descriptions: the budget was reached before all entities had one';
  const asked = { model: graphModelOf(model), budget: new BuildBudget(work, model.name, missing) };
  const seen = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const fresh = found.material.filter(({ entity }) => !seen.has(entity)).slice(0, MAX_DESCRIBED - seen.size);
    if (fresh.length === 0) break;
    for (const { entity } of fresh) seen.add(entity);
    const written$ = from(fresh).pipe(
      mergeMap((material) => describeEntity(work, material, asked), CONCURRENT_CALLS),
      toArray(),
    );
    await firstValue(written$, signal);
    if (asked.budget.isReached) return;
    found = await look();
  }
  if (found.lost.length > 0) await parts.store.deleteNotes(tenant, datasetId, DESCRIPTION_NOTE, found.lost);
}

/** Writes one description and stores it; one that is of no use is stored as that, so that it is not asked for again. */
function describeEntity(
  work: BuildWork,
  material: DescribedMaterial,
  { model, budget }: { readonly model: GraphModel; readonly budget: BuildBudget },
): Observable<unknown> {
  return askTwice(model, summariseCall(material), budget).pipe(
    mergeMap((end) => {
      if (end.state === 'no-room') return EMPTY;
      if (end.state === 'unusable') work.miss('descriptions: some answers could not be used');
      return from(keep(work, descriptionNote(material, end.state === 'answered' ? end.value : undefined)));
    }),
  );
}

async function keep(work: BuildWork, note: ReturnType<typeof descriptionNote>): Promise<void> {
  const { parts, claimed } = work.options;
  await parts.store.putNotes(claimed.tenant, claimed.datasetId, DESCRIPTION_NOTE, [note]);
  const { descriptions = 0 } = work.progress.done;
  await work.tell({ done: { ...work.progress.done, descriptions: descriptions + 1 } });
}
