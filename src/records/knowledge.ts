/** What is stored of knowledge bases: datasets, their documents, and the chunks that documents were cut into. */
import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import type { Json } from '../json.js';

/** How far a document is: not parsed, waiting or at work, stopped, searchable, failed. RAGFlow's names; its numbers are the positions. */
export const RUN_STATES = ['UNSTART', 'RUNNING', 'CANCEL', 'DONE', 'FAIL'] as const;

/** One of {@link RUN_STATES}. */
export type DocumentRun = (typeof RUN_STATES)[number];

/** The ways to cut documents that a dataset can name, as RAGFlow names them. */
export const CHUNK_METHODS = [
  'naive',
  'book',
  'email',
  'laws',
  'manual',
  'one',
  'paper',
  'picture',
  'presentation',
  'qa',
  'table',
  'tag',
] as const;

/** One of {@link CHUNK_METHODS}. */
export type ChunkMethod = (typeof CHUNK_METHODS)[number];

/** The form of a stored dataset. */
export const datasetSchema = z.object({
  id: z.string(),
  /** Unique per tenant, without regard to case. */
  name: z.string(),
  description: z.string().nullable(),
  avatar: z.string().nullable(),
  language: z.string(),
  /** `model@provider`; empty: passages are found without a model. */
  embeddingModel: z.string(),
  permission: z.enum(['me', 'team']),
  chunkMethod: z.enum(CHUNK_METHODS),
  /** RAGFlow's `parser_config`, with its defaults filled in. */
  parserConfig: jsonObject,
  /** Id of the canvas that documents go through; null: the chunk method names a built-in one. */
  pipelineId: z.string().nullable(),
  /** 0 to 1. */
  similarityThreshold: z.number(),
  /** Share of the vectors in the similarity, 0 to 1. */
  vectorSimilarityWeight: z.number(),
  /** Added to the rank of its passages, 0 to 100. */
  pagerank: z.number(),
  /** Pairs of terms that mean the same, beside those of the package and of the server. @default none */
  terms: z
    .array(z.tuple([z.string(), z.string()]).readonly())
    .readonly()
    .exactOptional(),
  /** Terms and patterns that the rules of its graph have beside those of the package. @default none */
  graphRules: z
    .object({
      terms: z
        .array(z.object({ name: z.string(), type: z.string(), aliases: z.array(z.string()).readonly() }).readonly())
        .readonly(),
      patterns: z.array(z.object({ pattern: z.string(), relation: z.string() }).readonly()).readonly(),
    })
    .readonly()
    .exactOptional(),
  /** Where its documents come from when it follows something, such as `folder:manuals`; null for one that users fill. */
  source: z.string().nullable(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A dataset. */
export type DatasetRecord = Readonly<z.infer<typeof datasetSchema>>;

/** What of a dataset can change. */
export type DatasetChange = Partial<Omit<DatasetRecord, 'id' | 'createdAt'>>;

/** How much a dataset holds. */
export interface DatasetCounts {
  readonly documents: number;
  readonly chunks: number;
  readonly tokens: number;
}

/** A dataset with how much it holds. */
export interface CountedDataset {
  readonly dataset: DatasetRecord;
  readonly counts: DatasetCounts;
}

/** What is known of a document that does not change while it is parsed. */
export const documentSchema = z.object({
  id: z.string(),
  datasetId: z.string(),
  /** Unique in its dataset, without regard to case. */
  name: z.string(),
  /** RAGFlow's kind of file: `doc`, `pdf`, `visual`, `aural`, `virtual`, `other`. */
  type: z.string(),
  /** Ending of the name in lower case, without its dot. */
  suffix: z.string(),
  /** Where it came from: `local`, `web`, `folder:<path>`. */
  source: z.string(),
  /** Id of the stored file; null for a document without one. */
  fileId: z.string().nullable(),
  mimeType: z.string(),
  /** SHA-256 of the bytes, in hexadecimal; empty without a file. */
  sha256: z.string(),
  /** Bytes. */
  size: z.number(),
  chunkMethod: z.enum(CHUNK_METHODS),
  parserConfig: jsonObject,
  pipelineId: z.string().nullable(),
  /** Whether its chunks are searched. */
  isEnabled: z.boolean(),
  metadata: jsonObject,
  /** Id of the document of this dataset with the same bytes that was there before. */
  duplicateOf: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** How far the parsing of a document is. */
export interface DocumentProgress {
  readonly run: DocumentRun;
  /** Share that is done, 0 to 1; -1 when it failed. */
  readonly progress: number;
  /** What happened, one line each. */
  readonly progressMsg: string;
  /** When a process last began with it, in milliseconds since 1970; null: never. */
  readonly beganAt: number | null;
  /** How long it took, or has taken so far. */
  readonly durationMs: number;
  /** UTF-16 units of its text. */
  readonly characters: number;
}

/** A document of a dataset. Its counts are kept by the store. */
export type DocumentRecord = Readonly<z.infer<typeof documentSchema>> &
  DocumentProgress & {
    readonly chunkCount: number;
    readonly tokenCount: number;
    /** Raised whenever it is to be parsed or is stopped; work of an earlier number is refused. */
    readonly attempt: number;
  };

/** What of a document can change from outside of its store. */
export type DocumentChange = Partial<
  Omit<z.infer<typeof documentSchema>, 'id' | 'datasetId' | 'createdAt'> & Omit<DocumentProgress, 'run'>
> & { readonly run?: DocumentRun };

/** Pages from 1, each with the place where its text begins in the text of the document, in UTF-16 units. */
const pageStartsSchema = z.array(z.tuple([z.number(), z.number()]).readonly()).readonly();

/** The form of a stored chunk, but for what the store counts. */
export const chunkSchema = z.object({
  /** Made of document, text and the number of equal texts before it, so it is the same when the document is cut again. */
  id: z.string(),
  datasetId: z.string(),
  documentId: z.string(),
  /** Position in its document, from 0. */
  index: z.number(),
  text: z.string(),
  tokens: z.number(),
  /** Where the text stands in the text of the document, in UTF-16 units; null for one that a user wrote. */
  start: z.number().nullable(),
  end: z.number().nullable(),
  /** Page from 1; null when the document has none. */
  page: z.number().nullable(),
  /** Boxes on pages: `[page, left, right, top, bottom]`; one of zeros says that it is on that page, and not where. */
  positions: z.array(z.array(z.number()).readonly()).readonly(),
  /** For a text that stands on several pages; without meaning when `start` is null. */
  pageStarts: pageStartsSchema.exactOptional(),
  /** The passage that it is a part of, which is given in its place unless a user changed its own text. */
  parent: z
    .object({
      /** Id of the first of its parts, which holds `text`; without it, the parts are given as they are. */
      first: z.string(),
      text: z.string().exactOptional(),
      start: z.number(),
      end: z.number(),
      tokens: z.number(),
      positions: z.array(z.array(z.number()).readonly()).readonly(),
      pageStarts: pageStartsSchema.exactOptional(),
    })
    .exactOptional(),
  /** Headings above it, from the outermost. */
  headings: z.array(z.string()).readonly(),
  /** What is searched with it and is not part of it, such as the header of its table. */
  context: z.string(),
  keywords: z.array(z.string()).readonly(),
  questions: z.array(z.string()).readonly(),
  tags: z.array(z.string()).readonly(),
  /** Whether it is searched, as long as its document is enabled. */
  isAvailable: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A piece of a document that is found as a whole, or by which the passage is found that it is a part of. */
export type ChunkRecord = Readonly<z.infer<typeof chunkSchema>>;

/** All pages that a chunk stands on, in order; none of a document without pages. */
export function pagesOf({ page, positions }: Pick<ChunkRecord, 'page' | 'positions'>): readonly number[] {
  const pages = positions.flatMap(([on]) => (on === undefined ? [] : [on]));
  return [...new Set(page === null ? pages : [page, ...pages])].sort((a, b) => a - b);
}

/** What of a chunk can change; `context` is told by pipelines, the others by users, too. A new text has no place in the document. */
export type ChunkChange = Partial<
  Pick<
    ChunkRecord,
    'text' | 'tokens' | 'start' | 'end' | 'context' | 'keywords' | 'questions' | 'tags' | 'isAvailable' | 'updatedAt'
  >
>;

/** A finished step of an ingestion. */
export interface IngestionStep {
  readonly name: string;
  /** What it gave; small, as what is large is stored elsewhere. */
  readonly output: Json;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** A vector of a chunk by a model. */
export interface ChunkVector {
  readonly chunkId: string;
  readonly vector: Float32Array;
}
