/** Words of a question: of letters and digits, or pairs of Chinese signs. */
const WORD = /\p{Script=Han}{1,2}|[\p{Letter}\p{Number}]{3,}/gu;

/** Places of words that are compared. */
const MAX_PLACES = 2_000;

/** The part of a text that holds most words of a question, `most` characters at most, on one line; what is left out is marked. */
export function excerpt(text: string, question: string, most: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat.length <= most) return flat;
  const start = bestStart(flat, new Set(question.toLowerCase().match(WORD) ?? []), most);
  const end = Math.min(flat.length, start + most);
  return `${start > 0 ? '… ' : ''}${flat.slice(start, end).trim()}${end < flat.length ? ' …' : ''}`;
}

function bestStart(text: string, words: ReadonlySet<string>, most: number): number {
  const found: { readonly at: number; readonly word: string }[] = [];
  for (const { 0: word, index } of text.toLowerCase().matchAll(WORD)) {
    if (words.has(word)) found.push({ at: index, word });
    if (found.length === MAX_PLACES) break;
  }
  let best = { at: 0, count: 0 };
  /** Of the words between two places, how often each stands there. */
  const within = new Map<string, number>();
  let last = 0;
  for (const [first, { at, word }] of found.entries()) {
    for (; last < found.length && (found[last]?.at ?? 0) < at + most; last += 1) {
      const { word: next } = found[last] as (typeof found)[number];
      within.set(next, (within.get(next) ?? 0) + 1);
    }
    if (within.size >= best.count) best = { at, count: within.size };
    const left = (within.get(word) ?? 1) - 1;
    if (left === 0) within.delete(word);
    else within.set(word, left);
    if (last <= first) last = first + 1;
  }
  // From the beginning of a sentence or a word, where one is near.
  const before = text.slice(Math.max(0, best.at - most / 4), best.at);
  const sentence = Math.max(...['. ', '。', '? ', '! ', '！', '？'].map((mark) => before.lastIndexOf(mark)));
  return sentence < 0 ? best.at : best.at - before.length + sentence + 1;
}
