/** Graphs of users as contributions: of the chunks that they name, and of no chunk. */
import type { Contribution, Mention, Relation } from '../facts.js';
import { nameKey } from '../names/name-forms.js';
import type { GraphDocument, GraphEdge, GraphNode } from './graph-document.js';

/** What a graph contributes. */
export interface GivenContributions {
  readonly byChunk: ReadonlyMap<string, Contribution>;
  /** Of nodes and edges that name no chunk, in pieces that can stand alone. */
  readonly loose: readonly Contribution[];
}

/** Nodes and edges of a piece. */
const PIECE = 200;

/** Gives each chunk what the graph says of it. Edges between the same two nodes that say the same are one, with their weights together. */
export function givenContributions({ nodes, edges }: GraphDocument): GivenContributions {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const open = new Map<string, Part>();
  const partOf = (chunk: string): Part => {
    const known = open.get(chunk) ?? new Part();
    open.set(chunk, known);
    return known;
  };
  for (const node of nodes)
    for (const { id, count } of node.chunks) partOf(id).mention(node, count, node.titles.includes(id));
  const joined = joinedEdges(edges, byId);
  for (const { edge, ends } of joined) for (const chunk of edge.chunks) partOf(chunk).relate(edge, ends);
  const loose: Part[] = [];
  const room = (): Part => {
    const last = loose.at(-1);
    if (last !== undefined && last.size < PIECE) return last;
    const fresh = new Part();
    loose.push(fresh);
    return fresh;
  };
  for (const node of nodes) if (node.chunks.length === 0) room().mention(node, 1, false);
  for (const { edge, ends } of joined) if (edge.chunks.length === 0) room().relate(edge, ends);
  return {
    byChunk: new Map([...open].map(([chunk, part]) => [chunk, part.contribution])),
    loose: loose.map((part) => part.contribution),
  };
}

type Ends = readonly [source: GraphNode, target: GraphNode];

function joinedEdges(edges: readonly GraphEdge[], byId: ReadonlyMap<string, GraphNode>) {
  const joined = new Map<string, { edge: GraphEdge; readonly ends: Ends }>();
  const keys = new Map([...byId].map(([id, node]) => [id, nameKey(node.name)]));
  for (const edge of edges) {
    const ends = [byId.get(edge.source), byId.get(edge.target)] as const;
    if (ends[0] === undefined || ends[1] === undefined) continue;
    const key = JSON.stringify([keys.get(edge.source), keys.get(edge.target), edge.relation, edge.explicit]);
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { edge, ends: ends as Ends });
    else known.edge = together(known.edge, edge);
  }
  return [...joined.values()];
}

function together(left: GraphEdge, right: GraphEdge): GraphEdge {
  return {
    ...left,
    weight: left.weight + right.weight,
    descriptions: [...new Set([...left.descriptions, ...right.descriptions])],
    chunks: [...new Set([...left.chunks, ...right.chunks])],
  };
}

/** What is said of one chunk. */
class Part {
  readonly #mentions: Mention[] = [];
  readonly #relations: Relation[] = [];
  readonly #names = new Set<string>();

  get size(): number {
    return this.#mentions.length + this.#relations.length;
  }

  get contribution(): Contribution {
    return { mentions: this.#mentions, relations: this.#relations };
  }

  mention({ name, type, aliases, descriptions }: GraphNode, count: number, isTitle: boolean): void {
    const [first, ...others] = descriptions;
    this.#names.add(name);
    this.#mentions.push({
      ...{ name, type, start: 0, end: 0, count },
      ...(first !== undefined && { description: first }),
      ...(aliases.length > 0 && { aliases }),
      ...(isTitle && { isTitle }),
    });
    for (const description of others) this.#mentions.push({ name, type, start: 0, end: 0, description, count: 0 });
  }

  relate({ relation, weight, explicit: isExplicit, descriptions }: GraphEdge, ends: Ends): void {
    for (const { name, type, aliases } of ends) {
      if (this.#names.has(name)) continue;
      this.#names.add(name);
      const own = aliases.length > 0 ? { aliases } : {};
      this.#mentions.push({ name, type, start: 0, end: 0, count: 0, ...own });
    }
    const [source, target] = [ends[0].name, ends[1].name];
    for (const description of descriptions.length === 0 ? [''] : descriptions)
      this.#relations.push({ source, target, relation, description, weight, isExplicit });
  }
}
