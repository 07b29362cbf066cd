import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { writable } from './characters.js';
import type { Align, Block, Inline, ListItem, Section } from './content.js';
import { type Decode, entityDecoder } from './entities.js';
import { refuse } from './failure.js';
import { Images } from './images.js';
import { readNotes } from './notes.js';
import { InlineReader } from './read-inline.js';

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
 * Raw HTML is text. Comments are not shown; those alone on a line can steer the pages: see `readNotes`. Links go to
 * http, https and mailto only. Pictures come from `data:` URIs only, others become links.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` beyond 32 levels of nesting, 63 columns or 100,000 table cells; RangeError
 * for nesting that the Markdown parser cannot follow.
 */
export async function readMarkdown(
  markdown: string,
  page: { readonly header: string; readonly footer: string },
): Promise<readonly Section[]> {
  const text = writable(markdown).replace(DEEP_ITEM, DEEPEST_INDENT);
  return new Reader(await entityDecoder(text)).sections(new Marked({ gfm: true }).lexer(text), page);
}

class Reader {
  readonly #inline: InlineReader;
  #cells = 0;

  constructor(decode: Decode) {
    this.#inline = new InlineReader(decode, new Images());
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
      if (notes === undefined) this.#readToken(token, blocks, 0);
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
    const blocks: Block[] = [];
    for (const token of tokens as readonly MarkedToken[]) this.#readToken(token, blocks, depth);
    return blocks;
  }

  #readToken(token: MarkedToken, blocks: Block[], depth: number): void {
    switch (token.type) {
      case 'heading': {
        const level = Math.min(6, Math.max(1, token.depth)) as 1 | 2 | 3 | 4 | 5 | 6;
        blocks.push({ kind: 'heading', level, content: this.#inline.read(token.tokens) });
        return;
      }
      case 'paragraph':
      case 'text':
        this.#readParagraph(token, blocks);
        return;
      case 'html':
        if (readNotes(token.text) === undefined) blocks.push(...this.#rawParagraphs(token.text));
        return;
      case 'code':
        blocks.push({ kind: 'code', lines: token.text.split('\n') });
        return;
      case 'blockquote':
        blocks.push({ kind: 'quote', blocks: this.#read(token.tokens, depth + 1) });
        return;
      case 'hr':
        blocks.push({ kind: 'rule' });
        return;
      case 'list':
        blocks.push({
          kind: 'list',
          start: token.ordered ? Number(token.start) || 0 : undefined,
          items: token.items.map((item) => this.#readItem(item, depth + 1)),
        });
        return;
      case 'table':
        blocks.push(this.#readTable(token));
        return;
      default:
        // Empty lines, definitions of links and the boxes of tasks show nothing themselves.
        return;
    }
  }

  #readParagraph(token: Tokens.Paragraph | Tokens.Text, blocks: Block[]): void {
    if (PAGE_BREAK.test(token.text.trim())) blocks.push({ kind: 'page-break' });
    else blocks.push({ kind: 'paragraph', content: this.#inline.read(token.tokens ?? [token]) });
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
