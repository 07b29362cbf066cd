/** Tables as an `.xlsx` workbook. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { columnsOf, cutText, writable } from '../characters.js';
import { MAX_COLUMNS, MAX_ROWS } from './select-sheets.js';
import type { Table } from './table.js';
import { type CellValue, createWorkbookFile } from './workbook-file.js';

/** Rows that are written before yielding to the event loop. */
const ROWS_AT_ONCE = 500;
/** Most UTF-16 units of a cell of Excel. */
export const MAX_CELL_TEXT = 32_767;
/** Rows by which the width of a column is found, and the narrowest and widest one, in characters. */
const WIDTH_ROWS = 100;
const MIN_WIDTH = 8;
const MAX_WIDTH = 60;

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)?$/;
/** Earlier dates are off by one in a spreadsheet. */
const FIRST_DATE = Date.UTC(1900, 2, 1);

/**
 * Writes tables as the sheets of an `.xlsx` workbook, as a stream of rows.
 *
 * Numbers and booleans keep their type, ISO dates without a zone become dates, everything else is text; a text that begins
 * with `=` stays one. Names of sheets are made such that Excel opens them (see `sheetNames`).
 *
 * @throws EngineError DOCUMENT_NOT_WRITTEN for more rows, columns or characters in a cell than Excel has.
 */
export async function writeWorkbook(tables: readonly Table[], signal?: AbortSignal): Promise<Uint8Array> {
  for (const table of tables) checkSize(table);
  const names = sheetNames(tables.map(({ name }) => name));
  const workbook = createWorkbookFile(names);
  for (const [index, table] of tables.entries()) {
    const sheet = workbook.openSheet(index, { widths: widthsOf(table), hasHeader: table.hasHeader });
    if (table.hasHeader) sheet.addHeader(table.columns.map(cellText));
    for (const [number, row] of table.rows.entries()) {
      if (number % ROWS_AT_ONCE === 0) {
        await nextTurn();
        signal?.throwIfAborted();
      }
      sheet.addRow(row.map(cellValue));
    }
    sheet.close();
  }
  return workbook.close();
}

function cellValue(cell: Json): CellValue {
  if (cell === null || typeof cell === 'number' || typeof cell === 'boolean') return cell;
  const date = typeof cell === 'string' && DATE.test(cell) ? parseDate(cell) : Number.NaN;
  return date >= FIRST_DATE ? { milliseconds: date, hasTime: String(cell).includes('T') } : cellText(cell);
}

/** Milliseconds since 1970; NaN for a day that its month does not have, which `Date` would carry over. */
function parseDate(text: string): number {
  const date = Date.parse(text.includes('T') ? `${text}Z` : text);
  return Number.isNaN(date) || new Date(date).toISOString().slice(0, 10) !== text.slice(0, 10) ? Number.NaN : date;
}

function cellText(cell: Json): string {
  const text = writable(renderValue(cell));
  if (text.length <= MAX_CELL_TEXT) return text;
  throw refuse(`a cell has ${text.length} characters and a cell of Excel takes ${MAX_CELL_TEXT}; write CSV instead.`);
}

function checkSize({ name, columns, rows }: Table): void {
  if (columns.length > MAX_COLUMNS) throw refuse(`sheet "${name}" has ${columns.length} columns; ${MAX_COLUMNS} fit.`);
  if (rows.length >= MAX_ROWS) throw refuse(`sheet "${name}" has ${rows.length} rows; ${MAX_ROWS - 1} fit.`);
}

function refuse(reason: string): EngineError {
  return new EngineError('DOCUMENT_NOT_WRITTEN', `The workbook cannot be written: ${reason}`);
}

function widthsOf({ columns, rows }: Table): number[] {
  const sample = rows.slice(0, WIDTH_ROWS);
  return columns.map((name, column) => {
    let width = MIN_WIDTH;
    for (const cell of [name, ...sample.map((row) => row[column] ?? null)]) {
      width = Math.max(width, columnsOf(renderValue(cell).slice(0, MAX_WIDTH)) + 2);
    }
    return Math.min(width, MAX_WIDTH);
  });
}

/** Longest name of a sheet that Excel opens. */
const MAX_LENGTH = 31;

/**
 * Names for sheets, each once and such that Excel opens them: at most 31 characters, slashes as `_`, without `* ? [ ] :`;
 * a name that is taken gets `_1`, `_2` … Without a title, or with one of which nothing is left, it is `Table_<n>`.
 */
export function sheetNames(titles: readonly (string | undefined)[]): string[] {
  const taken = new Set<string>();
  /** The number that is tried next, by the name that is wanted. */
  const counts = new Map<string, number>();
  return titles.map((title, index) => {
    const wanted = clean(title ?? '') || `Table_${index + 1}`;
    let name = wanted;
    for (let count = counts.get(wanted) ?? 1; taken.has(name.toLowerCase()); count += 1) {
      const ending = `_${count}`;
      counts.set(wanted, count + 1);
      name = cutText(wanted, MAX_LENGTH - ending.length) + ending;
    }
    taken.add(name.toLowerCase());
    return name;
  });
}

function clean(title: string): string {
  const name = cutText(
    title
      .replace(/[/\\]/g, '_')
      .replace(/[*?[\]:]/g, '')
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/^'+/, ''),
    MAX_LENGTH,
  ).replace(/['\s]+$/, '');
  // Excel reserves this name.
  return name.toLowerCase() === 'history' ? `${name}_` : name;
}
