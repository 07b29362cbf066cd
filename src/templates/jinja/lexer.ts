/** Tokens of a Jinja template, and the cursor that the parsers read them through. */
import { SIMPLE_ESCAPES } from '../../dsl/python-literal.js';
import {
  type BracedReference,
  belongsToText,
  createReferenceReader,
  parseReference,
  type Reference,
  type ReferenceReader,
} from '../../dsl/reference.js';
import { EngineError } from '../../errors.js';

/** A piece of a template. `close` has the kind of tag that it closes as value, `open` likewise. */
export interface Token {
  readonly kind:
    | 'text'
    | 'text-reference'
    | 'open'
    | 'close'
    | 'name'
    | 'string'
    | 'number'
    | 'operator'
    | 'reference'
    | 'end';
  readonly value: string;
  readonly line: number;
  readonly reference?: Reference;
}

const BLANKS = /\s+/y;
const NUMBER =
  /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?:[eE][+-]?\d+)?/y;
const DIGITS = /\d+/y;
const NAME = /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+*/%~[\](){}<>=.:|,]/y;
const RAW = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const END_RAW = /\{%([-+]?)\s*endraw\s*(-?)%\}/g;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/y;
const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/**
 * Cuts a template into tokens, in time linear in its length.
 *
 * With `references`, references in braces are tokens of their own, in the text and inside of tags, where
 * `component@name` needs no braces. Braces around a reference that cannot belong to it are Jinja's:
 * `{{ {a@b} | upper }}` is an output, `{{a@b}}` a reference in the text.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line.
 */
export function tokenize(template: string, references: boolean): readonly Token[] {
  // Jinja writes every line end as a line feed, and drops one at the end of a template.
  const lexer = new Lexer(template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, ''), references);
  lexer.readText();
  return lexer.tokens;
}

/** A cursor over one template; the line counter moves with it. */
class Lexer {
  readonly tokens: Token[] = [];
  private at = 0;
  private line = 1;
  private counted = 0;
  private readonly reader: ReferenceReader;
  constructor(
    private readonly source: string,
    private readonly references: boolean,
  ) {
    this.reader = createReferenceReader(source);
  }

  readText(): void {
    let start = this.at;
    for (let brace = this.source.indexOf('{', this.at); brace !== -1; brace = this.source.indexOf('{', this.at)) {
      this.at = brace;
      const braced = this.references ? this.reader.braced(brace) : undefined;
      const inText = braced !== undefined && belongsToText(braced) ? braced : undefined;
      const tag = this.source.slice(brace, brace + 2);
      if (inText === undefined && tag !== '{%' && tag !== '{{' && tag !== '{#') {
        this.at++;
        continue;
      }
      this.pushText(start, brace, inText === undefined && this.source[brace + 2] === '-');
      if (inText !== undefined) this.pushReference('text-reference', inText, inText.balancedEnd);
      else if (tag === '{#') this.skipComment();
      else if (tag === '{{' || !this.readRaw()) this.readTag(tag === '{{' ? 'expression' : 'statement');
      start = this.at;
    }
    this.pushText(start, this.source.length, false);
    this.at = this.source.length;
    this.push('end', '');
  }

  private pushText(start: number, end: number, trim: boolean): void {
    const text = this.source.slice(start, end);
    const kept = trim ? text.trimEnd() : text;
    if (kept !== '') this.push('text', kept, start);
  }

  private skipComment(): void {
    const end = this.source.indexOf('#}', this.at + 2);
    if (end === -1) this.refuse('the comment has no end; add "#}"');
    this.at = end + 2;
    if (this.source[end - 1] === '-') this.skipBlanks();
  }

  private readRaw(): boolean {
    RAW.lastIndex = this.at;
    const open = RAW.exec(this.source);
    if (open === null) return false;
    END_RAW.lastIndex = this.at + open[0].length;
    const close = END_RAW.exec(this.source);
    if (close === null) this.refuse('"raw" has no end; add "{% endraw %}"');
    const text = this.source.slice(this.at + open[0].length, close.index);
    const trimmed = open[1] === '-' ? text.trimStart() : text;
    const kept = close[1] === '-' ? trimmed.trimEnd() : trimmed;
    if (kept !== '') this.push('text', kept);
    this.at = close.index + close[0].length;
    if (close[2] === '-') this.skipBlanks();
    return true;
  }

  private readTag(tag: 'expression' | 'statement'): void {
    const close = tag === 'expression' ? '}}' : '%}';
    this.push('open', tag);
    this.at += /[-+]/.test(this.source[this.at + 2] ?? '') ? 3 : 2;
    const brackets: string[] = [];
    for (;;) {
      this.skipBlanks();
      if (this.at >= this.source.length) this.refuse(`the tag has no end; add "${close}"`);
      const marked = /[-+]/.test(this.source[this.at] ?? '') ? 1 : 0;
      if (brackets.length === 0 && this.source.startsWith(close, this.at + marked)) {
        this.push('close', tag);
        this.at += marked + 2;
        if (this.source[this.at - 3] === '-' && marked === 1) this.skipBlanks();
        return;
      }
      this.readToken(brackets);
    }
  }

  private readToken(brackets: string[]): void {
    const char = this.source[this.at] as string;
    if (char === '"' || char === "'") {
      this.readString(char);
      return;
    }
    const afterDot = this.tokens.at(-1)?.kind === 'operator' && this.tokens.at(-1)?.value === '.';
    const number = this.match(afterDot ? DIGITS : NUMBER);
    if (number === undefined && this.references && this.readReference(char)) return;
    const name = number ?? this.match(NAME);
    if (name !== undefined) {
      this.take(number === undefined ? 'name' : 'number', name);
      return;
    }
    const operator = this.match(OPERATOR);
    if (operator === undefined) this.refuse(`the character ${JSON.stringify(char)} has no meaning here`);
    if (operator === '(' || operator === '[' || operator === '{') brackets.push(operator);
    const opener = PAIRS[operator];
    if (opener !== undefined && brackets.pop() !== opener) this.refuse(`"${operator}" closes nothing`);
    this.take('operator', operator);
  }

  private readReference(char: string): boolean {
    if (char === '{') {
      const braced = this.reader.braced(this.at);
      if (braced === undefined) return false;
      this.pushReference('reference', braced, braced.balancedEnd);
      return true;
    }
    const name = /[A-Za-z_]/.test(char) ? this.bareOutput() : undefined;
    const reference = name === undefined ? undefined : parseReference(name);
    if (name === undefined || reference === undefined) return false;
    this.tokens.push({ kind: 'reference', value: name, line: this.lineAt(this.at), reference });
    this.at += name.length;
    return true;
  }

  /** What follows the last dot is a method when it is called: `a@b.split(",")`. */
  private bareOutput(): string | undefined {
    const name = this.reader.bare(this.at);
    if (name === undefined || this.source[this.at + name.length] !== '(') return name;
    const dot = name.lastIndexOf('.');
    return dot > name.indexOf('@') + 1 ? name.slice(0, dot) : name;
  }

  private readString(quote: string): void {
    const start = this.at++;
    let value = '';
    for (;;) {
      const from = this.at;
      while (this.at < this.source.length && this.source[this.at] !== quote && this.source[this.at] !== '\\') this.at++;
      value += this.source.slice(from, this.at);
      if (this.at >= this.source.length) this.refuse('the text in quotes has no end');
      if (this.source[this.at] === quote) break;
      value += this.readEscape();
    }
    this.at++;
    this.push('string', value, start);
  }

  private readEscape(): string {
    ESCAPE.lastIndex = this.at;
    const match = ESCAPE.exec(this.source);
    if (match === null) this.refuse('the text in quotes has no end');
    this.at += match[0].length;
    const hex = match[1] ?? match[2] ?? match[3];
    const point = hex === undefined ? -1 : Number.parseInt(hex, 16);
    if (point > 0x10ffff) this.refuse(`"${match[0]}" is no character`);
    if (point >= 0) return String.fromCodePoint(point);
    const char = match[4] as string;
    return Object.hasOwn(SIMPLE_ESCAPES, char) ? (SIMPLE_ESCAPES[char] as string) : match[0];
  }

  private pushReference(kind: 'reference' | 'text-reference', braced: BracedReference, end: number): void {
    const value = this.source.slice(this.at, end);
    this.tokens.push({ kind, value, line: this.lineAt(this.at), reference: braced.reference });
    this.at = end;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source)?.[0];
  }

  private skipBlanks(): void {
    this.at += this.match(BLANKS)?.length ?? 0;
  }

  private take(kind: Token['kind'], value: string): void {
    this.push(kind, value);
    this.at += value.length;
  }

  private push(kind: Token['kind'], value: string, at = this.at): void {
    this.tokens.push({ kind, value, line: this.lineAt(at) });
  }

  private lineAt(position: number): number {
    for (; this.counted < position; this.counted++) if (this.source[this.counted] === '\n') this.line++;
    return this.line;
  }

  private refuse(problem: string): never {
    const line = this.lineAt(this.at);
    throw new EngineError('TEMPLATE_INVALID', `Template line ${line}: ${problem}.`, { details: { line } });
  }
}

/** Deepest nesting of brackets, signs and blocks that is parsed. */
const MAX_DEPTH = 100;

/** A cursor over tokens, shared by both parsers. */
export class TokenStream {
  private at = 0;
  private depth = 0;
  constructor(
    private readonly tokens: readonly Token[],
    readonly references: boolean,
  ) {}

  get current(): Token {
    return this.tokens[this.at] as Token;
  }

  /** Gives the current token and moves on; never moves beyond the end. */
  next(): Token {
    const token = this.current;
    if (token.kind !== 'end') this.at++;
    return token;
  }

  is(kind: Token['kind'], value?: string): boolean {
    return this.current.kind === kind && (value === undefined || this.current.value === value);
  }

  /** Whether the token after the current one is this. */
  isNext(kind: Token['kind'], value: string): boolean {
    const token = this.tokens[this.at + 1];
    return token?.kind === kind && token.value === value;
  }

  take(kind: Token['kind'], value?: string): boolean {
    const taken = this.is(kind, value);
    if (taken) this.at++;
    return taken;
  }

  expect(kind: Token['kind'], value?: string): Token {
    if (this.is(kind, value)) return this.next();
    return this.refuse(
      `expected ${value === undefined ? `a ${kind}` : `"${shown(kind, value)}"`}, got ${this.describe()}`,
    );
  }

  nest<T>(parse: () => T): T {
    if (++this.depth > MAX_DEPTH) this.refuse(`nested deeper than ${MAX_DEPTH} levels`);
    const result = parse();
    this.depth--;
    return result;
  }

  describe(): string {
    const { kind, value } = this.current;
    if (kind === 'end') return 'the end of the template';
    return kind === 'text' ? 'text' : `"${shown(kind, value).slice(0, 40)}"`;
  }

  refuse(problem: string): never {
    const { line } = this.current;
    throw new EngineError('TEMPLATE_INVALID', `Template line ${line}: ${problem}.`, { details: { line } });
  }
}

function shown(kind: Token['kind'], value: string): string {
  if (kind === 'open') return value === 'expression' ? '{{' : '{%';
  if (kind === 'close') return value === 'expression' ? '}}' : '%}';
  return value;
}
