/** Retrieval through a RAGFlow server. */
import type { EgressClient } from '../adapters/egress/egress-client.js';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from '../knowledge/retriever.js';
import { firstValue } from '../operators/from-abortable.js';
import { askJson, listAt, numberAt, objectOf, textAt } from './upstream.js';

/** A RAGFlow server that searches. */
export interface RagflowServer {
  /** Such as `http://ragflow.example`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly http: EgressClient;
}

const AS_TOOL = { component: 'Retrieval', name: 'search_my_dateset' };

/** Datasets that are searched where none are named. */
const MAX_DATASETS = 100;

/** Longest search, in seconds. */
const TIMEOUT_SECONDS = 60;

/** Makes a retriever of a RAGFlow server: `POST /api/v1/retrieval`; names of datasets are looked up first. */
export function createRagflowRetriever({ baseUrl, apiKey, http }: RagflowServer): Retriever {
  const call = { services: { http }, random: Math.random, now: Date.now };
  const headers = { authorization: `Bearer ${apiKey}` };
  const base = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
  const usual = { headers, timeoutSeconds: TIMEOUT_SECONDS, attempts: 3, secrets: [apiKey] };
  const ask = async (request: Parameters<typeof askJson>[2], { headers: trace, signal }: Asking): Promise<Json> =>
    dataOf(await firstValue(askJson(AS_TOOL, { ...call, ...(trace && { trace }) }, request), signal), apiKey);
  const idOf = async (wanted: string, asking: Asking): Promise<string> => {
    const listed = await ask(
      { ...usual, url: `${base}/datasets`, query: { name: wanted, page: 1, page_size: 1 } },
      asking,
    );
    const id = Array.isArray(listed) ? textAt(listed[0] as Json, 'id') : '';
    if (id === '') throw new EngineError('NOT_FOUND', `Dataset(${wanted}) does not exist.`);
    return id;
  };
  return {
    async datasets(signal) {
      const query = { page: 1, page_size: MAX_DATASETS };
      const listed = await ask({ ...usual, url: `${base}/datasets`, query }, { headers: undefined, signal });
      return (Array.isArray(listed) ? (listed as Json[]) : [])
        .map((one) => textAt(one, 'id'))
        .filter((id) => id !== '');
    },
    async search(request, signal) {
      const asking: Asking = { headers: request.headers, signal };
      const ids = request.datasets.map((one) => (LOOKS_LIKE_ID.test(one) ? one : idOf(one, asking)));
      const body = { ...bodyOf(request), dataset_ids: [...new Set(await Promise.all(ids))] };
      const data = await ask({ ...usual, url: `${base}/retrieval`, method: 'POST', json: body }, asking);
      return (listAt(data, 'chunks') ?? []).filter(isJsonObject).map(passageOf);
    },
  };
}

/** What all requests of one search share. */
interface Asking {
  readonly headers: RetrievalRequest['headers'];
  readonly signal: AbortSignal;
}

/** Ids of RAGFlow: 32 hexadecimal digits. */
const LOOKS_LIKE_ID = /^[0-9a-f]{32}$/i;

function bodyOf(request: RetrievalRequest): JsonObject {
  const { rerankId, filter } = request;
  return {
    question: request.question,
    page: 1,
    page_size: request.topN,
    similarity_threshold: request.similarityThreshold,
    vector_similarity_weight: 1 - request.keywordWeight,
    top_k: request.topK,
    ...(rerankId === '' ? {} : { rerank_id: rerankId }),
    keyword: false,
    highlight: false,
    cross_languages: request.crossLanguages,
    ...conditionOf(filter),
    use_kg: request.useGraph,
    toc_enhance: request.useContents,
  };
}

/**
 * The conditions of a document as the API expects them; those that a model would choose are not supported.
 *
 * @throws EngineError CONFIG_INVALID
 */
function conditionOf({ method = 'disabled', logic = 'and', manual }: JsonObject): JsonObject {
  if (method === 'disabled' || method === '') return {};
  if (method !== 'manual') {
    throw new EngineError(
      'CONFIG_INVALID',
      `meta_data_filter: the method ${JSON.stringify(method)} is not available over RAGFlow's API; use "manual" with conditions.`,
    );
  }
  const given = Array.isArray(manual) ? manual.filter(isJsonObject) : [];
  const conditions = given.map(({ key = '', op = '', value = '' }) => ({ name: key, comparison_operator: op, value }));
  return conditions.length === 0 ? {} : { metadata_condition: { logic, conditions } };
}

/** RAGFlow's envelope: a refusal comes with status 200. */
function dataOf(answer: Json, apiKey: string): Json {
  const { code, data } = objectOf(answer);
  if (code !== 0) throw toolFailed(quoteResponse(textAt(answer, 'message'), [apiKey]) || 'RAGFlow refused the search');
  return data ?? null;
}

function passageOf(chunk: JsonObject): RetrievedPassage {
  const documentId = textAt(chunk, 'document_id');
  const metadata = isJsonObject(chunk.document_metadata) ? { metadata: chunk.document_metadata } : {};
  return {
    id: textAt(chunk, 'id'),
    content: textAt(chunk, 'content'),
    documentId,
    documentName: textAt(chunk, 'document_keyword') || textAt(chunk, 'document_name') || documentId,
    datasetId: textAt(chunk, 'dataset_id') || textAt(chunk, 'kb_id'),
    similarity: numberAt(chunk, 'similarity') ?? 0,
    record: {
      dataset_id: textAt(chunk, 'dataset_id') || textAt(chunk, 'kb_id'),
      vector_similarity: numberAt(chunk, 'vector_similarity') ?? null,
      term_similarity: numberAt(chunk, 'term_similarity') ?? null,
      positions: chunk.positions ?? null,
      image_id: chunk.image_id ?? null,
      url: chunk.url ?? null,
    },
    ...metadata,
  };
}
