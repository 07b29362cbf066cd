/** Where a node researches: the datasets, graphs and web of its run. */
import { catchError, concatMap, defer, map, type Observable, of, tap } from 'rxjs';
import type { CallContext } from '../../agents/call-context.js';
import type { GraphSearchKind } from '../../knowledge/graph/graph-search.js';
import type { TokenUsage } from '../../models/chat-model.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { Budget } from '../../research/calls/budget.js';
import type { Journal } from '../../research/calls/journal.js';
import type { ResearchPlace } from '../../research/deep/deep-ports.js';
import type { DepthName } from '../../research/deep/depths.js';
import type { PlanToolName } from '../../research/plan/plan-tools.js';
import { datasetPlace, graphPlace, keptPlace, webPlace } from '../../research/service/places.js';
import { loadWebPage, pagePlace, type WebPage } from '../../research/service/web-pages.js';
import { duckduckgoSearch } from '../../tools/duckduckgo-search.js';
import { searxngSearch } from '../../tools/searxng-search.js';
import { tavilySearch } from '../../tools/tavily-search.js';
import { type AnyTool, toolResult } from '../../tools/tool.js';
import { settingOf } from '../../tools/tool-services.js';
import { baseUrlOf } from '../../tools/upstream.js';
import { usageEvent } from '../chat/answers.js';
import { calledTool, type Report, reportedCall } from './tool-calls.js';

/** What is searched. */
export interface Searched {
  /** Undefined: all. */
  readonly datasetIds: readonly string[] | undefined;
  /** Those of them whose graphs are asked. @default all */
  readonly graphIds?: readonly string[] | undefined;
  readonly web: boolean;
  /** Id of the model that graphs may be asked with, the empty one being the default. @default graphs are asked by rules */
  readonly model?: string | undefined;
  readonly budget: Budget;
  /** Where what was found is kept. */
  readonly journal: Journal;
  readonly report: Report;
}

/**
 * Lets a research work once it is known which of its datasets have a graph: no others are asked. It stays with those that it began with, also in another
 * process.
 */
export function withGraphs<T>(
  { services }: CallContext,
  searched: Searched,
  work: (searched: Searched) => Observable<T>,
): Observable<T> {
  const { knowledge } = services;
  const { datasetIds, journal } = searched;
  if (knowledge?.graphSearch === undefined || knowledge.withGraph === undefined) return work(searched);
  return defer(() => {
    const kept = journal.find(GRAPHS);
    if (Array.isArray(kept)) return of(kept.map(String));
    return fromAbortable(async (signal) => knowledge.withGraph?.(datasetIds, signal)).pipe(
      tap((ids) => ids && journal.keep(GRAPHS, [...ids])),
      // What cannot be told is asked, and fails there.
      catchError(() => of(undefined)),
    );
  }).pipe(concatMap((graphIds) => work({ ...searched, graphIds })));
}

const GRAPHS = 'graphs';

/** The places of a search by sub-questions: datasets, what their graphs lead to, and the web where it is asked for. */
export function placesOf(context: CallContext, searched: Searched): readonly ResearchPlace[] {
  const { kb, graph, web } = everyPlace(context, searched);
  return [kb, graph?.('local'), web].filter((place) => place !== undefined);
}

/** The places of each tool of a plan; the first tool is the usual one. */
export function toolsOf(
  context: CallContext,
  searched: Searched,
  depth: DepthName,
): ReadonlyMap<PlanToolName, readonly ResearchPlace[]> {
  const { kb, graph, web } = everyPlace(context, searched);
  const tools: [PlanToolName, readonly ResearchPlace[]][] = [];
  if (kb !== undefined) tools.push(['kb_search', [kb]]);
  if (graph !== undefined) {
    for (const kind of ['local', 'global', 'drift', 'path'] as const) tools.push([`${kind}_search`, [graph(kind)]]);
  }
  if (web !== undefined) tools.push(['web_search', [web]]);
  const deep: (typeof tools)[number] = ['deep_search', placesOf(context, searched)];
  // Where there is more than documents to search, or time for it, every task searches everything.
  const isUsual = depth === 'deep' || kb === undefined || web !== undefined;
  return new Map(isUsual ? [deep, ...tools] : [...tools, deep]);
}

function everyPlace(context: CallContext, searched: Searched) {
  const { datasetIds, graphIds = datasetIds, web, journal, model, budget, report } = searched;
  const { knowledge } = context.services;
  const isSearched = knowledge !== undefined && datasetIds?.length !== 0;
  const onCall = (usage: TokenUsage): void => report(usageEvent(usage));
  const asking = model === undefined ? undefined : { model, budget, onCall };
  const search = isSearched && graphIds?.length !== 0 ? knowledge.graphSearch : undefined;
  return {
    kb: isSearched ? keptPlace(datasetPlace(knowledge, datasetIds), journal) : undefined,
    graph:
      search === undefined
        ? undefined
        : (kind: GraphSearchKind) => keptPlace(graphPlace(search, graphIds, kind, asking), journal, `graph_${kind}`),
    web: web ? webOf(context, searched) : undefined,
  };
}

/** A search of the web whose pages are read. */
function webOf(context: CallContext, { budget, journal, report }: Searched): ResearchPlace {
  const { http, threads } = context.services;
  const search = webPlace((question) => calledTool(webTool(context), { query: question }, context, report), budget);
  const place = keptPlace(search, journal);
  if (http === undefined) return place;
  const load = (address: string): Observable<WebPage> =>
    reportedCall('web_page', context, report, () =>
      loadWebPage(address, { http, threads }).pipe(map(({ text, url }) => ({ ...toolResult(text, {}), url }))),
    );
  return pagePlace(place, { load, budget, journal });
}

/** The first search that is set up; the last one needs no key. */
function webTool({ services }: CallContext): AnyTool {
  if (baseUrlOf(searxngSearch, services, '') !== '') return searxngSearch;
  if (settingOf(services, 'TAVILY_API_KEY') !== undefined) return tavilySearch;
  return duckduckgoSearch;
}
