/** Checking SQL: the lexer of all dialects, splitting, and the rules that let only reading statements pass. */
import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';

/** Characters of one call. */
const MAX_LENGTH = 200_000;
/** Statements of one call. */
const MAX_STATEMENTS = 50;

/**
 * The statements of a text, as they are sent: without what models put around them (fences, marks of citations), each checked
 * that it only reads.
 *
 * @throws EngineError TOOL_FAILED for nothing at all, for too much, and for a statement that may change something.
 */
export function readStatements(sql: string, dialect: Dialect): readonly string[] {
  if (sql.length > MAX_LENGTH) throw unsafe(`it is longer than ${MAX_LENGTH} characters`);
  const clean = normaliseLines(sql)
    .replace(/```(?:[A-Za-z]+(?=[ \t]*\n))?/g, '')
    .replace(/\[ID:\d+\]/g, '');
  const statements = split(readTokens(clean, dialect));
  if (statements.length === 0) throw nothingToRun();
  if (statements.length > MAX_STATEMENTS) throw unsafe(`it has more than ${MAX_STATEMENTS} statements`);
  return statements.map((tokens) => {
    checkReadOnly(tokens, dialect);
    const first = tokens[0] as Token;
    const last = tokens.at(-1) as Token;
    return clean.slice(first.at, last.at + last.source.length);
  });
}

/** The error of a call without a statement, in RAGFlow's words. */
export function nothingToRun(): Error {
  return toolFailed('SQL for `ExeSQL` MUST not be empty.');
}

/** Tokens between semicolons; what holds nothing but comments is no statement. */
function split(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const statements: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'end') statements.push([]);
    else statements.at(-1)?.push(token);
  }
  return statements.filter((statement) => statement.some(({ kind }) => kind !== 'comment'));
}

/** Statements that only read, by their first word. */
const READING: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'EXPLAIN', 'SHOW', 'DESCRIBE', 'DESC', 'PRAGMA']);
/** SQL Server takes any other first word for the name of a procedure. */
const READING_MSSQL: ReadonlySet<string> = new Set(['SELECT', 'WITH']);
/** What these show is named after what makes it, as in SHOW CREATE TABLE. */
const OUTRIGHT: ReadonlySet<string> = new Set(['SHOW', 'PRAGMA']);

/** Words that change something, wherever they stand outside of quotes. */
const CHANGING =
  `INSERT UPDATE DELETE REPLACE MERGE TRUNCATE CREATE DROP ALTER RENAME GRANT REVOKE LOCK UNLOCK CALL EXEC EXECUTE COPY VACUUM
  SET RESET USE KILL LOAD CHECKPOINT BEGIN COMMIT ROLLBACK START SHUTDOWN INTO OUTFILE DUMPFILE`.split(/\s+/);
/** SQL Server has no read-only transaction, and its statements need no semicolon between them. */
const CHANGING_MSSQL =
  `BACKUP RESTORE DENY DBCC DECLARE WAITFOR BULK OPENROWSET OPENQUERY OPENDATASOURCE UPDATETEXT WRITETEXT READTEXT RECONFIGURE
  RAISERROR THROW IF WHILE GOTO ENABLE DISABLE REVERT SETUSER SEND RECEIVE`.split(/\s+/);
const COMMON: ReadonlySet<string> = new Set(CHANGING);
const WORDS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  postgres: COMMON,
  mysql: COMMON,
  trino: COMMON,
  mssql: new Set([...CHANGING, ...CHANGING_MSSQL]),
};

/** Functions that reach beyond what a read-only transaction guards: files, other servers, other sessions, settings. */
const FUNCTIONS: Readonly<Record<Dialect, RegExp>> = {
  postgres:
    /^(?:lo_.*|lowrite|loread|dblink.*|set_config|nextval|setval|pg_read_.*|pg_ls_.*|pg_stat_file|pg_file_.*|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_.*|pg_switch_wal|pg_promote|pg_create_.*|pg_drop_.*|pg_logical_.*|pg_replication_.*|pg_(?:try_)?advisory_.*|pg_notify|pg_stat_reset.*|pg_backup_.*|pg_wal_.*|pg_log_.*)$/,
  mysql:
    /^(?:load_file|sys_exec|sys_eval|sys_get|sys_set|benchmark|get_lock|release_lock|release_all_locks|nextval|setval|master_pos_wait|source_pos_wait)$/,
  mssql: /^(?:(?:openrowset|openquery|opendatasource)$|fn_.*trace|xp_)/,
  trino: /^(?:execute)$/,
};

/**
 * Holds that a statement only reads, as far as its words show; the read-only transaction in which it runs prevents the rest.
 *
 * A column or a function that is named like a changing word (`start`, `replace`) has to stand in quotes, or is refused.
 *
 * @throws EngineError TOOL_FAILED naming the word.
 */
function checkReadOnly(statement: readonly Token[], dialect: Dialect): void {
  const tokens = statement.filter(({ kind }) => kind !== 'comment');
  const first = tokens.find(({ source }) => source !== '(');
  const start = first?.kind === 'word' ? first.source.toUpperCase() : '';
  if (!(dialect === 'mssql' ? READING_MSSQL : READING).has(start)) throw refused(first?.source ?? '');
  tokens.forEach((token, index) => {
    const isCalled = tokens[index + 1]?.source === '(';
    if (isCalled && FUNCTIONS[dialect].test(nameOf(token))) throw refusedFunction(token.source);
    const word = OUTRIGHT.has(start) ? undefined : changingWord(token, WORDS[dialect]);
    if (word !== undefined) throw refused(word);
    // Takes a number from a sequence, which no rollback gives back.
    if (isWord(token, 'NEXT') && isWord(tokens[index + 1], 'VALUE')) throw refused('NEXT VALUE');
  });
}

/** A changing word in a token; any character beyond ASCII, and a number before it, may end what precedes it. */
function changingWord({ kind, source }: Token, words: ReadonlySet<string>): string | undefined {
  const upper = source.toUpperCase();
  if (kind === 'word') return upper.split(/[^A-Z0-9_$]+/).find((part) => words.has(part));
  if (kind !== 'number') return undefined;
  return [...words].find((word) => upper.endsWith(word));
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.source.toUpperCase() === word;
}

/** A name without its quotes, in lower case. */
function nameOf({ kind, source }: Token): string {
  if (kind === 'word') return source.toLowerCase();
  return kind === 'name' ? source.slice(1, -1).toLowerCase() : '';
}

function refused(found: string): Error {
  const shown = found === '' ? '' : ` (found ${JSON.stringify(found.slice(0, 40))})`;
  return toolFailed(
    `only SELECT statements are allowed; INSERT/UPDATE/DELETE/DDL is rejected for safety${shown}; ` +
      'a column with such a name must stand in quotes',
  );
}

function refusedFunction(name: string): Error {
  return toolFailed(`only SELECT statements are allowed; the function ${name.slice(0, 60)} has effects of its own`);
}

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
function unsafe(problem: string): Error {
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
