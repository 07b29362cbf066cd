/** Passages for questions whose answer stands in several: a walk that begins at what the question names and what was found by words. */
import type { RankSeed } from '../graph-answers.js';
import type { GraphEntity } from '../graph-records.js';
import type { GraphReason } from '../graph-search.js';
import { type FoundPassageOfGraph, rankedPassages } from './found-passages.js';
import type { PassageNetwork } from './passage-network.js';

/** What a walk begins with. */
export interface RankWork {
  readonly network: PassageNetwork;
  readonly named: readonly GraphEntity[];
  /** Of the search by words, which has followed links already; the best first. */
  readonly found: readonly RankSeed[];
  readonly limit: number;
  /** Names of the entities of a passage that are rare enough to say why it is there. */
  readonly entitiesOf: (chunkId: string) => readonly string[];
}

/** Passages of the search by words that a walk begins at. */
const SEEDS = 6;
/** Share of the walk in the score, beside what was found by words. */
const WALK_SHARE = 0.3;
/** Places of the list by words that a walk does not change. */
const FIXED_PLACES = 2;

/** Ranks passages by words, links and a walk together; the first two by words stay where they are. */
export function searchByRank({ network, named, found, limit, entitiesOf }: RankWork): readonly FoundPassageOfGraph[] {
  const seeds = {
    passages: new Map(found.slice(0, SEEDS).map(({ chunkId, score }) => [chunkId, score * score])),
    entities: new Map(named.map((entity) => [entity.id, network.rarity(entity)])),
  };
  const walked = network.walk(seeds);
  const begun = new Set(seeds.passages.keys());
  // Where the walk begins, its score says nothing new.
  let most = 0;
  for (const [id, score] of walked) if (!begun.has(id)) most = Math.max(most, score);
  const scores = new Map<string, number>();
  for (const [id, score] of walked) scores.set(id, most === 0 ? 0 : WALK_SHARE * Math.min(1, score / most));
  for (const { chunkId, score } of found) scores.set(chunkId, (scores.get(chunkId) ?? 0) + score);
  for (const [at, { chunkId }] of found.slice(0, FIXED_PLACES).entries()) scores.set(chunkId, 10 - at);
  const byWords = new Set(found.map(({ chunkId }) => chunkId));
  const names = named.map(({ name }) => name);
  const ranked = rankedPassages(scores, limit, (id): GraphReason => {
    const own = entitiesOf(id);
    const shared = names.filter((name) => own.includes(name));
    const relation = byWords.has(id) ? 'links' : 'mentions';
    const steps =
      shared.length > 0
        ? []
        : own.slice(0, 1).map((to) => ({ from: names[0] ?? 'the question', to, relation, isExplicit: false }));
    return { entities: shared.length > 0 ? shared : own.slice(0, 3), steps };
  });
  return ranked;
}
