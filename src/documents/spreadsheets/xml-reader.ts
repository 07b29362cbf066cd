/** What an XML reader tells about; names come without their namespace prefix. */
export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
  /** A piece of text; one text may come in several. */
  text(text: string): void;
}

/** The attributes of an element, read when they are asked for. */
export interface XmlAttributes {
  /** The value of an attribute by its name without prefix. */
  get(name: string): string | undefined;
}

/** Reads XML piece by piece. */
export interface XmlReader {
  write(piece: string): void;
  /** @throws Error when the XML ends within a tag. */
  end(): void;
}

/** A tag; a `>` in quotes does not end it. What follows a name begins with what no name has, so matching is linear. */
const TAG = /<(\/?)([^\s"'<>/=]+)((?:[\s/=](?:[^"'<>]|"[^"]*"|'[^']*')*)?)>/y;
const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Things that are not elements: where they begin, where they end, and whether their content is text. */
const SPECIAL: readonly (readonly [start: string, end: string, isText: boolean])[] = [
  ['<!--', '-->', false],
  ['<![CDATA[', ']]>', true],
  ['<?', '?>', false],
];
const LONGEST_START = '<![CDATA['.length;

/** Longest tag or piece of text, in UTF-16 units; a cell holds 32,767 characters. */
const MAX_TOKEN = 1_048_576;

/**
 * A streaming reader for the XML of Office files (XML 1.0 without document types): elements, attributes and text in order.
 *
 * Own, because the streaming reader of exceljs loses sheet names of workbooks that other programs wrote, and takes the
 * reading aid of Japanese texts for the text. There are no entities but the five that XML has, so nothing can expand.
 * Errors: Error with what is wrong; callers know which file it is.
 */
export function createXmlReader(handler: XmlHandler): XmlReader {
  let rest = '';
  return {
    write(piece) {
      rest = readTokens(rest + piece, handler);
      if (rest.length > MAX_TOKEN) throw new Error('a tag or a text is too long');
    },
    end() {
      if (rest.trim() !== '') throw new Error('the XML ends too early');
    },
  };
}

/** Reads what is complete in `source` and gives the rest. */
function readTokens(source: string, handler: XmlHandler): string {
  let at = 0;
  for (;;) {
    const start = source.indexOf('<', at);
    if (start === -1) return source.slice(at);
    if (start > at) handler.text(decodeEntities(source.slice(at, start)));
    const next = source.charCodeAt(start + 1);
    // `!`, `?`, or not there yet.
    const end =
      next === 33 || next === 63 || Number.isNaN(next)
        ? readSpecial(source, start, handler)
        : readTag(source, start, handler);
    if (end === undefined) return source.slice(start);
    at = end;
  }
}

function readSpecial(source: string, start: number, handler: XmlHandler): number | undefined {
  for (const [opening, closing, isText] of SPECIAL) {
    if (!source.startsWith(opening, start)) continue;
    const end = source.indexOf(closing, start + opening.length);
    if (end === -1) return undefined;
    if (isText) handler.text(source.slice(start + opening.length, end));
    return end + closing.length;
  }
  if (source.length - start < LONGEST_START) return undefined;
  throw new Error('it declares a document type');
}

function readTag(source: string, start: number, handler: XmlHandler): number | undefined {
  TAG.lastIndex = start;
  const [whole, slash, name = '', raw = ''] = TAG.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const local = localName(name);
  if (slash === '/') handler.close(local);
  else {
    handler.open(local, { get: (wanted) => readAttribute(raw, wanted) });
    if (raw.endsWith('/')) handler.close(local);
  }
  return start + whole.length;
}

function readAttribute(raw: string, wanted: string): string | undefined {
  ATTRIBUTE.lastIndex = 0;
  for (let match = ATTRIBUTE.exec(raw); match !== null; match = ATTRIBUTE.exec(raw)) {
    if (localName(match[1] ?? '') === wanted) return decodeEntities(match[2] ?? match[3] ?? '');
  }
  return undefined;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (entity, hex?: string, decimal?: string, named?: string) => {
    if (named !== undefined) return NAMED[named.toLowerCase()] ?? entity;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
