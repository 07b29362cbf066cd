/** Names of a dataset as groups that are one entity each. */
import type { NameDecision, NamePair } from '../graph-records.js';
import { compareTexts } from '../text-order.js';
import { SAME } from './disambiguate.js';
import { type ComparedName, LikelyPairs } from './likely-pairs.js';
import { keyOfForm, type NameForm } from './name-forms.js';

/** A spelling with what is known of it. */
export interface KnownName {
  readonly name: string;
  /** Sentences about it, in an order that depends on them alone. */
  readonly about: string;
  /** Whether it is the title of a document. */
  readonly isTitle: boolean;
  /** Whether a user gave it as the name of an entity: two of those are one only where a user says so. @default false */
  readonly isGiven?: boolean;
}

/** Two names, by their keys. */
export type KeyPair = readonly [string, string];

/** A decision, with the keys of its names. */
export interface KeyedDecision extends Pick<NameDecision, 'kind' | 'by'> {
  readonly keys: KeyPair;
}

/** What names are grouped by, beside their letters. */
export interface GroupingOptions {
  /** Names that are the same because a user says so. */
  readonly given: Iterable<KeyPair>;
  /** Names that are the same because a dictionary or a text says so. */
  readonly aliases: Iterable<KeyPair>;
  readonly decisions: readonly KeyedDecision[];
}

/** Groups of names. */
export interface NameGroups {
  /** Keys of the names of each entity that has several, by the smallest; sorted. */
  readonly joined: ReadonlyMap<string, readonly string[]>;
  readonly merges: readonly NamePair[];
  /** The likeliest first. */
  readonly maybe: readonly NamePair[];
}

/** Pairs that are perhaps the same, which are kept. */
const MAX_MAYBE = 5_000;

/** Spellings that differ in case, marks and spaces alone. */
interface Spelling extends ComparedName {
  /** Sorted. */
  readonly names: readonly string[];
  readonly isGiven: boolean;
}

interface WeighedPair extends NamePair {
  readonly keys: KeyPair;
  readonly order: number;
}

/** From this order on pairs are what a model thinks; from the next one on they are likely to be one, and not told. */
const BY_MODEL = 3;
const LIKELY = 4;

/**
 * Names of a dataset, which come and go, and the groups of those that are one entity; the same names always give the same groups, in whatever order they came.
 *
 * Spellings of one key are one. A name with something in brackets is the bare one when no other name has brackets and the bare one is no title. Others
 * are compared where they are likely to be one (initials, a letter more or less, letters of Chinese); see `disambiguate`. What a user or a model has
 * decided goes first, that of a user before that of a model, and a group never holds two names that are to stay apart. What a model has decided does not
 * touch what users, dictionaries and texts say.
 */
export class NameGrouping {
  readonly #formOf: (name: string) => NameForm;
  /** By key, then by spelling. */
  readonly #known = new Map<string, Map<string, KnownName>>();
  readonly #spellings = new Map<string, Spelling>();
  readonly #likely = new LikelyPairs();
  /** Keys with something in brackets. */
  readonly #qualified = new Set<string>();

  /** @param formOf the form of a name */
  constructor(formOf: (name: string) => NameForm) {
    this.#formOf = formOf;
  }

  /** Names that are new or of which something else is known, and names that are gone; gives the keys of all of them. */
  change(put: Iterable<KnownName>, gone: Iterable<string>): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const name of gone) {
      const key = keyOfForm(this.#formOf(name));
      this.#known.get(key)?.delete(name);
      keys.add(key);
    }
    for (const one of put) {
      const key = keyOfForm(this.#formOf(one.name));
      const own = this.#known.get(key);
      if (own === undefined) this.#known.set(key, new Map([[one.name, one]]));
      else own.set(one.name, one);
      keys.add(key);
    }
    const compared: (readonly [string, Spelling | undefined])[] = [];
    for (const key of keys) {
      const before = this.#spellings.get(key);
      const now = this.#spell(key);
      if (!isComparedAlike(before, now)) compared.push([key, now]);
    }
    this.#likely.change(compared);
    return keys;
  }

  /** The spellings of a key, sorted; none for one that is gone. */
  namesOf(key: string): readonly string[] {
    return this.#spellings.get(key)?.names ?? [];
  }

  /** The groups as they stand. */
  group({ given, aliases, decisions }: GroupingOptions): NameGroups {
    const apartByUser = apartOf(decisions.filter(({ by }) => by === 'user'));
    const apart = apartOf(decisions);
    const pairs: WeighedPair[] = [];
    const push = (left: string, right: string, by: string, score: number, order: number): void => {
      if (left === right || !this.#spellings.has(left) || !this.#spellings.has(right)) return;
      const keys = left < right ? ([left, right] as const) : ([right, left] as const);
      pairs.push({ keys, names: this.#shown(keys), by, score, order });
    };
    for (const { kind, keys, by } of decisions) if (kind === 'same') push(...keys, by, 1, by === 'user' ? 0 : BY_MODEL);
    for (const keys of given) push(...keys, 'alias', 1, 1);
    for (const keys of aliases) push(...keys, 'alias', 1, 2);
    for (const keys of this.#bareNames()) push(...keys, 'brackets', 1, LIKELY);
    const unsure: WeighedPair[] = [];
    for (const { left, right, by, score } of this.#likely.all()) {
      if (score >= SAME) push(left, right, by, score, LIKELY + 1);
      else if (!apart.has(pairKey(left, right)))
        unsure.push({ keys: [left, right], names: this.#shown([left, right]), by, score, order: LIKELY });
    }
    const groups = new JoinedKeys();
    const merges: NamePair[] = [];
    const isGiven = (key: string): boolean => this.#spellings.get(key)?.isGiven === true;
    for (const { keys, names, by, score, order } of pairs.sort(byWeight)) {
      if (order >= BY_MODEL && keys.every((key) => groups.membersOf(key).some(isGiven))) continue;
      if (groups.join(...keys, order >= BY_MODEL ? apart : apartByUser)) merges.push({ names, by, score });
    }
    const maybe = unsure
      .filter(({ keys }) => !groups.areOne(...keys))
      .sort(byWeight)
      .slice(0, MAX_MAYBE)
      .map(({ names, by, score }): NamePair => ({ names, by, score }));
    return { joined: groups.all(), merges, maybe };
  }

  /** Takes what is known of the names of a key together. */
  #spell(key: string): Spelling | undefined {
    const known = [...(this.#known.get(key)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    const [first] = known;
    if (first === undefined) {
      this.#known.delete(key);
      this.#spellings.delete(key);
      this.#qualified.delete(key);
      return undefined;
    }
    const form = this.#formOf(first.name);
    const spelling: Spelling = {
      form,
      names: known.map(({ name }) => name),
      about: known.flatMap(({ about }) => (about === '' ? [] : [about])),
      isTitle: known.some(({ isTitle }) => isTitle),
      isGiven: known.some(({ isGiven = false }) => isGiven),
    };
    this.#spellings.set(key, spelling);
    if (form.qualifier !== '') this.#qualified.add(key);
    return spelling;
  }

  /** Bare names with the only name in brackets that they can be. */
  *#bareNames(): Generator<KeyPair> {
    const byBare = new Map<string, string[]>();
    for (const key of this.#qualified) {
      const bare = this.#spellings.get(key)?.form.key ?? '';
      byBare.set(bare, [...(byBare.get(bare) ?? []), key]);
    }
    for (const [bare, keys] of byBare) {
      const own = this.#spellings.get(bare);
      if (keys.length === 1 && own !== undefined && !own.isTitle) yield [bare, keys[0] as string];
    }
  }

  #shown(keys: KeyPair): readonly [string, string] {
    const first = (key: string): string => this.#spellings.get(key)?.names[0] ?? key;
    return [first(keys[0]), first(keys[1])];
  }
}

/** Whether two spellings of a key are compared with others in the same way. */
function isComparedAlike(left: Spelling | undefined, right: Spelling | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return (
    left.form.name === right.form.name &&
    left.isTitle === right.isTitle &&
    left.about.length === right.about.length &&
    left.about.every((text, at) => text === right.about[at])
  );
}

function apartOf(decisions: readonly KeyedDecision[]): ReadonlySet<string> {
  return new Set(decisions.flatMap(({ kind, keys }) => (kind === 'apart' ? [pairKey(...keys)] : [])));
}

function byWeight({ keys, order, score }: WeighedPair, other: WeighedPair): number {
  return (
    order - other.order ||
    other.score - score ||
    compareTexts(keys[0], other.keys[0]) ||
    compareTexts(keys[1], other.keys[1])
  );
}

/** What spellings of one name have in common. */
function pairKey(left: string, right: string): string {
  return left < right ? `${left}\0${right}` : `${right}\0${left}`;
}

/** Sets of keys that are joined; keys that are to stay apart never come into one. A key that was not joined is a set of its own. */
class JoinedKeys {
  readonly #parents = new Map<string, string>();
  /** By the smallest of them. */
  readonly #members = new Map<string, readonly string[]>();

  /** Whether they were joined: not when they are one already, or must stay apart. */
  join(left: string, right: string, apart: ReadonlySet<string>): boolean {
    const [one, other] = [this.#root(left), this.#root(right)];
    if (one === other) return false;
    const [own, others] = [this.membersOf(one), this.membersOf(other)];
    if (apart.size > 0 && own.some((key) => others.some((another) => apart.has(pairKey(key, another))))) return false;
    const [root, gone] = one < other ? [one, other] : [other, one];
    this.#parents.set(gone, root);
    this.#members.set(root, [...own, ...others]);
    this.#members.delete(gone);
    return true;
  }

  areOne(left: string, right: string): boolean {
    return this.#root(left) === this.#root(right);
  }

  membersOf(key: string): readonly string[] {
    const root = this.#root(key);
    return this.#members.get(root) ?? [root];
  }

  /** Sets of more than one. */
  all(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#members].map(([root, keys]) => [root, [...keys].sort()]));
  }

  #root(key: string): string {
    let root = key;
    for (;;) {
      const parent = this.#parents.get(root) ?? root;
      if (parent === root) return root;
      root = parent;
    }
  }
}
