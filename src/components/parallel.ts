import { catchError, concat, defer, EMPTY, map, mergeMap, type Observable, of, range, takeWhile } from 'rxjs';
import { z } from 'zod';
import { readReference } from '../dsl/resolve.js';
import type { Activation, BodyEnd } from '../graph/node.js';
import { interrupt, type NodeEvent, type Outputs, type Progress, type Settled, settled } from '../graph/node-events.js';
import { addTo } from '../group-by.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { nodeParams, withDefault } from './base-params.js';
import {
  aliasesOf,
  type CollectedOutput,
  collect,
  collectedParam,
  concurrencyParam,
  type ItemsReference,
  itemsParam,
  readItems,
  type Step,
  walk,
} from './bodies.js';
import { defineComponent } from './component.js';

const params = nodeParams({
  items_ref: itemsParam,
  outputs: collectedParam,
  max_concurrency: concurrencyParam,
  on_item_error: withDefault(z.enum(['fail', 'null', 'skip']), 'fail').describe(
    'When a round fails: "fail" the node, collect "null", or "skip" the item. Default "fail".',
  ),
});

/** Output that holds the ended rounds while the node is running. */
const ENDED = '_ended';

/** How items are worked on. */
export interface SideBySideOptions {
  readonly outputs: readonly CollectedOutput[];
  /** Rounds that run at the same time; below 2 they run one after the other. */
  readonly concurrency: number;
  readonly onItemError: 'fail' | 'null' | 'skip';
}

/**
 * Runs its body for the items of a list side by side, each round on values of its own, and collects outputs into lists.
 *
 * Lists keep the order of the items, whichever round ends first. Writes of a round are discarded, except the collected outputs.
 * A list that is null counts as empty. When rounds wait for answers, the others still end, and their results are stored.
 *
 * Errors: NODE_FAILED when `items_ref` does not give a list; those of a round, with `on_item_error: "fail"`.
 */
export const parallel = defineComponent<z.infer<typeof params>>({
  type: 'Parallel',
  summary: 'Runs its body for the items of a list side by side.',
  group: 'flow',
  params,
  outputs: {
    _result: { type: 'array', description: 'For each item {item, index} and what was collected, by node of the body.' },
  },
  isContainer: true,
  timeoutSeconds: null,
  check: (_params, { body }) => (body.length === 0 ? ['a Parallel needs nodes in its body'] : []),
  create({ items_ref, outputs, max_concurrency, on_item_error }) {
    const options = { outputs, concurrency: max_concurrency, onItemError: on_item_error };
    return (activation) => runSideBySide(activation, () => itemsOrNone(activation, items_ref), options);
  },
});

/** A round that has ended: `values` by name of the output, null when it failed. */
interface Finished extends JsonObject {
  readonly index: number;
  readonly values: JsonObject | null;
}

/** What the lanes of one activation share. */
type Work = ReturnType<typeof openWork>;

/**
 * As many lanes as rounds may run at once; a lane starts the next item when its round has ended.
 *
 * ```text
 * lane 1     0-------2--|
 * lane 2     1---3---|
 * result    ipp--p---p--(ps|)    (i: the items, p: the round that ended, s: settled)
 * ```
 *
 * The list is read once: a resumed run continues with the items that it started with.
 */
export function runSideBySide(
  activation: Activation,
  readList: () => readonly Json[],
  options: SideBySideOptions,
): Observable<NodeEvent> {
  const work = openWork(activation, readList, options);
  const lanes = Math.min(Math.max(1, options.concurrency), work.pending.length);
  return concat(
    opening(work),
    range(0, lanes).pipe(
      mergeMap(() => walk(nextStep(work))),
      takeWhile(() => !work.isLeft),
    ),
    defer(() => of(conclude(work))),
  );
}

function itemsOrNone(activation: Activation, items: ItemsReference): readonly Json[] {
  const lookup = items.reference === undefined ? undefined : readReference(items.reference, activation.source);
  const isNull = lookup?.status === 'unset' || (lookup?.status === 'found' && lookup.value === null);
  return isNull ? [] : readItems(activation, items);
}

function openWork(activation: Activation, readList: () => readonly Json[], options: SideBySideOptions) {
  const { nodeState, outputs } = activation;
  const stored = isJsonObject(nodeState) && Array.isArray(nodeState.items) ? nodeState : undefined;
  const isResumed = stored !== undefined;
  const items = isResumed ? (stored.items as readonly Json[]) : readList();
  const ended = isResumed ? outputs[ENDED] : undefined;
  // In the order in which rounds ended; only grows.
  const finished = Array.isArray(ended) ? [...(ended as readonly Finished[])] : [];
  const done = new Set(finished.map(({ index }) => index));
  const pending = [...items.keys()].filter((index) => !done.has(index));
  // `taken`: how many of the indexes that are left to do.
  const standing = { taken: 0, isWaiting: false, isLeft: false };
  return { activation, options, items, isResumed, finished, pending, ...standing };
}

/** What a first activation stores; it empties the list of ended rounds, which an interrupted activation may have left. */
function opening({ activation, items, isResumed }: Work): Observable<NodeEvent> {
  if (isResumed) return EMPTY;
  return of<NodeEvent>({ type: 'progress', nodeState: { items }, outputs: { ...activation.outputs, [ENDED]: [] } });
}

function nextStep(work: Work, more: Pick<Progress, 'append'> = {}): Step {
  const event: NodeEvent = { type: 'progress', ...more };
  const index = work.pending[work.taken];
  if (index === undefined) return { event };
  work.taken += 1;
  return { event, follow: () => round(work, index) };
}

function round(work: Work, index: number): Observable<Step> {
  const { activation, options, items } = work;
  const aliases = aliasesOf(index, items[index] ?? null);
  const ended$ = activation.runBody({ key: String(index), aliases, isolated: true });
  const handled$ = options.onItemError === 'fail' ? ended$ : ended$.pipe(catchError(() => of(undefined)));
  return handled$.pipe(
    map((end) => {
      const finished = note(work, index, end);
      return nextStep(work, finished === undefined ? {} : { append: { [ENDED]: finished } });
    }),
  );
}

/** Records how a round ended (undefined: it failed); returns what a resumed run needs of it. */
function note(work: Work, index: number, end: BodyEnd | undefined): Finished | undefined {
  if (end?.status === 'interrupted') work.isWaiting = true;
  else if (end?.status === 'exited') work.isLeft = true;
  else {
    const finished = { index, values: end === undefined ? null : valuesOf(work.options.outputs, end) };
    work.finished.push(finished);
    return finished;
  }
  return undefined;
}

function valuesOf(outputs: readonly CollectedOutput[], { source }: BodyEnd): JsonObject {
  return Object.fromEntries(outputs.map((output) => [output.name, collect(output, source)]));
}

function conclude(work: Work): NodeEvent {
  if (work.isLeft) return settle(work, { exit: true });
  return work.isWaiting ? interrupt() : settle(work, {});
}

function settle({ items, finished, options }: Work, how: { readonly exit?: boolean }): Settled {
  const { outputs, onItemError } = options;
  const rounds: (Finished | undefined)[] = new Array(items.length).fill(undefined);
  for (const ended of finished) rounds[ended.index] = ended;
  const shown = onItemError === 'skip' ? rounds.filter((ended) => ended?.values !== null) : rounds;
  const lists: [string, Json][] = outputs.map(({ name }) => [
    name,
    shown.map((ended) => ended?.values?.[name] ?? null),
  ]);
  const results = shown.map((ended) =>
    ended == null || ended.values === null ? null : resultOf(ended, items, outputs),
  );
  return settled({ _result: results, ...Object.fromEntries(lists) } satisfies Outputs, how);
}

/** One entry of `_result`: the item, and what was collected from each node of the body. */
function resultOf(
  { index, values }: Finished,
  items: readonly Json[],
  outputs: readonly CollectedOutput[],
): JsonObject {
  const buckets = new Map<string, [string, Json][]>();
  for (const { name, reference } of outputs) {
    if (reference.kind !== 'output') continue;
    addTo(buckets, reference.component, [[reference.name, ...reference.path].join('.'), values?.[name] ?? null]);
  }
  const byNode = [...buckets].map(([node, bucket]): [string, Json] => [node, Object.fromEntries(bucket)]);
  return { ...Object.fromEntries(byNode), item: items[index] ?? null, index };
}
