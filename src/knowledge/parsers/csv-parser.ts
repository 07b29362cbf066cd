import { decodeText } from '../../documents/reading/decode-text.js';
import { MAX_FILE_BYTES, requireSize } from '../../documents/reading/limits.js';
import { readCsv } from '../../documents/spreadsheets/read-csv.js';
import { WHOLE_SHEET } from '../../documents/spreadsheets/select-sheets.js';
import {
  createCellBudget,
  type Table,
  tableMarkdown,
  tableOfGrid,
  toRecords,
} from '../../documents/spreadsheets/table.js';
import type { Json, JsonObject } from '../../json.js';
import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import type { ParseFunction } from '../ports.js';
import { documentsOf, type ParsedText, sourceName } from './parsed.js';

/** How CSV is read. */
export interface CsvParserOptions {
  /** A document per row, or one Markdown table. @default 'each' */
  readonly rows?: 'each' | 'together';
  /** Column that is the text of a row; the others become metadata by name. @default all columns, as lines `name: value` */
  readonly textColumn?: string;
  /** Fields of a file at most. @default 1_000_000 */
  readonly maxCells?: number;
}

/**
 * A parser of CSV and its kin (semicolons, tabs, bars): the first row names the columns.
 *
 * A row is a document with `row` (from 1, without the header) and `columns` (its values by name). Empty fields are left out.
 *
 * Errors of a call: `FILE_UNREADABLE` (a quote that never ends, 64 MiB), `LIMIT_REACHED` beyond `maxCells`, `OPTION_INVALID` for a
 * `textColumn` that the file does not have.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function csvParser(given: CsvParserOptions = {}): ParseFunction {
  requireOptions('csvParser', given, ['rows', 'textColumn', 'maxCells']);
  const { rows = 'each', textColumn, maxCells = 1_000_000 } = given;
  if (rows !== 'each' && rows !== 'together') throw invalidOption('csvParser', 'rows', '"each" or "together"', rows);
  requireWhole('csvParser', 'maxCells', maxCells, 1);
  return async (input, options = {}) => {
    const { bytes, uri, mimeType } = input;
    const { signal } = options;
    const name = sourceName(uri);
    requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
    const budget = createCellBudget(maxCells);
    const grid = await readCsv(name, decodeText(bytes, mimeType), { range: WHOLE_SHEET, budget, signal });
    const table = tableOfGrid(name, grid, budget);
    if (textColumn !== undefined && !table.columns.includes(textColumn)) {
      throw invalidOption('csvParser', 'textColumn', `a column of "${name}" (${table.columns.join(', ')})`, textColumn);
    }
    const texts = rows === 'each' ? rowsOf(table, textColumn) : [{ text: tableMarkdown(table) }];
    return documentsOf(input, texts, options);
  };
}

function rowsOf(table: Table, textColumn: string | undefined): ParsedText[] {
  return toRecords(table).map((record, index) => {
    const columns = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
    const text = textColumn === undefined ? linesOf(columns) : textOf(record[textColumn]);
    return { text, metadata: { row: index + 1, columns } };
  });
}

function linesOf(columns: JsonObject): string {
  return Object.entries(columns)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join('\n');
}

function textOf(value: Json | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}
