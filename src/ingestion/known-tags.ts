import type { Json } from '../json.js';
import type { IngestionWork } from './work.js';

/** Datasets of tags, their documents and chunks that are looked at, and tags that a model may choose from. */
const MAX_SETS = 10;
const MAX_DOCUMENTS = 50;
const MAX_CHUNKS = 2_000;
const BATCH = 200;
const MAX_TAGS = 300;

/** The tags of the datasets that a document names, the most frequent first; those of other tenants do not exist. */
export async function knownTagsOf({ options }: IngestionWork, ids: Json | undefined): Promise<readonly string[]> {
  const { parts, tenant } = options;
  const datasetIds = (Array.isArray(ids) ? ids : []).filter((id) => typeof id === 'string').slice(0, MAX_SETS);
  if (datasetIds.length === 0) return [];
  const query = { datasetIds, offset: 0, limit: MAX_DOCUMENTS, orderBy: 'createdAt', descending: false } as const;
  const { items } = await parts.store.listDocuments(tenant, query);
  const counts = new Map<string, number>();
  let seen = 0;
  for (const { id } of items) {
    for (let last: { readonly index: number; readonly id: string } | undefined; seen < MAX_CHUNKS; ) {
      const chunks = await parts.store.chunksAfter(tenant, id, last, BATCH);
      last = chunks.at(-1);
      if (last === undefined) break;
      seen += chunks.length;
      for (const tag of chunks.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
  }
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  return sorted.slice(0, MAX_TAGS).map(([tag]) => tag);
}
