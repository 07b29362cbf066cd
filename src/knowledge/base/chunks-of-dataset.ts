/** Chunks of one dataset, of many ids. */
import type { ChunkRecord } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';

/** Chunks that are looked up at once. */
const CHUNKS = 200;

/** Those that the dataset has, by id; ids that it does not have are left out. */
export async function chunksOfDataset(
  store: Pick<KnowledgeStore, 'findChunks'>,
  tenant: string,
  datasetId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ChunkRecord>> {
  const found = new Map<string, ChunkRecord>();
  for (let at = 0; at < ids.length; at += CHUNKS)
    for (const chunk of await store.findChunks(tenant, ids.slice(at, at + CHUNKS)))
      if (chunk.datasetId === datasetId) found.set(chunk.id, chunk);
  return found;
}
