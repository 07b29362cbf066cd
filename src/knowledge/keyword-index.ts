/** An index of texts by their words, in the memory of this process. */
import type MiniSearch from 'minisearch';

/** Letters of scripts that are written without spaces. */
const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';

/** A row of such letters, or a word of any other script. */
const RUN = new RegExp(`([${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, 'gu');

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
  readonly question: string;
  /** Hits at most. */
  readonly topK: number;
  /** Entries that count. @default all */
  readonly accepts?: ((id: string) => boolean) | undefined;
}

/** See {@link createKeywordIndex}. */
export interface KeywordIndex {
  /** Adds entries whose ids are new; other work of the process goes on meanwhile. */
  add(entries: readonly KeywordEntry[]): Promise<void>;
  /** Takes out an entry, which must be the one that was added. */
  remove(entry: KeywordEntry): void;
  /** Hits by BM25, the best first. */
  search(query: KeywordQuery): KeywordHit[];
}

/** Makes an empty index; ranks by BM25. */
export async function createKeywordIndex(): Promise<KeywordIndex> {
  const { default: Search } = await import('minisearch');
  const search = new Search<KeywordEntry>({
    fields: ['content', 'name'],
    tokenize: wordsOf,
    processTerm: (term) => term,
  });
  return {
    add: async (entries) => await search.addAllAsync(entries),
    remove: (entry) => search.remove(entry),
    search: (query) => lookUp(search, query),
  };
}

function lookUp(search: MiniSearch<KeywordEntry>, { question, topK, accepts }: KeywordQuery): KeywordHit[] {
  const words = [...new Set(wordsOf(question))];
  const filter = accepts === undefined ? {} : { filter: ({ id }: { id: string }) => accepts(id) };
  const hits = search.search({ combineWith: 'OR', queries: words, ...filter }).slice(0, topK);
  const size = search.documentCount;
  const weights = new Map(words.map((word) => [word, rarity(word, hits, size)]));
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return hits.map(({ id, terms }) => {
    const held = [...new Set(terms)].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
    return { id: id as string, similarity: total === 0 ? 0 : held / total };
  });
}

/** Inverse document frequency, estimated from the hits. */
function rarity(word: string, hits: readonly { readonly terms: readonly string[] }[], size: number): number {
  const holding = hits.filter(({ terms }) => terms.includes(word)).length;
  return Math.log(1 + (size - holding + 0.5) / (holding + 0.5));
}

/**
 * The words of a text for an index: lower case, without accents; scripts that are written without spaces give pairs of letters.
 *
 * Linear in the text. Source of the pairs: the usual bigram index for Chinese, as in Lucene's `CJKBigramFilter`.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  const words: string[] = [];
  for (const [run, unspaced] of plain.matchAll(RUN)) {
    if (unspaced === undefined) words.push(run);
    else words.push(...pairs(Array.from(unspaced)));
  }
  return words;
}

function pairs(letters: readonly string[]): string[] {
  if (letters.length < 2) return [...letters];
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}
