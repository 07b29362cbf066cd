/** Searching datasets. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import type { KnowledgeHit, KnowledgeHits, KnowledgeQuery } from '../../knowledge/base/retrieval.js';
import { searchWithGraph } from '../../knowledge/graph/service/search-with-graph.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { pagesOf } from '../../records/knowledge.js';
import { success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
import type { HttpExchange, RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute, strictRoute } from '../ragflow/dialect.js';
import {
  anything,
  dictionaryField,
  flagField,
  listField,
  numberField,
  textField,
  wholeField,
} from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, defineView, string, whole } from '../shapes.js';
import { unknownAmong } from './documents.js';
import { knowledgeOf, MAX_DATASETS, missing, notYourDataset, refused, requireDatasets } from './find.js';
import { wordMarker } from './mark-words.js';
import { flagOf, numberOf, textsOf, wholeOf } from './search-query.js';

/** Documents that a search can be limited to. */
const MAX_DOCUMENTS = 10_000;

/** Hits of one page. */
const MAX_PAGE_SIZE = 100;

const score = z.number().describe('0 to 1.');

const partShape = z.object({ id: string, start: whole, end: whole, page: whole.nullable() });

const hitView = defineView<KnowledgeHit, [marked: string | undefined]>()({
  id: [string, ({ chunk }) => chunk.id],
  content: [string, contentOf],
  document_id: [string, ({ document }) => document.id],
  document_keyword: [string.describe('Name of the document.'), ({ document }) => document.name],
  dataset_id: [string, ({ chunk }) => chunk.datasetId],
  important_keywords: [z.array(string), ({ chunk }) => chunk.keywords],
  questions: [z.array(string), ({ chunk }) => chunk.questions],
  tag_kwd: [z.array(string), ({ chunk }) => chunk.tags],
  image_id: [string, () => ''],
  doc_type_kwd: [string, () => 'text'],
  positions: [z.array(z.array(z.number())), ({ chunk }) => chunk.positions],
  page: [whole.nullable().describe('The first one, from 1.'), ({ chunk }) => chunk.page],
  pages: [z.array(whole).describe('All that it stands on.'), ({ chunk }) => pagesOf(chunk)],
  start: [whole.nullable().describe('In the text of the document, in UTF-16 units.'), ({ chunk }) => chunk.start],
  end: [whole.nullable(), ({ chunk }) => chunk.end],
  matches: [
    z.array(partShape).optional().describe('The parts of the passage that were found, the best first.'),
    ({ matches }) => matches,
  ],
  similarity: [score, 'similarity'],
  term_similarity: [score, 'termSimilarity'],
  vector_similarity: [score, 'vectorSimilarity'],
  scores: [z.record(z.string(), z.number()).describe('What the similarity is made of.'), 'scores'],
  document_metadata: [anyObject, ({ document }) => document.metadata],
  highlight: [string.optional().describe('The text with `<em>`, where it was asked for.'), (_, marked) => marked],
});

/** The same in the names that RAGFlow's search of datasets gives. */
const rawView = defineView<KnowledgeHit, [marked: string | undefined]>()({
  chunk_id: hitView.fields.id,
  content_with_weight: hitView.fields.content,
  doc_id: hitView.fields.document_id,
  docnm_kwd: hitView.fields.document_keyword,
  kb_id: hitView.fields.dataset_id,
  important_kwd: hitView.fields.important_keywords,
  question_kwd: hitView.fields.questions,
  tag_kwd: hitView.fields.tag_kwd,
  image_id: hitView.fields.image_id,
  doc_type_kwd: hitView.fields.doc_type_kwd,
  positions: hitView.fields.positions,
  page: hitView.fields.page,
  pages: hitView.fields.pages,
  start: hitView.fields.start,
  end: hitView.fields.end,
  matches: hitView.fields.matches,
  similarity: hitView.fields.similarity,
  term_similarity: hitView.fields.term_similarity,
  vector_similarity: hitView.fields.vector_similarity,
  scores: hitView.fields.scores,
});

const countShape = z.looseObject({ doc_name: string, doc_id: string, count: whole });

const foundShape = z.looseObject({ total: whole, chunks: z.array(hitView.shape), doc_aggs: z.array(countShape) });

const rawShape = z.looseObject({
  total: whole,
  chunks: z.array(rawView.shape),
  doc_aggs: z.array(countShape),
  labels: z.array(string),
});

const retrievalBody = z.looseObject({
  question: anything.describe('A text.'),
  dataset_ids: anything.describe('A list of ids.'),
  document_ids: anything.describe('Only passages of these.'),
  page: anything.describe('From 1; default 1.'),
  page_size: anything.describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
  similarity_threshold: anything.describe('0 to 1; default 0.2.'),
  vector_similarity_weight: anything.describe('Share of the vectors, 0 to 1; default what was measured best.'),
  top_k: anything.describe('Candidates; default 1024.'),
  highlight: anything,
  metadata_condition: anything,
  rerank_id: anything,
  cross_languages: anything,
  use_kg: anything.describe('Whether the graphs of the datasets fill places behind the second.'),
});

const searchFields = {
  question: textField({ least: 1, isTrimmed: true }),
  doc_ids: listField(textField()).default([]),
  page: wholeField(1).default(1),
  size: wholeField(1, MAX_PAGE_SIZE).default(30),
  top_k: wholeField(1).default(1_024),
  similarity_threshold: numberField(0, 1).default(0),
  vector_similarity_weight: numberField(0, 1).optional(),
  use_kg: flagField().default(false),
  cross_languages: listField(textField()).default([]),
  rerank_id: textField().nullish(),
  meta_data_filter: dictionaryField().nullish(),
};

const searchBody = z.looseObject(searchFields);
const searchAllBody = z.looseObject({ dataset_ids: listField(textField()).min(1), ...searchFields });

export const retrievalRoutes: RouteGroup = {
  name: 'retrieval',
  description: 'Passages of datasets that fit a question.',
  routes: [
    looseRoute('POST /retrieval', {
      summary: 'Searches datasets',
      body: retrievalBody,
      data: foundShape,
      handle: retrieve,
    }),
    strictRoute('POST /datasets/search', {
      summary: 'Searches datasets, in the names of the index',
      body: searchAllBody,
      data: rawShape,
      handle: ({ tenant, body, exchange }, parts) => search(parts, { tenant, exchange }, body, body.dataset_ids),
    }),
    strictRoute('POST /datasets/:dataset/search', {
      summary: 'Searches a dataset, in the names of the index',
      body: searchBody,
      data: rawShape,
      handle: ({ tenant, params, body, exchange }, parts) =>
        search(parts, { tenant, exchange }, body, [params.dataset]),
    }),
  ],
};

async function retrieve(
  { tenant, body, exchange }: RouteRequest<never, z.ZodObject, typeof retrievalBody>,
  parts: ServerParts,
) {
  const { question } = body;
  if (!Array.isArray(body.dataset_ids) ? !body.dataset_ids : body.dataset_ids.length === 0)
    throw refused('`dataset_ids` is required.');
  const datasetIds = textsOf('dataset_ids', body.dataset_ids, MAX_DATASETS);
  const base = await knowledgeOf(parts);
  await requireDatasets(base, tenant, datasetIds, notYourDataset);
  if (question === undefined) throw refused('`question` is required.');
  if (typeof question !== 'string') throw refused('`question` should be a text');
  const page = Math.max(1, wholeOf('page', body.page, 1));
  const pageSize = sizeOf(wholeOf('page_size', body.page_size, 30));
  if (question.trim() === '') return success({ total: 0, chunks: [], doc_aggs: [] });
  if (body.document_ids !== undefined && !Array.isArray(body.document_ids))
    throw refused('`documents` should be a list');
  const documentIds = textsOf('document_ids', body.document_ids, MAX_DOCUMENTS);
  await requireDocuments(base, tenant, datasetIds, documentIds);
  const topK = wholeOf('top_k', body.top_k, 1_024);
  if (topK <= 0) throw refused('`top_k` must be greater than 0');
  const isMarked = flagOf('highlight', body.highlight);
  const usesGraph = flagOf('use_kg', body.use_kg);
  const condition = body.metadata_condition || undefined;
  if (condition !== undefined && (typeof condition !== 'object' || Array.isArray(condition)))
    throw refused('`metadata_condition` should be an object');
  const found = await searched(base, exchange, tenant, usesGraph, {
    question,
    datasetIds,
    page,
    pageSize,
    topK,
    ...(documentIds.length > 0 ? { documentIds } : { filter: condition as JsonObject | undefined }),
    similarityThreshold: numberOf('similarity_threshold', body.similarity_threshold),
    vectorShare: numberOf('vector_similarity_weight', body.vector_similarity_weight),
    rerankModel: textsOf('rerank_id', body.rerank_id ? [body.rerank_id] : [], 1)[0],
    crossLanguages: textsOf('cross_languages', body.cross_languages, 20),
  });
  if (found === undefined) return undefined;
  const mark = isMarked ? wordMarker(question) : undefined;
  const chunks = found.hits.map((hit) => hitView.of(hit, mark?.(contentOf(hit))));
  return success({ total: found.total, chunks, doc_aggs: countsOf(found) });
}

async function search(
  parts: ServerParts,
  { tenant, exchange }: { readonly tenant: string; readonly exchange: HttpExchange },
  body: z.output<typeof searchBody>,
  ids: readonly string[],
) {
  const base = await knowledgeOf(parts);
  const datasetIds = textsOf('dataset_ids', ids, MAX_DATASETS);
  await requireDatasets(base, tenant, datasetIds, () => 'Only owner of dataset authorized for this operation.');
  const documentIds = textsOf('doc_ids', body.doc_ids, MAX_DOCUMENTS);
  const found = await searched(base, exchange, tenant, body.use_kg, {
    question: body.question,
    datasetIds,
    page: body.page,
    pageSize: body.size,
    topK: body.top_k,
    ...(documentIds.length > 0 && { documentIds }),
    filter: (body.meta_data_filter ?? undefined) as JsonObject | undefined,
    similarityThreshold: body.similarity_threshold,
    vectorShare: body.vector_similarity_weight,
    rerankModel: body.rerank_id || undefined,
    crossLanguages: body.cross_languages.slice(0, 20),
  });
  if (found === undefined) return undefined;
  const chunks = found.hits.map((hit) => rawView.of(hit, undefined));
  return success({ total: found.total, chunks, doc_aggs: countsOf(found), labels: [] });
}

/** Searches as long as the client waits for it; undefined when it has left. */
function searched(
  base: KnowledgeBase,
  exchange: HttpExchange,
  tenant: string,
  usesGraph: boolean,
  query: KnowledgeQuery,
): Promise<KnowledgeHits | undefined> {
  return forClient(
    exchange,
    fromAbortable((signal) =>
      usesGraph ? searchWithGraph(base, tenant, query, signal) : base.search(tenant, query, signal),
    ),
  );
}

async function requireDocuments(
  base: KnowledgeBase,
  tenant: string,
  datasetIds: readonly string[],
  ids: readonly string[],
): Promise<void> {
  let unknown = ids;
  for (const id of datasetIds) {
    if (unknown.length === 0) return;
    unknown = await unknownAmong(base, tenant, id, unknown);
  }
  if (unknown[0] !== undefined) throw missing(`The datasets don't own the document ${unknown[0]}`);
}

function sizeOf(size: number): number {
  if (size > MAX_PAGE_SIZE)
    throw new EngineError('BAD_REQUEST', `page_size must be less than or equal to ${MAX_PAGE_SIZE}`);
  return size < 1 ? 30 : size;
}

function contentOf({ chunk }: KnowledgeHit): string {
  return chunk.context === '' ? chunk.text : `${chunk.context}\n${chunk.text}`;
}

function countsOf({ documents }: KnowledgeHits) {
  return documents.map(({ id, name, count }) => ({ doc_name: name, doc_id: id, count }));
}
