/** Half of a pair of UTF-16 units, which no text of Postgres can hold. */
const HALF = /\p{Surrogate}/u;

/** A text as Postgres can hold it: half of a pair becomes the sign for what is no character. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? text.replace(/\p{Surrogate}/gu, '\ufffd') : text;
}

/** Whether Postgres can hold a text: it takes neither half of a pair nor the character 0. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !HALF.test(text);
}
