/** Small parts to be found, whole documents to be given: an indexer that splits, and a retriever that goes back to the whole. */
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import { type KnowledgeDocument, metadataText, metadataValue, withMetadata, withScore } from '../knowledge-document.js';
import type {
  DocumentIndexer,
  DocumentRetriever,
  IndexFunction,
  RetrieveFunction,
  TransformFunction,
  WaitOptions,
} from '../ports.js';
import { requireDocuments, requireText } from '../require-input.js';
import { type ChunkId, chunkId } from '../splitters/chunks.js';

/** Metadata that names the parent of a part. */
const PARENT_KEY = 'parentId';

/** Metadata of a part: the ids of the documents that it was split from, the first one first; the last is the parent. */
const ANCESTORS_KEY = 'ancestorIds';

/** Parts that a document had before and may not have any more. */
export interface StaleParts {
  readonly parentId: string;
  /** Ids of the parts that it has now. */
  readonly keep: readonly string[];
}

/** How documents are split and stored. */
export interface ParentIndexerOptions {
  /** Stores the parts. */
  readonly indexer: IndexFunction;
  /** Splits a document; what it gives may have any ids. */
  readonly split: TransformFunction;
  /** Name of the metadata that holds the parent's id. @default 'parentId' */
  readonly parentKey?: string;
  /** Gives the id of a part; the same parts must get the same ids again. @default the parent's id, `#` and the position from 0 */
  readonly idOf?: ChunkId;
  /** Stores the documents themselves, before their parts, for the retriever to find. @default they are stored elsewhere */
  readonly parents?: IndexFunction;
  /**
   * Takes out parts that a document had when it was stored before; called once per document, when its parts are stored.
   * @default parts that are no longer made stay
   */
  readonly removeStale?: (stale: StaleParts, options: WaitOptions) => Promise<unknown>;
  /** @default 'parentIndexer' */
  readonly name?: string;
}

const PARENT_INDEXER_OPTIONS = ['indexer', 'split', 'parentKey', 'idOf', 'parents', 'removeStale', 'name'];

/**
 * An indexer that splits documents and stores the parts, each with the id of the document it is a part of; gives the ids of the parts.
 *
 * The parts of a document have the same ids when it is stored again, so they replace the former ones. A document that is a part itself
 * becomes the parent of its parts, which also keep the ids of all documents before it in `ancestorIds`: so they are found from the first
 * document as well. A document that splits into nothing has no parts.
 *
 * Errors of a call: `CONFLICT` for two documents, or two parts, with one id, before anything is stored; those of the splitter and the indexers.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function parentIndexer(options: ParentIndexerOptions): DocumentIndexer {
  requireOptions('parentIndexer', options, PARENT_INDEXER_OPTIONS);
  for (const part of ['indexer', 'split'] as const) {
    if (typeof options[part] !== 'function') throw invalidOption('parentIndexer', part, 'a function', options[part]);
  }
  const { indexer, split, parentKey = PARENT_KEY, idOf = chunkId, parents, removeStale } = options;
  const { name = 'parentIndexer' } = options;
  requireKey('parentIndexer', parentKey);
  const index: IndexFunction = async (documents, call = {}) => {
    const { signal } = call;
    requireDocuments(name, documents);
    signal?.throwIfAborted();
    requireDistinct(name, 'documents', documents);
    const families: { readonly parent: KnowledgeDocument; readonly parts: readonly KnowledgeDocument[] }[] = [];
    for (const parent of documents) {
      // One by one, so that every part is known to be one of this document, whatever its id.
      const parts = await split([parent], { signal });
      families.push({ parent, parts: parts.map((part, at) => partOf(parent, part, idOf(parent.id, at), parentKey)) });
    }
    const parts = families.flatMap((family) => family.parts);
    requireDistinct(name, 'parts', parts);
    if (parents !== undefined) await parents(documents, { signal });
    const ids = parts.length === 0 ? [] : await indexer(parts, call);
    for (const family of removeStale === undefined ? [] : families) {
      await removeStale?.({ parentId: family.parent.id, keep: family.parts.map(({ id }) => id) }, { signal });
    }
    return ids;
  };
  return componentFunction(name, 'indexer', index);
}

function partOf(parent: KnowledgeDocument, part: KnowledgeDocument, id: string, parentKey: string): KnowledgeDocument {
  const ancestors = [...ancestorsOf(parent, parentKey), parent.id];
  return withMetadata({ ...part, id }, { [parentKey]: parent.id, [ANCESTORS_KEY]: ancestors });
}

/** The ids of the documents that one was split from, from the first on. */
function ancestorsOf(document: KnowledgeDocument, parentKey: string): string[] {
  const known = metadataValue(document.metadata, ANCESTORS_KEY);
  const ids = Array.isArray(known) ? (known as readonly Json[]).filter((id) => typeof id === 'string') : [];
  const parent = metadataText(document, parentKey);
  return ids.length > 0 || parent === undefined ? ids : [parent];
}

function requireDistinct(name: string, what: string, documents: readonly KnowledgeDocument[]): void {
  const seen = new Set<string>();
  for (const { id } of documents) {
    if (seen.has(id)) {
      const message = `"${name}" was to store two ${what} with the id "${id}". Give each an id of its own.`;
      throw new EngineError('CONFLICT', message);
    }
    seen.add(id);
  }
}

/** How parents are found. */
export interface ParentRetrieverOptions {
  /** Finds parts. */
  readonly retriever: RetrieveFunction;
  /** Gives the documents with these ids, in any order; ids that are not there are left out. `get` of a memory index fits. */
  readonly parents: (ids: readonly string[], options: WaitOptions) => Promise<readonly KnowledgeDocument[]>;
  /** Name of the metadata that holds the parent's id. @default 'parentId' */
  readonly parentKey?: string;
  /** Whether the parent of a part is what it was split from at last, or at first. @default 'nearest' */
  readonly level?: 'nearest' | 'first';
  /** What is done with a part that names no parent. @default 'drop' */
  readonly withoutParent?: 'drop' | 'keep';
  /** What is done about ids that `parents` does not have: an error, a function that is told the ids, or nothing. @default 'fail' */
  readonly missing?: 'fail' | 'skip' | ((ids: readonly string[]) => void);
  /** @default 'parentRetriever' */
  readonly name?: string;
}

const PARENT_RETRIEVER_OPTIONS = ['retriever', 'parents', 'parentKey', 'level', 'withoutParent', 'missing', 'name'];

/**
 * A retriever that finds parts and gives the documents they are parts of: each once, in the order of their first parts, with the highest score of
 * their parts. `topK` of a call counts parts.
 *
 * Errors of a call: `NOT_FOUND` for parents that are not there, unless `missing` says otherwise; those of the retriever and of `parents`.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function parentRetriever(options: ParentRetrieverOptions): DocumentRetriever {
  requireOptions('parentRetriever', options, PARENT_RETRIEVER_OPTIONS);
  if (typeof options.retriever !== 'function')
    throw invalidOption('parentRetriever', 'retriever', 'a function', options.retriever);
  const { retriever, parents, parentKey = PARENT_KEY, level = 'nearest', withoutParent = 'drop' } = options;
  const { missing = 'fail', name = 'parentRetriever' } = options;
  requireKey('parentRetriever', parentKey);
  const retrieve: RetrieveFunction = async (query, call = {}) => {
    requireText(name, 'query', query);
    const parts = await retriever(query, call);
    const idOf = (part: KnowledgeDocument): string | undefined =>
      (level === 'first' ? ancestorsOf(part, parentKey)[0] : undefined) ?? metadataText(part, parentKey);
    const scores = new Map<string, number>();
    const ids = new Set<string>();
    for (const part of parts) {
      const id = idOf(part);
      if (id === undefined) continue;
      ids.add(id);
      if (part.score !== undefined) scores.set(id, Math.max(scores.get(id) ?? -Infinity, part.score));
    }
    const found = ids.size === 0 ? [] : await parents([...ids], { signal: call.signal });
    const byId = new Map(found.map((parent) => [parent.id, parent]));
    const lost = [...ids].filter((id) => !byId.has(id));
    if (lost.length > 0) report(name, lost, missing);
    const given = new Set<string>();
    return parts.flatMap((part) => {
      const id = idOf(part);
      if (id === undefined) return withoutParent === 'keep' ? [part] : [];
      const parent = byId.get(id);
      if (parent === undefined || given.has(id)) return [];
      given.add(id);
      return [withScore(parent, scores.get(id))];
    });
  };
  return componentFunction(name, 'retriever', retrieve);
}

/** Ids that an error names. */
const MAX_NAMED = 10;

function report(
  name: string,
  ids: readonly string[],
  missing: 'fail' | 'skip' | ((ids: readonly string[]) => void),
): void {
  if (missing === 'skip') return;
  if (typeof missing === 'function') {
    missing(ids);
    return;
  }
  const named = ids.slice(0, MAX_NAMED).join(', ');
  throw new EngineError(
    'NOT_FOUND',
    `"${name}" found parts of ${ids.length} documents that are not there: ${named}${ids.length > MAX_NAMED ? ' …' : ''}. Store them, or say with "missing" what to do.`,
    { details: { ids } },
  );
}

function requireKey(owner: string, key: string): void {
  if (typeof key !== 'string' || key === '') throw invalidOption(owner, 'parentKey', 'a text that is not empty', key);
}
