import { EngineError } from '../errors.js';
import { embedTexts } from '../knowledge/base/embed-texts.js';
import type { ChunkRecord } from '../records/knowledge.js';
import type { IngestionWork } from './work.js';

/** Chunks of one request. */
const BATCH = 64;

/**
 * Makes the vectors that chunks of a document lack by the model of its dataset; those that are there stay. A model that is missing, or that
 * cannot be reached, keeps no document from being found by its words: `problem` says what is wrong then, else it is empty.
 *
 * @throws EngineError EMBEDDING_MISMATCH for a model that gives no vector for each text, or vectors of different lengths.
 */
export async function embedChunks(
  { options }: IngestionWork,
  signal: AbortSignal,
  share: (share: number) => Promise<void>,
): Promise<{ readonly vectors: number; readonly problem: string }> {
  const { parts, tenant, document, dataset } = options;
  const { embeddingModel: model } = dataset;
  if (model === '') return { vectors: 0, problem: '' };
  if (parts.embedders(tenant, model) === undefined)
    return { vectors: 0, problem: `no embedding model "${model}" is configured` };
  let vectors = 0;
  let last: ChunkRecord | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunks = await parts.store.chunksWithoutVector(tenant, document.id, model, last, BATCH);
      last = chunks.at(-1);
      if (last === undefined) return { vectors, problem: '' };
      await embedTexts(parts, { tenant, documentId: document.id, dataset, chunks, signal });
      vectors += chunks.length;
      await share(vectors / (document.chunkCount || vectors));
    }
  } catch (error) {
    if (!EngineError.is(error) || !error.code.startsWith('MODEL_')) throw error;
    return { vectors, problem: error.message };
  }
}
