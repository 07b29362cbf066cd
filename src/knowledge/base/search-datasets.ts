/** The datasets of a knowledge base as chats search them. */
import { groupBy } from '../../group-by.js';
import type { DatasetRecord } from '../../records/knowledge.js';
import type { DatasetsQuery, KnowledgeSearch } from '../knowledge-search.js';
import type { KnowledgeBase } from './knowledge-base.js';
import type { KnowledgeHits } from './retrieval.js';

/** What of a knowledge base is searched. */
export type SearchedBase = Pick<KnowledgeBase, 'datasets' | 'search' | 'graphs' | 'parts'>;

/** Pieces beyond those of a range that are read: several may have one place. */
const SPARE = 8;
/** Datasets of a search that names none. */
const MAX_DATASETS = 500;
/** Datasets that are asked at once whether they have a graph: others have their turn at the database between. */
const LOOKED_UP_AT_ONCE = 16;

/** Searches the datasets of a tenant; `open` is called with the first search. */
export function createKnowledgeSearch(open: () => Promise<SearchedBase>, tenant: string): KnowledgeSearch {
  return {
    forTenant: (other) => createKnowledgeSearch(open, other),
    async search({ datasetIds, ...query }, signal) {
      const base = await open();
      if (datasetIds?.length === 0) return NOTHING;
      const groups = groupsOf(await datasetsOf(base, tenant, datasetIds));
      // A dataset that is named and does not exist is refused by name.
      const known = new Set(groups.flat().map(({ id }) => id));
      const isAllThere = datasetIds === undefined || datasetIds.every((id) => known.has(id));
      signal.throwIfAborted();
      const found = await Promise.all([
        ...groups.map((datasets) =>
          base.search(tenant, { ...query, datasetIds: datasets.map(({ id }) => id), datasets }, signal),
        ),
        ...(isAllThere ? [] : [base.search(tenant, { ...query, datasetIds }, signal)]),
      ]);
      return merged(found, query);
    },
    async graphSearch({ datasetIds, ...query }, signal) {
      const base = await open();
      const ids = datasetIds ?? (await datasetsOf(base, tenant, undefined)).map(({ id }) => id);
      signal.throwIfAborted();
      if (ids.length === 0) return { hits: [], spent: { calls: 0, tokens: 0 } };
      return base.graphs.search(tenant, { ...query, datasetIds: ids }, signal);
    },
    async withGraph(datasetIds, signal) {
      const base = await open();
      const ids = (await datasetsOf(base, tenant, datasetIds)).map(({ id }) => id);
      const found: string[] = [];
      for (let from = 0; from < ids.length; from += LOOKED_UP_AT_ONCE) {
        signal.throwIfAborted();
        const some = ids.slice(from, from + LOOKED_UP_AT_ONCE);
        const has = await Promise.all(some.map((id) => base.graphs.has(tenant, id)));
        found.push(...some.filter((_, at) => has[at]));
      }
      return found;
    },
    async neighbours(documentId, first, last) {
      const { store } = (await open()).parts;
      // Behind all pieces of the place before: ids are hexadecimal.
      const after = first <= 0 ? undefined : { index: first - 1, id: '~' };
      const found = await store.chunksAfter(tenant, documentId, after, last - first + 1 + SPARE);
      return found.filter(({ index, isAvailable }) => index <= last && isAvailable);
    },
  };
}

const NOTHING: KnowledgeHits = { hits: [], total: 0, documents: [] };

async function datasetsOf(
  { datasets }: SearchedBase,
  tenant: string,
  ids: readonly string[] | undefined,
): Promise<readonly DatasetRecord[]> {
  const query = { offset: 0, limit: MAX_DATASETS, orderBy: 'createdAt', descending: false } as const;
  const { items } = await datasets.list(tenant, ids === undefined ? query : { ...query, ids: [...ids] });
  return items.map(({ dataset }) => dataset);
}

/** Datasets that can be searched together: those of one model. */
function groupsOf(datasets: readonly DatasetRecord[]): readonly DatasetRecord[][] {
  return [...groupBy(datasets, ({ embeddingModel }) => embeddingModel).values()];
}

/** Hits of several searches in one order; each search has its own best. */
function merged(found: readonly KnowledgeHits[], { pageSize = 30 }: Omit<DatasetsQuery, 'datasetIds'>): KnowledgeHits {
  const [only] = found;
  if (only === undefined) return NOTHING;
  if (found.length === 1) return only;
  const hits = found.flatMap((one) => one.hits).sort((a, b) => b.similarity - a.similarity);
  return {
    hits: hits.slice(0, pageSize),
    total: found.reduce((sum, { total }) => sum + total, 0),
    documents: found.flatMap(({ documents }) => documents).sort((a, b) => b.count - a.count),
  };
}
