/** Tables as files: workbooks and CSV. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { renderValue } from '../../dsl/render-value.js';
import type { Json } from '../../json.js';
import { baseName } from '../file-name.js';
import type { Table } from './table.js';

/** Formats that spreadsheets are written in. */
export const SPREADSHEET_FORMATS = ['xlsx', 'csv'] as const;
export type SpreadsheetFormat = (typeof SPREADSHEET_FORMATS)[number];

/** Only the format's own ending is removed: `data.csv` in front of it says where a workbook came from. */
const ENDINGS: Readonly<Record<SpreadsheetFormat, RegExp>> = { xlsx: /\.xlsx$/i, csv: /\.csv$/i };

/** The name of a spreadsheet, with its ending; `name` may have it or not, and an empty one means `output`. */
export function spreadsheetName(name: string, format: SpreadsheetFormat): string {
  return `${baseName(name, ENDINGS[format]) || 'output'}.${format}`;
}

/** Writes tables as a file, CSV with the first table only; the writers are loaded with the first file. Errors: those of the writers. */
export async function spreadsheetBytes(
  tables: readonly Table[],
  format: SpreadsheetFormat,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  if (format === 'xlsx') return (await import('./write-workbook.js')).writeWorkbook(tables, signal);
  const [first] = tables;
  return first === undefined ? new Uint8Array() : writeCsv(first, signal);
}

/** Rows that are written before yielding to the event loop. */
const ROWS_AT_ONCE = 2_000;
/** What spreadsheets take for a formula when a CSV field begins with it, also behind blanks. */
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Writes a table as CSV (RFC 4180, UTF-8). A byte order mark stands in front when there are characters beyond ASCII, without
 * which Excel takes them for another encoding.
 *
 * A text that a spreadsheet would run as a formula gets an apostrophe in front, which spreadsheets show as that text (OWASP,
 * "CSV Injection").
 */
export async function writeCsv({ columns, rows, hasHeader }: Table, signal?: AbortSignal): Promise<Uint8Array> {
  const { stringify } = await import('csv-stringify/sync');
  const write = (records: readonly (readonly Json[])[]): string =>
    stringify(
      records.map((record) => record.map(fieldText)),
      // By itself the writer quotes a line end only when it is the one of records.
      { record_delimiter: 'windows', quoted_match: /[\r\n]/ },
    );
  const pieces = hasHeader ? [write([columns])] : [];
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    signal?.throwIfAborted();
    pieces.push(write(rows.slice(at, at + ROWS_AT_ONCE)));
    await nextTurn();
  }
  const text = pieces.join('');
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length === text.length ? bytes : Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
}

function fieldText(cell: Json): string {
  const text = renderValue(cell);
  return typeof cell !== 'number' && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
