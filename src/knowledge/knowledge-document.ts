/** What loaders read, splitters cut, indexers store and retrievers find: texts with what is known about them. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../json.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';

/** Weights by dimension, which is a number or a term; dimensions that are absent weigh nothing. */
export type SparseVector = Readonly<Record<string, number>>;

/**
 * A text with what is known about it. It is JSON, and it is never changed: helpers give copies.
 *
 * Metadata that the loaders, parsers and splitters write: `source` (the URI), `fileName`, `extension` (without its dot), `mediaType`,
 * `title`, `language`, `row` (from 1), `isCut`, `headings` (from the outermost), `span` (`[start, end]` in UTF-16 units of the text that was
 * split), `chunk` (position among the chunks of a document, from 0), `parentId`, `ancestorIds`.
 */
export interface KnowledgeDocument {
  /** The same document has the same id when it is loaded again. */
  readonly id: string;
  readonly text: string;
  readonly metadata: JsonObject;
  /** How well it fits a query, higher is better; set by retrievers. Its scale is that of the retriever. */
  readonly score?: number | undefined;
  /** The vector of its text by an embedding model. */
  readonly denseVector?: readonly number[] | undefined;
  /** The vector of its text by terms. */
  readonly sparseVector?: SparseVector | undefined;
  /** Parts of an index that it belongs to; absent for none. */
  readonly subIndexes?: readonly string[] | undefined;
}

/** What a document is made of; only the text is needed. */
export interface KnowledgeDocumentFields extends Partial<Omit<KnowledgeDocument, 'text'>> {
  readonly text: string;
}

/** Digits of an id that is made of the content: 128 bits. */
const ID_DIGITS = 32;

/**
 * Makes a document. Without an id it gets one made of its source and text, so the same text from the same source has the same id.
 *
 * @throws EngineError OPTION_INVALID for an empty id, a text that is none, and a vector or score that is not made of finite numbers.
 */
export function knowledgeDocument(fields: KnowledgeDocumentFields): KnowledgeDocument {
  requireObject('knowledgeDocument', 'fields', fields, 'an object with "text"');
  const { id, text, metadata = {}, score, denseVector, sparseVector, subIndexes } = fields;
  if (typeof text !== 'string') throw invalid('text', 'a text', text);
  if (id !== undefined && (typeof id !== 'string' || id === '')) throw invalid('id', 'a text that is not empty', id);
  if (score !== undefined && !Number.isFinite(score)) throw invalid('score', 'a finite number', score);
  requireFinite('denseVector', denseVector);
  requireFinite('sparseVector', sparseVector === undefined ? undefined : Object.values(sparseVector));
  return {
    id: id ?? contentId(text, metadata),
    text,
    metadata,
    ...(score !== undefined && { score }),
    ...(denseVector !== undefined && { denseVector }),
    ...(sparseVector !== undefined && { sparseVector }),
    ...(subIndexes !== undefined && { subIndexes }),
  };
}

/** A copy with further metadata; a name that is there already gets the new value. */
export function withMetadata(document: KnowledgeDocument, more: JsonObject): KnowledgeDocument {
  requireObject('withMetadata', 'document', document, 'a document');
  requireObject('withMetadata', 'more', more, 'an object of metadata');
  return { ...document, metadata: { ...document.metadata, ...more } };
}

/** A copy with a score, or without one for undefined. */
export function withScore(document: KnowledgeDocument, score: number | undefined): KnowledgeDocument {
  requireObject('withScore', 'document', document, 'a document');
  const { score: _, ...rest } = document;
  return score === undefined ? rest : { ...rest, score };
}

/** A copy with vectors; one that is left out stays as it is. */
export function withVectors(
  document: KnowledgeDocument,
  vectors: Pick<KnowledgeDocument, 'denseVector' | 'sparseVector'>,
): KnowledgeDocument {
  requireObject('withVectors', 'document', document, 'a document');
  requireObject('withVectors', 'vectors', vectors, 'an object with "denseVector" or "sparseVector"');
  const { denseVector = document.denseVector, sparseVector = document.sparseVector } = vectors;
  return knowledgeDocument({ ...document, denseVector, sparseVector });
}

/** A copy that belongs to further parts of an index, each named once. */
export function withSubIndexes(document: KnowledgeDocument, names: readonly string[]): KnowledgeDocument {
  requireObject('withSubIndexes', 'document', document, 'a document');
  requireList('withSubIndexes', 'names', names, 'a list of names');
  const all = [...new Set([...(document.subIndexes ?? []), ...names])];
  return all.length === 0 ? document : { ...document, subIndexes: all };
}

/** An own value of the metadata when it is a text that is not empty, else undefined. */
export function metadataText({ metadata }: KnowledgeDocument, key: string): string | undefined {
  const value = metadataValue(metadata, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An own value of metadata, else undefined. */
export function metadataValue(metadata: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}

/** An id made of a text and of where it came from. */
function contentId(text: string, metadata: JsonObject): string {
  const source = metadataValue(metadata, 'source');
  const hash = createHash('sha256').update(typeof source === 'string' ? source : '');
  return hash.update('\0').update(text).digest('hex').slice(0, ID_DIGITS);
}

function requireFinite(option: string, numbers: readonly number[] | undefined): void {
  const wrong = numbers?.find((number) => !Number.isFinite(number));
  if (wrong !== undefined) throw invalid(option, 'made of finite numbers', wrong);
}

function invalid(option: string, allowed: string, received: unknown) {
  return invalidOption('knowledgeDocument', option, allowed, received);
}
