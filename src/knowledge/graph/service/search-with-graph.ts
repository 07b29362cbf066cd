/** A search of datasets whose places behind the second are filled by their graphs, too. */
import { EngineError } from '../../../errors.js';
import type { KnowledgeHit, KnowledgeHits, KnowledgeQuery } from '../../base/retrieval.js';
import type { GraphFindings, KnowledgeGraphSearch } from '../graph-search.js';

/** What is searched. */
export interface GraphedBase {
  readonly graphs: KnowledgeGraphSearch;
  search(tenant: string, query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeHits>;
}

/** Places of the search by words that a graph does not change. */
const FIXED_PLACES = 2;
/** Passages that a graph adds at most. */
const MAX_ADDED = 20;

/**
 * The first page of a search with passages that a walk over the graphs leads to; `scores.graph` tells how strongly. Datasets without a graph, pages behind the
 * first, and searches with conditions on metadata are as without one.
 */
export async function searchWithGraph(
  { graphs, search }: GraphedBase,
  tenant: string,
  query: KnowledgeQuery,
  signal: AbortSignal,
): Promise<KnowledgeHits> {
  const found = await search(tenant, query, signal);
  const hasConditions = query.filter !== undefined && Object.keys(query.filter).length > 0;
  if ((query.page ?? 1) > 1 || hasConditions || query.question.trim() === '') return found;
  const walked = await walk(graphs, tenant, query, signal);
  const accepts = (id: string): boolean => query.documentIds === undefined || query.documentIds.includes(id);
  const known = new Set(found.hits.map(({ chunk }) => chunk.id));
  const added = walked.filter(({ chunk, document }) => !known.has(chunk.id) && accepts(document.id));
  if (added.length === 0) return found;
  const fixed = found.hits.slice(0, FIXED_PLACES);
  const rest = found.hits.slice(FIXED_PLACES);
  const hits: KnowledgeHit[] = [...fixed];
  let most = fixed.at(-1)?.similarity ?? 1;
  for (let at = 0; at < Math.max(rest.length, added.length); at += 1) {
    const [own, graph] = [rest[at], added[at]];
    if (graph !== undefined) {
      const { chunk, document, score } = graph;
      const similarity = Math.min(most, own?.similarity ?? rest.at(-1)?.similarity ?? most);
      hits.push({ chunk, document, similarity, termSimilarity: 0, vectorSimilarity: 0, scores: { graph: score } });
    }
    if (own !== undefined) hits.push(own);
    most = Math.min(most, hits.at(-1)?.similarity ?? most);
  }
  return { ...found, hits: hits.slice(0, query.pageSize ?? 30), total: found.total + added.length };
}

async function walk(
  graphs: KnowledgeGraphSearch,
  tenant: string,
  { question, datasetIds }: KnowledgeQuery,
  signal: AbortSignal,
): Promise<GraphFindings['hits']> {
  try {
    const asked = { kind: 'rank', question, datasetIds, limit: MAX_ADDED, maxTokens: 100_000 } as const;
    return (await graphs.search(tenant, asked, signal)).hits;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'GRAPH_MISSING') return [];
    throw error;
  }
}
