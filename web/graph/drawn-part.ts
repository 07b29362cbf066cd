/** The part of a graph that is drawn: without what is hidden, and with the way that is looked at. */
import type { GraphPart } from '../../src/knowledge/graph/graph-answers.js';
import type { GraphStep } from '../../src/knowledge/graph/graph-search.js';
import type { GraphEdge, GraphNode } from './graph-data.js';
import { distinctSteps } from './graph-questions.js';

/** An edge, and whether the way that is looked at goes over it. */
export interface DrawnEdge extends GraphEdge {
  readonly isOnWay: boolean;
}

/** What is drawn. */
export interface DrawnPart {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly DrawnEdge[];
  /** Ids of the entities of the way. */
  readonly way: ReadonlySet<string>;
}

/**
 * Edges of names that only stand near each other are left out where they are hidden. Steps of the way are always drawn, and so are its entities: those that
 * the part does not have stand beside the one before them.
 */
export function drawnPart(part: GraphPart, way: readonly GraphStep[], isNearHidden: boolean): DrawnPart {
  const nodes = [...part.nodes];
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const spread = spreadOf(nodes);
  const on = new Set<string>();
  const added: DrawnEdge[] = [];
  for (const { from, to, relation, isExplicit } of distinctSteps(way)) {
    const [source, target] = [from, to].map((name, end) => {
      const known = byName.get(name) ?? nodes.find(({ id }) => id === name);
      if (known !== undefined) return known;
      const beside = byName.get(end === 0 ? to : from);
      const fresh = besideNode(name, beside, spread, nodes.length);
      nodes.push(fresh);
      byName.set(name, fresh);
      return fresh;
    }) as [GraphNode, GraphNode];
    on.add(source.id).add(target.id);
    added.push({
      source: source.id,
      target: target.id,
      relation,
      weight: 1,
      isExplicit,
      isGiven: false,
      isOnWay: true,
    });
  }
  const steps = new Set(added.map(placeOf));
  const edges = part.edges
    .filter((edge) => (edge.isExplicit || !isNearHidden) && !steps.has(placeOf(edge)))
    .map((edge) => ({ ...edge, isOnWay: false }));
  return { nodes, edges: [...edges, ...added], way: on };
}

function placeOf({ source, target, relation }: GraphEdge): string {
  return JSON.stringify([source, target, relation]);
}

/** How wide the places of a part lie. */
function spreadOf(nodes: readonly GraphNode[]): number {
  return nodes.reduce((most, { x, y }) => Math.max(most, Math.abs(x), Math.abs(y)), 10);
}

function besideNode(name: string, beside: GraphNode | undefined, spread: number, turn: number): GraphNode {
  const angle = turn * 2.4;
  const [x, y] = [(beside?.x ?? 0) + (spread / 6) * Math.cos(angle), (beside?.y ?? 0) + (spread / 6) * Math.sin(angle)];
  return { id: name, name, type: '', mentions: 1, documents: 0, community: null, isGiven: false, x, y };
}
