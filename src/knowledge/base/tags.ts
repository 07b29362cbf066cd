/** Tags of the chunks of a dataset, seen and changed together. */
import type { ChunkRecord } from '../../records/knowledge.js';
import type { Chunks } from './chunks.js';
import type { BaseParts } from './parts.js';

/** Tags. Errors of all: those of the store and the index. */
export interface Tags {
  /** How many chunks have each tag, the most frequent first; at most 10,000 tags. */
  counts(tenant: string, datasetId: string): Promise<readonly { readonly tag: string; readonly count: number }[]>;
  /** Takes tags from all chunks; gives how many chunks had one. */
  remove(tenant: string, datasetId: string, tags: readonly string[]): Promise<number>;
  /** Gives a tag another name; a chunk that has that already keeps it once. Gives how many chunks had it. */
  rename(tenant: string, datasetId: string, from: string, to: string): Promise<number>;
}

const BATCH = 200;
const MAX_TAGS = 10_000;

/** The tags of a knowledge base. */
export function createTags({ store }: BaseParts, chunks: Pick<Chunks, 'update'>): Tags {
  /** Chunks with tags, document by document. */
  async function* tagged(tenant: string, datasetId: string): AsyncGenerator<ChunkRecord> {
    const query = { datasetIds: [datasetId], limit: BATCH, orderBy: 'createdAt', descending: false } as const;
    for (let offset = 0; ; offset += BATCH) {
      const { items } = await store.listDocuments(tenant, { ...query, offset });
      for (const { id } of items) {
        let last: ChunkRecord | undefined;
        do {
          const some = await store.chunksAfter(tenant, id, last, BATCH);
          yield* some.filter(({ tags }) => tags.length > 0);
          last = some.at(-1);
        } while (last !== undefined);
      }
      if (items.length < BATCH) return;
    }
  }
  const change = async (
    tenant: string,
    datasetId: string,
    wanted: ReadonlySet<string>,
    changed: (tag: string) => readonly string[],
  ): Promise<number> => {
    let count = 0;
    for await (const { id, documentId, tags } of tagged(tenant, datasetId)) {
      if (!tags.some((tag) => wanted.has(tag))) continue;
      await chunks.update(tenant, documentId, id, {
        tags: [...new Set(tags.flatMap((tag) => (wanted.has(tag) ? changed(tag) : [tag])))],
      });
      count += 1;
    }
    return count;
  };
  return {
    async counts(tenant, datasetId) {
      const counts = new Map<string, number>();
      for await (const { tags } of tagged(tenant, datasetId)) {
        for (const tag of new Set(tags)) {
          if (counts.has(tag) || counts.size < MAX_TAGS) counts.set(tag, (counts.get(tag) ?? 0) + 1);
        }
      }
      const all = [...counts].map(([tag, count]) => ({ tag, count }));
      return all.sort((left, right) => right.count - left.count || (left.tag < right.tag ? -1 : 1));
    },
    remove: (tenant, datasetId, tags) => change(tenant, datasetId, new Set(tags), () => []),
    rename: (tenant, datasetId, from, to) => change(tenant, datasetId, new Set([from]), () => [to]),
  };
}
