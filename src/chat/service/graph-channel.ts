/** Stage 6: what the graphs of datasets lead to, behind what was found by words. */
import { catchError, concatMap, defer, map, type Observable, of, tap, throwError } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { GraphSearchKind } from '../../knowledge/graph/graph-search.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { type QuestionShape, shapeOf } from '../intents/question-shape.js';
import type { Evidence } from '../pipeline/chat-events.js';
import type { EvidenceChannel, FoundEvidence } from '../stages/gather-evidence.js';
import { COLD_LIMIT_MS, graphEvidence, type KnowledgeSource } from './knowledge-channels.js';

/** Name of the channel. */
export const GRAPH_CHANNEL = 'graph';

/** Passages that a graph adds. */
const MAX_PASSAGES = 6;
/** Places of the list by words that a graph does not change. */
const FIXED_PLACES = 2;
/** Share of the passages by words that were found by links alone, from which on documents hang together so much that a graph is asked. */
const LEAST_GAIN = 0.5;

/** Which search of a graph fits a question; undefined where words are enough. */
const SEARCHES: Readonly<Record<QuestionShape, GraphSearchKind | undefined>> = {
  simple: undefined,
  compound: 'rank',
  comparative: 'rank',
  'multi-hop': 'rank',
  relational: 'path',
};

/** What the channel is made of. */
export interface GraphChannelOptions extends KnowledgeSource {
  readonly question: string;
  /** What was found by words and links. */
  readonly found$: Observable<readonly FoundEvidence[]>;
  /** Called when a graph is asked. */
  readonly asked: () => void;
}

/**
 * Asks the graphs where the shape of the question calls for it, or where links alone found half of the passages. Datasets without a graph are not asked, and neither
 * are graphs of a chat that searches by conditions on metadata. Undefined where there are no graphs.
 */
export function graphChannel(options: GraphChannelOptions): EvidenceChannel | undefined {
  const { knowledge, settings, question, found$, asked } = options;
  const { graphSearch, withGraph } = knowledge;
  const hasConditions = settings.filter !== undefined && Object.keys(settings.filter).length > 0;
  if (graphSearch === undefined || withGraph === undefined || hasConditions) return undefined;
  const kind = SEARCHES[shapeOf(question)];
  const search = (wanted: GraphSearchKind, datasetIds: readonly string[]): Observable<readonly FoundEvidence[]> =>
    fromAbortable((signal) =>
      graphSearch.call(knowledge, { kind: wanted, question, datasetIds, limit: MAX_PASSAGES }, signal),
    ).pipe(
      map(({ hits }) => hits.map((hit) => graphEvidence(hit, question))),
      catchError((error: unknown) => (hasNoAnswer(error) ? of([]) : throwError(() => error))),
    );
  const ask = (wanted: GraphSearchKind): Observable<readonly FoundEvidence[]> =>
    fromAbortable((signal) => withGraph.call(knowledge, settings.datasetIds, signal)).pipe(
      tap({ error: asked }),
      concatMap((ids) => {
        if (ids.length === 0) return of([]);
        asked();
        return search(wanted, ids).pipe(
          // The question names no two entities that a way leads between.
          concatMap((found) => (found.length === 0 && wanted === 'path' ? search('local', ids) : of(found))),
        );
      }),
    );
  return {
    name: GRAPH_CHANNEL,
    ...(knowledge.isCold === true && { limitMs: COLD_LIMIT_MS }),
    find$: defer(() =>
      kind !== undefined
        ? ask(kind)
        : found$.pipe(concatMap((found) => (gainOf(found) >= LEAST_GAIN ? ask('rank') : of([])))),
    ),
  };
}

/** Share of passages that only a link led to. */
function gainOf(found: readonly FoundEvidence[]): number {
  return found.length === 0 ? 0 : found.filter(({ type }) => type === 'graph').length / found.length;
}

/** No graph was built, or the question names no two ends of a path. */
function hasNoAnswer(error: unknown): boolean {
  return EngineError.is(error) && (error.code === 'GRAPH_MISSING' || error.code === 'BAD_REQUEST');
}

/**
 * Puts what a graph led to between what was found by words, behind the second, and numbers all anew. Passages that words found, too, stay where those are, and
 * are told why the graph led there.
 */
export function graphBehindSecond(evidence: readonly Evidence[]): readonly Evidence[] {
  const led = evidence.filter(({ why }) => why !== undefined);
  if (led.length === 0) return evidence;
  const reasons = new Map(led.map(({ id, why }) => [id, why]));
  const known = new Set<string>();
  const own = evidence.flatMap((one): Evidence[] => {
    if (one.why !== undefined) return [];
    const ids = [one.id, ...(one.chunk_ids ?? [])];
    for (const id of ids) known.add(id);
    const why = ids.map((id) => reasons.get(id)).find((reason) => reason !== undefined);
    return [why === undefined ? one : { ...one, why }];
  });
  const added = led.filter(({ id }) => !known.has(id));
  const inOrder = own.slice(0, FIXED_PLACES);
  const rest = own.slice(FIXED_PLACES);
  for (let at = 0; at < Math.max(rest.length, added.length); at += 1) {
    for (const one of [added[at], rest[at]]) if (one !== undefined) inOrder.push(one);
  }
  return inOrder.map((one, at) => ({ ...one, n: at + 1 }));
}
