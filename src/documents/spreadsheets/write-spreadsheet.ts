import type { Files } from '../../records/files.js';
import { baseName } from '../file-name.js';
import type { Table } from './table.js';

/** Formats that spreadsheets are written in. */
export const SPREADSHEET_FORMATS = ['xlsx', 'csv'] as const;
export type SpreadsheetFormat = (typeof SPREADSHEET_FORMATS)[number];

const MIME_TYPES: Readonly<Record<SpreadsheetFormat, string>> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
};

/** Only the format's own ending is taken off: the rest of `data.csv` says where a workbook came from. */
const ENDINGS: Readonly<Record<SpreadsheetFormat, RegExp>> = { xlsx: /\.xlsx$/i, csv: /\.csv$/i };

/**
 * Writes tables as a file of one format, CSV with the first table alone, and keeps it; gives `{doc_id, format, file_name}`.
 *
 * Errors: those of the writers and of the file store.
 */
export async function writeSpreadsheet(
  tables: readonly Table[],
  {
    format,
    name,
    files,
    signal,
  }: {
    readonly format: SpreadsheetFormat;
    /** With or without the ending; empty means `output`. */
    readonly name: string;
    readonly files: Files;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly doc_id: string; readonly format: SpreadsheetFormat; readonly file_name: string }> {
  const fileName = `${baseName(name, ENDINGS[format]) || 'output'}.${format}`;
  const bytes = await write(tables, format, signal);
  signal.throwIfAborted();
  const id = await files.save({ name: fileName, mimeType: MIME_TYPES[format], bytes });
  return { doc_id: id, format, file_name: fileName };
}

/** The writers are loaded when a file is written: the library for workbooks takes a third of a second. */
async function write(tables: readonly Table[], format: SpreadsheetFormat, signal: AbortSignal): Promise<Uint8Array> {
  if (format === 'xlsx') return (await import('./write-workbook.js')).writeWorkbook(tables, signal);
  const [first] = tables;
  const { writeCsv } = await import('./write-csv.js');
  return first === undefined ? new Uint8Array() : writeCsv(first, signal);
}
