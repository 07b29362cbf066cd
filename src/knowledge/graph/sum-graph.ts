/** The graph of a dataset as the sum of what its chunks say. */
import { type ChunkContribution, CO_OCCURS, type GraphLayer, MAX_NAME, type Mention } from './facts.js';
import type { GraphEntity, GraphRelation, NameDecision, SummedGraph } from './graph-records.js';
import { groupNames, type KnownName } from './names/group-names.js';
import { type NameForm, nameForm, type Simplify } from './names/name-forms.js';

/** How a graph is summed. */
export interface SumOptions {
  /** Layers that count. @default all */
  readonly layers?: readonly GraphLayer[] | undefined;
  readonly decisions?: readonly NameDecision[] | undefined;
  /** Pairs of names that are the same, such as terms with their aliases. @default none */
  readonly aliases?: readonly (readonly [string, string])[] | undefined;
  /** @default traditional letters stay */
  readonly simplify?: Simplify | undefined;
}

/** Sentences that are kept of an entity or a relation. */
const MAX_DESCRIPTIONS = 5;
/** Weights are whole parts of this, so that sums are exact in whatever order. */
const WEIGHT_STEPS = 1_024;
/** Largest weight of a contribution. */
const MAX_WEIGHT = 100;

/** What is known of one spelling. */
interface NameStats {
  mentions: number;
  isTitle: boolean;
  isGiven: boolean;
  readonly types: Map<string, number>;
  readonly chunks: Map<string, number>;
  readonly documents: Set<string>;
  readonly titleOf: Set<string>;
  readonly descriptions: Set<string>;
}

/**
 * Sums contributions. The result depends on the set of contributions alone: not on their order, nor on what was there before, so a dataset from which a
 * document was deleted has the graph of one that never had it.
 *
 * Names of the layer `links` count where they are a title of some document.
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
  const given = counted.flatMap(({ mentions }) =>
    mentions.flatMap(({ name, aliases: own = [] }) => own.map((alias) => [name, alias] as const)),
  );
  const names = [...stats].map(
    ([name, { descriptions, isTitle }]): KnownName => ({ name, isTitle, about: firstOf(descriptions).join(' ') }),
  );
  const grouped = groupNames(names, { aliases: [...aliases, ...given], decisions, simplify });
  const entities = new Map<string, GraphEntity>();
  const idOf = new Map<string, string>();
  for (const group of grouped.groups) {
    const entity = entityOf(group, stats, simplify);
    entities.set(entity.id, entity);
    for (const name of group) idOf.set(name, entity.id);
  }
  const sorted = new Map([...entities].sort(([left], [right]) => (left < right ? -1 : 1)));
  return { entities: sorted, relations: sumRelations(counted, idOf), ...grouped, idOf };
}

function titleKeys(contributions: readonly ChunkContribution[], keyOf: (name: string) => string): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { mentions } of contributions) {
    for (const { name, isTitle = false } of mentions) if (isTitle) keys.add(keyOf(name));
  }
  return keys;
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
    const fresh: NameStats = {
      mentions: 0,
      isTitle: false,
      isGiven: false,
      types: new Map(),
      chunks: new Map(),
      documents: new Set(),
      titleOf: new Set(),
      descriptions: new Set(),
    };
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
      own.isTitle ||= isTitle;
      own.isGiven ||= layer === 'given';
      if (description !== '') own.descriptions.add(description);
      // A type counts for each layer that tells it.
      own.types.set(type, (own.types.get(type) ?? 0) + 1);
      if (chunkId === '') continue;
      own.documents.add(documentId);
      if (isTitle) own.titleOf.add(chunkId);
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

function entityOf(group: readonly string[], stats: ReadonlyMap<string, NameStats>, simplify: Simplify | undefined) {
  const own = group.map((name) => ({ name, stats: stats.get(name) as NameStats }));
  const [best] = [...own].sort(
    (left, right) =>
      Number(right.stats.isTitle) - Number(left.stats.isTitle) ||
      right.stats.mentions - left.stats.mentions ||
      right.name.length - left.name.length ||
      (left.name < right.name ? -1 : 1),
  );
  const name = best?.name ?? '';
  const types = new Map<string, number>();
  const chunks = new Map<string, number>();
  for (const { stats: one } of own) {
    for (const [type, count] of one.types) types.set(type, (types.get(type) ?? 0) + count);
    for (const [chunk, count] of one.chunks) chunks.set(chunk, (chunks.get(chunk) ?? 0) + count);
  }
  const { key, qualifier } = nameForm(name, simplify);
  const all = (of: (one: NameStats) => Iterable<string>): string[] =>
    [...new Set(own.flatMap(({ stats: one }) => [...of(one)]))].sort();
  return {
    id: qualifier === '' ? key : `${key}~${qualifier}`,
    name,
    aliases: group.filter((alias) => alias !== name),
    type: typeOf(types),
    descriptions: firstOf(all(({ descriptions }) => descriptions)),
    mentionCount: own.reduce((sum, { stats: { mentions } }) => sum + mentions, 0),
    documents: all(({ documents }) => documents),
    chunks: new Map([...chunks].sort(([left], [right]) => (left < right ? -1 : 1))),
    titleOf: all(({ titleOf }) => titleOf),
    isGiven: own.some(({ stats: { isGiven } }) => isGiven),
  };
}

/** The type that is told most often; that nothing is known counts last. */
function typeOf(types: ReadonlyMap<string, number>): string {
  const told = [...types].filter(([type]) => type !== 'concept');
  const [best] = told.sort(([left, count], [right, other]) => other - count || (left < right ? -1 : 1));
  return best?.[0] ?? 'concept';
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
  readonly chunks: Set<string>;
  readonly descriptions: Set<string>;
}

function sumRelations(contributions: readonly ChunkContribution[], idOf: ReadonlyMap<string, string>): GraphRelation[] {
  const sums = new Map<string, RelationSum>();
  /** Two layers that find the same in one chunk say it once, as strongly as the stronger one. */
  const said = new Map<string, number>();
  for (const { chunkId, relations } of contributions) {
    for (const { source: from, target: to, relation, description, weight, isExplicit } of relations) {
      let [source, target] = [idOf.get(from), idOf.get(to)];
      if (source === undefined || target === undefined || source === target) continue;
      if (!isExplicit && source > target) [source, target] = [target, source];
      const key = `${source}\0${target}\0${isExplicit ? relation : CO_OCCURS}\0${isExplicit}`;
      const sum = sums.get(key) ?? emptySum(source, target, isExplicit ? relation : CO_OCCURS, isExplicit);
      sums.set(key, sum);
      if (description !== '') sum.descriptions.add(description);
      const once = `${key}\0${chunkId}\0${isExplicit ? description : ''}`;
      const steps = Math.round(Math.min(Math.max(weight, 0), MAX_WEIGHT) * WEIGHT_STEPS);
      const before = said.get(once) ?? 0;
      if (steps > before) {
        said.set(once, steps);
        sum.steps += steps - before;
      }
      if (chunkId !== '') sum.chunks.add(chunkId);
    }
  }
  const sorted = [...sums].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([, { steps, chunks, descriptions, ...sum }]) => ({
    ...sum,
    weight: steps / WEIGHT_STEPS,
    chunks: [...chunks].sort(),
    descriptions: firstOf(descriptions),
  }));
}

function emptySum(source: string, target: string, relation: string, isExplicit: boolean): RelationSum {
  return { source, target, relation, isExplicit, steps: 0, chunks: new Set(), descriptions: new Set() };
}
