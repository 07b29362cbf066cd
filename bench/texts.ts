/** Texts for benchmarks of search: words whose frequencies fall as in natural ones. */

/** Words of a passage; with punctuation and parts of words about 400 tokens. */
const WORDS = 300;
const VOCABULARY = 3_000;

/** A passage of its own for each number. */
export function passageText(seed: number): string {
  let state = seed + 1;
  const words = Array.from({ length: WORDS }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return `word${Math.floor(VOCABULARY ** (state / 2_147_483_647))}`;
  });
  return `${words.join(' ')}.`;
}

/** A document of so many passages. */
export function documentText(at: number, passages: number): string {
  return Array.from({ length: passages }, (_, part) => passageText(at * passages + part)).join('\n\n');
}
