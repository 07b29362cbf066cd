/** Chunks of documents as users see and change them. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import type { ChunkRecord, DocumentRecord } from '../../records/knowledge.js';
import type { ChunkQuery } from '../../records/knowledge-store.js';
import type { Page } from '../../records/repository.js';
import { passageOf } from './chunk-ids.js';
import { embedTexts } from './embed-texts.js';
import { type BaseParts, openIndex } from './parts.js';

/** What a user writes of a chunk. */
export interface ChunkContent {
  readonly text: string;
  readonly keywords?: readonly string[] | undefined;
  readonly questions?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What a user changes of a chunk; what is absent stays. */
export type ChunkEdit = Partial<ChunkContent> & { readonly isAvailable?: boolean | undefined };

/** Chunks. Errors of all: those of the store and the index; NOT_FOUND for a document that does not exist. */
export interface Chunks {
  list(tenant: string, query: ChunkQuery): Promise<Page<ChunkRecord>>;
  find(tenant: string, documentId: string, id: string): Promise<ChunkRecord | undefined>;
  /** The chunks next to some of a document, three on each side at most, in their order; those that users wrote stand nowhere. */
  beside(tenant: string, documentId: string, ids: readonly string[]): Promise<Beside>;
  /** Puts a chunk behind the others of a document and makes it searchable. @throws EngineError BAD_REQUEST for an empty text. */
  add(tenant: string, documentId: string, content: ChunkContent): Promise<ChunkRecord>;
  /** Changes a chunk; a new text has no place in the document any more. @throws EngineError NOT_FOUND, BAD_REQUEST for an empty text. */
  update(tenant: string, documentId: string, id: string, edit: ChunkEdit): Promise<ChunkRecord>;
  /** Lets chunks be found or not; gives the ids of those there were. */
  setAvailable(
    tenant: string,
    documentId: string,
    ids: readonly string[],
    isAvailable: boolean,
  ): Promise<readonly string[]>;
  /** Deletes chunks, all of them without `ids`; gives the ids of those there were. */
  delete(tenant: string, documentId: string, ids?: readonly string[]): Promise<readonly string[]>;
}

/** What stands next to chunks of a document. */
export interface Beside {
  readonly before: readonly ChunkRecord[];
  readonly after: readonly ChunkRecord[];
}

/** Chunks of each side that {@link Chunks.beside} gives. */
const MAX_BESIDE = 3;

/** Places that are looked at for those: some were deleted. */
const PLACES_BESIDE = 20;

/** Chunks of one statement. */
const BATCH = 200;

/** The chunks of the documents of a knowledge base. */
export function createChunks(parts: BaseParts): Chunks {
  const { store, indexes, now } = parts;
  const requireDocument = async (tenant: string, id: string): Promise<DocumentRecord> => {
    const found = await store.findDocument(tenant, id);
    if (found !== undefined) return found;
    throw new EngineError('NOT_FOUND', `There is no document "${id}".`);
  };
  /** With the model of its dataset, whose vectors go with the passages. */
  const indexOf = async (tenant: string, { datasetId }: DocumentRecord) => {
    const dataset = await store.findDataset(tenant, datasetId);
    return dataset === undefined ? indexes.open(tenant, datasetId) : openIndex(parts, tenant, dataset);
  };
  /** Brings a changed chunk into the index. @param isNew its text is another one than before, so its vector is, too */
  const show = async (tenant: string, document: DocumentRecord, chunk: ChunkRecord, isNew: boolean): Promise<void> => {
    const dataset = await store.findDataset(tenant, document.datasetId);
    if (dataset === undefined) throw new EngineError('NOT_FOUND', `There is no dataset "${document.datasetId}".`);
    const index = openIndex(parts, tenant, dataset);
    if (isNew) {
      await index.remove([chunk.id]);
      await embedTexts(parts, { tenant, documentId: document.id, dataset, chunks: [chunk] }).catch(ignoreModel);
    }
    await index.add([passageOf(document, chunk)]);
    await store.markIndexed(tenant, document.id, [chunk]);
  };
  const find = async (tenant: string, documentId: string, id: string): Promise<ChunkRecord | undefined> => {
    const [found] = await store.findChunks(tenant, [id]);
    return found?.documentId === documentId ? found : undefined;
  };
  const remove = async (
    tenant: string,
    document: DocumentRecord,
    ids: readonly string[],
  ): Promise<readonly string[]> => {
    const deleted = await store.deleteChunks(tenant, document.id, ids);
    await (await indexOf(tenant, document)).remove(deleted);
    return deleted;
  };
  return {
    find,
    list: (tenant, query) => store.listChunks(tenant, query),
    async beside(tenant, documentId, ids) {
      const found = (await store.findChunks(tenant, ids)).filter(
        (chunk) => chunk.documentId === documentId && chunk.index !== WRITTEN_INDEX,
      );
      const places = found.map(({ index }) => index);
      if (places.length === 0) return { before: [], after: [] };
      const [first, last] = [Math.min(...places), Math.max(...places)];
      const near = async (index: number): Promise<readonly ChunkRecord[]> =>
        store.chunksAfter(tenant, documentId, { index, id: '' }, PLACES_BESIDE);
      const [ahead, behind] = await Promise.all([near(first - PLACES_BESIDE), near(last + 1)]);
      return {
        before: ahead.filter(({ index }) => index < first).slice(-MAX_BESIDE),
        after: behind.filter(({ index }) => index !== WRITTEN_INDEX).slice(0, MAX_BESIDE),
      };
    },
    async add(tenant, documentId, content) {
      requireText(content.text);
      const document = await requireDocument(tenant, documentId);
      const time = now();
      const chunk: ChunkRecord = {
        ...writtenOf(content),
        id: createHash('sha256').update(`${documentId}\0written\0${content.text}`).digest('hex').slice(0, 32),
        datasetId: document.datasetId,
        documentId,
        // Behind all chunks that an ingestion can make.
        index: WRITTEN_INDEX,
        text: content.text,
        tokens: estimateTokens(content.text),
        start: null,
        end: null,
        page: null,
        positions: [],
        headings: [],
        context: '',
        isAvailable: true,
        createdAt: time,
        updatedAt: time,
      };
      await store.putChunks(tenant, documentId, document.attempt, [chunk], { isWritten: true });
      await show(tenant, document, chunk, true);
      return chunk;
    },
    async update(tenant, documentId, id, edit) {
      if (edit.text !== undefined) requireText(edit.text);
      const [document, before] = await Promise.all([requireDocument(tenant, documentId), find(tenant, documentId, id)]);
      if (before === undefined) throw noChunk(id);
      const given = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
      const isNew = edit.text !== undefined && edit.text !== before.text;
      const text = isNew ? { tokens: estimateTokens(edit.text ?? ''), start: null, end: null } : {};
      const chunk = await store.updateChunk(tenant, documentId, id, { ...given, ...text, updatedAt: now() });
      if (chunk === undefined) throw noChunk(id);
      await show(tenant, document, chunk, isNew);
      return chunk;
    },
    async setAvailable(tenant, documentId, ids, isAvailable) {
      const document = await requireDocument(tenant, documentId);
      const changed: string[] = [];
      for (const id of ids) {
        const chunk = await store.updateChunk(tenant, documentId, id, { isAvailable });
        if (chunk !== undefined) changed.push(id);
      }
      const index = indexes.open(tenant, document.datasetId);
      await index.setAvailable(changed, isAvailable && document.isEnabled);
      return changed;
    },
    async delete(tenant, documentId, ids) {
      const document = await requireDocument(tenant, documentId);
      if (ids !== undefined) return remove(tenant, document, ids);
      const deleted: string[] = [];
      for (;;) {
        const some = await store.chunksAfter(tenant, documentId, undefined, BATCH);
        if (some.length === 0) return deleted;
        const batch = await remove(
          tenant,
          document,
          some.map(({ id }) => id),
        );
        deleted.push(...batch);
      }
    },
  };
}

/** Position of chunks that users write; the largest that a database holds. */
const WRITTEN_INDEX = 2_147_483_647;

function writtenOf({ keywords = [], questions = [], tags = [] }: ChunkContent) {
  return { keywords, questions, tags };
}

function requireText(text: string): void {
  if (text.trim() === '') throw new EngineError('BAD_REQUEST', 'A chunk needs a text that is not empty.');
}

function noChunk(id: string): EngineError {
  return new EngineError('NOT_FOUND', `There is no chunk "${id}".`);
}

/** A chunk whose model cannot be reached is found by its words, and gets its vector when its document is parsed again. */
function ignoreModel(error: unknown): void {
  if (!EngineError.is(error) || !error.code.startsWith('MODEL_')) throw error;
}
