/** What contributions say of names, and what an entity is that has some of them. */
import { type ChunkContribution, type GraphLayer, MAX_NAME, type Mention } from '../facts.js';
import type { GraphEntity } from '../graph-records.js';
import { nameKey, type Simplify } from '../names/name-forms.js';

/** What is known of one spelling. */
export interface NameStats {
  mentions: number;
  isTitle: boolean;
  /** Whether a user gave it as the name of an entity. */
  isGiven: boolean;
  /** Whether a text or a user mentions it; else it is only another name of something. */
  isMentioned: boolean;
  types: ReadonlyMap<string, number>;
  /** Types, and mentions by chunk, that users give. */
  givenTypes: ReadonlyMap<string, number>;
  givenChunks: ReadonlyMap<string, number>;
  chunks: ReadonlyMap<string, number>;
  documents: ReadonlySet<string>;
  titleOf: ReadonlySet<string>;
  descriptions: ReadonlySet<string>;
}

/** A spelling of an entity, as its name is chosen. */
export interface EntityName {
  readonly name: string;
  readonly stats: NameStats;
  /** Whether a user says that it is another name of something. */
  readonly isAlias: boolean;
}

/** Sentences that are kept of an entity or a relation. */
export const MAX_DESCRIPTIONS = 5;

/** Shared by all names of which there is nothing of a kind: there are very many, and most have few kinds. */
const NO_COUNTS: ReadonlyMap<string, number> = new Map();
const NO_TEXTS: ReadonlySet<string> = new Set();

/** Stats of a name of which nothing is known. */
export function emptyStats(): NameStats {
  return {
    ...{ mentions: 0, isTitle: false, isGiven: false, isMentioned: false },
    ...{ types: NO_COUNTS, givenTypes: NO_COUNTS, chunks: NO_COUNTS, givenChunks: NO_COUNTS },
    ...{ documents: NO_TEXTS, titleOf: NO_TEXTS, descriptions: NO_TEXTS },
  };
}

/** Counts more of something. */
function counted(counts: ReadonlyMap<string, number>, key: string, more = 1): ReadonlyMap<string, number> {
  const own = counts === NO_COUNTS ? new Map<string, number>() : (counts as Map<string, number>);
  return own.set(key, (own.get(key) ?? 0) + more);
}

function added(texts: ReadonlySet<string>, text: string): ReadonlySet<string> {
  return (texts === NO_TEXTS ? new Set<string>() : (texts as Set<string>)).add(text);
}

/** Whether something can be a name at all. */
export function isName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME;
}

/**
 * Counts what contributions say of some names; the result depends on the set of contributions alone.
 *
 * @param contributions all that mention one of the names; others do no harm
 * @param names the names that are counted
 * @param counts whether a mention counts
 */
export function countNames(
  contributions: Iterable<ChunkContribution>,
  names: ReadonlySet<string>,
  counts: (mention: Mention, layer: GraphLayer) => boolean,
): Map<string, NameStats> {
  const stats = new Map<string, NameStats>();
  const places = new Map<string, Set<string>>();
  for (const { chunkId, documentId, layer, mentions, relations } of contributions) {
    const isGiven = layer === 'given';
    for (const mention of mentions) {
      const { name, type, start, end, description = '', isTitle = false, count = 1 } = mention;
      if (!names.has(name) || !isName(name) || !counts(mention, layer)) continue;
      const own = stats.get(name) ?? emptyStats();
      stats.set(name, own);
      own.isMentioned = true;
      own.isTitle ||= isTitle;
      own.isGiven ||= isGiven;
      if (description !== '') own.descriptions = added(own.descriptions, description);
      // A type counts for each layer that tells it.
      if (isGiven) own.givenTypes = counted(own.givenTypes, type);
      else own.types = counted(own.types, type);
      if (chunkId === '' || (isGiven && count === 0)) continue;
      own.documents = added(own.documents, documentId);
      if (isTitle) own.titleOf = added(own.titleOf, chunkId);
      if (isGiven) {
        own.givenChunks = counted(own.givenChunks, chunkId, count);
        continue;
      }
      // What two layers find at one place is one mention.
      const seen = places.get(chunkId) ?? new Set();
      places.set(chunkId, seen);
      const place = `${start}-${end} ${name}`;
      if (seen.has(place)) continue;
      seen.add(place);
      own.mentions += 1;
      own.chunks = counted(own.chunks, chunkId);
    }
    for (const { source, target, description, isExplicit } of relations) {
      if (!isExplicit || description === '') continue;
      for (const name of [source, target]) {
        const own = stats.get(name);
        if (own !== undefined) own.descriptions = added(own.descriptions, description);
      }
    }
  }
  return stats;
}

/** The entity of some spellings, which are sorted. */
export function entityOf(group: readonly EntityName[], simplify: Simplify | undefined): GraphEntity {
  const [best] = [...group].sort(
    (left, right) =>
      Number(right.stats.isGiven) - Number(left.stats.isGiven) ||
      Number(left.isAlias) - Number(right.isAlias) ||
      Number(isWrittenTitle(right)) - Number(isWrittenTitle(left)) ||
      Number(right.stats.isMentioned) - Number(left.stats.isMentioned) ||
      right.stats.mentions - left.stats.mentions ||
      right.name.length - left.name.length ||
      (left.name < right.name ? -1 : 1),
  );
  const name = best?.name ?? '';
  const sumOf = (of: (one: NameStats) => ReadonlyMap<string, number>): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const { stats } of group) for (const [key, count] of of(stats)) sums.set(key, (sums.get(key) ?? 0) + count);
    return sums;
  };
  const chunks = sumOf((one) => one.chunks);
  for (const [chunk, count] of sumOf((one) => one.givenChunks))
    chunks.set(chunk, Math.max(count, chunks.get(chunk) ?? 0));
  const givenType = typeOf(sumOf(({ givenTypes }) => givenTypes));
  const all = (of: (one: NameStats) => Iterable<string>): string[] =>
    [...new Set(group.flatMap(({ stats }) => [...of(stats)]))].sort();
  return {
    id: nameKey(name, simplify),
    name,
    aliases: group.flatMap(({ name: alias }) => (alias === name ? [] : [alias])),
    type: givenType === NO_TYPE ? typeOf(sumOf(({ types }) => types)) : givenType,
    descriptions: firstOf(all(({ descriptions }) => descriptions)),
    mentionCount: [...chunks.values()].reduce((sum, count) => sum + count, 0),
    documents: all(({ documents }) => documents),
    chunks: new Map([...chunks].sort(([left], [right]) => (left < right ? -1 : 1))),
    titleOf: all(({ titleOf }) => titleOf),
    isGiven: group.some(({ stats: { isGiven } }) => isGiven),
  };
}

/** Whether it is a title that tells how a name is written: one in small letters may be the name of a file. */
function isWrittenTitle({ name, stats }: EntityName): boolean {
  return stats.isTitle && (name !== name.toLowerCase() || name === name.toUpperCase());
}

/** The type of what nothing is known of. */
const NO_TYPE = 'concept';

/** The type that is told most often; that nothing is known counts last. */
function typeOf(types: ReadonlyMap<string, number>): string {
  const told = [...types].filter(([type]) => type !== NO_TYPE);
  const [best] = told.sort(([left, count], [right, other]) => other - count || (left < right ? -1 : 1));
  return best?.[0] ?? NO_TYPE;
}

/** Sentences in an order that depends on them alone. */
export function firstOf(descriptions: Iterable<string>): string[] {
  return [...descriptions].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_DESCRIPTIONS);
}
