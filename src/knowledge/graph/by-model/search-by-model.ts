/** `global` and `drift` with a model: what reports say, and where questions of its own lead to. */
import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import { fromAbortable } from '../../../operators/from-abortable.js';
import type { GraphModel } from '../calls/graph-model.js';
import type { GraphAnswers, GraphAsk, RatedReport, ToldEntity } from '../graph-answers.js';
import type { GraphPoint } from '../graph-search.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import { type Drifted, drift } from './drift.js';
import { type MappedReports, mapReports } from './map-reports.js';
import type { SearchBudget } from './search-budget.js';

/** One search of one graph. */
export interface ModelSearchOptions {
  readonly kind: 'global' | 'drift';
  readonly question: string;
  readonly level?: number | undefined;
  /** Passages at most. */
  readonly limit: number;
  readonly model: GraphModel;
  readonly budget: SearchBudget;
  /** Answers a question about the graph; undefined where there is none. */
  readonly ask: <A extends GraphAsk>(ask: A) => Promise<GraphAnswers[A['kind']] | undefined>;
  /** Texts of passages that are there, in their order. */
  readonly texts: (ids: readonly string[], signal: AbortSignal) => Promise<readonly string[]>;
}

/** What it gave. */
export interface FoundByModel {
  readonly entities: readonly ToldEntity[];
  readonly passages: readonly FoundPassageOfGraph[];
  readonly points: readonly GraphPoint[];
  readonly read: number;
  readonly of: number;
  readonly isStale: boolean;
  readonly isDegraded: boolean;
  readonly questions: readonly string[];
}

/** Share of the budget that the reports have in `drift`. */
const PRIMER_SHARE = 0.5;
/** Tokens of reports that a call reads. */
const TOKENS_A_CALL = 3_000;
/** Findings of a report that give a passage for one point. */
const MAX_FINDINGS = 4;
/** Passages of a question that a model asked. */
const FOLLOWED_PASSAGES = 6;
/** UTF-16 units of a passage that the model is told between rounds. */
const MAX_TOLD = 600;

/**
 * Searches a graph; emits once, undefined where there is no graph. Where there is no room for a single call it is as the search by rules. Cold: unsubscribing closes the
 * connections of the model.
 */
export function searchByModel(options: ModelSearchOptions): Observable<FoundByModel | undefined> {
  const { kind, question, level, limit, model, budget, ask } = options;
  const reading = kind === 'drift' ? budget.part(PRIMER_SHARE) : budget;
  const { calls, tokens } = reading.left;
  const maxTokens = Math.min(tokens, calls * TOKENS_A_CALL);
  return fromAbortable(() => ask({ kind: 'rated', question, level, maxTokens })).pipe(
    concatMap((rated) => {
      if (rated === undefined) return of(undefined);
      const { reports, entities, of: all } = rated;
      return mapReports({ question, reports, model, budget: reading }).pipe(
        concatMap((mapped) =>
          mapped.read === 0 ? globalByRules(options) : of(globalOf(mapped, { reports, entities, all, limit })),
        ),
        concatMap((found) => (kind === 'global' || found === undefined ? of(found) : drifted(options, found))),
      );
    }),
  );
}

function globalByRules({ question, level, limit, ask }: ModelSearchOptions): Observable<FoundByModel | undefined> {
  return fromAbortable(() => ask({ kind: 'global', question, level, limit })).pipe(
    map((found) => found && { ...found, isDegraded: false, questions: [] }),
  );
}

interface ReadReports {
  readonly reports: readonly RatedReport[];
  readonly entities: readonly ToldEntity[];
  readonly all: number;
  readonly limit: number;
}

/** Points with the titles of their reports, and the passages that these name. */
function globalOf(
  { points, read, isDegraded }: MappedReports,
  { reports, entities, all, limit }: ReadReports,
): FoundByModel {
  const byId = new Map(reports.map((report) => [report.community, report]));
  const used = points.slice(0, limit);
  const passages = new Map<string, FoundPassageOfGraph>();
  let isStale = false;
  const told = used.map(({ text, score, reports: named }): GraphPoint => {
    const own = named.flatMap((id) => byId.get(id) ?? []);
    for (const { title, findings, isStale: lostOrGained = false } of own) {
      isStale ||= lostOrGained;
      const why = { entities: [], steps: [], community: title };
      for (const { chunks } of findings.slice(0, MAX_FINDINGS)) {
        for (const chunkId of chunks.slice(0, 1))
          if (!passages.has(chunkId)) passages.set(chunkId, { chunkId, score: score / 100, why });
      }
    }
    return { text, rating: score, reports: own.map(({ title }) => title) };
  });
  return {
    ...{ entities, points: told, read, of: all, isStale, isDegraded, questions: [] },
    passages: [...passages.values()].slice(0, limit),
  };
}

/** What was found, the passages around the entities of the question, and those that questions of the model led to. */
function drifted(options: ModelSearchOptions, found: FoundByModel): Observable<FoundByModel> {
  const { question, limit, model, budget, ask, texts } = options;
  const local = (asked: string, most: number): Observable<readonly FoundPassageOfGraph[]> =>
    fromAbortable(() => ask({ kind: 'local', question: asked, limit: most })).pipe(
      map((answer) => answer?.passages ?? []),
    );
  const followed$: Observable<Drifted> = drift({
    ...{ question, model, budget },
    points: found.points.map(({ text }) => text),
    local: (asked) => local(asked, FOLLOWED_PASSAGES),
    texts: (passages) =>
      fromAbortable(async (signal) => {
        const told = await texts(
          passages.map(({ chunkId }) => chunkId),
          signal,
        );
        return told.map((text) => text.slice(0, MAX_TOLD));
      }),
  });
  return forkJoin([local(question, limit), followed$]).pipe(
    map(([around, { questions, passages, isDegraded }]) => ({
      ...{ ...found, questions, isDegraded: found.isDegraded || isDegraded },
      passages: [...found.passages, ...around, ...passages].sort((a, b) => b.score - a.score),
    })),
  );
}
