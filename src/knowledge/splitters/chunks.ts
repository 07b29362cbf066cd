/** Documents made of parts of documents. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json, JsonObject } from '../../json.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { type KnowledgeDocument, knowledgeDocument, metadataValue } from '../knowledge-document.js';
import type { TransformFunction } from '../ports.js';
import { requireDocuments } from '../require-input.js';

/** Gives the id of a chunk; `index` is its position among the chunks of the document, from 0. */
export type ChunkId = (documentId: string, index: number) => string;

/** The id of a chunk unless said otherwise: that of the document, `#` and the position. */
export const chunkId: ChunkId = (documentId, index) => `${documentId}#${index}`;

/** A part of a document. */
export interface Chunk {
  readonly text: string;
  /** Where it stands in the text of the document; undefined when it is no part of that as it is written. */
  readonly start?: number;
  /** Further metadata of this part. */
  readonly metadata?: JsonObject;
}

/** Most chunks of one document, unless said otherwise. */
export const MAX_CHUNKS = 100_000;

/**
 * A transformer that makes documents of the chunks of documents. They keep metadata and sub-indexes, and get `chunk` and, where they are
 * a part of the text, `span`: `[start, end]` in the text that was split first, also when chunks are split again. Vectors and scores are of
 * the whole text and are left out. Other work of the process goes on between two documents.
 */
export function chunking(
  name: string,
  split: (document: KnowledgeDocument, signal?: AbortSignal) => readonly Chunk[] | Promise<readonly Chunk[]>,
  idOf: ChunkId,
): TransformFunction {
  if (typeof idOf !== 'function') throw invalidOption(name, 'idOf', 'a function', idOf);
  return async (documents, { signal } = {}) => {
    requireDocuments(name, documents);
    const chunks: KnowledgeDocument[] = [];
    for (const document of documents) {
      signal?.throwIfAborted();
      const parts = await split(document, signal);
      for (const [index, part] of parts.entries()) chunks.push(chunkOf(document, part, index, idOf));
      await nextTurn();
    }
    signal?.throwIfAborted();
    return chunks;
  };
}

function chunkOf(document: KnowledgeDocument, chunk: Chunk, index: number, idOf: ChunkId): KnowledgeDocument {
  const { span: _, ...metadata } = document.metadata;
  const { text, start } = chunk;
  const span = start === undefined ? undefined : spanOf(document, start, start + text.length);
  return knowledgeDocument({
    id: idOf(document.id, index),
    text,
    metadata: { ...metadata, ...chunk.metadata, ...(span !== undefined && { span }), chunk: index },
    subIndexes: document.subIndexes,
  });
}

/** The place in the text that was split first. */
function spanOf({ metadata, text }: KnowledgeDocument, start: number, end: number): Json {
  const known = metadataValue(metadata, 'span');
  const [from, to] = Array.isArray(known) ? (known as readonly Json[]) : [];
  const base = typeof from === 'number' && typeof to === 'number' && to - from === text.length ? from : 0;
  return [base + start, base + end];
}
