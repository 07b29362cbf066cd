/** Searching datasets of a knowledge base. */
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { firstValue, fromAbortable } from '../../operators/from-abortable.js';
import type { ChunkRecord, DatasetRecord, DocumentRecord } from '../../records/knowledge.js';
import { type MetadataFilter, metadataTest } from '../search/metadata-filter.js';
import { type FoundPart, withParents } from './give-parents.js';
import { readMetadataFilter } from './metadata-filter.js';
import { type BaseParts, openIndex } from './parts.js';
import type { PassageHit, PassageQuery } from './ports.js';
import { readWithin } from './read-within.js';
import { rerankHits, textsToRerank } from './rerank-hits.js';
import { termsFor } from './terms.js';

/** What is looked for. */
export interface KnowledgeQuery {
  readonly question: string;
  /** Ids of datasets; at least one. */
  readonly datasetIds: readonly string[];
  /** The records of the datasets, where the caller has just read them. @default they are read */
  readonly datasets?: readonly DatasetRecord[] | undefined;
  /** Only passages of these. @default all */
  readonly documentIds?: readonly string[] | undefined;
  /** Part of the hits, from 1. @default 1 */
  readonly page?: number | undefined;
  /** @default 30 */
  readonly pageSize?: number | undefined;
  /** Passages below it are left out, 0 to 1. @default 0.2 */
  readonly similarityThreshold?: number | undefined;
  /** Share of the vectors of the datasets' model in the similarity, 0 to 1. @default that of the index, which was measured */
  readonly vectorShare?: number | undefined;
  /** Candidates that are looked at before the best are chosen, of each dataset. @default 1024 */
  readonly topK?: number | undefined;
  /** Conditions on metadata, as RAGFlow writes them. @default none */
  readonly filter?: JsonObject | undefined;
  /** Languages that the question is translated into as well, such as `English`; at most five count. @default none */
  readonly crossLanguages?: readonly string[] | undefined;
  /** Model that puts the first 50 hits in order, within a second. @default none */
  readonly rerankModel?: string | undefined;
}

/** A chunk that was found. */
export interface KnowledgeHit {
  /** With the text and place of the passage that it is a part of, where it is one. */
  readonly chunk: ChunkRecord;
  /** The parts by which the passage was found, the best first; absent where it was found by itself. */
  readonly matches?: readonly FoundPart[] | undefined;
  readonly document: DocumentRecord;
  /** 0 to 1; grows with the rank. */
  readonly similarity: number;
  /** By words, 0 to 1. */
  readonly termSimilarity: number;
  /** By the vectors of a model, or where there are none by those of the index, 0 to 1. */
  readonly vectorSimilarity: number;
  /** What the similarity is made of, by name. */
  readonly scores: Readonly<Record<string, number>>;
}

/** What was found. */
export interface KnowledgeHits {
  /** Of the page, the best first. */
  readonly hits: readonly KnowledgeHit[];
  /** Of all pages. */
  readonly total: number;
  /** Documents with how many of all hits are theirs, those with the most first. */
  readonly documents: readonly { readonly id: string; readonly name: string; readonly count: number }[];
  /** Why the reranking model did not count; absent when it did, and when none was asked for. */
  readonly rerankFailure?: EngineError | undefined;
}

/** Most candidates of one search. */
const MAX_CANDIDATES = 2_048;
/** UTF-16 units of text that a search holds. */
const MAX_TEXTS = 16 * 1_024 ** 2;
/** Longest question that is looked at, in UTF-16 units. */
const MAX_QUESTION = 10_000;
/** Documents whose metadata is looked at in one go. */
const BATCH = 500;

interface Candidate {
  readonly hit: PassageHit;
  readonly dataset: DatasetRecord;
}

/**
 * Searches datasets. Filters hold before candidates are cut. A question without any word finds nothing. Without its model, which cannot be
 * reached for the question, a dataset is searched by words.
 *
 * @throws EngineError NOT_FOUND for a dataset that does not exist, also one that is deleted meanwhile; EMBEDDING_MISMATCH for datasets of
 * different models; BAD_REQUEST for no dataset and for a filter that is none; MODEL_UNKNOWN for a reranking model that is not configured; errors of
 * the index.
 */
export async function searchKnowledge(
  parts: BaseParts,
  tenant: string,
  query: KnowledgeQuery,
  signal: AbortSignal,
): Promise<KnowledgeHits> {
  const { page = 1, pageSize = 30, similarityThreshold = 0.2 } = query;
  const datasets = await datasetsOf(parts, tenant, query);
  const reranker = isNamed(query.rerankModel) ? parts.rerankers(tenant, query.rerankModel) : undefined;
  const question = query.question.slice(0, MAX_QUESTION).trim();
  if (question === '') return { hits: [], total: 0, documents: [] };
  const { crossLanguages = [] } = query;
  const translated = crossLanguages.length === 0 ? [] : await parts.translate(tenant, question, crossLanguages, signal);
  const questions = [question, ...translated];
  const candidates = await candidatesOf(parts, tenant, { ...query, questions }, datasets, signal);
  const ranked = rankedOf(candidates).filter(({ similarity }) => similarity >= similarityThreshold);
  const found = await availableChunks(
    parts,
    tenant,
    ranked.map(({ hit }) => hit.id),
    signal,
  );
  const parted = ranked.flatMap(({ hit, similarity }): KnowledgeHit[] => {
    const { scores } = hit;
    const one = found.get(hit.id);
    const vectorSimilarity = scores.vector ?? scores.ngram ?? 0;
    return one === undefined
      ? []
      : [{ ...one, similarity, termSimilarity: scores.bm25 ?? similarity, vectorSimilarity, scores }];
  });
  const fused = await withParents(parts.store, tenant, parted, signal);
  const offset = (Math.max(1, page) - 1) * pageSize;
  const pageOf = (all: readonly KnowledgeHit[]): KnowledgeHits => ({
    hits: all.slice(offset, offset + pageSize),
    total: all.length,
    documents: documentsOf(all),
  });
  if (reranker === undefined || fused.length === 0) return pageOf(fused);
  const texts = textsToRerank(fused);
  const scores$ = fromAbortable((own) => reranker.rerank(question, texts, { signal: own }));
  const reranked = await firstValue(rerankHits(fused, scores$, similarityThreshold), signal);
  return { ...pageOf(reranked.hits), rerankFailure: reranked.failure };
}

/** Ids of the passages that fit a question, the best first, with their similarity; no text is read. Errors as {@link searchKnowledge}. */
export async function findPassages(
  parts: BaseParts,
  tenant: string,
  query: Pick<KnowledgeQuery, 'question' | 'datasetIds'> & { readonly limit: number },
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly similarity: number }[]> {
  const datasets = await datasetsOf(parts, tenant, query);
  const question = query.question.slice(0, MAX_QUESTION).trim();
  if (question === '') return [];
  const candidates = await candidatesOf(parts, tenant, { ...query, questions: [question] }, datasets, signal);
  return rankedOf(candidates)
    .slice(0, query.limit)
    .map(({ hit, similarity }) => ({ id: hit.id, similarity }));
}

/** Candidates by their similarity and what their dataset counts; equal ones stay in the order of their index. */
function rankedOf(candidates: readonly Candidate[]) {
  return candidates
    .map(({ hit, dataset }) => ({ hit, similarity: hit.score, rank: hit.score + dataset.pagerank / 100 }))
    .sort((a, b) => b.rank - a.rank);
}

function isNamed(model: string | undefined): model is string {
  return model !== undefined && model !== '';
}

async function datasetsOf(
  { listDatasets }: BaseParts,
  tenant: string,
  { datasetIds, datasets: known }: KnowledgeQuery,
): Promise<readonly DatasetRecord[]> {
  const wanted = [...new Set(datasetIds)];
  if (wanted.length === 0) throw new EngineError('BAD_REQUEST', 'A search needs at least one dataset.');
  // A page with room for more says by itself how many there are.
  const page = { offset: 0, limit: wanted.length + 1, orderBy: 'createdAt', descending: false } as const;
  const found = known ?? (await listDatasets(tenant, { ...page, ids: wanted })).items.map(({ dataset }) => dataset);
  const datasets = new Map(found.map((dataset) => [dataset.id, dataset]));
  const missing = wanted.find((id) => !datasets.has(id));
  if (missing !== undefined) throw new EngineError('NOT_FOUND', `There is no dataset "${missing}".`);
  const [first, ...others] = [...datasets.values()];
  const other = others.find(({ embeddingModel }) => embeddingModel !== first?.embeddingModel);
  if (other !== undefined) {
    const message = `Datasets of different embedding models cannot be searched together: "${first?.name}" has "${first?.embeddingModel}", "${other.name}" has "${other.embeddingModel}".`;
    throw new EngineError('EMBEDDING_MISMATCH', message);
  }
  return [...datasets.values()];
}

async function candidatesOf(
  parts: BaseParts,
  tenant: string,
  query: KnowledgeQuery & { readonly questions: readonly string[] },
  datasets: readonly DatasetRecord[],
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const filter = query.filter === undefined ? undefined : readMetadataFilter(query.filter);
  const limit = Math.max(1, Math.min(query.topK ?? 1_024, MAX_CANDIDATES));
  const candidates: Candidate[] = [];
  for (const dataset of datasets) {
    const documentIds = filter === undefined ? query.documentIds : await fitting(parts, tenant, dataset, query, filter);
    if (documentIds?.length === 0) continue;
    const { vectorShare } = query;
    const terms = termsFor(parts.terms, [dataset]);
    const best = new Map<string, PassageHit>();
    for (const question of query.questions) {
      const asked = { question, limit, documentIds, vectorShare, terms };
      for (const hit of await hitsIn(parts, tenant, dataset, asked, signal)) {
        if (hit.score > (best.get(hit.id)?.score ?? -1)) best.set(hit.id, hit);
      }
    }
    for (const hit of best.values()) candidates.push({ hit, dataset });
  }
  return candidates.sort((a, b) => b.hit.score - a.hit.score).slice(0, limit);
}

async function hitsIn(
  parts: BaseParts,
  tenant: string,
  dataset: DatasetRecord,
  query: PassageQuery,
  signal: AbortSignal,
): Promise<readonly PassageHit[]> {
  const hits = await openIndex(parts, tenant, dataset)
    .search(query, signal)
    .catch((error: unknown) => {
      // A model that cannot be reached keeps nothing from being found by words.
      if (!EngineError.is(error) || !error.code.startsWith('MODEL_')) throw error;
      return parts.indexes.open(tenant, dataset.id).search(query, signal);
    });
  signal.throwIfAborted();
  return hits;
}

/** Ids of documents whose metadata fits, read page by page. */
async function fitting(
  { store }: BaseParts,
  tenant: string,
  dataset: DatasetRecord,
  { documentIds }: KnowledgeQuery,
  filter: MetadataFilter,
): Promise<readonly string[]> {
  const fit: string[] = [];
  const fits = metadataTest(filter);
  const query = {
    datasetIds: [dataset.id],
    ids: documentIds,
    limit: BATCH,
    orderBy: 'createdAt',
    descending: false,
  } as const;
  for (let offset = 0; ; offset += BATCH) {
    const { items } = await store.listDocuments(tenant, { ...query, offset });
    for (const { id, metadata } of items) if (fits(metadata)) fit.push(id);
    if (items.length < BATCH) return fit;
  }
}

/**
 * Chunks that are there and available, with documents that are enabled; what was deleted meanwhile is left out, and what comes behind {@link MAX_TEXTS}: a chunk
 * may be a whole document.
 */
export async function availableChunks(
  { store }: BaseParts,
  tenant: string,
  ids: readonly string[],
  signal: AbortSignal,
) {
  const chunks = await readWithin<ChunkRecord>(ids, {
    read: async (some) => {
      signal.throwIfAborted();
      return store.findChunks(tenant, some);
    },
    sizeOf: ({ text, parent }) => text.length + (parent?.text?.length ?? 0),
    maxSize: MAX_TEXTS,
    maxIds: BATCH,
  });
  signal.throwIfAborted();
  const documentIds = [...new Set(chunks.map(({ documentId }) => documentId))];
  const documents = new Map<string, DocumentRecord>();
  for (let at = 0; at < documentIds.length; at += BATCH) {
    const some = documentIds.slice(at, at + BATCH);
    const page = { offset: 0, limit: BATCH, orderBy: 'createdAt', descending: false } as const;
    for (const one of (await store.listDocuments(tenant, { ...page, ids: some })).items) documents.set(one.id, one);
  }
  return new Map(
    chunks.flatMap((chunk) => {
      const document = documents.get(chunk.documentId);
      return document?.isEnabled === true && chunk.isAvailable ? [[chunk.id, { chunk, document }]] : [];
    }),
  );
}

function documentsOf(hits: readonly KnowledgeHit[]): KnowledgeHits['documents'] {
  const counts = new Map<string, { id: string; name: string; count: number }>();
  for (const { document } of hits) {
    const own = counts.get(document.id) ?? { id: document.id, name: document.name, count: 0 };
    own.count += 1;
    counts.set(document.id, own);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}
