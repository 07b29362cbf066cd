/** Operations on tables: summaries, merging, data as tables. */

import { ownValue } from '../../dsl/json-copy.js';
import { canonicalJson, sortValues } from '../../dsl/json-order.js';
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import { groupBy } from '../../group-by.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { LoadedFile } from './load-tables.js';
import {
  type CellBudget,
  requireRecordSize,
  sheetsMarkdown,
  type Table,
  type TakenNames,
  tableMarkdown,
  toRecords,
  uniqueName,
} from './table.js';

/** How tables are merged. */
export interface MergeOptions {
  readonly strategy: string;
  /** A column, or several with commas between; without any the rows are put one under the other. */
  readonly joinOn: string;
}

/** Rows that the Markdown shows, of each sheet that is read and of a merged one. */
const READ_ROWS = 10;
const MERGED_ROWS = 20;
/** Columns that a summary names. */
const SUMMARY_COLUMNS = 5;

/** The rows by file, or by file and sheet where a file has several. A name that comes again gets a number. */
export function readResult(files: readonly LoadedFile[]): JsonObject {
  const taken: TakenNames = new Map();
  const tables = files.flatMap(({ name, tables: sheets }) =>
    sheets.map((sheet) => ({ ...sheet, name: uniqueName(sheets.length > 1 ? `${name}_${sheet.name}` : name, taken) })),
  );
  if (tables.length === 0) return { data: {}, summary: 'No Excel files found', markdown: 'No data' };
  requireRecordSize(tables);
  return {
    data: recordsByName(tables),
    summary: tables.map(summaryOf).join('\n'),
    markdown: sheetsMarkdown(tables, READ_ROWS),
  };
}

/** The rows of all sheets under `merged`. Errors: those of `joinTables`. */
export function mergeResult(
  files: readonly LoadedFile[],
  { strategy, joinOn }: MergeOptions,
  budget: CellBudget,
): JsonObject {
  const tables = files.flatMap((file) => file.tables);
  if (tables.length === 0) return { data: {}, summary: 'No data to merge' };
  const merged =
    strategy.trim().toLowerCase() === 'join' && joinOn.trim() !== ''
      ? joinTables(tables, keysOf(joinOn.trim(), tables), budget)
      : concatTables(tables, budget);
  requireRecordSize([merged]);
  return {
    data: { merged: toRecords(merged) },
    summary: `Merged ${tables.length} sources into ${merged.rows.length} rows, ${merged.columns.length} columns`,
    markdown: tableMarkdown(merged, MERGED_ROWS),
  };
}

/** Rows of a list, sheets of an object of lists, one row of any other object; everything else is `{raw: text}`. */
export function transformResult(data: Json, budget: CellBudget): JsonObject {
  if (data === null) return { data: null, summary: 'Transform data is empty' };
  const summary = 'Transformed data ready for processing';
  const tables = tablesOfData(data, 'Sheet1', budget);
  requireRecordSize(tables ?? []);
  if (tables === undefined) return { data: { raw: renderValue(data) }, summary, markdown: renderValue(data) };
  if (isJsonObject(data) && isSheets(data)) return { data, summary, markdown: sheetsMarkdown(tables) };
  return {
    data: tables.flatMap(toRecords),
    summary,
    markdown: tables.map((table) => tableMarkdown(table)).join('\n\n'),
  };
}

/** A column may have commas in its name. */
function keysOf(joinOn: string, tables: readonly Table[]): string[] {
  if (tables.some(({ columns }) => columns.includes(joinOn))) return [joinOn];
  return [...new Set(joinOn.split(',').map((key) => key.trim()))].filter((key) => key !== '');
}

/** The rows of tables by their names. */
export function recordsByName(tables: readonly Table[]): JsonObject {
  return Object.fromEntries(tables.map((table) => [table.name, toRecords(table)]));
}

function summaryOf({ name, columns, rows }: Table): string {
  const more = columns.length > SUMMARY_COLUMNS ? '...' : '';
  const named = columns.slice(0, SUMMARY_COLUMNS).join(', ');
  return `**${name}**: ${rows.length} rows, ${columns.length} columns (${named}${more})`;
}

/** What a list of anything but objects and lists is written under, as pandas does it for RAGFlow. */
const ONLY_COLUMN = '0';

/** How data is read. */
export interface DataOptions {
  /** Whether a first row of nothing but texts names the columns of a grid; otherwise they are numbered. Default false. */
  readonly hasNamedGrids?: boolean;
}

/**
 * The tables that data stands for: an object whose values are all lists is one sheet per key, any other object one row, a
 * list the rows of one sheet named `name`. Undefined for texts, numbers, booleans and null.
 */
export function tablesOfData(
  data: Json,
  name: string,
  budget: CellBudget,
  { hasNamedGrids = false }: DataOptions = {},
): readonly Table[] | undefined {
  const tableOf = (sheet: string, items: readonly Json[]): Table =>
    items.length > 0 && items.every((item) => Array.isArray(item))
      ? tableOfLists(sheet, items as readonly (readonly Json[])[], budget, hasNamedGrids)
      : tableOfRows(sheet, items, budget);
  if (Array.isArray(data)) return [tableOf(name, data)];
  if (!isJsonObject(data)) return undefined;
  if (!isSheets(data)) return [tableOf(name, [data])];
  return Object.entries(data).map(([sheet, rows]) => {
    // A sheet without a cell takes memory, too.
    budget.take(1);
    return tableOf(sheet, rows as readonly Json[]);
  });
}

/** Whether an object holds one list of rows per sheet. */
function isSheets(data: JsonObject): boolean {
  return Object.values(data).every((value) => Array.isArray(value));
}

/** A list of rows as a table. Objects have a column per key; everything else goes into one column. */
function tableOfRows(name: string, items: readonly Json[], budget: CellBudget): Table {
  const objects = items.map((item) => (isJsonObject(item) ? item : { [ONLY_COLUMN]: item }));
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  budget.take(columns.length * objects.length);
  const rows = objects.map((object) => columns.map((column) => ownValue(object, column) ?? null));
  return { name, columns, rows, hasHeader: items.some(isJsonObject) };
}

/** A grid as a table. */
function tableOfLists(
  name: string,
  lists: readonly (readonly Json[])[],
  budget: CellBudget,
  hasNamedGrids: boolean,
): Table {
  const [first = []] = lists;
  const hasHeader = hasNamedGrids && first.length > 0 && first.every((cell) => typeof cell === 'string' && cell !== '');
  let width = 0;
  for (const list of lists) width = Math.max(width, list.length);
  budget.take(width * lists.length);
  const taken: TakenNames = new Map();
  const columns = Array.from({ length: width }, (_, index) =>
    uniqueName(hasHeader && index < first.length ? String(first[index]) : String(index), taken),
  );
  const rows = lists.slice(hasHeader ? 1 : 0).map((list) => columns.map((_, index) => list[index] ?? null));
  return { name, columns, rows, hasHeader };
}

/** Puts tables one under the other; the columns are those of all, in the order of their first appearance. */
export function concatTables(tables: readonly Table[], budget: CellBudget): Table {
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  budget.take(columns.length * tables.reduce((sum, { rows }) => sum + rows.length, 0));
  const rows = tables.flatMap((table) => {
    const places = columns.map((column) => table.columns.indexOf(column));
    return table.rows.map((row) => places.map((place) => row[place] ?? null));
  });
  return { name: 'merged', columns, rows, hasHeader: true };
}

/**
 * Joins tables from left to right on columns that all have (full outer join): rows with equal keys are put together, every
 * pair of them, and rows without a partner stay, with empty cells. As in pandas, which RAGFlow uses, the result is sorted by
 * the keys, empty keys equal each other, and columns of the same name get `_x` and `_y`.
 *
 * @throws EngineError NODE_FAILED for a table without a key column, LIMIT_REACHED beyond the budget.
 */
export function joinTables(tables: readonly Table[], keys: readonly string[], budget: CellBudget): Table {
  for (const table of tables) requireColumns(table, keys);
  const [first, ...others] = tables;
  if (first === undefined) return concatTables([], budget);
  const joined = others.reduce((left, right) => joinPair(left, right, keys, budget), first);
  return { ...joined, name: 'merged' };
}

function joinPair(left: Table, right: Table, keys: readonly string[], budget: CellBudget): Table {
  const added = right.columns.filter((column) => !keys.includes(column));
  const columns = joinedColumns(left.columns, added, keys);
  const leftKeys = keys.map((key) => left.columns.indexOf(key));
  const rightKeys = keys.map((key) => right.columns.indexOf(key));
  const places = added.map((column) => right.columns.indexOf(column));
  const partners = groupBy(right.rows, (row) => keyOf(row, rightKeys));
  const rows: Json[][] = [];
  const add = (row: Json[]): void => {
    budget.take(columns.length);
    rows.push(row);
  };
  const met = new Set<string>();
  for (const row of left.rows) {
    const key = keyOf(row, leftKeys);
    met.add(key);
    const found = partners.get(key);
    if (found === undefined) add([...row, ...places.map(() => null)]);
    else for (const partner of found) add([...row, ...places.map((place) => partner[place] ?? null)]);
  }
  for (const [key, alone] of partners) {
    if (met.has(key)) continue;
    for (const row of alone) {
      const cells = left.columns.map((column) => row[rightKeys[keys.indexOf(column)] ?? -1] ?? null);
      add([...cells, ...places.map((place) => row[place] ?? null)]);
    }
  }
  return { name: left.name, columns, rows: sortByKeys(rows, leftKeys), hasHeader: true };
}

function joinedColumns(left: readonly string[], added: readonly string[], keys: readonly string[]): string[] {
  const taken: TakenNames = new Map();
  return [
    ...left.map((column) =>
      uniqueName(added.includes(column) && !keys.includes(column) ? `${column}_x` : column, taken),
    ),
    ...added.map((column) => uniqueName(left.includes(column) ? `${column}_y` : column, taken)),
  ];
}

function keyOf(row: readonly Json[], places: readonly number[]): string {
  return canonicalJson(places.map((place) => row[place] ?? null));
}

function sortByKeys(rows: readonly Json[][], places: readonly number[]): Json[][] {
  // The position behind the keys keeps equal ones in their order.
  const keyed = rows.map((row, index) => [...places.map((place) => row[place] ?? null), index]);
  return sortValues(keyed).map((key) => rows[(key as readonly Json[]).at(-1) as number] ?? []);
}

function requireColumns({ name, columns }: Table, keys: readonly string[]): void {
  const missing = keys.filter((key) => !columns.includes(key));
  if (missing.length === 0) return;
  const [wanted, had] = [missing, columns].map((names) => names.map((column) => `"${column}"`).join(', '));
  throw new EngineError(
    'NODE_FAILED',
    `Sheet "${name}" cannot be joined on ${wanted}: its columns are ${had === '' ? 'none' : had}. Set join_on to a column that all sheets have.`,
  );
}
