/** Graphs of datasets as the server gives them: shapes, and how they are asked for. */
import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import type { BuildLayer, BuildPart } from '../../src/knowledge/graph/build/build-options.js';
import type { BuildCost } from '../../src/knowledge/graph/build/graph-builds.js';
import type { GraphPart } from '../../src/knowledge/graph/graph-answers.js';
import { ApiError, type Client } from '../api/client.js';
import { datasetPath } from '../datasets/dataset-data.js';
import { useClient } from '../shell/studio.js';
import type { GraphFilter } from './graph-address.js';

/** An entity where it is drawn. */
export type GraphNode = GraphPart['nodes'][number];
/** A relation; `source` and `target` are ids of entities. */
export type GraphEdge = GraphPart['edges'][number];

export const BUILD_LAYERS = ['links', 'rules', 'model'] as const satisfies readonly BuildLayer[];
/** What a build counts: chunks that its layers read, and what a model is asked about the graph behind them. */
export const BUILD_PARTS = [
  ...BUILD_LAYERS,
  'names',
  'descriptions',
  'reports',
] as const satisfies readonly BuildPart[];

/** A build as it stands. */
export interface GraphBuild {
  readonly state: string;
  /** 0 to 1. */
  readonly progress: number;
  readonly message: string;
  readonly layers: readonly BuildLayer[];
  readonly done: Readonly<Partial<Record<BuildPart, number>>>;
  readonly of: Readonly<Partial<Record<BuildPart, number>>>;
  readonly spent: { readonly calls: number; readonly tokens: number; readonly money: number | null };
  /** What the build could not do, a sentence each. */
  readonly missing: readonly string[];
}

/** Key under which all that is known of a graph is kept. */
const keyOf = (dataset: string, ...more: readonly unknown[]) => ['graph', dataset, ...more];

export const graphPath = (dataset: string): string => `${datasetPath(dataset)}/graph`;

/** Asks anew for all that is shown of a graph. */
export function refreshGraph(queries: QueryClient, dataset: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: keyOf(dataset) });
}

/** A part of the graph; null where the dataset has none. */
export function useGraphPart(dataset: string, { around, depth, types, community, limit }: GraphFilter) {
  const client = useClient();
  const query = {
    around: around || undefined,
    depth,
    types: types.join(',') || undefined,
    community: community || undefined,
    limit,
  };
  return useQuery({
    queryKey: keyOf(dataset, 'part', query),
    queryFn: async ({ signal }) => {
      const part = await client.call<Partial<GraphPart>>(graphPath(dataset), { query, signal });
      return part.nodes === undefined ? null : (part as GraphPart);
    },
    placeholderData: keepPreviousData,
  });
}

/** An entity with all that it has to do with others; null where the graph does not have it. */
export function useNeighbours(dataset: string, id: string) {
  const client = useClient();
  return useQuery({
    queryKey: keyOf(dataset, 'neighbours', id),
    queryFn: ({ signal }) =>
      client.call<GraphPart>(graphPath(dataset), { query: { around: id, depth: 1, limit: MAX_NEIGHBOURS }, signal }),
  });
}

const MAX_NEIGHBOURS = 300;

export function useBuildCost(dataset: string, layers: readonly BuildLayer[]) {
  const client = useClient();
  return useQuery({
    queryKey: keyOf(dataset, 'cost', layers.join(',')),
    queryFn: ({ signal }) =>
      client.call<BuildCost>(`${graphPath(dataset)}/cost`, { query: { layers: layers.join(',') }, signal }),
  });
}

/** How often a build that runs is asked for, in milliseconds. */
const BUILD_MS = 500;

/** What RAGFlow's protocol answers for what is not there. */
const NOT_THERE = 102;

/** The last build, again and again while it runs; null where there was none. */
export function useBuild(dataset: string) {
  const client = useClient();
  return useQuery({
    queryKey: keyOf(dataset, 'build'),
    queryFn: async ({ signal }) => {
      try {
        return await client.call<GraphBuild>(`${graphPath(dataset)}/build`, { signal });
      } catch (error) {
        if (error instanceof ApiError && error.code === NOT_THERE) return null;
        throw error;
      }
    },
    refetchInterval: ({ state: { data } }) => (data?.state === 'RUNNING' ? BUILD_MS : false),
  });
}

/** What a build is asked for. */
export interface BuildOrder {
  readonly layers: readonly BuildLayer[];
  /** What a model may spend; what is absent has no bound. */
  readonly budget: { readonly tokens?: number; readonly calls?: number };
}

/** @throws ApiError. */
export function startBuild(client: Client, dataset: string, order: BuildOrder): Promise<GraphBuild> {
  return client.call<GraphBuild>(graphPath(dataset), { method: 'POST', body: order });
}

export function stopBuild(client: Client, dataset: string): Promise<unknown> {
  return client.call(`${graphPath(dataset)}/cancel`, { method: 'POST' });
}

/** Whether there are chunks that the terms and patterns as they are now have not read. */
export function useIsToBuild(dataset: string) {
  const client = useClient();
  return useQuery({
    queryKey: keyOf(dataset, 'rules'),
    queryFn: async ({ signal }) =>
      (await client.call<{ readonly to_build: boolean }>(`${graphPath(dataset)}/rules`, { signal })).to_build,
  });
}
