/** Which page of a source that stands on several a statement or question is about. */

/** Words of each page, by its number from 1. */
export type WordsOnPages = readonly (readonly [page: number, words: ReadonlySet<string>])[];

/** Parts a text where its pages begin; `starts` are pages and places in the text, in UTF-16 units, in order. */
export function wordsOnPages(text: string, starts: readonly (readonly [page: number, start: number])[]): WordsOnPages {
  return starts.map(([page, start], at) => [page, wordsOf(text.slice(start, starts[at + 1]?.[1]))] as const);
}

/** How much longer pages count less. Source: BM25 with its usual k1 = 1.2 and b = 0.75, each word counted once a page. */
const K1 = 1.2;
const B = 0.75;

/** The page that fits the words best, by BM25 over these pages alone; the first of equals, undefined when none holds any. */
export function mostFitting(words: ReadonlySet<string>, pages: WordsOnPages): number | undefined {
  const meanSize = pages.reduce((sum, [, held]) => sum + held.size, 0) / pages.length;
  const weights = [...words].map((word) => {
    const count = pages.filter(([, held]) => held.has(word)).length;
    return [word, Math.log(1 + (pages.length - count + 0.5) / (count + 0.5))] as const;
  });
  let best: number | undefined;
  let most = 0;
  for (const [page, held] of pages) {
    const found = weights.reduce((sum, [word, weight]) => sum + (held.has(word) ? weight : 0), 0);
    const score = found / (1 + K1 * (1 - B + (B * held.size) / meanSize));
    if (score > most) [best, most] = [page, score];
  }
  return best;
}

/** Words of three letters and more, numbers, and pairs of Chinese, Japanese and Korean characters. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [run] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/\d+(?:[.,]\d+)*|\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{M}])+/gu)) {
    if (/^\p{Script=Han}/u.test(run)) {
      const letters = [...run];
      for (let at = 1; at < letters.length; at += 1) words.add(`${letters[at - 1]}${letters[at]}`);
    } else if (run.length > 2 || /^\d/.test(run)) words.add(run);
  }
  return words;
}
