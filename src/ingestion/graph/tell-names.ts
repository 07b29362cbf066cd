/** Names that are perhaps one, told by a model: pairs that were not asked before, the likeliest first, within the budget. */
import { EMPTY, from, mergeMap, type Observable, toArray } from 'rxjs';
import { askTwice } from '../../knowledge/graph/calls/ask-twice.js';
import type { GraphModel } from '../../knowledge/graph/calls/graph-model.js';
import { PAIRS_A_CALL, type SaidOfPair, sameNamesCall } from '../../knowledge/graph/calls/same-names.js';
import type { KnowledgeGraphs } from '../../knowledge/graph/knowledge-graphs.js';
import {
  ASKED_NOTE,
  askedNote,
  decisionNote,
  MAX_ASKED,
  pairNoteKey,
  readAsked,
} from '../../knowledge/graph/names/asked-pairs.js';
import { firstValue } from '../../operators/from-abortable.js';
import type { GraphNote, GraphStore } from '../../records/graph-store.js';
import { BuildBudget } from './build-budget.js';
import type { BuildWork } from './build-work.js';
import { graphModelOf } from './graph-model-of.js';
import { ofGraph } from './of-graph.js';

/** Notes of one statement, and questions at once. */
const NOTES = 500;
const CONCURRENT_CALLS = 4;

/** Asks a model about names in a build with its layer. Each answer is stored before the next one is waited for. */
export async function tellNames(work: BuildWork, signal: AbortSignal): Promise<void> {
  const { graphs, parts, claimed } = work.options;
  const { model } = work;
  // Without a model the layer has said so.
  if (!work.request.layers.includes('model') || model === undefined || graphs === undefined) return;
  const { tenant, datasetId } = claimed;
  await forgetLost(work, graphs);
  const pairs = await undecidedPairs(parts.store, graphs, tenant, datasetId);
  if (pairs.length === 0) return;
  await work.tell({
    of: { ...work.progress.of, names: (work.progress.done.names ?? 0) + pairs.length },
    message: 'asks which names are one',
  });
  const budget = new BuildBudget(work, model.name, 'names: the budget was reached before all pairs were asked about');
  const asked = { model: graphModelOf(model), budget };
  const told$ = from(batchesOf(pairs)).pipe(
    mergeMap((batch) => askBatch(work, batch, asked), CONCURRENT_CALLS),
    toArray(),
  );
  await firstValue(told$, signal);
}

/** Pairs of a dataset that a model is still to be asked about, with what is said of them; those that a user gave are none. */
export async function undecidedPairs(
  store: GraphStore,
  graphs: Pick<KnowledgeGraphs, 'ask'>,
  tenant: string,
  datasetId: string,
): Promise<readonly SaidOfPair[]> {
  const asked = await askedPairs(store, tenant, datasetId);
  return ofGraph([], async () => {
    const { maybe } = await graphs.ask(tenant, datasetId, { kind: 'merges', limit: MAX_ASKED });
    const open = maybe
      .filter(({ names }) => !asked.has(pairNoteKey(names)))
      .sort((a, b) => b.score - a.score || (a.names.join('\0') < b.names.join('\0') ? -1 : 1))
      .slice(0, Math.max(0, MAX_ASKED - asked.size));
    const names = open.flatMap((pair) => pair.names);
    const { said } = await graphs.ask(tenant, datasetId, { kind: 'said', names });
    return open.flatMap((_, at): SaidOfPair[] => {
      const [left, right] = [said[2 * at] ?? null, said[2 * at + 1] ?? null];
      return left === null || right === null || (left.isGiven && right.isGiven) ? [] : [[left, right]];
    });
  });
}

/** Pairs as one question each. */
export function batchesOf(pairs: readonly SaidOfPair[]): (readonly SaidOfPair[])[] {
  const count = Math.ceil(pairs.length / PAIRS_A_CALL);
  return Array.from({ length: count }, (_, at) => pairs.slice(at * PAIRS_A_CALL, (at + 1) * PAIRS_A_CALL));
}

/** Deletes what was decided about names that no text has any more. */
async function forgetLost(work: BuildWork, graphs: Pick<KnowledgeGraphs, 'ask'>): Promise<void> {
  const { parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  const asked = [...(await askedPairs(parts.store, tenant, datasetId))];
  if (asked.length === 0) return;
  const names = asked.flatMap(([, pair]) => pair);
  const ask = () => graphs.ask(tenant, datasetId, { kind: 'said', names });
  const { said } = await ofGraph({ said: [] }, ask);
  const lost = asked.flatMap(([key], at) => (said[2 * at] && said[2 * at + 1] ? [] : [key]));
  if (lost.length === 0) return;
  for (const kind of ['decision', ASKED_NOTE]) await parts.store.deleteNotes(tenant, datasetId, kind, lost);
}

type AskedPairs = ReadonlyMap<string, readonly [string, string]>;

async function askedPairs(store: GraphStore, tenant: string, datasetId: string): Promise<AskedPairs> {
  const asked = new Map<string, readonly [string, string]>();
  let after: string | undefined;
  for (;;) {
    const notes = await store.listNotes(tenant, datasetId, ASKED_NOTE, after, NOTES);
    for (const note of notes) asked.set(note.key, readAsked(note) ?? ['', '']);
    after = notes.at(-1)?.key;
    if (notes.length < NOTES) return asked;
  }
}

function askBatch(
  work: BuildWork,
  batch: readonly SaidOfPair[],
  { model, budget }: { readonly model: GraphModel; readonly budget: BuildBudget },
): Observable<unknown> {
  return askTwice(model, sameNamesCall(batch), budget).pipe(
    mergeMap((end) => {
      if (end.state === 'no-room') return EMPTY;
      if (end.state === 'unusable') work.miss('names: some answers could not be used');
      return from(keep(work, batch, end.state === 'answered' ? end.value : undefined));
    }),
  );
}

/** Stores what a model decided; a question without an answer of use is stored as asked alone. */
async function keep(work: BuildWork, batch: readonly SaidOfPair[], same: readonly boolean[] | undefined) {
  const { parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  const names = batch.map(([left, right]): readonly [string, string] => [left.name, right.name]);
  if (same !== undefined) {
    const notes = names.map((pair, at): GraphNote => decisionNote(pair, same[at] === true ? 'same' : 'apart'));
    await parts.store.putNotes(tenant, datasetId, 'decision', notes);
  }
  await parts.store.putNotes(tenant, datasetId, ASKED_NOTE, names.map(askedNote));
  await work.tell({ done: { ...work.progress.done, names: (work.progress.done.names ?? 0) + batch.length } });
}
