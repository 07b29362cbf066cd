/** Rows of knowledge bases, and the records that they are. */
import type { z } from 'zod';
import { EngineError } from '../../../errors.js';
import {
  type ChunkRecord,
  chunkSchema,
  type DatasetRecord,
  type DocumentRecord,
  type DocumentRun,
  datasetSchema,
  documentSchema,
} from '../../../records/knowledge.js';
import { foldCase } from '../../../records/repository.js';
import { brokenConstraint } from '../failures.js';
import { wellFormed } from '../well-formed.js';

/** The columns of a dataset, and its record as JSON. */
export function datasetRow(tenant: string, dataset: DatasetRecord) {
  const { id, name, source, createdAt, updatedAt } = dataset;
  return {
    tenant,
    id,
    name,
    name_key: foldCase(name),
    source,
    created_at: createdAt,
    updated_at: updatedAt,
    record: JSON.stringify(dataset),
  };
}

/** @throws EngineError INTERNAL for a record of another form. */
export function readDataset(record: object): DatasetRecord {
  return checked('Dataset', datasetSchema, record);
}

/** A row of a document as {@link DOCUMENT_COLUMNS} selects it. */
export interface DocumentRow {
  readonly record: object;
  readonly run: DocumentRun;
  readonly progress: number;
  readonly progressMsg: string;
  readonly beganAt: number | null;
  readonly durationMs: number;
  readonly characters: number;
  readonly chunkCount: number;
  readonly tokenCount: number;
  readonly attempt: number;
}

/** What a statement selects to read a document from the table `d`. */
export const DOCUMENT_COLUMNS = `d.record, d.run, d.progress, d.progress_msg as "progressMsg", d.began_at::float8 as "beganAt",
  d.duration_ms::float8 as "durationMs", d.characters::float8 as characters, d.chunk_count::float8 as "chunkCount",
  d.token_count::float8 as "tokenCount", d.attempt`;

/** The columns of a document without those that the store counts by itself. */
export function documentRow(tenant: string, document: DocumentRecord) {
  const { run, progress, progressMsg, beganAt, durationMs, characters, attempt, ...others } = document;
  const { chunkCount: _, tokenCount: __, ...facts } = others;
  return {
    tenant,
    id: facts.id,
    dataset: facts.datasetId,
    name: facts.name,
    name_key: foldCase(facts.name),
    type: facts.type,
    suffix: facts.suffix,
    sha256: facts.sha256,
    size: facts.size,
    is_enabled: facts.isEnabled,
    created_at: facts.createdAt,
    updated_at: facts.updatedAt,
    run,
    progress,
    progress_msg: progressMsg,
    began_at: beganAt,
    duration_ms: Math.round(durationMs),
    characters,
    attempt,
    record: JSON.stringify(facts),
  };
}

/** @throws EngineError INTERNAL for a record of another form. */
export function readDocument({ record, ...progress }: DocumentRow): DocumentRecord {
  // What was checked is new already; names that are added to a copy cost twenty times as much (decision 266).
  return Object.assign(checked('Document', documentSchema, record), progress);
}

/** A row of a chunk as {@link CHUNK_COLUMNS} selects it. */
export interface ChunkRow {
  readonly id: string;
  readonly documentId: string;
  readonly index: number;
  readonly text: string;
  readonly tokens: number;
  readonly place: object;
  readonly given: object;
  readonly isAvailable: boolean;
  readonly updatedAt: number;
}

/** What a statement selects to read a chunk from the table `c`. */
export const CHUNK_COLUMNS = `c.id, c.document as "documentId", c.index, c.text, c.tokens, c.place, c.given,
  c.is_available as "isAvailable", c.updated_at::float8 as "updatedAt"`;

/** The columns of a chunk. */
export function chunkRow(tenant: string, attempt: number, chunk: ChunkRecord) {
  const { id, documentId, index, text, tokens, isAvailable, updatedAt } = chunk;
  const { datasetId, start, end, page, positions, pageStarts, parent, headings, context } = chunk;
  const { keywords, questions, tags, createdAt } = chunk;
  return {
    tenant,
    id,
    document: documentId,
    index,
    text: wellFormed(text),
    tokens,
    place: JSON.stringify({ datasetId, start, end, page, positions, pageStarts, parent, headings, context }),
    given: JSON.stringify({ keywords, questions, tags, createdAt }),
    about: JSON.stringify([headings, context]),
    is_available: isAvailable,
    attempt,
    is_indexed: false,
    updated_at: updatedAt,
  };
}

/** @throws EngineError INTERNAL for a record of another form. */
export function readChunk(row: ChunkRow): ChunkRecord {
  return checked('Chunk', chunkSchema, {
    id: row.id,
    documentId: row.documentId,
    index: row.index,
    text: row.text,
    tokens: row.tokens,
    isAvailable: row.isAvailable,
    updatedAt: row.updatedAt,
    ...row.place,
    ...row.given,
  });
}

/** The dataset of document `d` is there, and so is the document. Not by `exists`, which Postgres may answer first: then it reads all documents of the dataset. */
export const IS_THERE = `not d.is_discarded and (
  select not s.is_discarded from runnel.knowledge_datasets s where s.tenant = d.tenant and s.id = d.dataset)`;

/** The error of a dataset or documents that a constraint refuses; others as they are. */
export function refusal(error: unknown, name: string): unknown {
  const refused = (code: 'CONFLICT' | 'NOT_FOUND', message: string) => new EngineError(code, message, { cause: error });
  switch (brokenConstraint(error)) {
    case 'knowledge_datasets_pkey':
    case 'knowledge_documents_pkey':
      return refused('CONFLICT', `The id of "${name}" is taken.`);
    case 'knowledge_datasets_name_key':
      return refused('CONFLICT', `There is a dataset "${name}" already.`);
    case 'knowledge_documents_name_key':
      return refused('CONFLICT', `The dataset has a document "${name}" already.`);
    case 'knowledge_documents_dataset_fkey':
      return refused('NOT_FOUND', `There is no dataset for the document "${name}".`);
    default:
      return error;
  }
}

function checked<T>(what: string, schema: z.ZodType<T>, record: object): T {
  const { error } = schema.safeParse(record);
  if (error === undefined) return record as T;
  throw new EngineError('INTERNAL', `${what} in the database cannot be read: ${error.message}`);
}

/** What counts the rows of a query. */
export interface Count {
  readonly count: number;
}

/** How many there are on all pages; counted only where the rows of this page do not say it. */
export async function totalOf(
  found: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  count: () => PromiseLike<readonly Count[]>,
): Promise<number> {
  if (found < limit && (found > 0 || offset === 0)) return offset + found;
  const [all] = await count();
  return all?.count ?? 0;
}
