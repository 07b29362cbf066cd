/** Names of a dataset as groups that are one entity each. */
import type { NameDecision, NamePair } from '../graph-records.js';
import { compareNames } from './compare-names.js';
import { combined, NEW, SAME } from './disambiguate.js';
import { keyOfForm, type NameForm, nameForm, nameKey, type Simplify } from './name-forms.js';

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

/** What names are grouped by, beside their letters. */
export interface GroupingOptions {
  /** Names that are the same because a user says so. @default none */
  readonly given?: readonly (readonly [string, string])[] | undefined;
  /** Names that are the same because a dictionary or a text says so. */
  readonly aliases: readonly (readonly [string, string])[];
  readonly decisions: readonly NameDecision[];
  readonly simplify?: Simplify | undefined;
}

/** Groups of names. */
export interface NameGroups {
  /** Spellings of each entity. */
  readonly groups: readonly (readonly string[])[];
  readonly merges: readonly NamePair[];
  readonly maybe: readonly NamePair[];
}

/** Letters of a key from which on a mistyped letter is looked for. */
const LONG_KEY = 6;
/** Names that share what they are looked up by, beyond which it says nothing. */
const MAX_SHARED = 20;
/** Pairs that are perhaps the same, which are kept. */
const MAX_MAYBE = 5_000;

/** Spellings that differ in case, marks and spaces alone. */
interface Spelling {
  readonly form: NameForm;
  readonly names: string[];
  readonly about: string[];
  isTitle: boolean;
  isGiven: boolean;
}

/**
 * Groups names; the same names always give the same groups, in whatever order they come.
 *
 * Spellings of one key are one. A name with something in brackets is the bare one when no other name has brackets and the bare one is no title. Others
 * are compared where they are likely to be one (initials, a letter more or less, letters of Chinese); see `disambiguate`. What a user or a model has
 * decided goes first, that of a user before that of a model, and a group never holds two names that are to stay apart. What a model has decided does not
 * touch what users, dictionaries and texts say.
 */
export function groupNames(names: readonly KnownName[], options: GroupingOptions): NameGroups {
  const { given = [], aliases, decisions, simplify } = options;
  const spellings = spellingsOf(names, simplify);
  const keyOf = (name: string): string => nameKey(name, simplify);
  const sorted = [...spellings.keys()].sort();
  const groups = new DisjointSets(sorted);
  const apartBy = (isWho: (by: NameDecision['by']) => boolean): ReadonlySet<string> =>
    new Set(
      decisions
        .filter(({ kind, by }) => kind === 'apart' && isWho(by))
        .map((one) => pairKey(keyOf(one.names[0]), keyOf(one.names[1]))),
    );
  const [apartByUser, apart] = [apartBy((by) => by === 'user'), apartBy(() => true)];
  const pairs: (NamePair & { readonly keys: readonly [string, string]; readonly order: number })[] = [];
  const push = (left: string, right: string, by: string, score: number, order: number): void => {
    if (left === right || !spellings.has(left) || !spellings.has(right)) return;
    const keys = left < right ? ([left, right] as const) : ([right, left] as const);
    const shown = keys.map((key) => spellings.get(key)?.names[0] ?? key) as [string, string];
    pairs.push({ keys, names: shown, by, score, order });
  };
  for (const { kind, names: own, by } of decisions)
    if (kind === 'same') push(keyOf(own[0]), keyOf(own[1]), by, 1, by === 'user' ? 0 : BY_MODEL);
  for (const [left, right] of given) push(keyOf(left), keyOf(right), 'alias', 1, 1);
  for (const [left, right] of aliases) push(keyOf(left), keyOf(right), 'alias', 1, 2);
  for (const [left, right] of bareNames(spellings)) push(left, right, 'brackets', 1, LIKELY);
  const maybe: NamePair[] = [];
  for (const { left, right, by, score } of likelyPairs(spellings)) {
    if (score >= SAME) push(left, right, by, score, LIKELY + 1);
    else if (maybe.length < MAX_MAYBE && !apart.has(pairKey(left, right)))
      maybe.push({ names: [first(spellings, left), first(spellings, right)], by, score });
  }
  pairs.sort((a, b) => a.order - b.order || b.score - a.score || (pairKey(...a.keys) < pairKey(...b.keys) ? -1 : 1));
  const merges: NamePair[] = [];
  const isGiven = (key: string): boolean => spellings.get(key)?.isGiven === true;
  for (const { keys, names: shown, by, score, order } of pairs) {
    if (order >= BY_MODEL && keys.every((key) => groups.membersOf(key).some(isGiven))) continue;
    if (groups.join(keys[0], keys[1], order >= BY_MODEL ? apart : apartByUser))
      merges.push({ names: shown, by, score });
  }
  return {
    groups: groups.all().map((keys) => keys.flatMap((key) => spellings.get(key)?.names ?? []).sort()),
    merges,
    maybe: maybe.filter(({ names: [left, right] }) => !groups.areOne(keyOf(left), keyOf(right))),
  };
}

/** From this order on pairs are what a model thinks; from the next one on they are likely to be one, and not told. */
const BY_MODEL = 3;
const LIKELY = 4;

function first(spellings: ReadonlyMap<string, Spelling>, key: string): string {
  return spellings.get(key)?.names[0] ?? key;
}

/** What spellings of one name have in common. */
function pairKey(left: string, right: string): string {
  return left < right ? `${left}\0${right}` : `${right}\0${left}`;
}

function spellingsOf(names: readonly KnownName[], simplify: Simplify | undefined): Map<string, Spelling> {
  const spellings = new Map<string, Spelling>();
  for (const { name, about, isTitle, isGiven = false } of [...names].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const form = nameForm(name, simplify);
    const key = keyOfForm(form);
    const own = spellings.get(key);
    if (own === undefined) {
      spellings.set(key, { form, names: [name], about: about === '' ? [] : [about], isTitle, isGiven });
      continue;
    }
    if (own.names.at(-1) !== name) own.names.push(name);
    if (about !== '') own.about.push(about);
    own.isTitle ||= isTitle;
    own.isGiven ||= isGiven;
  }
  return spellings;
}

/** Bare names with the only name in brackets that they can be. */
function* bareNames(spellings: ReadonlyMap<string, Spelling>): Generator<readonly [string, string]> {
  const qualified = new Map<string, string[]>();
  for (const [key, { form }] of spellings) {
    if (form.qualifier !== '') qualified.set(form.key, [...(qualified.get(form.key) ?? []), key]);
  }
  for (const [bare, keys] of qualified) {
    const own = spellings.get(bare);
    if (keys.length === 1 && own !== undefined && !own.isTitle) yield [bare, keys[0] as string];
  }
}

interface LikelyPair {
  readonly left: string;
  readonly right: string;
  readonly by: string;
  readonly score: number;
}

/** Pairs of names that are looked up by something that they share, compared; those below {@link NEW} are left out. */
function likelyPairs(spellings: ReadonlyMap<string, Spelling>): LikelyPair[] {
  const shared = new Map<string, string[]>();
  const share = (by: string, key: string): void => {
    const own = shared.get(by);
    if (own === undefined) shared.set(by, [key]);
    else if (own.at(-1) !== key && own.length <= MAX_SHARED) own.push(key);
  };
  for (const key of [...spellings.keys()].sort()) {
    const { form } = spellings.get(key) as Spelling;
    if (form.initials.length >= 2) share(`i ${form.initials}`, key);
    if (form.key.length >= 2 && form.key.length <= 6) share(`i ${form.key}`, key);
    if (form.key.length >= LONG_KEY && form.key.length <= 60) {
      share(`d ${form.key}`, key);
      for (let at = 0; at < form.key.length; at += 1) share(`d ${form.key.slice(0, at)}${form.key.slice(at + 1)}`, key);
    }
    if (/^\p{Script=Han}{2,20}$/u.test(form.key)) share(`h ${form.key[0]}`, key);
  }
  const seen = new Set<string>();
  const found: LikelyPair[] = [];
  for (const keys of shared.values()) {
    if (keys.length < 2 || keys.length > MAX_SHARED) continue;
    for (const [at, left] of keys.entries()) {
      for (const right of keys.slice(at + 1)) {
        const pair = pairKey(left, right);
        if (seen.has(pair)) continue;
        seen.add(pair);
        const compared = compare(spellings.get(left) as Spelling, spellings.get(right) as Spelling);
        if (compared.score >= NEW) found.push({ left, right, ...compared });
      }
    }
  }
  return withoutTies(found);
}

function compare(left: Spelling, right: Spelling): { readonly by: string; readonly score: number } {
  const likeness = compareNames(left.form, right.form);
  // Two titles are two things, however they are spelled.
  if (left.isTitle && right.isTitle) return { by: likeness.by, score: Math.min(likeness.score, SAME - 0.01) };
  const about = ({ about: texts }: Spelling): string => texts.join(' ').slice(0, MAX_ABOUT);
  const score = combined(
    likeness,
    { name: left.form.name, about: about(left) },
    { name: right.form.name, about: about(right) },
  );
  return { by: likeness.by, score };
}

/** UTF-16 units of sentences about a name that are compared. */
const MAX_ABOUT = 1_000;

/** An abbreviation of two names is neither. */
function withoutTies(pairs: readonly LikelyPair[]): LikelyPair[] {
  const uses = new Map<string, number>();
  const isShort = ({ by, score }: LikelyPair): boolean => by === 'abbreviation' && score >= SAME;
  const shorter = ({ left, right }: LikelyPair): string => (left.length <= right.length ? left : right);
  for (const pair of pairs) if (isShort(pair)) uses.set(shorter(pair), (uses.get(shorter(pair)) ?? 0) + 1);
  return pairs.map((pair) =>
    isShort(pair) && (uses.get(shorter(pair)) ?? 0) > 1 ? { ...pair, score: SAME - 0.01 } : pair,
  );
}

/** Sets of keys that are joined; keys that are to stay apart never come into one. */
class DisjointSets {
  readonly #parents = new Map<string, string>();
  readonly #members = new Map<string, string[]>();

  constructor(keys: readonly string[]) {
    for (const key of keys) {
      this.#parents.set(key, key);
      this.#members.set(key, [key]);
    }
  }

  /** Whether they were joined: not when they are one already, or must stay apart. */
  join(left: string, right: string, apart: ReadonlySet<string>): boolean {
    const [one, other] = [this.#root(left), this.#root(right)];
    if (one === other) return false;
    const [own, others] = [this.#members.get(one) ?? [], this.#members.get(other) ?? []];
    if (apart.size > 0 && own.some((key) => others.some((another) => apart.has(pairKey(key, another))))) return false;
    const [root, gone] = one < other ? [one, other] : [other, one];
    this.#parents.set(gone, root);
    this.#members.set(root, [...(this.#members.get(root) ?? []), ...(this.#members.get(gone) ?? [])]);
    this.#members.delete(gone);
    return true;
  }

  areOne(left: string, right: string): boolean {
    return this.#root(left) === this.#root(right);
  }

  membersOf(key: string): readonly string[] {
    return this.#members.get(this.#root(key)) ?? [];
  }

  all(): string[][] {
    return [...this.#members.values()].map((keys) => [...keys].sort());
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
