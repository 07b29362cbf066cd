import { passageOf } from '../knowledge/base/chunk-ids.js';
import { openIndex } from '../knowledge/base/parts.js';
import { embedChunks } from './embed-chunks.js';
import type { IngestionWork, StepPlace } from './work.js';

/** Chunks that go into the index at once. */
const INDEXED_AT_ONCE = 200;

/** Makes the vectors of a document; what is wrong with its model is told, and keeps it from nothing. */
export async function embedDocument(work: IngestionWork, place: StepPlace, signal: AbortSignal): Promise<void> {
  const message = ({ vectors, problem }: { readonly vectors: number; readonly problem: string }) =>
    problem === '' ? (vectors === 0 ? '' : `made ${vectors} vectors`) : `found by words alone: ${problem}`;
  await work.once(place, message, () => embedChunks(work, signal, (share) => work.share(place, share)));
}

/** Makes the chunks of a document searchable, removes those that are none any more, and ends the work. Gives how many there are. */
export async function indexDocument(work: IngestionWork, place: StepPlace, signal: AbortSignal): Promise<number> {
  const { parts, tenant, document } = work.options;
  const { store } = parts;
  const passages = openIndex(parts, tenant, work.options.dataset);
  let done = 0;
  for (;;) {
    signal.throwIfAborted();
    const current = await store.findDocument(tenant, document.id);
    const some = await store.chunksAfter(tenant, document.id, undefined, INDEXED_AT_ONCE, false);
    if (current === undefined || some.length === 0) break;
    await passages.add(
      some.map((one) => passageOf(current, one)),
      signal,
    );
    await store.markIndexed(tenant, document.id, some);
    done += some.length;
    await work.share(place, done / (current.chunkCount || 1));
  }
  for (;;) {
    const stale = await store.staleChunks(tenant, document.id, document.attempt, INDEXED_AT_ONCE);
    if (stale.length === 0) break;
    await passages.remove(stale);
    await store.deleteChunks(tenant, document.id, stale);
  }
  const chunks = (await store.findDocument(tenant, document.id))?.chunkCount ?? 0;
  work.chunks = chunks;
  await work.end('DONE', chunks === 0 ? 'done; it holds no text' : `done, ${chunks} chunks`);
  return chunks;
}
