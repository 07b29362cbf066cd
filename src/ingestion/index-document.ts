import { passageOf } from '../knowledge/base/chunk-ids.js';
import { openIndex } from '../knowledge/base/parts.js';
import type { ChunkRecord } from '../records/knowledge.js';
import { embedChunks } from './embed-chunks.js';
import type { IngestionWork, StepPlace } from './work.js';

/** Chunks that go into the index at once. */
const INDEXED_AT_ONCE = 200;
/** Chunks of one statement: a run waits for some of these before its log is written. */
const CHUNKS_A_STEP = 10;

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
    const some = await nextChunks(work);
    if (current === undefined || some.length === 0) break;
    await passages.add(
      some.map((one) => passageOf(current, one)),
      signal,
    );
    for (let from = 0; from < some.length; from += CHUNKS_A_STEP)
      await store.markIndexed(tenant, document.id, some.slice(from, from + CHUNKS_A_STEP));
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

/** The first chunks of a document that are not in the index yet. */
async function nextChunks({ options }: IngestionWork): Promise<readonly ChunkRecord[]> {
  const { parts, tenant, document } = options;
  const found: ChunkRecord[] = [];
  while (found.length < INDEXED_AT_ONCE) {
    const some = await parts.store.chunksAfter(tenant, document.id, found.at(-1), CHUNKS_A_STEP, false);
    found.push(...some);
    if (some.length < CHUNKS_A_STEP) break;
  }
  return found;
}
