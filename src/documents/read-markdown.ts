/** Markdown as sections of blocks: the reader, its running text, page directives and character references. */
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { isWide, writable, writableLine } from './characters.js';
import type { Align, Block, Inline, ListItem, Marks, Section } from './content.js';
import { refuse } from './failure.js';
import { Images } from './image.js';

/** Deepest nesting of lists and quotes. */
const MAX_DEPTH = 32;
/** Most columns of a table; a word processor takes no more. */
const MAX_COLUMNS = 63;
/** Most cells of all tables together. */
const MAX_CELLS = 100_000;

/** The parser takes time that grows steeply with the indentation of list items; deeper ones than these are refused anyway. */
const DEEPEST_INDENT = ' '.repeat(4 * (MAX_DEPTH + 2));
const DEEP_ITEM = new RegExp(`^[ \\t]{${DEEPEST_INDENT.length + 1},}(?=(?:[-+*]|\\d{1,9}[.)])\\s)`, 'gm');

/** A line alone that starts a new page, as in LaTeX. */
const PAGE_BREAK = /^\\(?:newpage|pagebreak)$/;

/**
 * Reads Markdown (GitHub's) into sections of blocks, within bounds.
 *
 * Raw HTML is text. Comments are not shown; those alone on a line control the pages: see `readNotes`. Links go to
 * http, https and mailto only, and as `[text](#name)` to a place `<!-- anchor: name -->` within running text. Pictures come from `data:` URIs only,
 * others become links.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` beyond 32 levels of nesting, 63 columns or 100,000 table cells; RangeError
 * for nesting that overflows the stack of the Markdown parser.
 */
export async function readMarkdown(
  markdown: string,
  page: { readonly header: string; readonly footer: string },
): Promise<readonly Section[]> {
  const text = writable(markdown).replace(DEEP_ITEM, DEEPEST_INDENT);
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const anchors = new Set<string>();
  if (text.includes('anchor:')) {
    void marked.walkTokens(tokens, (token) => {
      const name = token.type === 'html' && token.block !== true ? anchorIn(token.text) : undefined;
      if (name !== undefined) anchors.add(name);
    });
  }
  return new Reader(await entityDecoder(text), anchors).sections(tokens, page);
}

class Reader {
  readonly #inline: InlineReader;
  #cells = 0;

  constructor(decode: Decode, anchors: ReadonlySet<string>) {
    this.#inline = new InlineReader(decode, new Images(), anchors);
  }

  sections(tokens: readonly Token[], page: { readonly header: string; readonly footer: string }): Section[] {
    let { header, footer } = page;
    let blocks: Block[] = [];
    const sections: Section[] = [];
    const close = (): void => {
      sections.push({ header, footer, blocks });
      blocks = [];
    };
    for (const token of tokens as readonly MarkedToken[]) {
      const notes = token.type === 'html' ? readNotes(token.text) : undefined;
      if (notes === undefined) blocks.push(...this.#readToken(token, 0));
      for (const note of notes ?? []) {
        if (note.kind === 'section') close();
        else if (note.kind === 'header') header = note.text;
        else if (note.kind === 'footer') footer = note.text;
        else blocks.push({ kind: 'page-break' });
      }
    }
    close();
    return sections;
  }

  #read(tokens: readonly Token[], depth: number): Block[] {
    if (depth > MAX_DEPTH) throw refuse(`the content nests lists and quotes deeper than ${MAX_DEPTH} levels.`);
    return (tokens as readonly MarkedToken[]).flatMap((token) => this.#readToken(token, depth));
  }

  /** The block of a token, if it has one: empty lines, definitions of links and the boxes of tasks show nothing themselves. */
  #readToken(token: MarkedToken, depth: number): Block[] {
    switch (token.type) {
      case 'heading': {
        const level = Math.min(6, Math.max(1, token.depth)) as 1 | 2 | 3 | 4 | 5 | 6;
        return [{ kind: 'heading', level, content: this.#inline.read(token.tokens) }];
      }
      case 'paragraph':
      case 'text':
        if (PAGE_BREAK.test(token.text.trim())) return [{ kind: 'page-break' }];
        return [{ kind: 'paragraph', content: this.#inline.read(token.tokens ?? [token]) }];
      case 'html':
        return readNotes(token.text) === undefined ? this.#rawParagraphs(token.text) : [];
      case 'code':
        return [{ kind: 'code', lines: token.text.split('\n') }];
      case 'blockquote':
        return [{ kind: 'quote', blocks: this.#read(token.tokens, depth + 1) }];
      case 'hr':
        return [{ kind: 'rule' }];
      case 'list': {
        const items = token.items.map((item) => this.#readItem(item, depth + 1));
        return [{ kind: 'list', start: token.ordered ? Number(token.start) || 0 : undefined, items }];
      }
      case 'table':
        return [this.#readTable(token)];
      default:
        return [];
    }
  }

  /** Raw HTML as it is written, line by line. */
  #rawParagraphs(html: string): Block[] {
    const content = html
      .trim()
      .split('\n')
      .flatMap((line, index): Inline[] => {
        const text: Inline = { kind: 'text', text: line, marks: {} };
        return index === 0 ? [text] : [{ kind: 'break' }, text];
      });
    return [{ kind: 'paragraph', content }];
  }

  #readItem(item: Tokens.ListItem, depth: number): ListItem {
    return { ...(item.task && { checked: item.checked ?? false }), blocks: this.#read(item.tokens, depth) };
  }

  #readTable({ align, header, rows }: Tokens.Table): Block {
    if (header.length > MAX_COLUMNS) {
      throw refuse(`a table has ${header.length} columns; at most ${MAX_COLUMNS} can be written.`);
    }
    this.#cells += header.length * (rows.length + 1);
    if (this.#cells > MAX_CELLS) throw refuse(`the tables have more than ${MAX_CELLS} cells.`);
    const read = (cells: readonly Tokens.TableCell[]) => cells.map(({ tokens }) => this.#inline.read(tokens));
    return {
      kind: 'table',
      align: align.map((given): Align => given ?? 'left'),
      header: read(header),
      rows: rows.map(read),
    };
  }
}

/** Deepest nesting of formatting such as bold inside of a link. */
const MAX_SETTINGS = 32;

/** Settings of text by their tokens. */
const SETTINGS = { strong: 'bold', em: 'italic', del: 'struck' } as const;
const LINKED = new Set(['http:', 'https:', 'mailto:']);
const LINE_BREAK = /^<br\s*\/?>$/i;
const INLINE_COMMENT = /^<!--.*-->$/s;
/** Names that every format can hold. */
const ANCHOR = /^<!--\s*anchor:\s*([A-Za-z]\w{0,39})\s*-->$/;

function anchorIn(html: string): string | undefined {
  return ANCHOR.exec(html)?.[1];
}

/** Turns the tokens of running text into {@link Inline}s. Raw HTML is text, but for `<br>` and comments. */
class InlineReader {
  readonly #placed = new Set<string>();

  constructor(
    private readonly decode: Decode,
    private readonly images: Images,
    private readonly anchors: ReadonlySet<string>,
  ) {}

  /** Reads the tokens of one block of text, or of what a setting contains. */
  read(tokens: readonly Token[], around: Around = PLAIN): Inline[] {
    if (around.depth > MAX_SETTINGS)
      throw refuse(`the content nests text settings deeper than ${MAX_SETTINGS} levels.`);
    const found: Inline[] = [];
    for (const token of tokens as readonly MarkedToken[]) {
      for (const inline of this.#readToken(token, around)) append(found, inline);
    }
    return found;
  }

  #readToken(token: MarkedToken, around: Around): Inline[] {
    const inside = (marks: Marks): Around => ({
      ...around,
      marks: { ...around.marks, ...marks },
      depth: around.depth + 1,
    });
    switch (token.type) {
      case 'text':
        return token.tokens ? this.read(token.tokens, around) : [textOf(this.decode(token.text), around.marks)];
      case 'escape':
        return [textOf(token.text, around.marks)];
      case 'codespan':
        return [textOf(token.text, { ...around.marks, code: true })];
      case 'strong':
      case 'em':
      case 'del':
        return this.read(token.tokens, inside({ [SETTINGS[token.type]]: true }));
      case 'br':
        return [{ kind: 'break' }];
      case 'html':
        if (LINE_BREAK.test(token.text)) return [{ kind: 'break' }];
        if (anchorIn(token.text) !== undefined) return this.#readAnchor(token.text, around);
        return INLINE_COMMENT.test(token.text) ? [] : [textOf(token.text, around.marks)];
      case 'link':
        return this.#readLink(token.href, token.tokens, inside({}));
      case 'image':
        return this.#readImage(token.href, this.decode(token.text), around);
      default:
        // Marks of tasks are read with their list item; anything else has no text of its own.
        return [];
    }
  }

  /** Of two places of one name the first counts; a link holds none. */
  #readAnchor(html: string, { isLinked }: Around): Inline[] {
    const name = anchorIn(html) as string;
    if (isLinked || this.#placed.has(name)) return [];
    this.#placed.add(name);
    return [{ kind: 'anchor', name }];
  }

  #readLink(address: string, tokens: readonly Token[], inside: Around): Inline[] {
    const to = address.startsWith('#') && !inside.isLinked ? address.slice(1) : undefined;
    if (to !== undefined && this.anchors.has(to)) {
      return [{ kind: 'jump', to, content: this.read(tokens, { ...inside, isLinked: true }) }];
    }
    const href = inside.isLinked ? undefined : safeAddress(this.decode(address));
    if (href === undefined) return this.read(tokens, inside);
    const content = this.read(tokens, { ...inside, isLinked: true });
    return [{ kind: 'link', href, content: content.length > 0 ? content : [textOf(href, inside.marks)] }];
  }

  #readImage(address: string, alt: string, around: Around): Inline[] {
    const image = this.images.take(address);
    if (image !== undefined) return [{ kind: 'image', image, alt: oneLine(alt) }];
    const href = around.isLinked ? undefined : safeAddress(this.decode(address));
    const text = textOf(alt || (href ?? ''), around.marks);
    return href === undefined ? [text] : [{ kind: 'link', href, content: [text] }];
  }
}

/** The formatting around the tokens that are read. */
interface Around {
  readonly marks: Marks;
  readonly isLinked: boolean;
  readonly depth: number;
}

const PLAIN: Around = { marks: {}, isLinked: false, depth: 0 };

/** The address of a link in full when a reader may follow it; undefined otherwise. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return LINKED.has(protocol) ? href : undefined;
}

function textOf(text: string, marks: Marks): Inline {
  return { kind: 'text', text: oneLine(text), marks };
}

/** Joins a text to the one before when both have the same formatting, so that writers get whole runs. */
function append(found: Inline[], inline: Inline): void {
  const last = found.at(-1);
  if (inline.kind === 'text' && last?.kind === 'text' && isSame(last.marks, inline.marks)) {
    found[found.length - 1] = { ...inline, text: last.text + inline.text };
  } else if (inline.kind !== 'text' || inline.text !== '') {
    found.push(inline);
  }
}

function isSame(one: Marks, other: Marks): boolean {
  const keys = ['bold', 'italic', 'struck', 'code'] as const;
  return keys.every((key) => (one[key] ?? false) === (other[key] ?? false));
}

/** Running text on one line: a line feed is a space, but not between characters that need none between them. */
export function oneLine(text: string): string {
  return text.replace(/([^ \t\n]|(?<![ \t]))[ \t]*\n[ \t]*(?=(.?))/gu, (_, before: string, after: string) =>
    isWide(before) && isWide(after) ? before : `${before} `,
  );
}

/** A directive about pages, written as a comment. */
export type Note =
  | { readonly kind: 'page-break' }
  | { readonly kind: 'section' }
  | { readonly kind: 'header' | 'footer'; readonly text: string };

/** Longest header or footer, in UTF-16 units. */
const MAX_EDGE_TEXT = 500;

const COMMENT = /<!--(.*?)-->/gs;
const PAGE_BREAK_NOTE = /^(?:page-?break|new-?page)$/i;
const SECTION = /^(?:section|section-?break)$/i;
const EDGE = /^(header|footer)\s*:(.*)$/is;

/**
 * Reads the comments in a block of HTML that holds nothing else; undefined for any other block.
 *
 * `<!-- pagebreak -->` starts a page, `<!-- section -->` a section on a new page. `<!-- header: Text -->` and
 * `<!-- footer: Text -->` set the header and the footer of the section they stand in and of those after it.
 */
export function readNotes(html: string): readonly Note[] | undefined {
  if (!html.includes('<!--') || !html.trimEnd().endsWith('-->')) return undefined;
  // Every comment is closed, so the search stays linear.
  if (html.replace(COMMENT, '').trim() !== '') return undefined;
  return [...html.matchAll(COMMENT)].flatMap(([, text = '']): Note[] => {
    const note = text.trim();
    if (PAGE_BREAK_NOTE.test(note)) return [{ kind: 'page-break' }];
    if (SECTION.test(note)) return [{ kind: 'section' }];
    const [, edge, line = ''] = EDGE.exec(note) ?? [];
    if (edge === undefined) return [];
    return [{ kind: edge.toLowerCase() === 'header' ? 'header' : 'footer', text: writableLine(line, MAX_EDGE_TEXT) }];
  });
}

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
