import { EngineError } from '../../errors.js';
import type { ChunkRecord, DatasetRecord } from '../../records/knowledge.js';
import { type BaseParts, openIndex } from './parts.js';
import type { PassageModel } from './ports.js';

/** Chunks of one document that get vectors. */
export interface TextsToEmbed {
  readonly tenant: string;
  readonly documentId: string;
  readonly dataset: DatasetRecord;
  readonly chunks: readonly ChunkRecord[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the vectors of chunks by the model that their dataset names and stores them, with the chunks and in the index. Does nothing for a dataset
 * that names none, or one that is not configured.
 *
 * @throws EngineError EMBEDDING_MISMATCH for a model that does not give one vector of the same length for each text; those of the model
 */
export async function embedTexts(parts: BaseParts, given: TextsToEmbed): Promise<void> {
  const { embeddingModel: name } = given.dataset;
  const embedder = name === '' ? undefined : parts.embedders(given.tenant, name);
  if (embedder !== undefined) await embedWith(parts, given, { name, embedder });
}

/** The same by another embedder of the dataset's model. @throws EngineError as {@link embedTexts} */
export async function embedWith(
  parts: BaseParts,
  { tenant, documentId, dataset, chunks, signal }: TextsToEmbed,
  { name: model, embedder }: PassageModel,
): Promise<void> {
  if (chunks.length === 0) return;
  const made = await embedder.embed(chunks.map(textToEmbed), signal === undefined ? {} : { signal });
  const length = made[0]?.length;
  if (made.length !== chunks.length || length === 0 || made.some((vector) => vector.length !== length)) {
    const message = `The embedding model "${model}" did not give one vector of the same length for each text.`;
    throw new EngineError('EMBEDDING_MISMATCH', message);
  }
  // The index first: what it refuses is not stored.
  const vectors = new Map(chunks.map(({ id }, at) => [id, made[at] ?? []]));
  await openIndex(parts, tenant, dataset).setVectors(vectors);
  const stored = chunks.map(({ id }, at) => ({ chunkId: id, vector: Float32Array.from(made[at] ?? []) }));
  await parts.store.putVectors(tenant, documentId, model, stored);
}

/** What a model sees of a chunk. */
export function textToEmbed({ text, context, headings }: ChunkRecord): string {
  return [headings.join(' > '), context, text].filter((part) => part !== '').join('\n');
}
