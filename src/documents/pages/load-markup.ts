import type { CheerioAPI } from 'cheerio';

/** Most tags that are parsed at once: the time of the parser grows with the square of the nesting. */
const MAX_TAGS = 20_000;
/** Most UTF-16 units that are parsed at once; a tag may have hundreds of thousands of attributes. */
const MAX_LENGTH = 1_048_576;

/**
 * Parses HTML, leniently. Of a page with more than 20,000 tags or a million characters only the beginning is read.
 *
 * Errors: those of the parser for elements nested deeper than the stack.
 */
export function loadHtml(html: string): Promise<CheerioAPI> {
  return load(html, false);
}

/**
 * Gives the elements of an XML document that have a name, one after another and each parsed alone: however long the document
 * is, it never blocks for long, as it yields to the event loop between two of them. They must not be nested. Of an element
 * with more than 20,000 tags or a million characters only the beginning is read; entities that the document declares are none.
 *
 * Errors: those of the parser for elements nested deeper than the stack.
 */
export async function* eachElement(xml: string, name: string): AsyncGenerator<CheerioAPI> {
  const end = `</${name}>`;
  for (let at = startOf(xml, name, 0); at !== -1; ) {
    const close = xml.indexOf(end, at);
    if (close === -1) return;
    yield await load(xml.slice(at, close + end.length), true);
    await new Promise((resolve) => setImmediate(resolve));
    at = startOf(xml, name, close + end.length);
  }
}

/** The text of an element, with its white space as single spaces. */
export function lineOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Where the next element of exactly that name begins; -1 when there is none. */
function startOf(xml: string, name: string, from: number): number {
  for (let at = xml.indexOf(`<${name}`, from); at !== -1; at = xml.indexOf(`<${name}`, at + 1)) {
    if (/[\s/>]/.test(xml.charAt(at + name.length + 1))) return at;
  }
  return -1;
}

// The parser for XML and lenient HTML: the one that follows browsers is far slower on nested elements.
async function load(text: string, xmlMode: boolean): Promise<CheerioAPI> {
  const { load: parse } = await import('cheerio/slim');
  return parse(firstTags(text.slice(0, MAX_LENGTH), MAX_TAGS), { xml: { xmlMode, decodeEntities: true } });
}

/** The text up to the first tag too many. */
export function firstTags(text: string, most: number): string {
  let tags = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    tags += 1;
    if (tags > most) return text.slice(0, at);
  }
  return text;
}
