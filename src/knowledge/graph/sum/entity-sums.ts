/** The entities of a graph: groups of names, kept up to date. */
import type { GraphEntity } from '../graph-records.js';
import { type KeyedDecision, type KnownName, NameGrouping, type NameGroups } from '../names/group-names.js';
import { keyOfForm, type NameForm, type Simplify } from '../names/name-forms.js';
import { type EntityName, emptyStats, entityOf, firstOf } from './name-stats.js';
import type { KeyedAlias, NameSums } from './name-sums.js';

/** Spellings that are one, and the entity that they are; none where no text and no user mentions any of them. */
interface Group {
  readonly names: readonly string[];
  readonly entity: GraphEntity | undefined;
}

/** What is decided of names, beside what contributions say. */
export interface Decided {
  readonly decisions: readonly KeyedDecision[];
  /** Names with others that mean the same; one that no text mentions leads to the other. */
  readonly aliases: readonly KeyedAlias[];
}

const EMPTY = emptyStats();

/** Groups that did not change keep their entities. */
export class EntitySums {
  readonly #names: NameSums;
  readonly #simplify: Simplify | undefined;
  readonly #formOf: (name: string) => NameForm;
  readonly #grouping: NameGrouping;
  /** By the smallest key of their names. */
  readonly #groups = new Map<string, Group>();
  readonly #entities = new Map<string, GraphEntity>();
  readonly #idOf = new Map<string, string>();
  #grouped: NameGroups = { joined: new Map(), merges: [], maybe: [] };
  /** Names that no text mentions, of something that is mentioned. */
  #alsoCalled: ReadonlySet<string> = new Set();
  /** Keys that users say are other names of something. */
  #others: ReadonlySet<string> = new Set();
  /** Ids, sorted. */
  #ids: readonly string[] = [];

  constructor(names: NameSums, formOf: (name: string) => NameForm, simplify: Simplify | undefined) {
    this.#names = names;
    this.#formOf = formOf;
    this.#simplify = simplify;
    this.#grouping = new NameGrouping(formOf);
  }

  /** The entity of a spelling. */
  idOf(name: string): string | undefined {
    return this.#idOf.get(name);
  }

  /** What a graph holds of entities: copies, which stay as they are. */
  summed() {
    const { merges, maybe } = this.#grouped;
    const entities = new Map(this.#ids.map((id) => [id, this.#entities.get(id) as GraphEntity]));
    return { entities, merges, maybe, idOf: new Map(this.#idOf) };
  }

  /** Groups names anew of which something else is known; gives the names that are another entity now, or none, with what they were. */
  change(told: ReadonlySet<string>, { decisions, aliases }: Decided): ReadonlyMap<string, string | undefined> {
    const byUser = [...aliases, ...this.#names.givenAliases];
    const changed = new Set(told);
    this.#takeAliases(byUser, changed);
    const put: KnownName[] = [];
    const gone: string[] = [];
    for (const name of changed) {
      const stats = this.#names.statsOf(name) ?? (this.#alsoCalled.has(name) ? EMPTY : undefined);
      if (stats === undefined) gone.push(name);
      else {
        const { isTitle, isGiven, descriptions } = stats;
        put.push({ name, isTitle, isGiven, about: firstOf(descriptions).join(' ') });
      }
    }
    const keys = new Set(this.#grouping.change(put, gone));
    const before = this.#grouped.joined;
    this.#grouped = this.#grouping.group({
      given: byUser.map((one) => one.keys),
      aliases: this.#names.toldAliases.map((one) => one.keys),
      decisions,
    });
    addChanged(before, this.#grouped.joined, keys);
    return this.#regroup(keys, rootsOf(before), rootsOf(this.#grouped.joined));
  }

  /** Notes which names are other names of something; what is different of them is added to what has changed. */
  #takeAliases(byUser: readonly KeyedAlias[], changed: Set<string>): void {
    const alsoCalled = new Set<string>();
    const others = new Set<string>();
    for (const { names, keys } of byUser) {
      if (keys[0] !== keys[1]) others.add(keys[1]);
      if (!keys.some((key) => this.#names.has(key))) continue;
      for (const name of names) if (this.#names.statsOf(name) === undefined) alsoCalled.add(name);
    }
    for (const name of differing(this.#alsoCalled, alsoCalled)) changed.add(name);
    for (const key of differing(this.#others, others))
      for (const name of this.#grouping.namesOf(key)) changed.add(name);
    this.#alsoCalled = alsoCalled;
    this.#others = others;
  }

  /** Makes the groups of some keys again. */
  #regroup(
    keys: ReadonlySet<string>,
    rootBefore: ReadonlyMap<string, string>,
    rootNow: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, string | undefined> {
    const previous = new Map<string, string | undefined>();
    const goneIds = new Set<string>();
    for (const key of keys) {
      const root = rootBefore.get(key) ?? key;
      const group = this.#groups.get(root);
      if (group === undefined) continue;
      this.#groups.delete(root);
      for (const name of group.names) {
        previous.set(name, this.#idOf.get(name));
        this.#idOf.delete(name);
      }
      if (group.entity === undefined) continue;
      this.#entities.delete(group.entity.id);
      goneIds.add(group.entity.id);
    }
    const freshIds: string[] = [];
    for (const root of new Set([...keys].map((key) => rootNow.get(key) ?? key))) {
      const names = (this.#grouped.joined.get(root) ?? [root]).flatMap((key) => this.#grouping.namesOf(key)).sort();
      if (names.length === 0) continue;
      const group = this.#groupOf(names);
      this.#groups.set(root, group);
      for (const name of names) if (!previous.has(name)) previous.set(name, undefined);
      if (group.entity === undefined) continue;
      const { id } = group.entity;
      this.#entities.set(id, group.entity);
      if (!goneIds.delete(id)) freshIds.push(id);
      for (const name of names) this.#idOf.set(name, id);
    }
    this.#ids = sortedWith(this.#ids, goneIds, freshIds);
    for (const [name, id] of previous) if (this.#idOf.get(name) === id) previous.delete(name);
    return previous;
  }

  #groupOf(names: readonly string[]): Group {
    if (!names.some((name) => this.#names.statsOf(name)?.isMentioned)) return { names, entity: undefined };
    const group = names.map((name): EntityName => {
      const isAlias = this.#others.has(keyOfForm(this.#formOf(name)));
      return { name, stats: this.#names.statsOf(name) ?? EMPTY, isAlias };
    });
    return { names, entity: entityOf(group, this.#simplify) };
  }
}

/** What is in one of two sets alone. */
function* differing(left: ReadonlySet<string>, right: ReadonlySet<string>): Generator<string> {
  for (const value of left) if (!right.has(value)) yield value;
  for (const value of right) if (!left.has(value)) yield value;
}

type Joined = NameGroups['joined'];

/** Adds the keys of groups that are not as they were. */
function addChanged(before: Joined, now: Joined, keys: Set<string>): void {
  for (const [root, own] of before) {
    const others = now.get(root);
    if (others?.length === own.length && own.every((key, at) => key === others[at])) continue;
    for (const key of [...own, ...(others ?? [])]) keys.add(key);
  }
  for (const [root, own] of now) if (!before.has(root)) for (const key of own) keys.add(key);
}

/** The smallest key of the group of each key that is joined with others. */
function rootsOf(joined: Joined): Map<string, string> {
  const roots = new Map<string, string>();
  for (const [root, keys] of joined) for (const key of keys) roots.set(key, root);
  return roots;
}

/** A sorted list without some values and with others. */
function sortedWith(sorted: readonly string[], gone: ReadonlySet<string>, fresh: readonly string[]): readonly string[] {
  const left = gone.size === 0 ? sorted : sorted.filter((value) => !gone.has(value));
  if (fresh.length === 0) return left;
  // Engines sort what is nearly sorted in one pass.
  return [...left, ...[...fresh].sort()].sort();
}
