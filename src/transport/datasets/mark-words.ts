/** Where the words of a question stand in a text. */

/** Words of a question that are looked for. */
const MAX_WORDS = 64;

/**
 * Puts `<em>` around the words of a question in a text: words of letters and digits as a whole, and Chinese, Japanese and Korean ones by pairs
 * of signs. The text is not escaped otherwise; who shows it as HTML has to do that.
 */
export function markWords(text: string, question: string): string {
  const words = wordsOf(question);
  if (words.length === 0) return text;
  const pattern = new RegExp(words.map(escaped).join('|'), 'giu');
  return text.replace(pattern, (found) => `<em>${found}</em>`);
}

function wordsOf(question: string): readonly string[] {
  const words = new Set<string>();
  for (const [run] of question
    .toLowerCase()
    .matchAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu)) {
    const signs = [...run];
    if (signs.length === 1) words.add(run);
    for (let at = 0; at + 1 < signs.length; at += 1) words.add(`${signs[at]}${signs[at + 1]}`);
  }
  for (const [word] of question
    .toLowerCase()
    .matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]{2,64}/gu))
    words.add(word);
  // The longer ones first: what begins alike is marked as far as it goes.
  return [...words].slice(0, MAX_WORDS).sort((a, b) => b.length - a.length);
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
