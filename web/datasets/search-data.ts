/** A test of a dataset's search: what is asked, and what comes back. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useClient } from '../shell/studio.js';

/** What is asked; as the address has it. */
export interface SearchTest {
  readonly question: string;
  /** Hits with less are left out, 0 to 1. */
  readonly threshold: number;
  /** Share of the vectors, 0 to 1; undefined: what was measured best. */
  readonly weight: number | undefined;
}

/** A hit: the fields that are used. */
export interface SearchHit {
  readonly id: string;
  readonly content: string;
  readonly highlight?: string;
  readonly document_id: string;
  readonly document_keyword: string;
  readonly dataset_id: string;
  readonly pages: readonly number[];
  readonly similarity: number;
  readonly term_similarity: number;
  readonly vector_similarity: number;
  readonly scores: Readonly<Record<string, number>>;
  readonly matches?: readonly { readonly id: string }[];
}

export interface SearchFound {
  readonly total: number;
  readonly chunks: readonly SearchHit[];
}

export const DEFAULT_THRESHOLD = 0.2;
const HITS = 30;

export function readSearch(query: URLSearchParams): SearchTest {
  return {
    question: query.get('q') ?? '',
    threshold: share(query.get('threshold')) ?? DEFAULT_THRESHOLD,
    weight: share(query.get('weight')),
  };
}

export function useSearch(dataset: string, { question, threshold, weight }: SearchTest) {
  const client = useClient();
  return useQuery({
    // Not below the dataset's own key: what was found stays until it is asked again.
    queryKey: ['search', dataset, question, threshold, weight],
    enabled: question.trim() !== '',
    queryFn: ({ signal }) =>
      client.call<SearchFound>('/retrieval', {
        method: 'POST',
        body: {
          question,
          dataset_ids: [dataset],
          similarity_threshold: threshold,
          ...(weight !== undefined && { vector_similarity_weight: weight }),
          page_size: HITS,
          highlight: true,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

function share(text: string | null): number | undefined {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return value >= 0 && value <= 1 ? value : undefined;
}
