/** Chunks and vectors of knowledge bases in memory. */
import { EngineError } from '../errors.js';
import { utf8Length } from '../json.js';
import type { ChunkChange, ChunkRecord, ChunkVector } from '../records/knowledge.js';
import type { ChunkPlace, ChunkQuery } from '../records/knowledge-store.js';
import type { Page } from '../records/repository.js';

/** A chunk with what the store notes of it. */
interface StoredChunk {
  record: ChunkRecord;
  attempt: number;
  isIndexed: boolean;
  readonly vectors: Map<string, Float32Array>;
}

/** How much a document has of chunks. */
export interface ChunkTotals {
  readonly chunkCount: number;
  readonly tokenCount: number;
}

/** The chunks of the documents of one tenant. */
export class MemoryChunks {
  readonly #room: ChunkRoom;
  readonly #byDocument = new Map<string, Map<string, StoredChunk>>();
  /** Document by chunk. */
  readonly #owners = new Map<string, string>();

  constructor(room: ChunkRoom) {
    this.#room = room;
  }

  put(documentId: string, attempt: number, chunks: readonly ChunkRecord[], isWritten: boolean): void {
    const stored = this.#byDocument.get(documentId) ?? new Map<string, StoredChunk>();
    this.#room.take(chunks.filter(({ id }) => !stored.has(id)).length);
    this.#byDocument.set(documentId, stored);
    for (const chunk of chunks) {
      const before = stored.get(chunk.id);
      const record = before === undefined || isWritten ? chunk : { ...chunk, ...givenOf(before.record) };
      const isSame = before !== undefined && searchedOf(before.record) === searchedOf(record);
      stored.set(chunk.id, {
        record,
        attempt,
        isIndexed: isSame && before.isIndexed,
        vectors: before !== undefined && before.record.text === record.text ? before.vectors : new Map(),
      });
      this.#owners.set(chunk.id, documentId);
    }
  }

  find(ids: readonly string[]): ChunkRecord[] {
    return this.#stored(ids).map(({ record }) => record);
  }

  list({ documentId, ids, keywords, isAvailable, offset, limit, maxBytes }: ChunkQuery): Page<ChunkRecord> {
    const part = keywords === undefined ? undefined : foldLetters(keywords);
    const found = this.#sorted(documentId).filter(
      ({ record }) =>
        (ids === undefined || ids.includes(record.id)) &&
        (part === undefined || foldLetters(record.text).includes(part)) &&
        (isAvailable === undefined || record.isAvailable === isAvailable),
    );
    const items: ChunkRecord[] = [];
    let room = maxBytes ?? Number.POSITIVE_INFINITY;
    for (const { record } of found.slice(offset, offset + limit)) {
      if (maxBytes !== undefined) room -= utf8Length(record.text);
      if (room < 0) break;
      items.push(record);
    }
    return { items, total: found.length };
  }

  after(
    documentId: string,
    after: ChunkPlace | undefined,
    limit: number,
    isWanted: (chunk: StoredChunk) => boolean,
  ): ChunkRecord[] {
    const behind = this.#sorted(documentId).filter(
      (chunk) => (after === undefined || compare(chunk.record, after) > 0) && isWanted(chunk),
    );
    return behind.slice(0, limit).map(({ record }) => record);
  }

  update(documentId: string, id: string, change: ChunkChange): ChunkRecord | undefined {
    const chunk = this.#byDocument.get(documentId)?.get(id);
    if (chunk === undefined) return undefined;
    const { isAvailable: _, updatedAt: __, ...searched } = change;
    if (change.text !== undefined && change.text !== chunk.record.text) chunk.vectors.clear();
    if (Object.keys(searched).length > 0) chunk.isIndexed = false;
    chunk.record = { ...chunk.record, ...change };
    return chunk.record;
  }

  markIndexed(documentId: string, chunks: readonly Pick<ChunkRecord, 'id' | 'updatedAt'>[]): void {
    for (const { id, updatedAt } of chunks) {
      const chunk = this.#byDocument.get(documentId)?.get(id);
      if (chunk !== undefined && chunk.record.updatedAt <= updatedAt) chunk.isIndexed = true;
    }
  }

  stale(documentId: string, attempt: number, limit: number): string[] {
    const stale = this.#sorted(documentId).filter((chunk) => chunk.attempt !== attempt);
    return stale.slice(0, limit).map(({ record }) => record.id);
  }

  delete(documentId: string, ids: readonly string[]): string[] {
    const chunks = this.#byDocument.get(documentId);
    const deleted = ids.filter((id) => chunks?.delete(id));
    for (const id of deleted) this.#owners.delete(id);
    this.#room.give(deleted.length);
    if (chunks?.size === 0) this.#byDocument.delete(documentId);
    return deleted;
  }

  deleteAll(documentId: string): void {
    this.delete(documentId, [...(this.#byDocument.get(documentId)?.keys() ?? [])]);
  }

  putVectors(documentId: string, model: string, vectors: readonly ChunkVector[]): void {
    for (const { chunkId, vector } of vectors) {
      this.#byDocument.get(documentId)?.get(chunkId)?.vectors.set(model, Float32Array.from(vector));
    }
  }

  vectors(model: string, ids: readonly string[]): ChunkVector[] {
    return this.#stored(ids).flatMap(({ record, vectors }) => {
      const vector = vectors.get(model);
      return vector === undefined ? [] : [{ chunkId: record.id, vector }];
    });
  }

  totals(documentId: string): ChunkTotals {
    const chunks = this.#byDocument.get(documentId);
    let tokenCount = 0;
    for (const { record } of chunks?.values() ?? []) tokenCount += record.tokens;
    return { chunkCount: chunks?.size ?? 0, tokenCount };
  }

  /** Those of a document that may be found. */
  available(documentId: string): ChunkRecord[] {
    const chunks = [...(this.#byDocument.get(documentId)?.values() ?? [])];
    return chunks.flatMap(({ record }) => (record.isAvailable ? [record] : []));
  }

  #stored(ids: readonly string[]): StoredChunk[] {
    return ids.flatMap((id) => this.#byDocument.get(this.#owners.get(id) ?? '')?.get(id) ?? []);
  }

  #sorted(documentId: string): StoredChunk[] {
    const chunks = [...(this.#byDocument.get(documentId)?.values() ?? [])];
    return chunks.sort((a, b) => compare(a.record, b.record));
  }
}

/** How many chunks a store in memory may have. */
export class ChunkRoom {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws EngineError LIMIT_REACHED */
  take(count: number): void {
    if (this.#used + count > this.#most) {
      const message = `No room for ${count} chunks more: this server stores at most ${this.#most} in memory. Delete documents, or use a database.`;
      throw new EngineError('LIMIT_REACHED', message);
    }
    this.#used += count;
  }

  give(count: number): void {
    this.#used -= count;
  }
}

/** What users set of a chunk. */
function givenOf({ keywords, questions, tags, isAvailable, createdAt }: ChunkRecord) {
  return { keywords, questions, tags, isAvailable, createdAt };
}

/** What is searched of a chunk, as one text. */
function searchedOf({ text, headings, context, keywords, questions }: ChunkRecord): string {
  return JSON.stringify([text, headings, context, keywords, questions]);
}

function compare(a: ChunkPlace, b: ChunkPlace): number {
  if (a.index !== b.index) return a.index - b.index;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** A text without the case of the letters a to z, as every database does it. */
function foldLetters(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
