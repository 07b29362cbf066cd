/** An index of texts by their words, in the memory of this process. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rarity } from './search/bm25.js';
import { DEFAULT_SETTINGS } from './search/search-settings.js';
import type { Words } from './words/words.js';

/** A text to be found, with a name that is searched, too. */
export interface KeywordEntry {
  readonly id: string;
  readonly content: string;
  readonly name: string;
}

/** A text that holds words of a question. */
export interface KeywordHit {
  readonly id: string;
  /** The share of the question's words that the text holds, rare words counting more; 0 to 1. */
  readonly similarity: number;
}

/** A search for words. */
export interface KeywordQuery {
  /** What {@link KeywordIndex.termsOf} gives of a question. */
  readonly terms: readonly string[];
  /** Hits at most. */
  readonly topK: number;
  /** Entries that count. @default all */
  readonly accepts?: ((id: string) => boolean) | undefined;
}

/** See {@link createKeywordIndex}. */
export interface KeywordIndex {
  /** Adds entries, in place of those with the same ids; other work of the process goes on meanwhile. */
  add(entries: readonly KeywordEntry[]): Promise<void>;
  /** Takes out an entry; one that is not there is passed over. */
  remove(id: string): void;
  /** The words of a question as the index holds them, each once; words that say nothing are left out. */
  termsOf(question: string): Promise<readonly string[]>;
  /** Hits by BM25, the best first, equal ones in the order of their ids. */
  search(query: KeywordQuery): KeywordHit[];
}

/** Entries that are read before other work of the process has its turn. */
const SLICE = 50;

/**
 * Makes an empty index over the words of knowledge bases.
 *
 * @param words what takes texts apart, which several indexes may share. @default one of its own, loaded with the first text: programs that search nothing need none
 */
export function createKeywordIndex(words?: Words): KeywordIndex {
  return new MemoryKeywords(words);
}

/** The words of one entry: how often it holds each. */
interface Held {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

class MemoryKeywords implements KeywordIndex {
  #words: Words | undefined;
  readonly #entries = new Map<string, Held>();
  /** Of each term the entries that hold it. */
  readonly #holding = new Map<string, Set<string>>();
  #length = 0;

  constructor(words: Words | undefined) {
    this.#words = words;
  }

  async add(entries: readonly KeywordEntry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += SLICE) {
      if (at > 0) await nextTurn();
      const slice = entries.slice(at, at + SLICE);
      const analysed = await this.#analyse(slice.map(({ name, content }) => `${name}\n${content}`));
      for (const [index, { id }] of slice.entries()) this.#put(id, analysed[index]?.terms ?? []);
    }
  }

  remove(id: string): void {
    const held = this.#entries.get(id);
    if (held === undefined) return;
    this.#entries.delete(id);
    this.#length -= held.length;
    for (const term of held.counts.keys()) {
      const ids = this.#holding.get(term);
      ids?.delete(id);
      if (ids?.size === 0) this.#holding.delete(term);
    }
  }

  async termsOf(question: string): Promise<readonly string[]> {
    const [analysed] = await this.#analyse([question]);
    return [...new Set(analysed?.terms)];
  }

  search({ terms, topK, accepts }: KeywordQuery): KeywordHit[] {
    const all = this.#entries.size;
    const weights = new Map(terms.map((term) => [term, rarity(this.#holding.get(term)?.size ?? 0, all)]));
    const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
    const found = new Map<string, { score: number; held: number }>();
    for (const [term, weight] of weights) {
      for (const id of this.#holding.get(term) ?? []) {
        if (accepts?.(id) === false) continue;
        const one = found.get(id) ?? { score: 0, held: 0 };
        one.score += weight * this.#saturated(id, term);
        one.held += weight;
        found.set(id, one);
      }
    }
    return [...found]
      .sort(([left, a], [right, b]) => b.score - a.score || (left < right ? -1 : 1))
      .slice(0, topK)
      .map(([id, { held }]) => ({ id, similarity: Math.min(1, held / total) }));
  }

  async #analyse(texts: readonly string[]): ReturnType<Words['analyse']> {
    const { openWords } = await import('./words/words.js');
    this.#words ??= openWords();
    return this.#words.analyse(texts);
  }

  #put(id: string, terms: readonly string[]): void {
    this.remove(id);
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    this.#entries.set(id, { counts, length: terms.length });
    this.#length += terms.length;
    for (const term of counts.keys()) {
      const ids = this.#holding.get(term);
      if (ids === undefined) this.#holding.set(term, new Set([id]));
      else ids.add(id);
    }
  }

  /** How much the occurrences of a term count: BM25 without the rarity. */
  #saturated(id: string, term: string): number {
    const { k1, b } = DEFAULT_SETTINGS.bm25;
    const { counts, length } = this.#entries.get(id) as Held;
    const count = counts.get(term) ?? 0;
    const relative = length / Math.max(1, this.#length / this.#entries.size);
    return (count * (k1 + 1)) / (count + k1 * (1 - b + b * relative));
  }
}
