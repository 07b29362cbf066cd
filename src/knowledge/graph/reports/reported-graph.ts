/** What reports read of a graph in memory. */
import type { Communities } from '../communities.js';
import type { EntityNetwork } from '../entity-network.js';
import type { GraphRelation, SummedGraph } from '../graph-records.js';

/** A graph in memory with its communities. */
export interface ReportedGraph {
  readonly graph: SummedGraph;
  readonly entityNetwork: EntityNetwork;
  readonly communities: Communities;
  /** The strongest first. */
  relationsOf(id: string): readonly GraphRelation[];
  /** Whether a chunk contributes anything. */
  hasChunk(id: string): boolean;
  /** The hash of the text of a chunk; empty where it is not known. */
  textHashOf(id: string): string;
}
