/** Communities of entities: groups that have more to do with each other than with others, from coarse to fine. */
import type { EntityNetwork } from './entity-network.js';
import { louvain } from './graphology-library.js';
import { seededRandom } from './seeded-random.js';

/** A group of entities. */
export interface Community {
  /** The level, and the first of its members: the same for the same members. */
  readonly id: string;
  /** From 0, the coarsest. */
  readonly level: number;
  /** The community of the level above that it is a part of; null at level 0. */
  readonly parent: string | null;
  /** Ids of entities, sorted. */
  readonly members: readonly string[];
}

/** What is known of communities. */
export interface Communities {
  /** By level, the largest first. */
  readonly communities: readonly Community[];
  /** Entities without any relation, sorted. */
  readonly singletons: readonly string[];
}

/** Members from which on a community is divided further. */
const MAX_MEMBERS = 50;
/** Deepest level. */
const MAX_LEVELS = 8;
const SEED = 1;

/**
 * Finds communities by the Louvain method, again inside of each with more than 50 members; one that is not connected is split. The same network always
 * gives the same communities.
 *
 * Source: Blondel et al., "Fast unfolding of communities in large networks", 2008; splitting as in Traag et al., "From Louvain to Leiden", 2019.
 */
export function findCommunities(network: EntityNetwork): Communities {
  const singletons: string[] = [];
  const joined: string[] = [];
  network.forEachNode((id) => {
    (network.degree(id) === 0 ? singletons : joined).push(id);
  });
  const communities: Community[] = [];
  const divide = (members: readonly string[], level: number, parent: string | null): void => {
    for (const part of partition(network, members)) {
      const id = `${level}:${part[0] ?? ''}`;
      communities.push({ id, level, parent, members: part });
      const isDivided = part.length > MAX_MEMBERS && level + 1 < MAX_LEVELS;
      if (isDivided && part.length < members.length) divide(part, level + 1, id);
      else if (isDivided && level === 0) divide(part, level + 1, id);
    }
  };
  if (joined.length > 0) divide(joined, 0, null);
  communities.sort(
    (left, right) =>
      left.level - right.level || right.members.length - left.members.length || (left.id < right.id ? -1 : 1),
  );
  return { communities, singletons };
}

/** Connected groups of some entities, the largest first, their members sorted. */
function partition(network: EntityNetwork, members: readonly string[]): string[][] {
  const inside = new Set(members);
  const part = network.nullCopy() as EntityNetwork;
  for (const id of members) part.addNode(id);
  for (const id of members) {
    network.forEachEdge(id, (_edge, attributes, source, target) => {
      const other = source === id ? target : source;
      if (id < other && inside.has(other)) part.addUndirectedEdge(id, other, attributes);
    });
  }
  if (part.size === 0) return members.map((id) => [id]);
  const found = louvain(part, { rng: seededRandom(SEED), getEdgeWeight: 'weight' });
  const groups = new Map<number, string[]>();
  for (const id of members) {
    const group = found[id] ?? -1;
    groups.set(group, [...(groups.get(group) ?? []), id]);
  }
  const connected = [...groups.values()].flatMap((group) => connectedParts(part, group));
  return connected.sort((left, right) => right.length - left.length || ((left[0] ?? '') < (right[0] ?? '') ? -1 : 1));
}

function connectedParts(network: EntityNetwork, group: readonly string[]): string[][] {
  const left = new Set(group);
  const parts: string[][] = [];
  for (const start of group) {
    if (!left.delete(start)) continue;
    const part = [start];
    // The list grows while it is walked.
    for (const id of part) {
      network.forEachNeighbor(id, (other) => {
        if (left.delete(other)) part.push(other);
      });
    }
    parts.push(part.sort());
  }
  return parts;
}
