/** The graph of a dataset as the sum of what its chunks say. */
import { type ChunkContribution, CO_OCCURS, type GraphLayer, MAX_NAME, type Mention } from './facts.js';
import type { GraphEntity, GraphRelation, NameDecision, SummedGraph } from './graph-records.js';
import { groupNames, type KnownName } from './names/group-names.js';
import { type NameForm, nameForm, nameKey, type Simplify } from './names/name-forms.js';

/** How a graph is summed. */
export interface SumOptions {
  /** Layers that count. @default all */
  readonly layers?: readonly GraphLayer[] | undefined;
  readonly decisions?: readonly NameDecision[] | undefined;
  /** Names with others that mean the same, such as terms with their aliases; one that no text mentions leads to the other. @default none */
  readonly aliases?: readonly (readonly [string, string])[] | undefined;
  /** @default traditional letters stay */
  readonly simplify?: Simplify | undefined;
}

/** Sentences that are kept of an entity or a relation. */
export const MAX_DESCRIPTIONS = 5;
/** Weights are whole parts of this, so that sums are exact in whatever order. */
const WEIGHT_STEPS = 1_024;
/** Largest weight of a contribution, and of what a user gives, which is that of a whole relation. */
const MAX_WEIGHT = 100;
export const MAX_GIVEN_WEIGHT = 1e9;

/** What is known of one spelling. */
interface NameStats {
  mentions: number;
  isTitle: boolean;
  /** Whether a user gave it as the name of an entity. */
  isGiven: boolean;
  /** Whether a text or a user mentions it; else it is only another name of something. */
  isMentioned: boolean;
  /** Whether a user says that it is another name of something. */
  isAlias: boolean;
  readonly types: Map<string, number>;
  /** Types, and mentions by chunk, that users give. */
  readonly givenTypes: Map<string, number>;
  readonly givenChunks: Map<string, number>;
  readonly chunks: Map<string, number>;
  readonly documents: Set<string>;
  readonly titleOf: Set<string>;
  readonly descriptions: Set<string>;
}

/**
 * Sums contributions. The result depends on the set of contributions alone: not on their order, nor on what was there before, so a dataset from which a
 * document was deleted has the graph of one that never had it.
 *
 * Names of the layer `links` count where they are a title of some document. What users give goes before what texts say: its names and types. Its mentions
 * and weights are what there is at least, so a graph that was exported and given again is the same.
 */
export function sumGraph(contributions: Iterable<ChunkContribution>, options: SumOptions = {}): SummedGraph {
  const { layers, decisions = [], aliases = [], simplify } = options;
  const counted = [...contributions].filter(({ layer }) => layers === undefined || layers.includes(layer));
  const forms = new Map<string, NameForm>();
  const keyOf = (name: string): string => {
    const known = forms.get(name) ?? nameForm(name, simplify);
    forms.set(name, known);
    return known.key;
  };
  const titles = titleKeys(counted, keyOf);
  const stats = countNames(counted, (mention, layer) => layer !== 'links' || titles.has(keyOf(mention.name)));
  const byUser = [...aliases, ...aliasesOf(counted.filter(({ layer }) => layer === 'given'))];
  addAliases(stats, byUser, keyOf);
  const others = new Set(byUser.flatMap(([name, alias]) => (keyOf(name) === keyOf(alias) ? [] : [keyOf(alias)])));
  for (const [name, own] of stats) own.isAlias = others.has(keyOf(name));
  const names = [...stats].map(
    ([name, { descriptions, isTitle, isGiven }]): KnownName => ({
      ...{ name, isTitle, isGiven },
      about: firstOf(descriptions).join(' '),
    }),
  );
  const told = aliasesOf(counted.filter(({ layer }) => layer !== 'given'));
  const grouped = groupNames(names, { given: byUser, aliases: told, decisions, simplify });
  const entities = new Map<string, GraphEntity>();
  const idOf = new Map<string, string>();
  for (const group of grouped.groups) {
    if (!group.some((name) => stats.get(name)?.isMentioned)) continue;
    const entity = entityOf(group, stats, simplify);
    entities.set(entity.id, entity);
    for (const name of group) idOf.set(name, entity.id);
  }
  const sorted = new Map([...entities].sort(([left], [right]) => (left < right ? -1 : 1)));
  return { entities: sorted, relations: sumRelations(counted, idOf), ...grouped, idOf };
}

function titleKeys(contributions: readonly ChunkContribution[], keyOf: (name: string) => string): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { layer, mentions } of contributions) {
    if (layer === 'given') continue;
    for (const { name, isTitle = false } of mentions) if (isTitle) keys.add(keyOf(name));
  }
  return keys;
}

function aliasesOf(contributions: readonly ChunkContribution[]): (readonly [string, string])[] {
  return contributions.flatMap(({ mentions }) =>
    mentions.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [name, alias] as const)),
  );
}

/** Adds other names of what there is, so that questions find it by them. */
function addAliases(
  stats: Map<string, NameStats>,
  aliases: readonly (readonly [string, string])[],
  keyOf: (name: string) => string,
): void {
  const mentioned = new Set([...stats.keys()].map(keyOf));
  for (const pair of aliases) {
    if (!pair.some((name) => mentioned.has(keyOf(name)))) continue;
    for (const name of pair) if (!stats.has(name)) stats.set(name, emptyStats());
  }
}

function countNames(
  contributions: readonly ChunkContribution[],
  counts: (mention: Mention, layer: GraphLayer) => boolean,
): Map<string, NameStats> {
  const stats = new Map<string, NameStats>();
  const places = new Map<string, Set<string>>();
  const statsOf = (name: string): NameStats => {
    const known = stats.get(name);
    if (known !== undefined) return known;
    const fresh = emptyStats();
    stats.set(name, fresh);
    return fresh;
  };
  for (const { chunkId, documentId, layer, mentions, relations } of contributions) {
    const seen = places.get(chunkId) ?? new Set();
    places.set(chunkId, seen);
    for (const mention of mentions) {
      const { name, type, start, end, description = '', isTitle = false } = mention;
      if (name === '' || name.length > MAX_NAME || !counts(mention, layer)) continue;
      const own = statsOf(name);
      const isGiven = layer === 'given';
      const { count = 1 } = mention;
      own.isMentioned = true;
      own.isTitle ||= isTitle;
      own.isGiven ||= isGiven;
      if (description !== '') own.descriptions.add(description);
      // A type counts for each layer that tells it.
      const types = isGiven ? own.givenTypes : own.types;
      types.set(type, (types.get(type) ?? 0) + 1);
      if (chunkId === '' || (isGiven && count === 0)) continue;
      own.documents.add(documentId);
      if (isTitle) own.titleOf.add(chunkId);
      if (isGiven) {
        own.givenChunks.set(chunkId, (own.givenChunks.get(chunkId) ?? 0) + count);
        continue;
      }
      // What two layers find at one place is one mention.
      const place = `${start}-${end} ${name}`;
      if (seen.has(place)) continue;
      seen.add(place);
      own.mentions += 1;
      own.chunks.set(chunkId, (own.chunks.get(chunkId) ?? 0) + 1);
    }
    for (const { source, target, description, isExplicit } of relations) {
      if (!isExplicit || description === '') continue;
      for (const name of [source, target]) stats.get(name)?.descriptions.add(description);
    }
  }
  return stats;
}

function emptyStats(): NameStats {
  return {
    ...{ mentions: 0, isTitle: false, isGiven: false, isMentioned: false, isAlias: false },
    types: new Map(),
    givenTypes: new Map(),
    chunks: new Map(),
    givenChunks: new Map(),
    documents: new Set(),
    titleOf: new Set(),
    descriptions: new Set(),
  };
}

function entityOf(group: readonly string[], stats: ReadonlyMap<string, NameStats>, simplify: Simplify | undefined) {
  const own = group.map((name) => ({ name, stats: stats.get(name) as NameStats }));
  const [best] = [...own].sort(
    (left, right) =>
      Number(right.stats.isGiven) - Number(left.stats.isGiven) ||
      Number(left.stats.isAlias) - Number(right.stats.isAlias) ||
      Number(isWrittenTitle(right)) - Number(isWrittenTitle(left)) ||
      Number(right.stats.isMentioned) - Number(left.stats.isMentioned) ||
      right.stats.mentions - left.stats.mentions ||
      right.name.length - left.name.length ||
      (left.name < right.name ? -1 : 1),
  );
  const name = best?.name ?? '';
  const sumOf = (of: (one: NameStats) => ReadonlyMap<string, number>): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const { stats: one } of own) for (const [key, count] of of(one)) sums.set(key, (sums.get(key) ?? 0) + count);
    return sums;
  };
  const chunks = sumOf((one) => one.chunks);
  for (const [chunk, count] of sumOf((one) => one.givenChunks))
    chunks.set(chunk, Math.max(count, chunks.get(chunk) ?? 0));
  const givenType = typeOf(sumOf(({ givenTypes }) => givenTypes));
  const all = (of: (one: NameStats) => Iterable<string>): string[] =>
    [...new Set(own.flatMap(({ stats: one }) => [...of(one)]))].sort();
  return {
    id: nameKey(name, simplify),
    name,
    aliases: group.filter((alias) => alias !== name),
    type: givenType === NO_TYPE ? typeOf(sumOf(({ types }) => types)) : givenType,
    descriptions: firstOf(all(({ descriptions }) => descriptions)),
    mentionCount: [...chunks.values()].reduce((sum, count) => sum + count, 0),
    documents: all(({ documents }) => documents),
    chunks: new Map([...chunks].sort(([left], [right]) => (left < right ? -1 : 1))),
    titleOf: all(({ titleOf }) => titleOf),
    isGiven: own.some(({ stats: { isGiven } }) => isGiven),
  };
}

/** Whether it is a title that tells how a name is written: one in small letters may be the name of a file. */
function isWrittenTitle({ name, stats }: { readonly name: string; readonly stats: NameStats }): boolean {
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
function firstOf(descriptions: Iterable<string>): string[] {
  return [...descriptions].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_DESCRIPTIONS);
}

interface RelationSum {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly isExplicit: boolean;
  steps: number;
  /** Of the same by users; undefined where none gave it. */
  givenSteps?: number;
  readonly chunks: Set<string>;
  readonly descriptions: Set<string>;
}

function sumRelations(contributions: readonly ChunkContribution[], idOf: ReadonlyMap<string, string>): GraphRelation[] {
  const sums = new Map<string, RelationSum>();
  /** Two layers that find the same in one chunk say it once, as strongly as the stronger one. */
  const said = new Map<string, number>();
  for (const { chunkId, layer, relations } of contributions) {
    const most = layer === 'given' ? MAX_GIVEN_WEIGHT : MAX_WEIGHT;
    for (const { source: from, target: to, relation, description, weight, isExplicit } of relations) {
      let [source, target] = [idOf.get(from), idOf.get(to)];
      if (source === undefined || target === undefined || source === target) continue;
      if (!isExplicit && source > target) [source, target] = [target, source];
      const key = `${source}\0${target}\0${isExplicit ? relation : CO_OCCURS}\0${isExplicit}`;
      const sum = sums.get(key) ?? emptySum(source, target, isExplicit ? relation : CO_OCCURS, isExplicit);
      sums.set(key, sum);
      if (description !== '') sum.descriptions.add(description);
      if (chunkId !== '') sum.chunks.add(chunkId);
      const steps = Math.round(Math.min(Math.max(weight, 0), most) * WEIGHT_STEPS);
      if (layer === 'given') {
        sum.givenSteps = Math.max(steps, sum.givenSteps ?? 0);
        continue;
      }
      const once = `${key}\0${chunkId}\0${isExplicit ? description : ''}`;
      const before = said.get(once) ?? 0;
      if (steps > before) {
        said.set(once, steps);
        sum.steps += steps - before;
      }
    }
  }
  const sorted = [...sums].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([, { steps, givenSteps, chunks, descriptions, ...sum }]) => ({
    ...sum,
    weight: Math.max(steps, givenSteps ?? 0) / WEIGHT_STEPS,
    chunks: [...chunks].sort(),
    descriptions: firstOf(descriptions),
    isGiven: givenSteps !== undefined,
  }));
}

function emptySum(source: string, target: string, relation: string, isExplicit: boolean): RelationSum {
  return { source, target, relation, isExplicit, steps: 0, chunks: new Set(), descriptions: new Set() };
}
