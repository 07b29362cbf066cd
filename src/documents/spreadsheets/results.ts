/** What the operations on spreadsheets give as outputs, in the words of RAGFlow's summaries. */
import { renderValue } from '../../dsl/render-value.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { LoadedFile } from './load-tables.js';
import { concatTables, joinTables } from './merge-tables.js';
import { type CellBudget, type Table, toRecords, uniqueName } from './table.js';
import { sheetsMarkdown, tableMarkdown } from './table-markdown.js';
import { isSheets, tablesOfData } from './tables-of-data.js';

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
  const taken = new Set<string>();
  const tables = files.flatMap(({ name, tables: sheets }) =>
    sheets.map((sheet) => ({ ...sheet, name: uniqueName(sheets.length > 1 ? `${name}_${sheet.name}` : name, taken) })),
  );
  if (tables.length === 0) return { data: {}, summary: 'No Excel files found', markdown: 'No data' };
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
  if (tables === undefined) return { data: { raw: renderValue(data) }, summary, markdown: renderValue(data) };
  if (isJsonObject(data) && isSheets(data)) return { data, summary, markdown: sheetsMarkdown(tables) };
  return {
    data: tables.flatMap(toRecords),
    summary,
    markdown: tables.map((table) => tableMarkdown(table)).join('\n\n'),
  };
}

/** What was written: the rows by sheet, and the file. */
export function outputResult(
  tables: readonly Table[],
  attachment: { readonly doc_id: string; readonly format: string; readonly file_name: string },
): JsonObject {
  const total = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  return {
    data: recordsByName(tables),
    summary: `Generated ${attachment.file_name} with ${tables.length} sheet(s), ${total} total rows`,
    attachment,
  };
}

/** A column may have commas in its name. */
function keysOf(joinOn: string, tables: readonly Table[]): string[] {
  if (tables.some(({ columns }) => columns.includes(joinOn))) return [joinOn];
  return [...new Set(joinOn.split(',').map((key) => key.trim()))].filter((key) => key !== '');
}

function recordsByName(tables: readonly Table[]): JsonObject {
  return Object.fromEntries(tables.map((table) => [table.name, toRecords(table)]));
}

function summaryOf({ name, columns, rows }: Table): string {
  const more = columns.length > SUMMARY_COLUMNS ? '...' : '';
  const named = columns.slice(0, SUMMARY_COLUMNS).join(', ');
  return `**${name}**: ${rows.length} rows, ${columns.length} columns (${named}${more})`;
}
