import type { MarkedToken, Token } from 'marked';
import { isWide } from './characters.js';
import type { Inline, Marks } from './content.js';
import type { Decode } from './entities.js';
import { refuse } from './failure.js';
import type { Images } from './images.js';

/** Deepest nesting of settings such as bold inside of a link. */
const MAX_DEPTH = 32;

const LINKED = new Set(['http:', 'https:', 'mailto:']);
const LINE_BREAK = /^<br\s*\/?>$/i;
const COMMENT = /^<!--.*-->$/s;

/** Turns the tokens of running text into {@link Inline}s. Raw HTML is text, but for `<br>` and comments. */
export class InlineReader {
  constructor(
    private readonly decode: Decode,
    private readonly images: Images,
  ) {}

  /** Reads the tokens of one block of text. */
  read(tokens: readonly Token[]): Inline[] {
    const found: Inline[] = [];
    this.#read(tokens, { marks: {}, isLinked: false, depth: 0 }, found);
    return found;
  }

  #read(tokens: readonly Token[], around: Around, found: Inline[]): void {
    if (around.depth > MAX_DEPTH) throw refuse(`the content nests text settings deeper than ${MAX_DEPTH} levels.`);
    for (const token of tokens as readonly MarkedToken[]) this.#readToken(token, around, found);
  }

  #readToken(token: MarkedToken, around: Around, found: Inline[]): void {
    const inside = (marks: Marks): Around => ({
      ...around,
      marks: { ...around.marks, ...marks },
      depth: around.depth + 1,
    });
    switch (token.type) {
      case 'text':
        if (token.tokens === undefined) addText(found, this.decode(token.text), around.marks);
        else this.#read(token.tokens, around, found);
        return;
      case 'escape':
        addText(found, token.text, around.marks);
        return;
      case 'codespan':
        addText(found, token.text, { ...around.marks, code: true });
        return;
      case 'strong':
        this.#read(token.tokens, inside({ bold: true }), found);
        return;
      case 'em':
        this.#read(token.tokens, inside({ italic: true }), found);
        return;
      case 'del':
        this.#read(token.tokens, inside({ struck: true }), found);
        return;
      case 'br':
        found.push({ kind: 'break' });
        return;
      case 'html':
        if (LINE_BREAK.test(token.text)) found.push({ kind: 'break' });
        else if (!COMMENT.test(token.text)) addText(found, token.text, around.marks);
        return;
      case 'link':
        this.#readLink(token.href, token.tokens, inside({}), found);
        return;
      case 'image':
        this.#readImage(token.href, this.decode(token.text), around, found);
        return;
      default:
        // Marks of tasks are read with their list item; anything else has no text of its own.
        return;
    }
  }

  #readLink(address: string, tokens: readonly Token[], inside: Around, found: Inline[]): void {
    const href = inside.isLinked ? undefined : safeAddress(this.decode(address));
    if (href === undefined) {
      this.#read(tokens, inside, found);
      return;
    }
    const content: Inline[] = [];
    this.#read(tokens, { ...inside, isLinked: true }, content);
    if (content.length === 0) addText(content, href, inside.marks);
    found.push({ kind: 'link', href, content });
  }

  #readImage(address: string, alt: string, around: Around, found: Inline[]): void {
    const image = this.images.take(address);
    if (image !== undefined) {
      found.push({ kind: 'image', image, alt: oneLine(alt) });
      return;
    }
    const href = around.isLinked ? undefined : safeAddress(this.decode(address));
    const content: Inline[] = [];
    addText(content, alt || (href ?? ''), around.marks);
    if (href === undefined) found.push(...content);
    else found.push({ kind: 'link', href, content });
  }
}

/** What holds for the tokens that are read. */
interface Around {
  readonly marks: Marks;
  readonly isLinked: boolean;
  readonly depth: number;
}

/** The address of a link in full when a reader may follow it; undefined otherwise. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return LINKED.has(protocol) ? href : undefined;
}

/** Joins a text to the one before when both are set alike, so that formats get whole texts. */
function addText(found: Inline[], text: string, marks: Marks): void {
  const line = oneLine(text);
  const last = found.at(-1);
  if (last?.kind === 'text' && isSame(last.marks, marks)) {
    found[found.length - 1] = { kind: 'text', text: last.text + line, marks };
  } else if (line !== '') {
    found.push({ kind: 'text', text: line, marks });
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
