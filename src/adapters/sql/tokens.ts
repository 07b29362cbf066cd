/** The lexer of all dialects. */
import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';

/** A piece of SQL. `name`: a quoted identifier; `text`: a literal in quotes; `end`: a semicolon. */
export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'comment' | 'symbol' | 'end';
  /** As it is written, quotes included. */
  readonly source: string;
  /** Where it begins in the whole text. */
  readonly at: number;
}

/** What sets a dialect's pieces apart from those of the others. */
interface Rules {
  readonly hasNestedComments?: boolean;
  /** A backslash in quotes takes the next character with it. */
  readonly hasBackslashes?: boolean;
  /** `E'…'`, in which a backslash does that, and `$tag$…$tag$`. */
  readonly hasPostgresTexts?: boolean;
  readonly hasBackticks?: boolean;
  readonly hasBrackets?: boolean;
  /** `#` begins a comment, and `--` only when a space or the end follows. */
  readonly hasMysqlComments?: boolean;
  /** Double quotes hold a text and no name. */
  readonly hasDoubleQuotedTexts?: boolean;
}

const RULES: Readonly<Record<Dialect, Rules>> = {
  postgres: { hasNestedComments: true, hasPostgresTexts: true },
  mysql: { hasBackslashes: true, hasBackticks: true, hasMysqlComments: true, hasDoubleQuotedTexts: true },
  mssql: { hasNestedComments: true, hasBrackets: true },
  trino: {},
};

// Everything beyond ASCII is part of a word: Postgres and MySQL read it so.
const SPACE = /[ \t\n\v\f]+/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /[0-9][A-Za-z0-9_.\u0080-\uffff]*/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const COMMENT_EDGE = /\/\*|\*\//g;
const AFTER_ESCAPED = /(?:[ \t\n\v\f]|--[^\n]*)*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNSAFE = /[\u0000-\u0008\u000e-\u001f\u007f]/;
/** Characters that SQL Server may take for the end of a line. */
const UNSAFE_LINE_ENDS = /[\u0085\u2028\u2029]/;

/**
 * Cuts SQL into the pieces that a server of this dialect sees, white space left out. Linear in its length.
 *
 * Where servers disagree, or their settings decide, the text is refused: what a rule does not see, a
 * server must not run. Line ends must be `\n`, as {@link normaliseLines} makes them.
 *
 * Errors: `TOOL_FAILED` for text that is not closed, control characters and what can be read in two ways.
 */
export function readTokens(sql: string, dialect: Dialect): readonly Token[] {
  if (UNSAFE.test(sql) || (dialect === 'mssql' && UNSAFE_LINE_ENDS.test(sql))) {
    throw unsafe('it holds control characters');
  }
  const rules = RULES[dialect];
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length; ) {
    const space = lengthOf(SPACE, sql, at);
    if (space > 0) {
      at += space;
      continue;
    }
    const { kind, end } = readToken(sql, at, rules);
    tokens.push({ kind, source: sql.slice(at, end), at });
    at = end;
  }
  return tokens;
}

/** One kind of line end: dialects disagree about a lone carriage return in comments. */
export function normaliseLines(sql: string): string {
  return sql.replace(/\r\n?/g, '\n');
}

/** The error of SQL that is not sent to any server. */
export function unsafe(problem: string): Error {
  return toolFailed(`the SQL cannot be run: ${problem}`);
}

interface Piece {
  readonly kind: Token['kind'];
  readonly end: number;
}

function readToken(sql: string, at: number, rules: Rules): Piece {
  const first = sql.charAt(at);
  const pair = sql.slice(at, at + 2);
  if (first === ';') return { kind: 'end', end: at + 1 };
  if (pair === '--' && (!rules.hasMysqlComments || /^(?:\s|$)/.test(sql.charAt(at + 2)))) return lineComment(sql, at);
  if (first === '#' && rules.hasMysqlComments) return lineComment(sql, at);
  if (pair === '/*') return { kind: 'comment', end: endOfComment(sql, at, rules) };
  if (first === "'") return { kind: 'text', end: endOfQuote(sql, at, "'", rules.hasBackslashes === true) };
  if (first === '"') {
    const kind = rules.hasDoubleQuotedTexts ? 'text' : 'name';
    return { kind, end: endOfQuote(sql, at, '"', rules.hasBackslashes === true) };
  }
  if (first === '`' && rules.hasBackticks) return { kind: 'name', end: endOfQuote(sql, at, '`', false) };
  if (first === '[' && rules.hasBrackets) return { kind: 'name', end: endOfQuote(sql, at, ']', false) };
  if (first === '$' && rules.hasPostgresTexts) return readDollar(sql, at);
  const word = lengthOf(WORD, sql, at);
  if (word > 0) return readWord(sql, at, at + word, rules);
  const number = lengthOf(NUMBER, sql, at);
  if (number > 0) return readNumber(sql, at + number);
  return { kind: 'symbol', end: at + 1 };
}

/** A word, or the letter before a quote that makes it a text with backslashes or a name with escapes. */
function readWord(sql: string, at: number, end: number, rules: Rules): Piece {
  if (!rules.hasPostgresTexts || end !== at + 1) return { kind: 'word', end };
  const letter = sql.charAt(at).toLowerCase();
  if (letter === 'e' && sql.charAt(end) === "'") {
    const closed = endOfQuote(sql, end, "'", true);
    // On another line Postgres continues the same literal, backslashes included.
    const next = closed + lengthOf(AFTER_ESCAPED, sql, closed);
    if (sql.charAt(next) === "'") throw unsafe("a text follows directly on E'…'; write one text");
    return { kind: 'text', end: closed };
  }
  if (letter === 'u' && sql.startsWith('&"', end)) throw unsafe('names with escapes (U&"…") are not supported');
  return { kind: 'word', end };
}

/** Versions disagree on where a number ends before a quote. */
function readNumber(sql: string, end: number): Piece {
  if (/['"$`[]/.test(sql.charAt(end))) throw unsafe('a quote follows directly on a number; put a space between them');
  return { kind: 'number', end };
}

function readDollar(sql: string, at: number): Piece {
  const length = lengthOf(DOLLAR_TAG, sql, at);
  if (length === 0) return { kind: 'symbol', end: at + 1 };
  const tag = sql.slice(at, at + length);
  const close = sql.indexOf(tag, at + length);
  if (close === -1) throw unsafe(`the text that begins with ${tag.slice(0, 40)} is not closed`);
  return { kind: 'text', end: close + length };
}

function lineComment(sql: string, at: number): Piece {
  const end = sql.indexOf('\n', at);
  return { kind: 'comment', end: end === -1 ? sql.length : end };
}

function endOfComment(sql: string, at: number, { hasNestedComments, hasMysqlComments }: Rules): number {
  if (hasMysqlComments) {
    if (/^\/\*M?!/i.test(sql.slice(at, at + 4))) throw unsafe('comments that a server runs (/*! … */) are not allowed');
    if (sql.charAt(at + 2) === '+') throw unsafe('hints for the optimizer (/*+ … */) are not allowed');
  }
  COMMENT_EDGE.lastIndex = at + 2;
  for (let depth = 1, edge = COMMENT_EDGE.exec(sql); edge !== null; edge = COMMENT_EDGE.exec(sql)) {
    if (edge[0] === '*/') depth -= 1;
    else if (hasNestedComments) depth += 1;
    // `/*/` in a comment that does not nest also ends nothing: its star belongs to what opens.
    else COMMENT_EDGE.lastIndex -= 1;
    if (depth === 0) return COMMENT_EDGE.lastIndex;
  }
  throw unsafe('a comment is not closed');
}

function endOfQuote(sql: string, at: number, quote: string, hasBackslashes: boolean): number {
  for (let index = at + 1; index < sql.length; index += 1) {
    const here = sql.charAt(index);
    if (here === '\\' && hasBackslashes) index += 1;
    else if (here === quote) {
      if (sql.charAt(index + 1) !== quote) return index + 1;
      index += 1;
    }
  }
  throw unsafe(`the quote ${sql.charAt(at)} is not closed`);
}

function lengthOf(pattern: RegExp, sql: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0].length ?? 0;
}
