/** Where the words of a question stand in a text. */

/** Words of a question that are looked for, and UTF-16 units of it that they are taken from. */
const MAX_WORDS = 64;
const MAX_QUESTION = 10_000;

/**
 * Gives what puts `<em>` around the words of a question in a text: words of letters and digits where a word begins so, and Chinese, Japanese and
 * Korean ones by pairs of signs. The text is not escaped otherwise; who shows it as HTML has to do that.
 */
export function wordMarker(question: string): (text: string) => string {
  const words = wordsOf(question.slice(0, MAX_QUESTION).toLowerCase());
  if (words.length === 0) return (text) => text;
  // Letters, digits and underscores have no meaning of their own in a pattern.
  const pattern = new RegExp(words.join('|'), 'giu');
  return (text) => text.replace(pattern, (found) => `<em>${found}</em>`);
}

const SIGNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const LETTERS = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]{2,64}/gu;

const NO_LETTER_BEFORE = '(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{N}_])';

/** Parts of a pattern. @param question in small letters */
function wordsOf(question: string): readonly string[] {
  const words = new Set<string>();
  for (const [run] of question.matchAll(SIGNS)) {
    const signs = [...run];
    if (signs.length === 1) words.add(run);
    for (let at = 0; at + 1 < signs.length; at += 1) words.add(`${signs[at]}${signs[at + 1]}`);
  }
  // "are" stands in "declare", too, and nothing was found by that.
  for (const [word] of question.matchAll(LETTERS)) words.add(`${NO_LETTER_BEFORE}${word}`);
  // The longer ones first: what begins alike is marked as far as it goes.
  return [...words].slice(0, MAX_WORDS).sort((a, b) => b.length - a.length);
}
