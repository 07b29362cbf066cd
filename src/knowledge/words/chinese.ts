/** Words of Chinese, by a dictionary where it can be loaded. */

/** A word and the place of its first letter in its row. */
export interface PlacedWord {
  readonly word: string;
  readonly at: number;
}

/** See {@link loadChinese}. */
export interface Chinese {
  /** Whether words come from the dictionary; else there are pairs of letters alone. */
  readonly hasDictionary: boolean;
  /** A text in simplified letters. */
  simplify(text: string): string;
  /** The words of a row of letters, shorter words inside of long ones before them; none without a dictionary. */
  words(row: string): readonly PlacedWord[];
}

/** What cuts a row of letters into words. */
export interface Segmenter {
  cut(row: string, guessesNewWords: boolean): string[];
  cutForSearch(row: string, guessesNewWords: boolean): string[];
}

/** Gives the segmenter; rejects where it cannot be loaded, such as on a platform that its package has no build for. */
export type LoadSegmenter = () => Promise<Segmenter>;

/** Loads `@node-rs/jieba` with its dictionary: 0.3 s and about 60 MB. */
export const loadJieba: LoadSegmenter = async () => {
  const [{ Jieba }, { dict }] = await Promise.all([import('@node-rs/jieba'), import('@node-rs/jieba/dict.js')]);
  return Jieba.withDict(dict);
};

/** Loads what Chinese is cut and simplified with; a segmenter that cannot be loaded is done without. */
export async function loadChinese(loadSegmenter: LoadSegmenter): Promise<Chinese> {
  const [{ Converter }, segmenter] = await Promise.all([
    import('./opencc-library.js'),
    loadSegmenter().catch(() => undefined),
  ]);
  return {
    hasDictionary: segmenter !== undefined,
    simplify: Converter({ from: 't', to: 'cn' }),
    words: (row) => (segmenter === undefined ? [] : placedWords(segmenter, row)),
  };
}

/**
 * Words in search mode with their places. That mode gives, before each word, the shorter words inside of it; a word that the plain mode
 * gives, too, ends its group.
 */
function placedWords(segmenter: Segmenter, row: string): PlacedWord[] {
  const placed: PlacedWord[] = [];
  const all = segmenter.cutForSearch(row, true);
  let next = 0;
  let start = 0;
  for (const whole of segmenter.cut(row, true)) {
    let from = 0;
    while (next < all.length) {
      const word = all[next] as string;
      next += 1;
      if (word === whole) break;
      const inside = whole.indexOf(word, from);
      placed.push({ word, at: start + Math.max(inside, 0) });
      // Pairs come before longer ones, each kind from the left.
      from = inside >= 0 && all[next]?.length === word.length ? inside + 1 : 0;
    }
    placed.push({ word: whole, at: start });
    start += whole.length;
  }
  return placed;
}
