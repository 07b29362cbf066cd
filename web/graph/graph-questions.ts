/** Questions to a graph: what is asked, and the passages, ways and points that come back. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { GraphStep, NamedEntity } from '../../src/knowledge/graph/graph-search.js';
import { useClient } from '../shell/studio.js';
import { type GraphQuestion, isAsked } from './graph-address.js';
import { graphPath } from './graph-data.js';

/** Steps without those that a way takes twice. */
export function distinctSteps(steps: readonly GraphStep[]): readonly GraphStep[] {
  return [...new Map(steps.map((step) => [stepKey(step), step])).values()];
}

export function stepKey({ from, to, relation }: GraphStep): string {
  return JSON.stringify([from, to, relation]);
}

/** A passage, and why it was found. */
export interface GraphHit {
  readonly id: string;
  readonly content: string;
  readonly document_id: string;
  readonly document_keyword: string;
  readonly dataset_id: string;
  readonly page: number | null;
  /** 0 to 1. */
  readonly score: number;
  readonly why: {
    readonly entities: readonly string[];
    readonly steps: readonly GraphStep[];
    readonly community?: string;
  };
}

/** What a search gave. */
export interface GraphFound {
  readonly hits: readonly GraphHit[];
  readonly entities: readonly NamedEntity[];
  readonly paths: readonly (readonly GraphStep[])[];
  readonly points: readonly {
    readonly text: string;
    /** 0 to 100. */
    readonly rating: number;
    readonly reports: readonly string[];
  }[];
  readonly read: { readonly done: number; readonly of: number };
  readonly is_stale: boolean;
}

const HITS = 20;

export function useGraphSearch(dataset: string, asked: GraphQuestion) {
  const client = useClient();
  const { kind, question, from, to } = asked;
  return useQuery({
    queryKey: ['graph', dataset, 'search', asked],
    enabled: isAsked(asked),
    queryFn: ({ signal }) =>
      client.call<GraphFound>(`${graphPath(dataset)}/search`, {
        method: 'POST',
        body: {
          kind,
          limit: HITS,
          ...(kind === 'path' ? { question: `${from} ${to}`, between: [from, to] } : { question }),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

/** What is said of one entity: its description, and passages about it. */
export function useAbout(dataset: string, name: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['graph', dataset, 'about', name],
    queryFn: ({ signal }) =>
      client.call<GraphFound>(`${graphPath(dataset)}/search`, {
        method: 'POST',
        body: { kind: 'local', question: name.slice(0, MAX_QUESTION), limit: HITS },
        signal,
      }),
  });
}

const MAX_QUESTION = 10_000;
