/** Checking SQL: splitting, and the rules that let only reading statements pass. */
import { toolFailed } from '../failures.js';
import { type AllowedFunctions, checkCalls, type NamesAtServer } from './calls.js';
import type { Dialect } from './dialects.js';
import { normaliseLines, readTokens, type Token, unsafe } from './tokens.js';

/** Characters of one call. */
const MAX_LENGTH = 200_000;
/** Statements of one call. */
const MAX_STATEMENTS = 50;

/**
 * The statements of a text, as they are sent: without what models put around them (fences, marks of citations), each checked
 * that it only reads; `allowed` are functions that may be called beside those that are known to.
 *
 * @throws EngineError TOOL_FAILED for nothing at all, for too much, and for a statement that may change something.
 */
export function readStatements(sql: string, dialect: Dialect, allowed: AllowedFunctions = []): readonly string[] {
  return checkStatements(sql, dialect, allowed).map(({ text }) => text);
}

/** A statement that passed, and what the server can be asked about before it is sent. */
export interface CheckedStatement extends NamesAtServer {
  readonly text: string;
}

/** As {@link readStatements}, with the names in each statement. @throws EngineError TOOL_FAILED as that does. */
export function checkStatements(
  sql: string,
  dialect: Dialect,
  allowed: AllowedFunctions = [],
): readonly CheckedStatement[] {
  if (sql.length > MAX_LENGTH) throw unsafe(`it is longer than ${MAX_LENGTH} characters`);
  const clean = normaliseLines(sql)
    .replace(/```(?:[A-Za-z]+(?=[ \t]*\n))?/g, '')
    .replace(/\[ID:\d+\]/g, '');
  const statements = split(readTokens(clean, dialect));
  if (statements.length === 0) throw nothingToRun();
  if (statements.length > MAX_STATEMENTS) throw unsafe(`it has more than ${MAX_STATEMENTS} statements`);
  return statements.map((tokens) => {
    const names = checkReadOnly(tokens, dialect, allowed);
    const first = tokens[0] as Token;
    const last = tokens.at(-1) as Token;
    return { ...names, text: clean.slice(first.at, last.at + last.source.length) };
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

/** Changing words that are functions with a bracket behind them, where no statement can begin with that. */
const CALLED: ReadonlySet<string> = new Set(['REPLACE', 'TRUNCATE']);

/**
 * Holds that a statement only reads, as far as its words show; the read-only transaction in which it runs prevents the rest.
 *
 * A column that is named like a changing word (`start`) has to stand in quotes, or is refused.
 *
 * @throws EngineError TOOL_FAILED naming the word.
 */
function checkReadOnly(statement: readonly Token[], dialect: Dialect, allowed: AllowedFunctions): NamesAtServer {
  const tokens = statement.filter(({ kind }) => kind !== 'comment');
  const first = tokens.find(({ source }) => source !== '(');
  const start = first?.kind === 'word' ? first.source.toUpperCase() : '';
  if (!(dialect === 'mssql' ? READING_MSSQL : READING).has(start)) throw refused(first?.source ?? '');
  tokens.forEach((token, index) => {
    const isCalled = tokens[index + 1]?.source === '(';
    if (isCalled && CALLED.has(token.source.toUpperCase())) return;
    const word = OUTRIGHT.has(start) ? undefined : changingWord(token, WORDS[dialect]);
    if (word !== undefined) throw refused(word);
    // Takes a number from a sequence, which no rollback gives back.
    if (isWord(token, 'NEXT') && isWord(tokens[index + 1], 'VALUE')) throw refused('NEXT VALUE');
  });
  return checkCalls(tokens, dialect, allowed);
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

function refused(found: string): Error {
  const shown = found === '' ? '' : ` (found ${JSON.stringify(found.slice(0, 40))})`;
  return toolFailed(
    `only SELECT statements are allowed; INSERT/UPDATE/DELETE/DDL is rejected for safety${shown}; ` +
      'a column with such a name must stand in quotes',
  );
}
