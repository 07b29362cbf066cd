/** Whether the vectors of a dataset would fit those of another embedding model. */
import { z } from 'zod';
import { textToEmbed } from '../../knowledge/base/embed-texts.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { ChunkRecord, DatasetRecord } from '../../records/knowledge.js';
import { type Envelope, success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
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

/** Longest name of a model, in UTF-16 units. */
const MAX_MODEL = 255;

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
  {
    tenant,
    body,
    exchange,
    found: { base, dataset },
  }: RouteRequest<'dataset', z.ZodObject, typeof checkBody, FoundDataset>,
  parts: ServerParts,
): Promise<Envelope | undefined> {
  const { embd_id: model } = body;
  if (typeof model !== 'string' || model.trim() === '') throw refused('`embd_id` is required.');
  if (model.length > MAX_MODEL) throw refused(`\`embd_id\` must have at most ${MAX_MODEL} characters.`);
  requireEmbeddingModel(parts.services.models, model);
  const count = Math.min(MAX_CHUNKS, Math.max(1, wholeOf('check_num', body.check_num, 5)));
  const chunks = await someChunks(base, tenant, dataset, count);
  const { store, embedders } = base.parts;
  const ids = chunks.map(({ id }) => id);
  const stored = await store.findVectors(tenant, dataset.embeddingModel, ids);
  const vectors = new Map(stored.map(({ chunkId, vector }) => [chunkId, vector]));
  const embedded = chunks.filter(({ id }) => vectors.has(id));
  const embedder = embedders(tenant, model);
  if (embedder === undefined || embedded.length === 0) throw refused('No embedded chunks are available to compare.');
  const texts = embedded.map(textToEmbed);
  const made = await forClient(
    exchange,
    fromAbortable((signal) => embedder.embed(texts, { signal })),
  );
  if (made === undefined) return undefined;
  const compared = embedded.map((chunk, at) => comparedOf(chunk, vectors.get(chunk.id), made[at] ?? []));
  const rest = chunks
    .filter(({ id }) => !vectors.has(id))
    .map(({ id }) => ({ chunk_id: id, reason: 'no_stored_vector' }));
  return verdictOf(
    { kb_id: dataset.id, model, sampled: chunks.length },
    compared.map(({ cos_sim }) => cos_sim),
    [...compared, ...rest],
  );
}

const NO_VECTOR: Float32Array = new Float32Array();

/** @throws EngineError CONFLICT for a vector of another length */
function comparedOf({ id, documentId }: ChunkRecord, stored: Float32Array = NO_VECTOR, made: readonly number[]) {
  const { length } = made;
  if (length !== stored.length) {
    const message = `Embedding failure. The new model gives ${length} dimensions, and the vectors have ${stored.length}.`;
    throw refused(message);
  }
  return { chunk_id: id, doc_id: documentId, vector_dim: length, cos_sim: cosine(stored, made) };
}

function verdictOf(about: object, cosines: readonly number[], results: readonly object[]): Envelope {
  const mean = rounded(cosines.reduce((sum, one) => sum + one, 0) / cosines.length);
  const summary = {
    ...about,
    valid: cosines.length,
    avg_cos_sim: mean,
    min_cos_sim: Math.min(...cosines),
    max_cos_sim: Math.max(...cosines),
    match_mode: 'content_only',
  };
  const answer = success({ summary, results });
  if (mean >= COMPARABLE) return answer;
  const message = `The vectors do not fit: their mean cosine is ${mean}, below ${COMPARABLE}, so all documents have to be parsed again.`;
  return { ...answer, code: NOT_EFFECTIVE, message };
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
