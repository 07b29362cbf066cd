/** A part of a graph to be drawn: nodes, edges, communities, and places that stay the same. */
import type { GraphPart, ShowQuery } from '../graph-answers.js';
import type { GraphSession } from '../graph-session.js';
import { forceAtlas2, UndirectedGraph } from '../graphology-library.js';
import { seededRandom } from '../seeded-random.js';

/** Edges of a part, and rounds in which places are found. */
const MAX_EDGES = 5_000;
const ROUNDS = 120;

/** Chooses a part: from the middle outwards, else by how often entities are mentioned. */
export function partOfGraph(session: GraphSession, query: ShowQuery): GraphPart {
  const { graph } = session;
  const { communities } = session.communities;
  const communityOf = new Map<string, string>();
  for (const { id, level, members } of communities)
    if (level === 0) for (const one of members) communityOf.set(one, id);
  const within =
    query.community === undefined ? undefined : new Set(communities.find(({ id }) => id === query.community)?.members);
  const fits = (id: string): boolean =>
    (within === undefined || within.has(id)) &&
    (query.types === undefined || query.types.length === 0 || query.types.includes(graph.entities.get(id)?.type ?? ''));
  const ids = candidates(session, query).filter(fits);
  const chosen = ids.slice(0, query.limit);
  const inside = new Set(chosen);
  const edges = graph.relations
    .filter(({ source, target }) => inside.has(source) && inside.has(target))
    .sort((a, b) => Number(b.isExplicit) - Number(a.isExplicit) || b.weight - a.weight)
    .slice(0, MAX_EDGES)
    .map(({ source, target, relation, weight, isExplicit, isGiven }) => ({
      ...{ source, target, relation, weight, isExplicit, isGiven },
    }));
  const places = placesOf(chosen, edges);
  const nodes = chosen.flatMap((id) => {
    const entity = graph.entities.get(id);
    if (entity === undefined) return [];
    const { name, type, mentionCount: mentions, documents, isGiven } = entity;
    const { x, y } = places.get(id) ?? { x: 0, y: 0 };
    const community = communityOf.get(id) ?? null;
    return [{ id, name, type, mentions, documents: documents.length, community, isGiven, x, y }];
  });
  const shown = new Set(nodes.map(({ community }) => community));
  return {
    ...{ nodes, edges, total: ids.length },
    communities: communities
      .filter(({ id }) => shown.has(id))
      .map(({ id, level, members }) => ({ id, level, size: members.length })),
  };
}

function candidates(session: GraphSession, { around, depth = 1 }: ShowQuery): string[] {
  const { entities } = session.graph;
  const byMentions = (ids: Iterable<string>): string[] =>
    [...ids].sort(
      (a, b) => (entities.get(b)?.mentionCount ?? 0) - (entities.get(a)?.mentionCount ?? 0) || (a < b ? -1 : 1),
    );
  if (around === undefined) return byMentions(entities.keys());
  const network = session.entityNetwork;
  const middle = session.names.find(around).map(({ id }) => id);
  const known = new Set(middle);
  let ring: readonly string[] = middle;
  for (let step = 0; step < depth; step += 1) {
    const next = new Set<string>();
    for (const id of ring) for (const other of network.neighbors(id)) if (!known.has(other)) next.add(other);
    ring = byMentions(next);
    for (const id of ring) known.add(id);
  }
  return [...known];
}

/** Places by forces between nodes, from a start that depends on the ids alone; the same part always has the same places. */
function placesOf(ids: readonly string[], edges: GraphPart['edges']) {
  const graph = new UndirectedGraph<{ x: number; y: number }, { weight: number }>();
  const random = seededRandom(1);
  for (const id of [...ids].sort()) graph.addNode(id, { x: random() * 100, y: random() * 100 });
  const sorted = [...edges].sort((a, b) => (`${a.source}\0${a.target}` < `${b.source}\0${b.target}` ? -1 : 1));
  for (const { source, target, weight } of sorted)
    if (!graph.hasEdge(source, target) && source !== target) graph.addUndirectedEdge(source, target, { weight });
  if (graph.order < 2) return new Map(ids.map((id) => [id, { x: 0, y: 0 }]));
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 500 };
  const found = forceAtlas2(graph, { iterations: ROUNDS, settings });
  return new Map(Object.entries(found).map(([id, { x, y }]) => [id, { x: rounded(x), y: rounded(y) }]));
}

function rounded(value: number): number {
  return Math.round((value ?? 0) * 100) / 100;
}
