/** Whether the vectors of a dataset would fit those of another embedding model. */
import { z } from 'zod';
import { textToEmbed } from '../../knowledge/base/embed-texts.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import type { ChunkRecord, DatasetRecord } from '../../records/knowledge.js';
import { success } from '../envelope.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { anything } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject } from '../shapes.js';
import { requireEmbeddingModel } from './dataset-input.js';
import { type FoundDataset, ownDataset, refused } from './find.js';
import { wholeOf } from './search-query.js';

/** Chunks that are compared at most. */
const MAX_CHUNKS = 64;

/** Documents that chunks are taken of. */
const MAX_DOCUMENTS = 64;

/** Mean cosine from which on vectors of both models can be compared. */
const COMPARABLE = 0.9;

/** RAGFlow's code for a model that does not fit. */
const NOT_EFFECTIVE = 10;

const checkBody = z.looseObject({
  embd_id: anything.describe('The other model, `model@provider`.'),
  check_num: anything.describe(`Chunks; default 5, at most ${MAX_CHUNKS}.`),
});

export const embeddingCheckRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    looseRoute('POST /datasets/:dataset/embedding/check', {
      summary: 'Compares the vectors of some chunks with those of another model',
      finds: ownDataset(() => 'no authorization'),
      body: checkBody,
      data: z.looseObject({ summary: anyObject, results: z.array(anyObject) }),
      handle: check,
    }),
  ],
};

async function check(
  { tenant, body, found: { base, dataset } }: RouteRequest<'dataset', z.ZodObject, typeof checkBody, FoundDataset>,
  parts: ServerParts,
) {
  const { embd_id: model } = body;
  if (typeof model !== 'string' || model.trim() === '') throw refused('`embd_id` is required.');
  requireEmbeddingModel(parts.services.models, model);
  const count = Math.min(MAX_CHUNKS, Math.max(1, wholeOf('check_num', body.check_num, 5)));
  const chunks = await someChunks(base, tenant, dataset, count);
  const { store, embedders } = base.parts;
  const stored = await store.findVectors(
    tenant,
    dataset.embeddingModel,
    chunks.map(({ id }) => id),
  );
  const vectors = new Map(stored.map(({ chunkId, vector }) => [chunkId, vector]));
  const embedded = chunks.filter(({ id }) => vectors.has(id));
  const embedder = embedders(tenant, model);
  if (embedder === undefined || embedded.length === 0) throw refused('No embedded chunks are available to compare.');
  const made = await embedder.embed(embedded.map(textToEmbed));
  const compared = embedded.map((chunk, at) => {
    const vector = vectors.get(chunk.id) ?? new Float32Array();
    const { length } = made[at] ?? [];
    if (length !== vector.length) {
      throw refused(
        `Embedding failure. The new model gives ${length} dimensions, and the vectors have ${vector.length}.`,
      );
    }
    return {
      chunk_id: chunk.id,
      doc_id: chunk.documentId,
      vector_dim: length,
      cos_sim: cosine(vector, made[at] ?? []),
    };
  });
  const rest = chunks
    .filter(({ id }) => !vectors.has(id))
    .map(({ id }) => ({ chunk_id: id, reason: 'no_stored_vector' }));
  const cosines = compared.map(({ cos_sim }) => cos_sim);
  const mean = rounded(cosines.reduce((sum, one) => sum + one, 0) / cosines.length);
  const summary = {
    kb_id: dataset.id,
    model,
    sampled: chunks.length,
    valid: compared.length,
    avg_cos_sim: mean,
    min_cos_sim: Math.min(...cosines),
    max_cos_sim: Math.max(...cosines),
    match_mode: 'content_only',
  };
  const data = { summary, results: [...compared, ...rest] };
  if (mean >= COMPARABLE) return success(data);
  const message = `The vectors do not fit: their mean cosine is ${mean}, below ${COMPARABLE}, so all documents have to be parsed again.`;
  return { code: NOT_EFFECTIVE, message, data };
}

/** Chunks of several documents, in turn. */
async function someChunks(
  { parts: { store } }: KnowledgeBase,
  tenant: string,
  { id }: DatasetRecord,
  count: number,
): Promise<readonly ChunkRecord[]> {
  const page = { datasetIds: [id], offset: 0, limit: MAX_DOCUMENTS, orderBy: 'updatedAt', descending: true } as const;
  const { items } = await store.listDocuments(tenant, page);
  const filled = items.filter(({ chunkCount }) => chunkCount > 0);
  const each = Math.ceil(count / Math.max(1, filled.length));
  const chunks: ChunkRecord[] = [];
  for (const document of filled) {
    if (chunks.length >= count) break;
    chunks.push(...(await store.chunksAfter(tenant, document.id, undefined, each)));
  }
  return chunks.slice(0, count);
}

function cosine(a: Float32Array, b: readonly number[]): number {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (let at = 0; at < b.length; at += 1) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return lengthA === 0 || lengthB === 0 ? 0 : rounded(dot / Math.sqrt(lengthA * lengthB));
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
