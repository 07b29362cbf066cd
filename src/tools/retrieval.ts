import { catchError, map, type Observable, of, throwError } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { interpolate, resolveParam } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from '../knowledge/retriever.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { anyNumber, flag, queryArgument, text, wholeNumber } from './fields.js';
import { type Passage, searchOutputs, searchResult } from './results.js';
import {
  defineTool,
  type Shape,
  type ShapeOutput,
  type ToolCall,
  type ToolEvent,
  type ToolResult,
  toolResult,
} from './tool.js';
import { requireService } from './tool-services.js';

const ids = (description: string) =>
  z
    .preprocess((given) => (typeof given === 'string' ? given.split(',') : (given ?? [])), z.array(z.string()))
    .describe(description);

const params = {
  dataset_ids: ids('Datasets: ids, names, or references to either or to a list of them. Default: none.'),
  kb_ids: ids('Older name of `dataset_ids`.'),
  memory_ids: ids('Memories to search instead. Default: none.'),
  retrieval_from: text('`dataset` or `memory`; default whatever is given.'),
  similarity_threshold: anyNumber(0.2, 'Passages below it are left out, 0 to 1; default 0.2.', { min: 0, max: 1 }),
  keywords_similarity_weight: anyNumber(0.5, 'Share of keywords in the similarity, 0 to 1; default 0.5.', {
    min: 0,
    max: 1,
  }),
  top_n: wholeNumber(8, 'Passages at most, 1 to 1024; default 8.', { max: 1024 }),
  top_k: wholeNumber(1024, 'Candidates that are looked at; default 1024.'),
  rerank_id: text('Model that orders the candidates; default none.'),
  empty_response: text('What is said when nothing is found; default "".'),
  use_kg: flag(false, 'Looks into the graph of knowledge as well; default false.'),
  toc_enhance: flag(false, 'Uses tables of contents; default false.'),
  cross_languages: ids('Languages that the question is translated into as well. Default: none.'),
  meta_data_filter: z
    .preprocess((given) => given ?? {}, z.record(z.string(), z.json()))
    .describe('Conditions on the metadata of documents: {method, logic, manual: [{key, op, value}]}. Default: none.'),
  user_id: text('Whose memories; default "".'),
} satisfies Shape;

type RetrievalParams = ShapeOutput<typeof params>;

/** What to do without a dataset. */
const SELECT = 'Name one in `dataset_ids`.';

/** RAGFlow's clients prefix the text with the role of the speaker. */
const SPEAKER = /^\s*user\s*[:：]\s*/i;

/** Searches datasets, or memories. Errors: `TOOL_FAILED` without a dataset, and those of the `Retriever`. */
export const retrieval = defineTool({
  component: 'Retrieval',
  // The spelling is part of RAGFlow's contract; prompts in use name it.
  name: 'search_my_dateset',
  aliases: ['search_my_dataset'],
  summary: 'Searches the datasets of this assistant and gives passages that answer a question.',
  arguments: { query: queryArgument('What to look for: the key words of the question.') },
  params,
  nodeDefaults: { query: '{sys.query}' },
  outputs: searchOutputs,
  timeoutSeconds: 12,
  advise: (params) =>
    params.memory_ids.length + params.dataset_ids.length + params.kb_ids.length === 0
      ? [`there is no dataset to search. ${SELECT}`]
      : [],
  call({ query }, call): Observable<ToolEvent> {
    const question = query.replace(SPEAKER, '').trim();
    const { empty_response: nothing } = call.params;
    if (question === '' || isUnset(call.params)) return of(emptyResult(nothing));
    const retriever = requireService(call.services, 'retriever', `Tool "${retrieval.name}"`);
    const result$ = isMemory(call.params) ? recall(retriever, question, call) : search(retriever, question, call);
    return result$.pipe(catchError((error: unknown) => throwError(() => plain(error))));
  },
});

/** A document without datasets, such as a template, finds nothing. */
function isUnset({ retrieval_from: from, dataset_ids, kb_ids, memory_ids }: RetrievalParams): boolean {
  return from === '' && dataset_ids.length + kb_ids.length + memory_ids.length === 0;
}

function isMemory({ retrieval_from: from, memory_ids, ...params }: RetrievalParams): boolean {
  if (from === 'memory' || from === 'dataset') return from === 'memory';
  return memory_ids.length > 0 && params.dataset_ids.length + params.kb_ids.length === 0;
}

function search(retriever: Retriever, question: string, call: ToolCall<RetrievalParams>): Observable<ToolResult> {
  const request = requestOf(question, call);
  if (request.datasets.length === 0) throw toolFailed(`No dataset is selected. ${SELECT}`);
  return fromAbortable((signal) => retriever.search(request, signal)).pipe(
    map((found) =>
      found.length === 0
        ? emptyResult(call.params.empty_response)
        : searchResult(found.map(toPassage), found.map(chunkRecord)),
    ),
  );
}

function recall(retriever: Retriever, question: string, call: ToolCall<RetrievalParams>): Observable<ToolResult> {
  const memories = resolveIds(call.params.memory_ids, call);
  if (memories.length === 0) throw toolFailed('No memory is selected.');
  if (retriever.recall === undefined) throw toolFailed('this server has no memories');
  const ask = retriever.recall.bind(retriever);
  const userId = interpolate(call.params.user_id, call.source);
  return fromAbortable((signal) =>
    ask({ question, memories, userId, topN: call.params.top_n, ...headersOf(call) }, signal),
  ).pipe(
    map((texts) => {
      const all = texts.join('\n');
      if (all === '') return emptyResult(call.params.empty_response);
      return toolResult(all, { formalized_content: all, json: [...texts] });
    }),
  );
}

function requestOf(question: string, call: ToolCall<RetrievalParams>): RetrievalRequest {
  const { params: given } = call;
  return {
    question,
    datasets: resolveIds(given.dataset_ids.length > 0 ? given.dataset_ids : given.kb_ids, call),
    topN: given.top_n,
    topK: given.top_k,
    similarityThreshold: given.similarity_threshold,
    keywordWeight: given.keywords_similarity_weight,
    rerankId: given.rerank_id,
    crossLanguages: given.cross_languages,
    useGraph: given.use_kg,
    useContents: given.toc_enhance,
    filter: resolveFilter(given.meta_data_filter, call),
    ...headersOf(call),
  };
}

function headersOf({ trace }: ToolCall<RetrievalParams>): Pick<RetrievalRequest, 'headers'> {
  return trace === undefined ? {} : { headers: { ...trace } };
}

/** Ids and names; a reference may give one or a list. Each once, in order. */
function resolveIds(given: readonly string[], { source }: ToolCall<RetrievalParams>): string[] {
  const found = given.flatMap((one): Json[] => {
    const value = one.includes('@') || one.includes('{') ? resolveParam(one, source) : one;
    return Array.isArray(value) ? [...value] : [value];
  });
  return [...new Set(found.filter((one): one is string => typeof one === 'string').map((one) => one.trim()))].filter(
    Boolean,
  );
}

/** References in the values of conditions are replaced. */
function resolveFilter(filter: JsonObject, { source }: ToolCall<RetrievalParams>): JsonObject {
  const { manual } = filter;
  if (!Array.isArray(manual)) return filter;
  const conditions = manual.map((condition: Json) => {
    if (!isJsonObject(condition) || typeof condition.value !== 'string') return condition;
    return { ...condition, value: interpolate(condition.value, source) };
  });
  return { ...filter, manual: conditions };
}

function emptyResult(response: string): ToolResult {
  return toolResult(response, { formalized_content: response, json: [] });
}

function toPassage(found: RetrievedPassage): Passage {
  const { id, content, documentId, documentName: title, similarity: score, record, metadata } = found;
  const url = typeof record?.url === 'string' ? record.url : undefined;
  return { id, content, documentId, title, score, url, ...(record && { record }), ...(metadata && { metadata }) };
}

/** A passage as RAGFlow's index gives it. */
function chunkRecord(found: RetrievedPassage): JsonObject {
  return {
    chunk_id: found.id,
    content: found.content,
    content_with_weight: found.content,
    doc_id: found.documentId,
    docnm_kwd: found.documentName,
    kb_id: found.datasetId,
    image_id: '',
    positions: [],
    similarity: found.similarity,
    vector_similarity: null,
    term_similarity: null,
    url: null,
    doc_type_kwd: '',
    ...found.record,
    document_metadata: found.metadata ?? {},
  };
}

/** The message of the index is passed on: a dataset that does not exist is a mistake of the document. */
function plain(error: unknown): unknown {
  return EngineError.is(error) && error.code === 'NOT_FOUND' ? toolFailed(error.message) : error;
}
