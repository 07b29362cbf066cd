import type { Json } from '../../json.js';

/** Digits from which on a number may not fit. */
const LONG = /\d{16}|\d\.\d{15}/;
const START = /"|-?\d[\d.eE+-]*/g;

/**
 * Reads JSON so that no digit is lost: a number that JavaScript cannot hold, such as an id of 19 digits, becomes a text.
 *
 * `parsed` is what `JSON.parse` made of the text, which must therefore be valid; it is given back when nothing is lost.
 */
export function parseExactly(text: string, parsed: Json): Json {
  return LONG.test(text) ? (JSON.parse(quoteLongNumbers(text)) as Json) : parsed;
}

function quoteLongNumbers(text: string): string {
  const start = new RegExp(START);
  const pieces: string[] = [];
  let done = 0;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const [token] = match;
    if (token === '"') start.lastIndex = endOfString(text, match.index);
    else if (!isExact(token)) {
      pieces.push(text.slice(done, match.index), `"${token}"`);
      done = start.lastIndex;
    }
  }
  return [...pieces, text.slice(done)].join('');
}

/** The place behind the quote that ends the string which begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isExact(token: string): boolean {
  if (String(Number(token)) === token) return true;
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  return digits.length <= 15;
}
