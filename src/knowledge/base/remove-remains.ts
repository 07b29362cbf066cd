import type { DocumentRecord } from '../../records/knowledge.js';
import type { Remains } from '../../records/knowledge-store.js';
import { type BaseParts, openIndex } from './parts.js';

/** Where remains are. */
export type RemainsPlaces = Pick<BaseParts, 'store' | 'files' | 'texts' | 'indexes' | 'embedders' | 'local'>;

/** Chunks that are taken out of the index and the store in one go. */
const BATCH = 200;
/** Documents that are looked up in one go. */
const AT_ONCE = 50;

/**
 * Removes everything that is left of discarded documents and datasets: passages, chunks, vectors, steps, files, texts. It can be broken off
 * at any point and begun again; two at once do no harm.
 */
export async function removeRemains(places: RemainsPlaces, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const remains = await places.store.remains(AT_ONCE);
    if (remains.length === 0) return;
    for (const one of remains) {
      signal?.throwIfAborted();
      await removeOne(places, one);
    }
  }
}

async function removeOne(places: RemainsPlaces, { tenant, datasetId, document }: Remains): Promise<void> {
  const { store, files, indexes } = places;
  if (document === undefined) {
    await indexes.drop(tenant, datasetId);
    await store.erase(tenant, datasetId);
    return;
  }
  // With its model, whose vectors go with the passages.
  const dataset = await store.findDataset(tenant, datasetId);
  const index = dataset === undefined ? indexes.open(tenant, datasetId) : openIndex(places, tenant, dataset);
  for (;;) {
    const ids = await store.chunksOfRemains(tenant, document.id, BATCH);
    if (ids.length === 0) break;
    await index.remove(ids);
    await store.eraseChunks(tenant, document.id, ids);
  }
  if (document.fileId !== null) await files.delete(tenant, document.fileId);
  await removeText(places, tenant, document);
  await store.erase(tenant, datasetId, document.id);
}

/** Deletes the text of a document, and that of bytes that no document has any more. */
export async function removeText(
  { store, texts }: Pick<RemainsPlaces, 'store' | 'texts'>,
  tenant: string,
  document: Pick<DocumentRecord, 'id' | 'sha256' | 'suffix' | 'mimeType'>,
): Promise<void> {
  const { id, sha256 } = document;
  await texts.delete(tenant, texts.ownIdOf(id));
  if (sha256 === '') return;
  const query = { sha256, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  if ((await store.listDocuments(tenant, query)).total === 0) await texts.delete(tenant, texts.idOf(document));
}
