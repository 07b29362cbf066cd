import { markdownTable } from '../../documents/markdown-tables.js';
import type { Json, JsonObject } from '../../json.js';

/** Columns at most; rows that keep inventing new ones come from nobody's table. */
const MAX_COLUMNS = 100;

/** Rows as a table in Markdown, columns in the order in which they first occur; empty without rows. */
export function rowsTable(rows: readonly JsonObject[]): string {
  if (rows.length === 0) return '';
  const columns = new Set<string>();
  for (const row of rows) {
    for (const name of Object.keys(row)) if (columns.size < MAX_COLUMNS) columns.add(name);
  }
  const header = [...columns];
  const cells = rows.map((row) => header.map((name) => cellOf(Object.hasOwn(row, name) ? row[name] : undefined)));
  return markdownTable(header, cells);
}

/** An object as a table of two columns: names and values. */
export function pairsTable(object: JsonObject): string {
  return markdownTable(
    ['Name', 'Value'],
    Object.entries(object).map(([name, value]) => [name, cellOf(value)]),
  );
}

/** A value as text in a table; nothing for null. */
function cellOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
