/** Chunks of a document as the server gives them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';
import { type DocumentItem, documentPath } from './dataset-data.js';

/** A chunk: the fields that are used. */
export interface ChunkItem {
  readonly id: string;
  readonly content: string;
  readonly important_keywords: readonly string[];
  readonly questions: readonly string[];
  readonly tag_kwd: readonly string[];
  /** Whether it is searched. */
  readonly available: boolean;
  /** Pages that it stands on, from 1. */
  readonly pages: readonly number[];
  /** In the text of the document, in UTF-16 units; null for one that a user wrote. */
  readonly start: number | null;
  readonly end: number | null;
  /** Above it, from the outermost. */
  readonly headings: readonly string[];
}

/** Which chunks of a document are listed; as the address has it. */
export interface ChunkFilter {
  readonly words: string;
  readonly available: 'true' | 'false' | undefined;
  /** Ids of the only ones, such as those that an answer cites; empty: all. */
  readonly ids: readonly string[];
  /** From 1. */
  readonly page: number;
}

export const CHUNKS_PAGE = 100;

export function readChunkFilter(query: URLSearchParams): ChunkFilter {
  const page = Number(query.get('page'));
  const available = query.get('available');
  return {
    words: query.get('search') ?? '',
    available: available === 'true' || available === 'false' ? available : undefined,
    ids: (query.get('chunk') ?? '').split(',').filter(Boolean).slice(0, CHUNKS_PAGE),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** What a list of chunks brings. */
export interface ChunkList {
  readonly total: number;
  readonly chunks: readonly ChunkItem[];
  readonly doc: DocumentItem;
}

export function useChunks(dataset: string, document: string, filter: ChunkFilter) {
  const client = useClient();
  return useQuery({
    queryKey: ['datasets', dataset, 'chunks', document, filter],
    queryFn: ({ signal }) => {
      const { words, available, ids, page } = filter;
      // Ids are repeated, which a record of values cannot say.
      const wanted = new URLSearchParams(ids.map((id) => ['chunk_ids', id]));
      return client.call<ChunkList>(`${documentPath(dataset, document)}/chunks?${wanted}`, {
        query: { page, page_size: CHUNKS_PAGE, keywords: words.trim() || undefined, available },
        signal,
      });
    },
    placeholderData: keepPreviousData,
  });
}

/** What a user writes of a chunk. */
export interface ChunkText {
  readonly content: string;
  readonly important_keywords: readonly string[];
  readonly questions: readonly string[];
}

/** Writes a new chunk, or another text of one. @throws ApiError. */
export function saveChunk(client: Client, path: string, text: ChunkText, id?: string): Promise<unknown> {
  const chunks = `${path}/chunks`;
  return id === undefined
    ? client.call(chunks, { method: 'POST', body: text })
    : client.call(`${chunks}/${encodeURIComponent(id)}`, { method: 'PATCH', body: text });
}

/** Lets a chunk be found, or not. @throws ApiError. */
export function switchChunk(client: Client, path: string, id: string, available: boolean): Promise<unknown> {
  return client.call(`${path}/chunks`, { method: 'PATCH', body: { chunk_ids: [id], available } });
}

/** @throws ApiError. */
export function deleteChunk(client: Client, path: string, id: string): Promise<unknown> {
  return client.call(`${path}/chunks`, { method: 'DELETE', body: { chunk_ids: [id] } });
}
