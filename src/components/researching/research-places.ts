/** Where a node researches: the datasets, graphs and web of its run. */
import type { CallContext } from '../../agents/call-context.js';
import type { GraphSearchKind } from '../../knowledge/graph/graph-search.js';
import type { Journal } from '../../research/calls/ask-call.js';
import type { Budget } from '../../research/calls/budget.js';
import type { ResearchPlace } from '../../research/deep/deep-ports.js';
import type { DepthName } from '../../research/deep/depths.js';
import type { PlanToolName } from '../../research/plan/plan-tools.js';
import { datasetPlace, graphPlace, keptPlace, webPlace } from '../../research/service/places.js';
import { duckduckgoSearch } from '../../tools/duckduckgo-search.js';
import { searxngSearch } from '../../tools/searxng-search.js';
import { tavilySearch } from '../../tools/tavily-search.js';
import type { AnyTool } from '../../tools/tool.js';
import { settingOf } from '../../tools/tool-services.js';
import { baseUrlOf } from '../../tools/upstream.js';
import { calledTool, type Report } from './tool-calls.js';

/** What is searched. */
export interface Searched {
  /** Undefined: all. */
  readonly datasetIds: readonly string[] | undefined;
  readonly web: boolean;
  readonly budget: Budget;
  /** Where what was found is kept. */
  readonly journal: Journal;
  readonly report: Report;
}

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

function everyPlace(context: CallContext, { datasetIds, web, budget, journal, report }: Searched) {
  const { knowledge } = context.services;
  const isSearched = knowledge !== undefined && datasetIds?.length !== 0;
  const search = isSearched ? knowledge.graphSearch : undefined;
  return {
    kb: isSearched ? keptPlace(datasetPlace(knowledge, datasetIds), journal) : undefined,
    graph:
      search === undefined
        ? undefined
        : (kind: GraphSearchKind) => keptPlace(graphPlace(search, datasetIds, kind), journal, `graph_${kind}`),
    web: web
      ? keptPlace(
          webPlace((question) => calledTool(webTool(context), { query: question }, context, report), budget),
          journal,
        )
      : undefined,
  };
}

/** The first search that is set up; the last one needs no key. */
function webTool({ services }: CallContext): AnyTool {
  if (baseUrlOf(searxngSearch, services, '') !== '') return searxngSearch;
  if (settingOf(services, 'TAVILY_API_KEY') !== undefined) return tavilySearch;
  return duckduckgoSearch;
}
