/** A summed graph as a network of entities in memory. */
import type { SummedGraph } from './graph-records.js';
import { UndirectedGraph } from './graphology-library.js';

/** What an edge of the network has: all relations of two entities together. */
export interface NetworkEdge {
  readonly weight: number;
  readonly isExplicit: boolean;
}

/** A network of entities: nodes are ids, an edge joins two that have any relation. */
export type EntityNetwork = InstanceType<typeof UndirectedGraph<Record<string, never>, NetworkEdge>>;

/** Makes the network of a graph; nodes and edges are in the order of ids, so the same graph always gives the same network. */
export function networkOf({ entities, relations }: Pick<SummedGraph, 'entities' | 'relations'>): EntityNetwork {
  const network: EntityNetwork = new UndirectedGraph({ allowSelfLoops: false });
  for (const id of entities.keys()) network.addNode(id);
  const edges = new Map<string, { readonly ends: readonly [string, string]; weight: number; isExplicit: boolean }>();
  for (const { source, target, weight, isExplicit } of relations) {
    const ends = source < target ? ([source, target] as const) : ([target, source] as const);
    const key = ends.join('\0');
    const known = edges.get(key);
    if (known === undefined) edges.set(key, { ends, weight, isExplicit });
    else {
      known.weight += weight;
      known.isExplicit ||= isExplicit;
    }
  }
  for (const [, { ends, weight, isExplicit }] of [...edges].sort(([left], [right]) => (left < right ? -1 : 1)))
    network.addUndirectedEdge(ends[0], ends[1], { weight, isExplicit });
  return network;
}
