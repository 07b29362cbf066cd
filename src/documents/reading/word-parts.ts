/** The XML of Word documents as a stream, without what their text does not need and in pieces: a parser that makes trees follows. */
import { createXmlReader, type XmlHandler, type XmlTag } from '../spreadsheets/xml-reader.js';
import type { Zip, ZipEntry } from './zip.js';

/** One part of a document, such as `word/document.xml`. */
export interface WordPart {
  /** Everything up to the first paragraph. */
  readonly head: string;
  /** Paragraphs and tables; between two pieces no list goes on. */
  readonly pieces: readonly string[];
  /** Everything behind the last paragraph. */
  readonly tail: string;
  /** Whether it refers to footnotes or endnotes, whose numbers go through the whole document. */
  readonly hasNotes: boolean;
}

/** Elements after which a piece ends with the next paragraph that is in no list; as a tree they take a few megabytes. */
const MAX_ELEMENTS = 6_000;

/** Most elements of a part that are read, those without text aside: two thousand pages. */
const MAX_READ = 250_000;

/** Neither text nor its structure: how things look, marks of the editor, alternatives that the parser does not take. */
const UNREAD = new Set(
  'sectPr proofErr bookmarkStart bookmarkEnd lastRenderedPageBreak tblPr tblPrEx tblGrid commentRangeStart commentRangeEnd permStart permEnd Choice'.split(
    ' ',
  ),
);
/** What is read of the properties of an element. */
const PROPERTIES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['pPr', new Set(['pStyle', 'numPr', 'rPr'])],
  ['rPr', new Set(['del'])],
  ['trPr', new Set(['tblHeader', 'del'])],
  ['tcPr', new Set(['gridSpan', 'vMerge'])],
]);
/** Elements of which no attribute is read; editors give each the number of its revision. */
const BARE = new Set(['p', 'r', 't', 'tr', 'tc', 'tbl']);
/** Elements with text of their own. */
const TEXTS = new Set(['t', 'instrText', 'delText']);
/** Ends of elements that are left out when the next one of the same name begins at once. */
const JOINED = new Set(['r', 't']);

/** Reads a part of a document; pieces have about `maxElements`. Errors: those of the archive and of `createXmlReader`. */
export async function readWordPart(zip: Zip, entry: ZipEntry, maxElements = MAX_ELEMENTS): Promise<WordPart> {
  const writer = new PartWriter(maxElements);
  const reader = createXmlReader(writer);
  const decoder = new TextDecoder();
  for await (const chunk of zip.stream(entry)) reader.write(decoder.decode(chunk, { stream: true }));
  reader.end();
  return writer.part();
}

/** Writes what it is told of a part again, shorter. */
class PartWriter implements XmlHandler {
  readonly #maxElements: number;
  #hasNotes = false;
  /** Names of the open elements, with their prefixes. */
  readonly #path: string[] = [];
  /** Of these, from which on nothing is written; 0 when everything is. */
  #unreadFrom = 0;
  /** Ends that are written as soon as something else follows. */
  #ends: string[] = [];
  readonly #pieces: string[] = [];
  #head = '';
  #piece = '';
  /** The child of the body that is being read. */
  #block = '';
  #elements = 0;
  #blockElements = 0;
  #readElements = 0;
  #isListed = false;
  #isStyled = false;

  constructor(maxElements: number) {
    this.#maxElements = maxElements;
  }

  open(name: string, _: unknown, tag: XmlTag): void {
    const parent = localName(this.#path.at(-1) ?? '');
    this.#path.push(tag.name);
    if (this.#unreadFrom > 0) return;
    const isRead = !UNREAD.has(name) && (PROPERTIES.get(parent)?.has(name) ?? (name !== 'rPr' || parent === 'pPr'));
    if (!isRead) {
      this.#unreadFrom = this.#path.length;
      return;
    }
    if (name === 'footnoteReference' || name === 'endnoteReference') this.#hasNotes = true;
    if (name === 'numPr') this.#isListed = true;
    if (name === 'pStyle') this.#isStyled = true;
    if (JOINED.has(name) && this.#ends.at(-1) === tag.name) {
      this.#ends.pop();
      return;
    }
    this.#writeEnds();
    this.#blockElements += 1;
    this.#readElements += 1;
    if (this.#readElements > MAX_READ) throw new Error(`it has more than ${MAX_READ.toLocaleString('en-US')} elements`);
    this.#write(`<${tag.name}${attributesOf(name, tag)}>`);
  }

  close(name: string): void {
    const level = this.#path.length;
    const written = this.#path.pop() ?? '';
    if (this.#unreadFrom > 0) {
      if (this.#unreadFrom === level) this.#unreadFrom = 0;
      return;
    }
    if (JOINED.has(name)) {
      this.#ends.push(written);
      return;
    }
    this.#writeEnds();
    this.#write(`</${written}>`);
    // A child of the body.
    if (level === 3) this.#endBlock(name);
  }

  text(text: string): void {
    const parent = localName(this.#path.at(-1) ?? '');
    // Between elements stand line ends, at most.
    if (this.#unreadFrom > 0 || !(TEXTS.has(parent) || /\S/.test(text))) return;
    this.#writeEnds();
    this.#write(escapeXml(text));
  }

  part(): WordPart {
    this.#pieces.push(this.#piece);
    return { head: this.#head, pieces: this.#pieces, tail: this.#block, hasNotes: this.#hasNotes };
  }

  /** Ends are written from the innermost, which was closed first. */
  #writeEnds(): void {
    for (const name of this.#ends) this.#write(`</${name}>`);
    this.#ends = [];
  }

  #write(text: string): void {
    const isBegun = this.#block !== '' || this.#piece !== '' || this.#pieces.length > 0;
    if (isBegun || this.#path.length > 2 || text.startsWith('</')) this.#block += text;
    else this.#head += text;
  }

  #endBlock(name: string): void {
    // The numbers of a list may also come with the style of its paragraphs.
    const isFull = this.#elements > (this.#isStyled ? 2 : 1) * this.#maxElements;
    if (isFull && !this.#isListed && (name === 'p' || name === 'tbl')) {
      this.#pieces.push(this.#piece);
      this.#piece = '';
      this.#elements = 0;
    }
    this.#piece += this.#block;
    this.#elements += this.#blockElements;
    this.#block = '';
    this.#blockElements = 0;
    this.#isListed = false;
    this.#isStyled = false;
  }
}

/** Attributes as they are; of the most frequent elements only what declares prefixes. */
function attributesOf(name: string, { attributes }: XmlTag): string {
  let text = '';
  for (const key in attributes) {
    if (BARE.has(name) && !key.startsWith('xmlns')) continue;
    text += ` ${key}="${escapeXml(attributes[key] ?? '')}"`;
  }
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
