import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';
import { normaliseLines, readTokens, type Token, unsafe } from './lexer.js';
import { checkReadOnly } from './read-only.js';

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
