/** The schema of a database as text, and trace comments of statements. */

import { addTo } from '../../group-by.js';
import type { Json, JsonObject } from '../../json.js';
import { isTraceparent, type TraceContext } from '../../trace-context.js';
import type { Dialect } from './dialects.js';
import type { DatabaseSession, StatementBounds } from './session.js';

/** Columns that are read at most. */
const MAX_COLUMNS = 4_000;
/** Characters of the text. */
const MAX_TEXT = 20_000;

const COLUMNS = 'table_schema, table_name, column_name, data_type';
const ORDER = 'order by table_schema, table_name, ordinal_position';
const STATEMENTS: Readonly<Record<Dialect, string>> = {
  postgres: `select ${COLUMNS} from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema') ${ORDER}`,
  mysql: `select ${COLUMNS} from information_schema.columns where table_schema = database() ${ORDER}`,
  mssql: `select ${COLUMNS} from information_schema.columns ${ORDER}`,
  trino: `select ${COLUMNS} from information_schema.columns where table_schema <> 'information_schema' ${ORDER}`,
};
/** Tables of these are named without their schema. */
const USUAL: Partial<Record<Dialect, string>> = { postgres: 'public', mssql: 'dbo' };

/** Tables of a database with their columns. */
export interface Schema {
  /** One line each: `table(column type, …)`. */
  readonly text: string;
  /** One object per column. */
  readonly columns: readonly JsonObject[];
}

/** Lists the tables that a session sees, with columns and their types; a large database is cut, and the text states it. */
export async function describeSchema(
  session: DatabaseSession,
  bounds: Omit<StatementBounds, 'maxRows'>,
): Promise<Schema> {
  const { dialect } = session;
  const statement = withComment(STATEMENTS[dialect], traceComment(bounds.trace));
  const found = await session.query(statement, { ...bounds, maxRows: MAX_COLUMNS });
  const tables = new Map<string, string[]>();
  const columns = found.rows.map(([schema = '', table = '', column = '', type = '']): JsonObject => {
    const isShort = dialect === 'mysql' || schema === USUAL[dialect];
    const name = isShort ? textOf(table) : `${textOf(schema)}.${textOf(table)}`;
    addTo(tables, name, `${textOf(column)} ${textOf(type)}`);
    return { table: name, column, type };
  });
  return { text: linesOf(tables, found.isCut), columns };
}

function linesOf(tables: ReadonlyMap<string, readonly string[]>, isCut: boolean): string {
  if (tables.size === 0) return 'There are no tables.';
  const lines: string[] = [];
  let left = MAX_TEXT;
  for (const [name, columns] of tables) {
    const line = `${name}(${columns.join(', ')})`;
    left -= line.length + 1;
    if (left < 0)
      return [...lines, `… and ${tables.size - lines.length}${isCut ? ' or more' : ''} tables more`].join('\n');
    lines.push(line);
  }
  return isCut ? [...lines, '… and more'].join('\n') : lines.join('\n');
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : String(value);
}

/**
 * Where a statement belongs in a trace, as a comment behind it: the convention of sqlcommenter, which logs and activity
 * views of servers show with the statement. Empty without a trace; a value that is no `traceparent` is left out, so that
 * nothing in it can end the comment.
 */
export function traceComment({ traceparent }: TraceContext = {}): string {
  return traceparent !== undefined && isTraceparent(traceparent) ? `/*traceparent='${traceparent}'*/` : '';
}

/** A checked statement with a comment behind it; on a line of its own where the last one may be a comment already. */
export function withComment(statement: string, comment: string): string {
  if (comment === '') return statement;
  return `${statement}${/--|#/.test(statement) ? '\n' : ' '}${comment}`;
}
