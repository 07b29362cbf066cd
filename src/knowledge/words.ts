/** Letters of scripts that are written without spaces. */
const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';

/** A row of such letters, or a word of any other script. */
const RUN = new RegExp(`([${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, 'gu');

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
