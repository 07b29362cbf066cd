import { EngineError } from '../../errors.js';
import type { Token } from './lexer.js';

/** Deepest nesting of brackets, signs and blocks that is parsed. */
const MAX_DEPTH = 100;

/** A cursor over tokens, with what both parsers ask of it. */
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
