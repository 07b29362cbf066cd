/** XML as a stream, within bounds. */
import { SaxesParser } from 'saxes';

/** Receives the parts of an XML document in order, as far as it wants them; names come without their namespace prefix. */
export interface XmlHandler {
  open?(name: string, attributes: XmlAttributes, tag: XmlTag): void;
  close?(name: string): void;
  /** A piece of text; one text may come in several. */
  text?(text: string): void;
}

/** An element as it is written, with prefixes. */
export interface XmlTag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The attributes of an element. */
export interface XmlAttributes {
  /** The value of an attribute by its name without prefix. */
  get(name: string): string | undefined;
}

/** Longest tag, text or comment, in UTF-16 units; a cell holds 32,767 characters. */
const MAX_TOKEN = 1_048_576;
/** Deepest nesting: the parser remembers every open element, and a part of a workbook has about ten. */
const MAX_DEPTH = 256;
/** What programs are known to write although XML forbids it; it is read unchanged. */
const TOLERATED = /^(?:disallowed character\.|undefined entity|malformed character entity)/;

/** How XML is read. */
export interface XmlReaderOptions {
  /** Deepest nesting of elements. @default 256 */
  readonly maxDepth?: number | undefined;
  /** Refuses all that XML forbids, also what programs are known to write, and counts lines. @default false */
  readonly isExact?: boolean | undefined;
}

/**
 * Makes a streaming reader for XML, first of all that of Office files: `saxes` within bounds.
 *
 * The streaming reader of exceljs is not used: it loses sheet names of workbooks that other programs wrote, and takes the
 * reading aid of Japanese texts for the text. A document type is refused, so there are no entities but the five of XML and
 * nothing can expand.
 *
 * Errors: Error with what is wrong, of an exact reader with line and column in front; callers know which file it is.
 */
export function createXmlReader(handler: XmlHandler, options: XmlReaderOptions = {}) {
  const { maxDepth = MAX_DEPTH, isExact = false } = options;
  const parser = new SaxesParser({ xmlns: false, position: isExact });
  let pending = 0;
  let depth = 0;
  let isEnding = false;
  const text = (content: string): void => {
    pending = 0;
    handler.text?.(content);
  };
  const skip = (): void => {
    pending = 0;
  };
  parser.on('error', ({ message }) => {
    if (isEnding) throw new Error('the XML ends too early');
    if (isExact || !TOLERATED.test(message)) throw new Error(message.replace(/\.$/, ''));
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
  parser.on('opentag', (tag) => {
    const { name } = tag;
    pending = 0;
    depth += 1;
    if (depth > maxDepth) throw new Error(`its elements are nested deeper than ${maxDepth}`);
    handler.open?.(localName(name), new TagAttributes(tag.attributes), tag);
  });
  parser.on('closetag', ({ name }) => {
    pending = 0;
    depth -= 1;
    handler.close?.(localName(name));
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('comment', skip);
  parser.on('processinginstruction', skip);
  return {
    /** Of what is being read, from 1; of an exact reader. */
    get line(): number {
      return parser.line;
    },
    /** Reads a piece. */
    write(piece: string): void {
      parser.write(piece);
      pending += piece.length;
      if (pending > MAX_TOKEN) throw new Error('a tag or a text is too long');
    },
    /** Errors: Error when an element or a tag is not complete. */
    end(): void {
      isEnding = true;
      parser.close();
    },
  };
}

/** The attributes of one element; there are millions of them, so each costs no closure. */
class TagAttributes implements XmlAttributes {
  readonly #attributes: Readonly<Record<string, string>>;

  constructor(attributes: Readonly<Record<string, string>>) {
    this.#attributes = attributes;
  }

  get(wanted: string): string | undefined {
    const attributes = this.#attributes;
    if (Object.hasOwn(attributes, wanted)) return attributes[wanted];
    for (const name in attributes) if (localName(name) === wanted) return attributes[name];
    return undefined;
  }
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}
