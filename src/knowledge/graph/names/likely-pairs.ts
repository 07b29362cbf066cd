/** Pairs of names that are likely to be one, kept up to date while names come and go. */
import { compareNames } from './compare-names.js';
import { combined, NEW, SAME } from './disambiguate.js';
import type { NameForm } from './name-forms.js';

/** A name as it is compared: spellings that differ in case, marks and spaces alone are one. */
export interface ComparedName {
  readonly form: NameForm;
  /** Sentences about it, in an order that depends on them alone. */
  readonly about: readonly string[];
  /** Whether it is the title of a document. */
  readonly isTitle: boolean;
}

/** Two names, by their keys, the smaller one first. */
export interface LikelyPair {
  readonly left: string;
  readonly right: string;
  /** What says that they are alike. */
  readonly by: string;
  /** 0 to 1. */
  readonly score: number;
}

/** Letters of keys of which a mistyped one is looked for; shorter ones may be initials. */
const LONG_KEY = 6;
const MAX_KEY = 60;
/** Names that share what they are looked up by, beyond which it says nothing. */
const MAX_SHARED = 20;
/** UTF-16 units of sentences about a name that are compared. */
const MAX_ABOUT = 1_000;

/**
 * Names are compared where they share what they are looked up by: initials, a key of which a letter is missing, the first letter of Chinese. A change compares
 * the names again that it touches. Pairs depend on the names alone, not on the order in which they came.
 */
export class LikelyPairs {
  readonly #names = new Map<string, ComparedName>();
  /** Keys of names by what they are looked up by; that of a single one without a list. */
  readonly #sharing = new Map<number, string | string[]>();
  /** By one of its names, then the other: both lead to the same pair. */
  readonly #pairs = new Map<string, Map<string, LikelyPair>>();

  /** Names that are new or changed, by key; undefined for one that is gone. */
  change(names: Iterable<readonly [key: string, name: ComparedName | undefined]>): void {
    const compared = new Set<string>();
    for (const [key, name] of names) {
      const before = this.#names.get(key);
      if (before !== undefined) this.#leave(key, before.form, compared);
      if (name === undefined) this.#names.delete(key);
      else {
        this.#names.set(key, name);
        this.#enter(key, name.form, compared);
      }
      compared.add(key);
    }
    for (const key of compared) this.#forget(key);
    const seen = new Set<string>();
    for (const key of compared) this.#compare(key, seen);
  }

  /** All pairs, in no order. */
  all(): LikelyPair[] {
    const found: LikelyPair[] = [];
    for (const [key, pairs] of this.#pairs) for (const pair of pairs.values()) if (pair.left === key) found.push(pair);
    return withoutTies(found);
  }

  #enter(key: string, form: NameForm, compared: Set<string>): void {
    for (const shared of lookups(form)) {
      const own = this.#sharing.get(shared);
      if (own === undefined) this.#sharing.set(shared, key);
      else if (typeof own === 'string') this.#sharing.set(shared, [own, key]);
      else {
        own.push(key);
        if (own.length === MAX_SHARED + 1) for (const other of own) compared.add(other);
      }
    }
  }

  #leave(key: string, form: NameForm, compared: Set<string>): void {
    for (const shared of lookups(form)) {
      const own = this.#sharing.get(shared);
      if (own === undefined || own === key) this.#sharing.delete(shared);
      if (!Array.isArray(own)) continue;
      const at = own.indexOf(key);
      if (at !== -1) own.splice(at, 1);
      if (own.length === 1) this.#sharing.set(shared, own[0] as string);
      if (own.length === MAX_SHARED) for (const other of own) compared.add(other);
    }
  }

  #forget(key: string): void {
    for (const other of this.#pairs.get(key)?.keys() ?? []) {
      const others = this.#pairs.get(other);
      others?.delete(key);
      if (others?.size === 0) this.#pairs.delete(other);
    }
    this.#pairs.delete(key);
  }

  /** Compares a name with those that share something with it. */
  #compare(key: string, seen: Set<string>): void {
    const own = this.#names.get(key);
    if (own === undefined) return;
    for (const shared of lookups(own.form)) {
      const keys = this.#sharing.get(shared);
      // A name alone is compared with none.
      if (!Array.isArray(keys) || keys.length > MAX_SHARED) continue;
      for (const other of keys) {
        if (other === key) continue;
        const [left, right] = key < other ? [key, other] : [other, key];
        const pair = `${left}\0${right}`;
        if (seen.has(pair)) continue;
        seen.add(pair);
        this.#put(left, right);
      }
    }
  }

  #put(left: string, right: string): void {
    const [one, other] = [this.#names.get(left), this.#names.get(right)];
    if (one === undefined || other === undefined) return;
    const likeness = likenessOf(one, other);
    if (likeness.score < NEW) return;
    const pair = { left, right, ...likeness };
    this.#keep(left, right, pair);
    this.#keep(right, left, pair);
  }

  #keep(key: string, other: string, pair: LikelyPair): void {
    const own = this.#pairs.get(key);
    if (own === undefined) this.#pairs.set(key, new Map([[other, pair]]));
    else own.set(other, pair);
  }
}

/**
 * What a name is looked up by, as numbers, each once: texts would take most of the memory of a graph. Two that have one number by chance are compared without
 * need, and no more than that.
 */
function lookups({ initials, key }: NameForm): ReadonlySet<number> {
  const found = new Set<number>();
  if (initials.length >= 2) found.add(numberOf('i', initials));
  if (key.length >= 2 && key.length <= LONG_KEY) found.add(numberOf('i', key));
  if (key.length >= LONG_KEY && key.length <= MAX_KEY) {
    found.add(numberOf('d', key));
    for (let at = 0; at < key.length; at += 1) found.add(numberOf('d', key, at));
  }
  if (/^\p{Script=Han}{2,20}$/u.test(key)) found.add(numberOf('h', key[0] ?? ''));
  return found;
}

/** A number of 30 bits for a text of some kind, without one of its letters. Source: the hash FNV-1a. */
function numberOf(kind: string, text: string, without = -1): number {
  let hash = Math.imul(0x811c9dc5 ^ kind.charCodeAt(0), 0x01000193);
  for (let at = 0; at < text.length; at += 1)
    if (at !== without) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 2;
}

function likenessOf(left: ComparedName, right: ComparedName): { readonly by: string; readonly score: number } {
  const likeness = compareNames(left.form, right.form);
  // Two titles are two things, however they are spelled.
  if (left.isTitle && right.isTitle) return { by: likeness.by, score: Math.min(likeness.score, SAME - 0.01) };
  const inText = ({ form, about }: ComparedName) => ({ name: form.name, about: about.join(' ').slice(0, MAX_ABOUT) });
  return { by: likeness.by, score: combined(likeness, inText(left), inText(right)) };
}

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
