import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { pagesOf } from '../../records/knowledge.js';
import type { GraphHit, KnowledgeGraphSearch } from '../graph/graph-search.js';
import { searchWithGraph } from '../graph/service/search-with-graph.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from '../retriever.js';
import type { Datasets } from './datasets.js';
import type { KnowledgeHit, KnowledgeHits, KnowledgeQuery } from './retrieval.js';

/** What a retriever needs of a knowledge base. */
export interface SearchedBase {
  readonly datasets: Pick<Datasets, 'findByName' | 'list'>;
  readonly graphs: KnowledgeGraphSearch;
  search(tenant: string, query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeHits>;
}

/** Datasets that are searched where none are named. */
const MAX_DATASETS = 100;
/** Names that a message about an unknown dataset lists. */
const SHOWN_NAMES = 20;

/**
 * The datasets of a knowledge base for the tool Retrieval, by id or name.
 *
 * `useGraph` fills places behind the second by graphs, where datasets have one; `useContents`, which only widens a search, is left out.
 *
 * @param tenant whose datasets are searched unless `forTenant` names another one
 */
export function createKnowledgeRetriever(base: SearchedBase, tenant: string): Retriever {
  return {
    forTenant: (other) => createKnowledgeRetriever(base, other),
    async datasets() {
      const page = { offset: 0, limit: MAX_DATASETS, orderBy: 'name', descending: false } as const;
      const { items } = await base.datasets.list(tenant, page);
      return items.map(({ dataset }) => dataset.name);
    },
    async search(request, signal) {
      const datasetIds: string[] = [];
      for (const wanted of request.datasets) datasetIds.push(await idOf(base, tenant, wanted));
      signal.throwIfAborted();
      if (request.graph !== undefined) {
        const { question, topN: limit, graphBudget: budget, graphModel: model, onGraphCall: onCall } = request;
        const asked = { kind: request.graph, question, datasetIds, limit, budget, model, onCall };
        return (await base.graphs.search(tenant, asked, signal)).hits.map(passageOfGraph);
      }
      const query = queryOf(request, datasetIds);
      const { hits } = await (request.useGraph
        ? searchWithGraph(base, tenant, query, signal)
        : base.search(tenant, query, signal));
      return hits.map(passageOf);
    },
  };
}

async function idOf({ datasets }: SearchedBase, tenant: string, wanted: string): Promise<string> {
  const found = await datasets.findByName(tenant, wanted);
  if (found !== undefined) return found.dataset.id;
  const page = { offset: 0, limit: SHOWN_NAMES, orderBy: 'name', descending: false } as const;
  const { items } = await datasets.list(tenant, page);
  const names = items.map(({ dataset }) => dataset.name).join(', ') || 'none';
  throw new EngineError('NOT_FOUND', `Dataset(${wanted}) does not exist. There are: ${names}.`);
}

function queryOf(request: RetrievalRequest, datasetIds: readonly string[]): KnowledgeQuery {
  return {
    question: request.question,
    datasetIds,
    pageSize: request.topN,
    topK: request.topK,
    similarityThreshold: request.similarityThreshold,
    vectorShare: 1 - request.keywordWeight,
    filter: request.filter,
    rerankModel: request.rerankId,
    crossLanguages: request.crossLanguages,
  };
}

function passageOfGraph({ chunk, document, score, why }: GraphHit): RetrievedPassage {
  const hit = { chunk, document, similarity: score, termSimilarity: 0, vectorSimilarity: 0, scores: { graph: score } };
  const passage = passageOf(hit);
  return { ...passage, record: { ...passage.record, why: why as unknown as JsonObject } };
}

function passageOf(hit: KnowledgeHit): RetrievedPassage {
  const { chunk, document, similarity, termSimilarity, vectorSimilarity, matches } = hit;
  const pages = pagesOf(chunk);
  const record: JsonObject = {
    dataset_id: chunk.datasetId,
    term_similarity: termSimilarity,
    vector_similarity: vectorSimilarity,
    positions: chunk.positions.map((box) => [...box]),
    important_keywords: [...chunk.keywords],
    ...(chunk.start !== null && chunk.end !== null && { start: chunk.start, end: chunk.end }),
    ...(chunk.page !== null && { page: chunk.page }),
    ...(pages.length > 1 && { pages: [...pages] }),
    ...(matches !== undefined && { matches: matches.map((part) => ({ ...part })) }),
  };
  return {
    id: chunk.id,
    content: chunk.context === '' ? chunk.text : `${chunk.context}\n${chunk.text}`,
    documentId: document.id,
    documentName: document.name,
    datasetId: chunk.datasetId,
    similarity,
    record,
    metadata: document.metadata,
  };
}
