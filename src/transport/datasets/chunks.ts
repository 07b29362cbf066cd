/** Chunks of documents: list, read, write, change, let be found or not, delete. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import type { ChunkContent, ChunkEdit } from '../../knowledge/base/chunks.js';
import { type ChunkRecord, type DocumentRecord, pagesOf } from '../../records/knowledge.js';
import type { ChunkQuery } from '../../records/knowledge-store.js';
import { type Envelope, leftOut, success } from '../envelope.js';
import { listFitting, PAGE_BYTES } from '../http/input.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute, unusable } from '../ragflow/dialect.js';
import {
  anything,
  idsIn,
  loosePage,
  loosePageSize,
  MAX_PAGE_SIZE,
  parameter,
  parameters,
  plainText,
  twiceIn,
} from '../ragflow/fields.js';
import { pythonLiteral } from '../ragflow/python-text.js';
import { anyObject, defineView, formatTime, string, whole } from '../shapes.js';
import { documentView } from './document-view.js';
import { type FoundDocument, missing, notYourDataset, notYourDocument, ownDocument, refused } from './find.js';

/** Longest text of a chunk that a client writes, in UTF-16 units. */
const MAX_TEXT = 1_048_576;

/** Words, questions and tags of a chunk, of each kind, and UTF-16 units of all of a kind. */
const MAX_WORDS = 1_000;
const MAX_WORDS_LENGTH = 65_536;

/** Chunks that are deleted in one go. */
const BATCH = 200;

/** Chunks of a list. */
export const chunkView = defineView<ChunkRecord, [document: Pick<DocumentRecord, 'name'>]>()({
  id: [string, 'id'],
  content: [string, 'text'],
  document_id: [string, 'documentId'],
  docnm_kwd: [string, (_, { name }) => name],
  dataset_id: [string, 'datasetId'],
  important_keywords: [z.array(string), 'keywords'],
  questions: [z.array(string), 'questions'],
  tag_kwd: [z.array(string), 'tags'],
  image_id: [string, () => ''],
  doc_type_kwd: [string, () => 'text'],
  available: [z.boolean(), 'isAvailable'],
  positions: [z.array(z.array(z.number())).describe('`[page, left, right, top, bottom]`'), 'positions'],
  page: [whole.nullable().describe('The first one, from 1.'), 'page'],
  pages: [z.array(whole).describe('All that it stands on.'), pagesOf],
  start: [whole.nullable().describe('In the text of the document, in UTF-16 units.'), 'start'],
  end: [whole.nullable(), 'end'],
  headings: [z.array(string).describe('Above it, from the outermost.'), 'headings'],
});

/** One chunk, in the names that RAGFlow's index has. */
const storedView = defineView<ChunkRecord, [document: Pick<DocumentRecord, 'name'>]>()({
  id: [string, 'id'],
  content_with_weight: [string, 'text'],
  doc_id: [string, 'documentId'],
  docnm_kwd: [string, (_, { name }) => name],
  kb_id: [string, 'datasetId'],
  important_kwd: [z.array(string), 'keywords'],
  question_kwd: [z.array(string), 'questions'],
  tag_kwd: [z.array(string), 'tags'],
  img_id: [string, () => ''],
  doc_type_kwd: [string, () => 'text'],
  available_int: [whole, ({ isAvailable }) => (isAvailable ? 1 : 0)],
  position_int: [z.array(z.array(z.number())), 'positions'],
  page_num_int: [z.array(whole), pagesOf],
  create_timestamp_flt: [z.number().describe('Seconds since 1970.'), ({ createdAt }) => createdAt / 1_000],
});

const chunksQuery = z.looseObject({
  id: parameter,
  chunk_ids: parameters,
  keywords: parameter.describe('Part of the text.'),
  available: parameter.describe('"true" or "false".'),
  page: loosePage,
  page_size: loosePageSize.describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
});

const besideQuery = z.looseObject({ chunk_ids: parameters });

const words = anything.describe('A list of texts.');
const contentBody = z.looseObject({
  content: anything.describe('The text.'),
  important_keywords: words,
  questions: words,
  tag_kwd: words,
});
const editBody = contentBody.extend({ available: anything.describe('true, false, 1 or 0.') });
const deletionBody = z.looseObject({ chunk_ids: anything, delete_all: anything });
const switchBody = z.looseObject({ chunk_ids: anything, available: anything, available_int: anything });

const found = ownDocument(notYourDataset, notYourDocument);

type DocumentRequest<B extends z.ZodType> = RouteRequest<'dataset' | 'document', z.ZodObject, B, FoundDocument>;

export const chunkRoutes: RouteGroup = {
  name: 'chunks',
  description: 'Chunks of documents.',
  routes: [
    looseRoute('GET /datasets/:dataset/documents/:document/chunks', {
      summary: 'Lists chunks in their order',
      reserves: 2 * PAGE_BYTES,
      finds: found,
      query: chunksQuery,
      data: z.looseObject({ total: whole, chunks: z.array(chunkView.shape), doc: documentView.shape }),
      handle: list,
    }),
    looseRoute('GET /datasets/:dataset/documents/:document/beside', {
      summary: 'Lists the chunks that stand before and after some of a document',
      reserves: 2 * PAGE_BYTES,
      finds: found,
      query: besideQuery,
      data: z.looseObject({ before: z.array(chunkView.shape), after: z.array(chunkView.shape) }),
      handle: async ({ tenant, query, found: { base, document } }) => {
        const ids = query.chunk_ids;
        if (ids.length === 0 || ids.length > MAX_PAGE_SIZE)
          throw badArgument(`chunk_ids must contain 1 to ${MAX_PAGE_SIZE} IDs; received ${ids.length}`);
        const { before, after } = await base.chunks.beside(tenant, document.id, ids);
        const shown = (chunks: readonly ChunkRecord[]) => chunks.map((chunk) => chunkView.of(chunk, document));
        return success({ before: shown(before), after: shown(after) });
      },
    }),
    looseRoute('GET /datasets/:dataset/documents/:document/chunks/:chunk', {
      summary: 'Reads a chunk',
      finds: found,
      data: storedView.shape,
      handle: async ({ tenant, params, found: { base, document } }) => {
        const chunk = await base.chunks.find(tenant, document.id, params.chunk);
        return chunk === undefined
          ? { code: 102, message: 'Chunk not found!', data: false }
          : success(storedView.of(chunk, document));
      },
    }),
    looseRoute('POST /datasets/:dataset/documents/:document/chunks', {
      summary: 'Writes a chunk behind the others; the same text again replaces it',
      finds: found,
      body: contentBody,
      data: z.looseObject({ chunk: chunkView.shape }),
      handle: add,
    }),
    looseRoute('PATCH /datasets/:dataset/documents/:document/chunks/:chunk', {
      summary: 'Changes a chunk; a new text has no place in the document any more',
      finds: found,
      body: editBody,
      handle: edit,
    }),
    looseRoute('PATCH /datasets/:dataset/documents/:document/chunks', {
      summary: 'Lets chunks be found, or not',
      finds: ownDocument(notYourDataset, () => 'document not found'),
      body: switchBody,
      data: z.literal(true),
      handle: switchAll,
    }),
    looseRoute('DELETE /datasets/:dataset/documents/:document/chunks', {
      summary: 'Deletes chunks; without ids nothing, or with `delete_all` all of them',
      finds: found,
      body: deletionBody,
      data: anyObject.optional(),
      handle: remove,
    }),
  ],
};

/** Which chunks are listed, as many as a page has room for. */
type FittingChunks = ChunkQuery & { readonly maxBytes: number };

async function list({
  tenant,
  params,
  query,
  found: { base, document },
}: RouteRequest<'dataset' | 'document', typeof chunksQuery, z.ZodUnknown, FoundDocument>) {
  const { id, chunk_ids: ids, keywords, available, page, page_size: limit } = query;
  const doc = documentView.of(document, tenant);
  if (id) {
    const chunk = await base.chunks.find(tenant, document.id, id);
    if (chunk === undefined) throw missing(`Chunk not found: ${params.dataset}/${id}`);
    return success({ total: 1, chunks: [chunkView.of(chunk, document)], doc });
  }
  if (ids.length > MAX_PAGE_SIZE) throw badArgument(`chunk_ids must contain at most ${MAX_PAGE_SIZE} IDs`);
  const part = { offset: (page - 1) * limit, limit, maxBytes: PAGE_BYTES };
  const wanted: FittingChunks = {
    documentId: document.id,
    ...part,
    ...(ids.length > 0 && { ids }),
    ...(keywords && { keywords }),
    ...(available !== undefined && { isAvailable: available === 'true' }),
  };
  const { items, total } = await listFitting(wanted, (one) => base.chunks.list(tenant, one));
  const chunks = items.map((chunk) => chunkView.of(chunk, document));
  return { ...success({ total, chunks, doc }), ...leftOut(items.length, total, part) };
}

async function add({ tenant, body, found: { base, document } }: DocumentRequest<typeof contentBody>) {
  const { content, important_keywords, questions, tag_kwd } = body;
  const given: ChunkContent = {
    text: textOf(content),
    ...(important_keywords !== undefined && { keywords: addedWords('important_keywords', important_keywords) }),
    ...(questions !== undefined && { questions: filled(addedWords('questions', questions)) }),
    ...(tag_kwd !== undefined && { tags: addedWords('tag_kwd', tag_kwd) }),
  };
  const chunk = await base.chunks.add(tenant, document.id, given);
  const times = { create_time: formatTime(chunk.createdAt), create_timestamp: chunk.createdAt / 1_000 };
  return success({ chunk: { ...chunkView.of(chunk, document), ...times } });
}

async function edit({
  tenant,
  params,
  body,
  found: { base, document },
}: RouteRequest<'dataset' | 'document' | 'chunk', z.ZodObject, typeof editBody, FoundDocument>): Promise<Envelope> {
  if ((await base.chunks.find(tenant, document.id, params.chunk)) === undefined) throw noChunk(params.chunk);
  const { content, important_keywords, questions, tag_kwd, available } = body;
  const change: ChunkEdit = {
    ...(content !== undefined && content !== null && { text: textOf(content) }),
    ...(important_keywords !== undefined && { keywords: changedWords('important_keywords', important_keywords) }),
    ...(questions !== undefined && { questions: filled(changedWords('questions', questions)) }),
    ...(tag_kwd !== undefined && { tags: changedTags(tag_kwd) }),
    ...(available !== undefined && { isAvailable: flagOf('available', available) }),
  };
  if (Object.keys(change).length > 0) await base.chunks.update(tenant, document.id, params.chunk, change);
  return { code: 0, message: 'success' };
}

async function switchAll({ tenant, body, found: { base, document } }: DocumentRequest<typeof switchBody>) {
  const { chunk_ids: given, available, available_int: number } = body;
  if (!Array.isArray(given) || given.length === 0) throw refused('`chunk_ids` is required.');
  if (available === undefined && number === undefined) throw refused('`available_int` or `available` is required.');
  const ids = idsOf(given);
  const isAvailable = number === undefined ? Boolean(available) : flagOf('available_int', number);
  const changed = await base.chunks.setAvailable(tenant, document.id, ids, isAvailable);
  if (changed.length < ids.length) throw missing('Index updating failure');
  return success(true);
}

async function remove({
  tenant,
  body,
  found: { base, document },
}: DocumentRequest<typeof deletionBody>): Promise<Envelope> {
  const { chunk_ids: given, delete_all } = body;
  if (!Array.isArray(given) || given.length === 0) {
    if (delete_all !== true) return { code: 0, message: 'success' };
    const deleted = await base.chunks.delete(tenant, document.id);
    return { code: 0, message: `deleted ${deleted.length} chunks` };
  }
  const ids = idsOf(given);
  let count = 0;
  for (let at = 0; at < ids.length; at += BATCH)
    count += (await base.chunks.delete(tenant, document.id, ids.slice(at, at + BATCH))).length;
  if (count !== ids.length) throw missing(`rm_chunk deleted chunks ${count}, expect ${ids.length}`);
  const errors = twiceIn(given as readonly string[]).map((id) => `Duplicate chunk ids: ${id}`);
  if (errors.length === 0) return { code: 0, message: `deleted ${count} chunks` };
  const message = `Partially deleted ${count} chunks with ${errors.length} errors`;
  return { ...success({ success_count: count, errors }), message };
}

/** Ids, once each. */
function idsOf(given: readonly unknown[]): readonly string[] {
  return [...new Set(idsIn('chunk_ids', given))];
}

function textOf(content: unknown): string {
  if (typeof content !== 'string' || content.trim() === '') throw refused('`content` is required');
  if (content.length > MAX_TEXT) throw badArgument(`\`content\` must have at most ${MAX_TEXT} characters.`);
  return content;
}

function addedWords(name: string, given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw refused(`\`${name}\` is required to be a list`);
  if (!given.every(isText)) throw refused(`\`${name}\` must be a list of strings`);
  return bounded(name, given);
}

/** RAGFlow fails at other words than texts when a chunk is changed, and says what of. */
function changedWords(name: string, given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw refused(`\`${name}\` should be a list`);
  const other = given.find((one) => !isText(one));
  if (other !== undefined)
    throw unusable(`\`${name}\` must be a list of strings (TypeError): ${pythonLiteral(other, 100)}`);
  return bounded(name, given);
}

function changedTags(given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw refused('`tag_kwd` should be a list');
  return addedWords('tag_kwd', given);
}

function bounded(name: string, given: readonly string[]): readonly string[] {
  const length = given.reduce((sum, text) => sum + text.length, 0);
  if (given.length <= MAX_WORDS && length <= MAX_WORDS_LENGTH) return given;
  throw badArgument(
    `\`${name}\` must have at most ${MAX_WORDS} texts of ${MAX_WORDS_LENGTH} characters in all; received ${given.length} of ${length}.`,
  );
}

function filled(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.trim() || []);
}

function flagOf(name: string, given: unknown): boolean {
  if (typeof given === 'boolean') return given;
  const number = plainText(given)?.trim() ?? '';
  if (/^[+-]?\d+$/.test(number)) return Number(number) !== 0;
  throw unusable(`\`${name}\`: invalid literal for int(): ${pythonLiteral(given, 100)}; give true, false, 1 or 0.`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function noChunk(id: string) {
  return missing(`Can't find this chunk ${id}`);
}
