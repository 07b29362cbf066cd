/** A graph of a user as it is stored: read, checked and taken apart where it costs other requests no time. */
import { readGraph } from './forms.js';
import { type GivenContributions, givenContributions } from './given-contributions.js';
import type { GraphForm } from './graph-forms.js';

/** A graph that was read. */
export interface GivenReading extends GivenContributions {
  readonly nodes: number;
  readonly edges: number;
  /** Nodes and edges that name chunks, with their places in what was given. */
  readonly named: readonly { readonly at: string; readonly chunks: readonly string[] }[];
}

/** Reads a graph. @throws EngineError BAD_REQUEST with the place of each problem */
export function readGiven(form: GraphForm, text: string): GivenReading {
  const graph = readGraph(form, text);
  const { nodes, edges, placesOf } = graph;
  const named = [
    ...nodes.map(({ chunks }, at) => ({ at: placesOf.nodes[at] ?? '', chunks: chunks.map(({ id }) => id) })),
    ...edges.map(({ chunks }, at) => ({ at: placesOf.edges[at] ?? '', chunks })),
  ].filter(({ chunks }) => chunks.length > 0);
  return { ...givenContributions(graph), nodes: nodes.length, edges: edges.length, named };
}
