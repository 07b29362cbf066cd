import { writable } from './characters.js';

/** A character reference of HTML, which Markdown shares. */
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,31}));/gi;

/** Gives text with its character references replaced, those of characters that cannot be written by nothing. */
export type Decode = (text: string) => string;

/**
 * Makes a decoder for the character references of one text. A reference that HTML does not know stays as it is.
 *
 * The full table of names comes with the HTML parser, which is loaded only for a text that uses one.
 */
export async function entityDecoder(text: string): Promise<Decode> {
  const names = new Set([...text.matchAll(ENTITY)].map(([entity]) => entity));
  if (names.size === 0) return (given) => given;
  const { load } = await import('cheerio/slim');
  const known = new Map<string, string>();
  for (const name of names) {
    const decoded = load(name, null, false).text();
    // HTML also reads the beginning of a longer word (`&notit;`), Markdown does not.
    if (decoded === ';' || !decoded.endsWith(';')) known.set(name, writable(decoded));
  }
  return (given) => given.replace(ENTITY, (entity) => known.get(entity) ?? entity);
}
