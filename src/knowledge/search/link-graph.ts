/**
 * Passages that are one mention away from the best ones: titles are names, and a passage is linked to the passages whose names it mentions.
 *
 * Nothing is stored for it: names are in memory, mentions are read from the words of the few passages that links start from.
 */

import { placesOf, termHash, wordsOfBody } from './body.js';
import type { IndexView, TermMatches } from './index-view.js';
import { decodePostings } from './postings.js';
import type { StoredHead } from './segment.js';

/** Passages that links start from, besides those that the question names. */
const SEEDS = 6;
/** What a passage gains whose name is in the question. */
const NAMED = 0.6;
/** What is left of the score of a passage in those that it mentions, and in those that mention it. */
const OUTWARDS = 0.8;
const INWARDS = 0.35 * OUTWARDS;
/** Passages with one name, and passages that mention a name, beyond which it says nothing. */
const MAX_NAMESAKES = 50;
const MAX_MENTIONS = 50;

/** Names of a segment. */
interface Names {
  /** The places of the passages that have them. */
  readonly ordinals: ReadonlyMap<string, readonly number[]>;
  /** Terms of the longest name that begins with a term. */
  readonly longest: ReadonlyMap<string, number>;
  /** Hashes of all names, by which nearly every row of words of a text is told to be none. */
  readonly hashes: ReadonlySet<number>;
}

/** A passage that links start from, and its score, 0 to 1. */
export interface LinkSeed {
  readonly passage: number;
  readonly score: number;
}

/** Finds links. Keeps the names of segments for as long as these are in memory. */
export class LinkGraph {
  readonly #names = new WeakMap<readonly StoredHead[], Names>();

  /**
   * Scores, 0 to 1, of the passages that the best ones link to or that mention them.
   *
   * @param ranked The fused list, best first, with scores of 0 to 1.
   */
  async links(
    view: IndexView,
    question: readonly string[],
    ranked: readonly LinkSeed[],
    accepts: ((passage: number) => boolean) | undefined,
  ): Promise<Map<number, number>> {
    const seeds = new Map<number, number>();
    for (const { passage, score } of ranked.slice(0, SEEDS)) seeds.set(passage, score);
    for (const named of this.#mentioned(view, question).flatMap(({ passages }) => passages)) {
      seeds.set(named, Math.min(1, (seeds.get(named) ?? 0) + NAMED));
    }
    const bodies = await view.bodies([...seeds.keys()]);
    const scores = new Map<number, number>();
    const add = (passage: number, score: number): void => {
      if (seeds.get(passage) === undefined || score > 0) scores.set(passage, Math.max(scores.get(passage) ?? 0, score));
    };
    for (const [seed, score] of seeds) {
      const body = bodies.get(seed);
      if (body === undefined) continue;
      const own = new Set(view.head(seed).names);
      const { terms, sequence } = wordsOfBody(body);
      const text = Array.from(sequence, (index) => terms[index] as string);
      for (const { name, passages } of this.#mentioned(view, text)) {
        if (own.has(name)) continue;
        for (const passage of passages) add(passage, (OUTWARDS * score) / passages.length);
      }
      for (const { passage, share } of await this.#mentions(view, seed)) add(passage, INWARDS * score * share);
    }
    return new Map([...scores].filter(([passage]) => accepts === undefined || accepts(passage)));
  }

  /** Passages whose names are in a question. */
  named(
    view: IndexView,
    question: readonly string[],
    accepts: ((passage: number) => boolean) | undefined,
  ): readonly number[] {
    const passages = this.#mentioned(view, question).flatMap((one) => one.passages);
    return accepts === undefined ? passages : passages.filter(accepts);
  }

  /** Names in a text, and the passages that have them; of names inside of each other the longest. */
  #mentioned(
    view: IndexView,
    text: readonly string[],
  ): { readonly name: string; readonly passages: readonly number[] }[] {
    const found = new Map<string, readonly number[]>();
    const names = view.segments.map(({ heads }) => this.#namesOf(heads));
    // A text repeats its words.
    const sizes = new Map<string, number>();
    const sizeOf = (first: string): number => {
      const known = sizes.get(first);
      if (known !== undefined) return known;
      const longest = names.reduce((most, one) => Math.max(most, one.longest.get(first) ?? 0), 0);
      sizes.set(first, longest);
      return longest;
    };
    for (let at = 0; at < text.length; ) {
      let taken = 0;
      const longest = Math.min(sizeOf(text[at] as string), text.length - at);
      const hashes: number[] = [];
      for (let size = 1; size <= longest; size += 1)
        hashes.push(nextHash(hashes.at(-1), text[at + size - 1] as string));
      for (let size = longest; size > 0 && taken === 0; size -= 1) {
        const hash = hashes[size - 1] as number;
        if (!names.some((one) => one.hashes.has(hash))) continue;
        const name = text.slice(at, at + size).join(' ');
        const passages = namesakes(view, names, name);
        if (passages.length === 0) continue;
        taken = size;
        if (passages.length <= MAX_NAMESAKES) found.set(name, passages);
      }
      at += Math.max(taken, 1);
    }
    return [...found].map(([name, passages]) => ({ name, passages }));
  }

  #namesOf(heads: readonly StoredHead[]): Names {
    const known = this.#names.get(heads);
    if (known !== undefined) return known;
    const ordinals = new Map<string, number[]>();
    const longest = new Map<string, number>();
    const hashes = new Set<number>();
    for (const [ordinal, head] of heads.entries()) {
      for (const name of head.names) {
        const list = ordinals.get(name);
        if (list !== undefined) {
          list.push(ordinal);
          continue;
        }
        ordinals.set(name, [ordinal]);
        const terms = name.split(' ');
        longest.set(terms[0] as string, Math.max(longest.get(terms[0] as string) ?? 0, terms.length));
        hashes.add(terms.reduce<number | undefined>(nextHash, undefined) as number);
      }
    }
    const names = { ordinals, longest, hashes };
    this.#names.set(heads, names);
    return names;
  }

  /** Passages that mention a passage by its full title; each counts the less, the more there are. */
  async #mentions(view: IndexView, seed: number): Promise<{ readonly passage: number; readonly share: number }[]> {
    const { names } = view.head(seed);
    const name = names[0];
    if (name === undefined) return [];
    const terms = name.split(' ');
    const matches = await view.matches(terms);
    const passagesOf = (term: string): number => matches.get(term)?.passages ?? 0;
    const [rarest = '', ...others] = [...new Set(terms)].sort((left, right) => passagesOf(left) - passagesOf(right));
    if (passagesOf(rarest) === 0 || passagesOf(rarest) > MAX_MENTIONS) return [];
    let near = new Set<number>();
    for (const passage of passagesWith(view, matches, rarest)) {
      if (passage !== seed && !view.head(passage).names.includes(name)) near.add(passage);
    }
    for (const term of others) {
      if (near.size === 0) return [];
      const held = new Set<number>();
      for (const passage of passagesWith(view, matches, term)) if (near.has(passage)) held.add(passage);
      near = held;
    }
    const bodies = await view.bodies([...near]);
    const holding = [...near].filter((passage) => {
      const body = bodies.get(passage);
      return body !== undefined && holdsRow(body, terms);
    });
    const share = 1 / Math.log2(2 + holding.length);
    return holding.map((passage) => ({ passage, share }));
  }
}

/** The hash of a row of terms and one more. */
function nextHash(row: number | undefined, term: string): number {
  return row === undefined ? termHash(term) : Math.imul(row ^ termHash(term), 16_777_619) >>> 0;
}

/** Passages of a name that count. */
function namesakes(view: IndexView, names: readonly Names[], name: string): number[] {
  return names.flatMap(({ ordinals }, at) =>
    (ordinals.get(name) ?? []).flatMap((ordinal) => {
      const passage = (view.bases[at] as number) + ordinal;
      return view.counts[passage] === 1 ? [passage] : [];
    }),
  );
}

/** Numbers of the passages that count and hold a term. */
function* passagesWith(view: IndexView, matches: ReadonlyMap<string, TermMatches>, term: string): Generator<number> {
  for (const { base, postings } of matches.get(term)?.parts ?? []) {
    for (const ordinal of decodePostings(postings).ordinals) {
      if (view.counts[base + ordinal] === 1) yield base + ordinal;
    }
  }
}

/** Whether a passage holds terms one directly behind the other. */
function holdsRow(body: Uint8Array, terms: readonly string[]): boolean {
  const hashes = terms.map(termHash);
  const places = placesOf(body, new Set(hashes));
  const sets = hashes.map((hash) => new Set(places.get(hash)));
  const firsts = places.get(hashes[0] as number) ?? [];
  return firsts.some((first) => sets.every((own, step) => own.has(first + step)));
}
