/** Tokens of one character below U+0080, where words of English average four characters a token; a little more, to be safe. */
const ASCII_TOKENS = 0.3;

/** Tokens of any other character; Chinese, Japanese and Korean come close to this, accents and Cyrillic stay below. */
const OTHER_TOKENS = 1;

/**
 * About how many tokens a text is, without a tokenizer: never far below what OpenAI's cl100k counts for prose, code excepted
 * that is full of rare symbols. Whole number, rounded up.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1) tokens += cost(text.charCodeAt(at));
  return Math.ceil(tokens);
}

/** The longest beginning of `text` of at most so many estimated tokens; never ends inside a surrogate pair. */
export function cutToTokens(text: string, maxTokens: number): string {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1) {
    tokens += cost(text.charCodeAt(at));
    // The sum of many fractions is off by a hair; `estimateTokens` rounds the same sum.
    if (Math.ceil(tokens) > maxTokens) return text.slice(0, startOfCharacter(text, at));
  }
  return text;
}

/** A character outside the basic plane is two code units, which share its cost. */
function cost(unit: number): number {
  if (unit < 0x80) return ASCII_TOKENS;
  return unit >= 0xd800 && unit <= 0xdfff ? OTHER_TOKENS / 2 : OTHER_TOKENS;
}

/** `at`, or one less when it points at the second half of a surrogate pair. */
function startOfCharacter(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
