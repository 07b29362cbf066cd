/** The relations of a graph: sums of what chunks say of two entities, kept up to date. */
import { type ChunkContribution, CO_OCCURS, type Relation } from '../facts.js';
import type { GraphRelation } from '../graph-records.js';
import { compareTexts } from '../text-order.js';
import { firstOf } from './name-stats.js';

/** Weights are whole parts of this, so that sums are exact in whatever order. */
const WEIGHT_STEPS = 1_024;
/** Largest weight of a contribution, and of what a user gives, which is that of a whole relation. */
const MAX_WEIGHT = 100;
export const MAX_GIVEN_WEIGHT = 1e9;

const NONE: readonly string[] = [];

/** The entity of a name; undefined where there is none. */
type IdOf = (name: string) => string | undefined;

/** Between which entities a relation is. */
interface RelationPlace {
  readonly key: string;
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly isExplicit: boolean;
}

/** A relation with what it is the sum of. */
interface Entry extends RelationPlace {
  /** A contribution, then what it says, and so on: two values for each part. */
  readonly parts: (ChunkContribution | Relation)[];
  /** Undefined until it is summed, and again after a change. */
  summed: GraphRelation | undefined;
  /** Whether it is in the sorted list. */
  isListed: boolean;
}

/** What was said of the names of one contribution, and of the entities that have them. */
export class RelationSums {
  readonly #entries = new Map<string, Entry>();
  /** Entries of each entity. */
  readonly #entriesOf = new Map<string, Entry[]>();
  /** Relations of an entity as they are told, the strongest first. */
  readonly #told = new Map<string, readonly GraphRelation[]>();
  /** Entries that changed since the last reading. */
  readonly #changed = new Set<Entry>();
  /** By key, as of the last reading. */
  #sorted: readonly Entry[] = [];
  #relations: readonly GraphRelation[] = [];

  /** Adds what a contribution says of the names that are meant. */
  add(contribution: ChunkContribution, idOf: IdOf, isMeant: (relation: Relation) => boolean = () => true): void {
    for (const relation of contribution.relations) {
      if (!isMeant(relation)) continue;
      const place = placeOf(relation, idOf);
      if (place === undefined) continue;
      const known = this.#entries.get(place.key);
      known?.parts.push(contribution, relation);
      this.#touch(known ?? this.#begin(place, [contribution, relation]));
    }
  }

  /** Takes out what was added, by the entities that the names had then. */
  remove(contribution: ChunkContribution, idOf: IdOf, isMeant: (relation: Relation) => boolean = () => true): void {
    for (const relation of contribution.relations) {
      const entry = isMeant(relation) ? this.#entries.get(placeOf(relation, idOf)?.key ?? '') : undefined;
      if (entry === undefined) continue;
      removePart(entry, contribution, relation);
      this.#touch(entry);
    }
  }

  /** All, sorted by source, target and relation. */
  get all(): readonly GraphRelation[] {
    if (this.#changed.size === 0) return this.#relations;
    const entries: Entry[] = [];
    const relations: GraphRelation[] = [];
    let from = 0;
    const copyUntil = (end: number): void => {
      for (; from < end; from += 1) {
        entries.push(this.#sorted[from] as Entry);
        relations.push(this.#relations[from] as GraphRelation);
      }
    };
    for (const entry of [...this.#changed].sort((left, right) => compareTexts(left.key, right.key))) {
      copyUntil(placeIn(this.#sorted, entry.key, from));
      if (entry.isListed) from += 1;
      entry.isListed = entry.parts.length > 0;
      if (entry.isListed) {
        entries.push(entry);
        relations.push(summed(entry));
      } else this.#forget(entry);
    }
    copyUntil(this.#sorted.length);
    this.#changed.clear();
    this.#sorted = entries;
    this.#relations = relations;
    return relations;
  }

  /** The relations of an entity: those that a text states first, then the strongest. */
  of(id: string): readonly GraphRelation[] {
    const known = this.#told.get(id);
    if (known !== undefined) return known;
    const entries = (this.#entriesOf.get(id) ?? []).filter(({ parts }) => parts.length > 0);
    const told = entries.map(summed).sort(strongestFirst);
    this.#told.set(id, told);
    return told;
  }

  #begin({ key, source, target, relation, isExplicit }: RelationPlace, parts: Entry['parts']): Entry {
    // Field by field: what is spread takes twice the memory.
    const entry: Entry = { key, source, target, relation, isExplicit, parts, summed: undefined, isListed: false };
    this.#entries.set(entry.key, entry);
    for (const id of [entry.source, entry.target]) {
      const own = this.#entriesOf.get(id);
      if (own === undefined) this.#entriesOf.set(id, [entry]);
      else own.push(entry);
    }
    return entry;
  }

  #touch(entry: Entry): void {
    entry.summed = undefined;
    this.#changed.add(entry);
    this.#told.delete(entry.source);
    this.#told.delete(entry.target);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.key);
    for (const id of [entry.source, entry.target]) {
      const left = (this.#entriesOf.get(id) ?? []).filter((one) => one !== entry);
      if (left.length === 0) this.#entriesOf.delete(id);
      else this.#entriesOf.set(id, left);
    }
  }
}

/** Undefined where one of the ends is no entity, or both are one. */
function placeOf(
  { source: from, target: to, relation: said, isExplicit }: Relation,
  idOf: IdOf,
): RelationPlace | undefined {
  let [source, target] = [idOf(from), idOf(to)];
  if (source === undefined || target === undefined || source === target) return undefined;
  if (!isExplicit && source > target) [source, target] = [target, source];
  const relation = isExplicit ? said : CO_OCCURS;
  return { key: `${source}\0${target}\0${relation}\0${isExplicit}`, source, target, relation, isExplicit };
}

function removePart(entry: Entry, contribution: ChunkContribution, relation: Relation): void {
  for (let at = 0; at < entry.parts.length; at += 2) {
    if (entry.parts[at] !== contribution || entry.parts[at + 1] !== relation) continue;
    entry.parts.splice(at, 2);
    return;
  }
}

/** Where a key stands in a sorted list, or would. */
function placeIn(sorted: readonly Entry[], key: string, from: number): number {
  let [low, high] = [from, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as Entry).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function summed(entry: Entry): GraphRelation {
  entry.summed ??= sumOf(entry);
  return entry.summed;
}

/** Two layers that find the same in one chunk say it once, as strongly as the stronger one. */
function sumOf({ source, target, relation, isExplicit, parts }: Entry): GraphRelation {
  const [only, said] = parts as [ChunkContribution, Relation];
  // Most are said once.
  if (parts.length === 2) {
    const weight = stepsOf(only, said) / WEIGHT_STEPS;
    const own = only.chunkId === '' ? NONE : [only.chunkId];
    const texts = said.description === '' ? NONE : [said.description];
    const isGiven = only.layer === 'given';
    return { source, target, relation, descriptions: texts, weight, isExplicit, chunks: own, isGiven };
  }
  const steps = new Map<string, number>();
  const chunks = new Set<string>();
  const descriptions = new Set<string>();
  let all = 0;
  let given: number | undefined;
  for (let at = 0; at < parts.length; at += 2) {
    const [contribution, told] = [parts[at] as ChunkContribution, parts[at + 1] as Relation];
    const { chunkId, layer } = contribution;
    const { description } = told;
    if (description !== '') descriptions.add(description);
    if (chunkId !== '') chunks.add(chunkId);
    const own = stepsOf(contribution, told);
    if (layer === 'given') {
      given = Math.max(own, given ?? 0);
      continue;
    }
    const once = `${chunkId}\0${isExplicit ? description : ''}`;
    const before = steps.get(once) ?? 0;
    if (own <= before) continue;
    steps.set(once, own);
    all += own - before;
  }
  const weight = Math.max(all, given ?? 0) / WEIGHT_STEPS;
  const [texts, own] = [firstOf(descriptions), [...chunks].sort()];
  const isGiven = given !== undefined;
  return { source, target, relation, descriptions: texts, weight, isExplicit, chunks: own, isGiven };
}

function stepsOf({ layer }: ChunkContribution, { weight }: Relation): number {
  const most = layer === 'given' ? MAX_GIVEN_WEIGHT : MAX_WEIGHT;
  return Math.round(Math.min(Math.max(weight, 0), most) * WEIGHT_STEPS);
}

function strongestFirst(left: GraphRelation, right: GraphRelation): number {
  return (
    Number(right.isExplicit) - Number(left.isExplicit) ||
    right.weight - left.weight ||
    compareTexts(left.source, right.source) ||
    compareTexts(left.target, right.target) ||
    compareTexts(left.relation, right.relation)
  );
}
