/** SQL as a tool: statements, schema, results. */
import type { Observable } from 'rxjs';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { readAllowedFunctions } from '../adapters/sql/calls.js';
import type { Databases } from '../adapters/sql/databases.js';
import { databaseKindOf, databaseKinds } from '../adapters/sql/dialects.js';
import { describeSchema, traceComment, withComment } from '../adapters/sql/schema.js';
import { checkServerFunctions } from '../adapters/sql/server-functions.js';
import type { DatabaseAddress, DatabaseSession, StatementBounds, Table } from '../adapters/sql/session.js';
import { checkStatements, nothingToRun } from '../adapters/sql/statements.js';
import { markdownTable } from '../documents/markdown-tables.js';
import { EngineError } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import type { TraceContext } from '../trace-context.js';
import { flag, oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { cellOf } from './results.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { requireService } from './tool-services.js';

/** Seconds for the whole call. */
const TOTAL_SECONDS = 60;
const STATEMENT_MS = 30_000;
/** Statements after this are not run, so that what there is can still be given. */
const RUNNING_MS = 57_000;
/** Bounds of what is asked about functions. */
const LOOK_UP = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
/** Bytes that the rows of one call may have in all. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Characters of a statement, and of the server's message, that an error quotes. */
const MAX_SHOWN = 2_000;

/**
 * Asks a database. Only statements that read are sent, each in a read-only transaction of its own; one that fails leaves its
 * message in place of rows, and the next one follows.
 *
 * Errors: `TOOL_FAILED` for SQL that may change something, for functions that are not known to read only, for a user who is an
 * administrator and for a database that cannot be opened; `URL_BLOCKED`,
 * `URL_INVALID` for its host; `CONFIG_INVALID` for a driver that is not installed.
 */
export const exeSql = defineTool({
  component: 'ExeSQL',
  name: 'execute_sql',
  aliases: ['exesql'],
  summary: 'Reads data from a configured database with SQL.',
  advice:
    'Only statements that read are allowed. Call it with the one word SCHEMA first to see the tables and their columns. ' +
    'Select the columns and rows that you need, for long results are cut.',
  arguments: {
    sql: queryArgument(
      'One or more SELECT statements with semicolons between them, or SCHEMA for a list of the tables.',
    ),
  },
  params: {
    db_type: text(`Kind of database: ${databaseKinds.join(', ')}; default mysql.`, 'mysql'),
    database: text('Name of the database; for Trino `catalog.schema`. Required.'),
    username: text('User that logs in; one that may only read is best. Required, but for Trino.'),
    host: text('Name or address of the server; private ones only where the operator opens them. Required.'),
    port: wholeNumber(0, 'Port of the server; default the usual one of its kind.', { min: 0, max: 65_535 }),
    password: text('Password of the user; default none.'),
    tls: oneOf(
      ['prefer', 'verify', 'off'],
      'prefer',
      'Encryption: `prefer` where the server can, `verify` only with a certificate for its name, `off`; default prefer.',
    ),
    functions: text(
      'Names of functions that statements may call beside those of the server that are known to read only, with commas ' +
        'between them: `name`, `schema.name`, `prefix_*`. Default none.',
    ),
    allow_privileged_user: flag(
      false,
      'Accept a user who is an administrator of the server, such as a superuser; default false.',
    ),
    max_records: wholeNumber(1024, 'Rows per statement at most; default 1024.', { max: 100_000 }),
  },
  nodeDefaults: { sql: '{sys.query}' },
  outputs: {
    formalized_content: {
      type: 'string',
      description: 'A table in Markdown per statement, or a sentence in its place.',
    },
    json: {
      type: 'array',
      description: 'One element per statement: its rows as objects, or {content} with a sentence.',
    },
  },
  timeoutSeconds: TOTAL_SECONDS,
  isRepeatable: false,
  check: ({ functions }) => problemsOf(functions),
  call({ sql }, { params, services, trace, now }): Observable<ToolEvent> {
    if (sql.trim() === '') throw nothingToRun();
    const databases = requireService(services, 'databases', 'Tool "execute_sql"');
    const { db_type: kind, max_records: maxRows, functions, allow_privileged_user: isAny, ...rest } = params;
    const address: DatabaseAddress = { kind, ...rest, ...(isAny && { allowsPrivilegedUser: true }) };
    const dialect = checkAddress(address);
    const allowed = readAllowedFunctions(functions);
    const isSchema = isSchemaCall(sql);
    const statements = isSchema ? [] : checkStatements(sql, dialect, allowed);
    const { password } = address;
    return fromAbortable((signal) => {
      const until = now() + RUNNING_MS;
      return withSession(databases, address, signal, async (session) => {
        if (isSchema) return schemaResult(session, password, trace);
        await checkServerFunctions(session, statements, LOOK_UP, allowed).catch((error: unknown) => {
          if (EngineError.is(error)) throw error;
          throw toolFailed(`the functions of the database could not be looked up: ${reasonOf(error, password)}`);
        });
        const outcomes: Outcome[] = [];
        let left = MAX_BYTES;
        for (const statement of statements) {
          signal.throwIfAborted();
          const timeoutMs = Math.min(STATEMENT_MS, until - now());
          const outcome = await runOne(
            session,
            statement.text,
            { maxRows, maxBytes: left, timeoutMs, trace },
            password,
          );
          if ('bytes' in outcome) left = Math.max(1, left - outcome.bytes);
          outcomes.push(outcome);
        }
        return sqlResult(outcomes);
      });
    });
  },
});

/** What is wrong with the names of further functions, for the reader of a document. */
function problemsOf(functions: string): readonly string[] {
  try {
    readAllowedFunctions(functions);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Whether a text asks for the schema instead of being SQL. */
export function isSchemaCall(sql: string): boolean {
  return /^schema\s*;?$/i.test(sql.trim());
}

/** @throws EngineError TOOL_FAILED naming what is missing or not supported. */
function checkAddress({ kind, host, database, username }: DatabaseAddress) {
  const found = databaseKindOf(kind);
  if (found === undefined) {
    throw toolFailed(`databases of the kind "${kind}" are not supported; "db_type" may be ${databaseKinds.join(', ')}`);
  }
  const required = { host, database, ...(found.dialect === 'trino' ? {} : { username }) };
  const missing = Object.entries(required).flatMap(([name, value]) => (value.trim() === '' ? [`"${name}"`] : []));
  if (missing.length > 0) throw toolFailed(`the database is not configured; set ${missing.join(', ')}`);
  return found.dialect;
}

/** One connection for one call: closed when the call ends or is unsubscribed. */
async function withSession<T>(
  databases: Databases,
  address: DatabaseAddress,
  signal: AbortSignal,
  work: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  const session = await databases.open(address, signal);
  const abandon = (): void => session.abandon();
  signal.addEventListener('abort', abandon, { once: true });
  try {
    signal.throwIfAborted();
    return await work(session);
  } finally {
    signal.removeEventListener('abort', abandon);
    if (signal.aborted || !session.isAlive) session.abandon();
    else await session.close();
  }
}

async function runOne(session: DatabaseSession, sql: string, bounds: StatementBounds, password: string) {
  if (bounds.timeoutMs <= 0) return failed(sql, `the call took longer than ${RUNNING_MS / 1000} seconds`);
  if (!session.isAlive) return failed(sql, 'the connection was closed');
  const comment = traceComment(bounds.trace);
  try {
    const table = await session.query(withComment(sql, comment), bounds);
    return { table, bytes: JSON.stringify(table.rows).length };
  } catch (error) {
    return failed(sql, reasonOf(error, password, comment));
  }
}

function failed(sql: string, why: string): Outcome {
  return { content: `SQL Execution Failed: ${sql.slice(0, MAX_SHOWN)}\n${why}` };
}

/** The message of a server without secrets and without the trace comment, which would confuse a model. */
function reasonOf(error: unknown, password: string, comment = ''): string {
  const message = error instanceof Error ? error.message : '';
  const cleaned = comment === '' ? message : message.replaceAll(comment, '');
  return quoteResponse(cleaned, [password], MAX_SHOWN) || 'the database refused it';
}

async function schemaResult(
  session: DatabaseSession,
  password: string,
  trace: TraceContext | undefined,
): Promise<ToolResult> {
  try {
    const bounds = { maxBytes: MAX_BYTES, timeoutMs: STATEMENT_MS, trace };
    const { text: listed, columns } = await describeSchema(session, bounds);
    return toolResult(listed, { formalized_content: listed, json: [[...columns]] });
  } catch (error) {
    throw toolFailed(`the tables could not be listed: ${reasonOf(error, password)}`);
  }
}

/** What one statement gave: rows, or a sentence in their place. */
export type Outcome = { readonly table: Table } | { readonly content: string };

const NOTHING = 'No record in the database!';
const TOO_LARGE = 'There are rows, but they are too large to be shown; select fewer columns, or smaller ones.';

/** One element of `json` and one part of the text per statement. */
export function sqlResult(outcomes: readonly Outcome[]): ToolResult {
  const shown = outcomes.map((outcome) =>
    'table' in outcome && outcome.table.rows.length === 0
      ? { content: outcome.table.isCut ? TOO_LARGE : NOTHING }
      : outcome,
  );
  const json = shown.map(
    (outcome): Json => ('table' in outcome ? rowsOf(outcome.table) : { content: outcome.content }),
  );
  const text = shown.map((outcome) => ('table' in outcome ? tableText(outcome.table) : outcome.content)).join('\n\n');
  return toolResult(text, { formalized_content: text, json });
}

function rowsOf({ columns, rows }: Table): JsonObject[] {
  // Entries and no assignments: a column may be called `__proto__`.
  return rows.map((cells) => Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? null])));
}

function tableText({ columns, rows, isCut }: Table): string {
  const table = markdownTable(
    columns,
    rows.map((cells) => cells.map(cellText)),
  );
  return isCut ? `${table}\n\nThese are the first ${rows.length} rows; there are more.` : table;
}

/** Fractions with six digits, as RAGFlow's tables have them. */
function cellText(cell: Json): string {
  return typeof cell === 'number' && !Number.isInteger(cell) ? cell.toFixed(6) : cellOf(cell);
}
