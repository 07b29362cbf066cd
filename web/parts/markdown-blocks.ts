/** Markdown as blocks, while it is being written: what is finished is not read again. Bounded in length and depth. */
import { Lexer, type Token } from 'marked';

/** Characters that are read as markdown; what is behind them is shown as it is. */
const MAX_CHARACTERS = 200_000;

/** Blocks inside each other, beyond which text is shown as it is. */
const MAX_DEPTH = 20;

/** A text with more marks than this is shown as it is: finding out which belong together takes the square of their number. */
const MAX_MARKS = 1_500;

/** A text that has only few marks is read up to this many characters. */
const MAX_INLINE = 40_000;

/** Lines that begin with many marks of lists and quotations. */
const DEEP_LINE = new RegExp(`^(?:[ \\t]*(?:>|[-+*][ \\t]|\\d{1,9}[.)][ \\t])){${MAX_DEPTH},}`, 'm');
const INDENTED_LINE = new RegExp(`^[ \\t]{${MAX_DEPTH * 4},}(?:>|[-+*][ \\t]|\\d{1,9}[.)][ \\t])`, 'm');
const MARKS = /[[\]*_~`<(&\\!]/g;

/** A block of a text: what it is, or text that is shown as it is. The same object as long as it is the same block. */
export interface MarkdownBlock {
  readonly raw: string;
  /** Undefined for text that is shown as it is. */
  readonly token?: Token;
}

/** The blocks of a text that grows. */
export class MarkdownBlocks {
  #text = '';
  #blocks: readonly MarkdownBlock[] = [];

  /** The blocks of a text; those of the last call that are finished are the same objects. */
  read(written: string): readonly MarkdownBlock[] {
    // Marked does so as well, and its blocks are to add up to the text.
    const text = written.replace(/\r\n?/g, '\n');
    if (text === this.#text) return this.#blocks;
    const kept = text.startsWith(this.#text) ? finished(this.#blocks) : [];
    const from = kept.reduce((sum, { raw }) => sum + raw.length, 0);
    this.#blocks = [...kept, ...readBlocks(text, from)];
    this.#text = text;
    return this.#blocks;
  }
}

/** All but the last block that is more than empty lines: what comes may belong to it. */
function finished(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  const last = blocks.findLastIndex(({ token }) => token?.type !== 'space');
  return blocks.slice(0, Math.max(0, last));
}

function readBlocks(text: string, from: number): readonly MarkdownBlock[] {
  const unread = text.slice(from);
  if (unread === '') return [];
  const room = MAX_CHARACTERS - from;
  if (room <= 0) return [{ raw: unread }];
  if (unread.length <= room) return lex(unread);
  return [...lex(unread.slice(0, room)), { raw: unread.slice(room) }];
}

function lex(text: string): readonly MarkdownBlock[] {
  if (!isDeep(text)) return lexShallow(text);
  // What stands by itself is read by itself, so that one deep paragraph does not take the form of the others.
  return text
    .split(/(?<=\n\n)/)
    .flatMap((part): readonly MarkdownBlock[] => (isDeep(part) ? [{ raw: part }] : lexShallow(part)));
}

const isDeep = (text: string): boolean => DEEP_LINE.test(text) || INDENTED_LINE.test(text);

function lexShallow(text: string): readonly MarkdownBlock[] {
  try {
    const lexer = new Lexer({ gfm: true });
    lexer.blockTokens(text, lexer.tokens);
    // Marked reads the texts in blocks last: here only those that take no time.
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isSimple(src)) lexer.inlineTokens(src, tokens);
      else tokens.push({ type: 'text', raw: src, text: src });
    }
    return lexer.tokens.map((token): MarkdownBlock => ({ raw: token.raw, token }));
  } catch {
    // Too deep after all: the text says the same without its form.
    return [{ raw: text }];
  }
}

function isSimple(text: string): boolean {
  if (text.length > MAX_INLINE) return false;
  let marks = 0;
  for (const _ of text.matchAll(MARKS)) {
    marks += 1;
    if (marks > MAX_MARKS) return false;
  }
  return true;
}
