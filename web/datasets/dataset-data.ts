/** Datasets and their documents as the server gives them: paths, shapes, look-ups. */
import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';

/** A dataset: the fields that are used. */
export interface DatasetItem {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly language: string;
  readonly embedding_model: string;
  readonly chunk_method: string;
  readonly parser_config: JsonObject;
  readonly pipeline_id: string | null;
  readonly document_count: number;
  readonly chunk_count: number;
  readonly token_num: number;
  /** What it follows, such as a folder. */
  readonly source: string | null;
  /** Milliseconds since 1970. */
  readonly update_time: number;
  /** Documents by state; lists have it. */
  readonly parsing_status?: Readonly<Record<string, number>>;
}

export const RUN_STATES = ['UNSTART', 'RUNNING', 'CANCEL', 'DONE', 'FAIL'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** A document: the fields that are used. */
export interface DocumentItem {
  readonly id: string;
  readonly dataset_id: string;
  readonly name: string;
  readonly size: number;
  readonly suffix: string;
  readonly chunk_method: string;
  readonly chunk_count: number;
  readonly token_count: number;
  readonly run: RunState;
  /** "0": its chunks are not searched. */
  readonly status: '0' | '1';
  /** 0 to 1; -1 when it failed. */
  readonly progress: number;
  readonly progress_msg: string;
  /** Seconds. */
  readonly process_duration: number;
  readonly duplicate_of: string | null;
  readonly update_time: number;
}

/** How documents are cut, by RAGFlow's names. */
export const METHODS = [
  'naive',
  'book',
  'laws',
  'manual',
  'paper',
  'qa',
  'table',
  'tag',
  'presentation',
  'one',
  'picture',
  'email',
] as const;
export type Method = (typeof METHODS)[number];

/** Path of the API below which all of a dataset lies. */
export const datasetPath = (dataset: string): string => `/datasets/${encodeURIComponent(dataset)}`;
export const documentPath = (dataset: string, document: string): string =>
  `${datasetPath(dataset)}/documents/${encodeURIComponent(document)}`;

/** Addresses are built as the paths are. */
export const datasetAddress = datasetPath;
export const documentAddress = documentPath;
export const graphAddress = (dataset: string): string => `/graph/${encodeURIComponent(dataset)}`;

const PAGE_SIZE = 60;

/** Datasets whose names have a text in them, the newest change first. */
export function useDatasets(keywords: string) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['datasets', 'list', keywords],
    queryFn: ({ pageParam, signal }) =>
      client.call<readonly DatasetItem[]>('/datasets', {
        query: {
          page: pageParam,
          page_size: PAGE_SIZE,
          keywords: keywords.trim() || undefined,
          orderby: 'update_time',
          include_parsing_status: true,
        },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.length < PAGE_SIZE ? undefined : pages.length + 1),
    placeholderData: keepPreviousData,
  });
}

export function useDataset(id: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['datasets', id],
    queryFn: ({ signal }) => client.call<DatasetItem>(datasetPath(id), { signal }),
  });
}

/** Which documents of a dataset are listed; as the address has it. */
export interface DocumentFilter {
  readonly words: string;
  readonly run: RunState | undefined;
  /** From 1. */
  readonly page: number;
}

export const DOCUMENTS_PAGE = 50;

/** How often documents are asked for again while none of them is worked on, in milliseconds. */
const REFRESH_MS = 10_000;

export function useDocuments(dataset: string, { words, run, page }: DocumentFilter) {
  const client = useClient();
  return useQuery({
    queryKey: ['datasets', dataset, 'documents', { words, run, page }],
    queryFn: ({ signal }) =>
      client.call<{ readonly total: number; readonly docs: readonly DocumentItem[] }>(
        `${datasetPath(dataset)}/documents`,
        { query: { page, page_size: DOCUMENTS_PAGE, keywords: words.trim() || undefined, run }, signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Has documents become searchable, or stops that. @throws ApiError. */
export function parseDocuments(client: Client, dataset: string, ids: readonly string[]): Promise<unknown> {
  return client.call(`${datasetPath(dataset)}/documents/parse`, { method: 'POST', body: { document_ids: ids } });
}

export function stopDocuments(client: Client, dataset: string, ids: readonly string[]): Promise<unknown> {
  return client.call(`${datasetPath(dataset)}/documents/stop`, { method: 'POST', body: { document_ids: ids } });
}

/** Asks anew for all that is shown of a dataset, and of datasets. */
export function refreshDataset(queries: QueryClient, dataset: string): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['datasets', 'list'] });
  return queries.invalidateQueries({ queryKey: ['datasets', dataset] });
}
