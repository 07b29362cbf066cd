/** Where a research searches: the datasets of its tenant, and the web by the tools that are set up. */
import { catchError, concatMap, defer, filter, map, type Observable, of, tap, throwError } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import type { GraphSearchKind } from '../../knowledge/graph/graph-search.js';
import type { FoundByGraphs, GraphsQuery, KnowledgeSearch } from '../../knowledge/knowledge-search.js';
import { mostFitting, wordsOf, wordsOnPages } from '../../knowledge/words/words-on-pages.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { type ChunkRecord, type DocumentRecord, pagesOf } from '../../records/knowledge.js';
import type { ToolResult } from '../../tools/tool.js';
import { keyOf } from '../calls/ask-call.js';
import type { Budget } from '../calls/budget.js';
import type { Journal } from '../calls/journal.js';
import type { ResearchPlace } from '../deep/deep-ports.js';
import type { FoundEvidence } from '../evidence/evidence-table.js';
import { webPagesOf } from './tool-evidence.js';

type GraphSearch = NonNullable<KnowledgeSearch['graphSearch']>;

/** What is found below it is chance. */
const SIMILARITY_THRESHOLD = 0.05;
/** Tokens of all texts that a graph gives for one question; the number of passages is what bounds it. */
const GRAPH_TOKENS = 100_000;

/** The datasets of a tenant. @param datasetIds undefined: all */
export function datasetPlace(knowledge: KnowledgeSearch, datasetIds: readonly string[] | undefined): ResearchPlace {
  const how = { datasetIds, similarityThreshold: SIMILARITY_THRESHOLD };
  return {
    where: 'kb',
    find: (question, most) =>
      fromAbortable((signal) => knowledge.search({ question, ...how, pageSize: most }, signal)).pipe(
        map(({ hits }) =>
          hits.map(
            ({ chunk, document, similarity }): FoundEvidence => ({
              ...passageOf(chunk, document, similarity, question),
              where: 'kb',
            }),
          ),
        ),
      ),
  };
}

/** What a search of graphs may ask. */
export interface GraphAsking {
  /** Id of the model; the empty one is the default. */
  readonly model: string;
  /** What it takes is of this. */
  readonly budget: Budget;
  /** Told what each call took. @default none is told */
  readonly onCall?: GraphsQuery['onCall'];
}

/**
 * The graphs of the datasets of a tenant; without any it finds nothing.
 *
 * @param datasetIds undefined: all
 * @param asking what `global` and `drift` ask a model with; undefined, and where the budget has no room: they go by rules
 */
export function graphPlace(
  search: GraphSearch,
  datasetIds: readonly string[] | undefined,
  kind: GraphSearchKind,
  asking?: GraphAsking,
): ResearchPlace {
  return {
    where: 'graph',
    find: (question, most) =>
      foundInGraphs(search, { kind, question, datasetIds, limit: most, maxTokens: GRAPH_TOKENS }, asking).pipe(
        map(({ hits }) =>
          hits.map(
            ({ chunk, document, score, why }): FoundEvidence => ({
              ...passageOf(chunk, document, score, question),
              where: 'graph',
              why,
            }),
          ),
        ),
        catchError((error: unknown) => (hasNoAnswer(error, kind) ? of([]) : throwError(() => error))),
      ),
  };
}

/** Searches with a model where there is one and room for it. */
function foundInGraphs(
  search: GraphSearch,
  query: GraphsQuery,
  asking: GraphAsking | undefined,
): Observable<FoundByGraphs> {
  const byRules$ = fromAbortable((signal) => search(query, signal));
  if (asking === undefined || (query.kind !== 'global' && query.kind !== 'drift')) return byRules$;
  const { model, budget, onCall } = asking;
  return budget.holdRoom().pipe(
    concatMap((room) => {
      if (room === undefined) return byRules$;
      const { calls, tokens } = room;
      return fromAbortable((signal) => search({ ...query, model, onCall, budget: { calls, tokens } }, signal)).pipe(
        tap(({ spent }) => room.settle(spent)),
        catchError((error: unknown) => {
          // Refused before a model was asked; of others it is not known what they took.
          if (EngineError.is(error) && REFUSALS.has(error.code)) room.settle({ calls: 0, tokens: 0 });
          return EngineError.is(error) && error.code === 'MODEL_UNKNOWN' ? byRules$ : throwError(() => error);
        }),
      );
    }),
  );
}

const REFUSALS: ReadonlySet<string> = new Set(['GRAPH_MISSING', 'NOT_FOUND', 'MODEL_UNKNOWN']);

/** No graph was built, or the question names no two ends of a path: neither is a fault of the place. */
function hasNoAnswer(error: unknown, kind: GraphSearchKind): boolean {
  if (!EngineError.is(error)) return false;
  return error.code === 'GRAPH_MISSING' || (kind === 'path' && error.code === 'BAD_REQUEST');
}

/** Of several pages the one that fits the question best is named. */
function passageOf(
  chunk: ChunkRecord,
  document: DocumentRecord,
  score: number,
  question: string,
): Omit<FoundEvidence, 'where'> {
  const { start, pageStarts = [] } = chunk;
  const starts = start === null ? [] : pageStarts.map(([page, at]) => [page, at - start] as const);
  const page = mostFitting(wordsOf(question), wordsOnPages(chunk.text, starts)) ?? pagesOf(chunk)[0];
  const { url, date } = document.metadata;
  return {
    id: chunk.id,
    source: document.name,
    text: chunk.text,
    score,
    document_id: document.id,
    dataset_id: chunk.datasetId,
    ...(page !== undefined && { page }),
    ...(chunk.start !== null && chunk.end !== null && { start: chunk.start, end: chunk.end }),
    ...(typeof url === 'string' && url !== '' && { url }),
    ...(typeof date === 'string' && date !== '' && { date }),
  };
}

/** A tool that searches the web. @param call calls it with a question; emits its result once */
export function webPlace(call: (question: string) => Observable<ToolResult>, budget: Budget): ResearchPlace {
  return {
    where: 'web',
    find: (question, most) =>
      budget.reserveWeb().pipe(
        concatMap(() => call(question)),
        map((result) => webPagesOf(result).slice(0, most)),
      ),
  };
}

/**
 * A place that gives what it found before for the same question, also to another process.
 *
 * @param name tells places of one kind apart
 */
export function keptPlace(place: ResearchPlace, journal: Journal, name: string = place.where): ResearchPlace {
  return {
    where: place.where,
    find: (question, most) =>
      defer(() => {
        const key = keyOf(`search_${name}`, { question, most });
        const kept = journal.find(key);
        if (Array.isArray(kept)) return of(kept as unknown as readonly FoundEvidence[]);
        return place.find(question, most).pipe(
          filter((found) => found !== undefined),
          tap((found) => journal.keep(key, found as unknown as Json)),
        );
      }),
  };
}
