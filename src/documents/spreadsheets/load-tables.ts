/** Tables from what a node gets: stored files, `data:` URLs, Base64, texts. */
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { findTables } from '../markdown-tables.js';
import { decodeText, looksLikeText } from '../reading/decode-text.js';
import { type DataUrl, endingOf, parseDataUrl } from '../reading/file-kind.js';
import { isCut, MAX_FILE_BYTES, requireSize, unreadable } from '../reading/limits.js';
import { fileId, fileName, openFile } from '../reading/open-file.js';
import { findDelimiter } from './find-delimiter.js';
import { readCsv } from './read-csv.js';
import { type ReadOptions, readWorkbook } from './read-workbook.js';
import { selectSheets, WHOLE_SHEET } from './select-sheets.js';
import { inferTypes, type Table, tableOfGrid } from './table.js';

/** The sheets of one file. */
export interface LoadedFile {
  readonly name: string;
  readonly tables: readonly Table[];
}

/** A file that is at hand. */
export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

/** Bytes of the sample by which text under the name of a workbook is judged. */
const SAMPLE_BYTES = 65_536;
const CSV_ENDINGS = new Set(['csv', 'tsv', 'txt', 'tab']);
/** The first bytes of a zip archive, in Base64. */
const ZIP_IN_BASE64 = 'UEsDB';
const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Longest text of Base64 without the mark of an archive that is looked into. */
const MAX_BASE64 = 16 * 1_048_576;

/** What stands for a file, at hand: its bytes, or a text that may be a `data:` URL, Base64, or hold tables. */
export type TableSource = { readonly file: NamedBytes } | { readonly text: string };

/**
 * Gets what a value stands for: an object with `id` or `file_id` the stored file, a text itself. Undefined for anything else.
 *
 * Errors: those of `openFile`.
 */
export async function openSource(
  value: Json,
  services: unknown,
  signal?: AbortSignal,
): Promise<TableSource | undefined> {
  if (typeof value === 'string') return { text: value };
  if (fileId(value) === undefined) return undefined;
  const { name, mimeType, bytes, id } = await openFile(value, services);
  signal?.throwIfAborted();
  return { file: { name: fileName(value) ?? (name || id), mimeType, bytes } };
}

/**
 * Loads the sheets of a source; undefined for a text without tables.
 *
 * Errors: FILE_UNREADABLE for what is neither a workbook nor CSV.
 */
export async function loadSource(source: TableSource, options: ReadOptions): Promise<LoadedFile | undefined> {
  return 'text' in source ? loadText(source.text, options) : loadBytes(source.file, options);
}

async function loadText(text: string, options: ReadOptions): Promise<LoadedFile | undefined> {
  const url = parseDataUrl(text);
  if (url !== undefined) return await loadBytes(uploaded(url), options);
  const packed = text.trimStart();
  if (packed.startsWith(ZIP_IN_BASE64) && !NOT_BASE64.test(packed)) {
    return await loadBytes({ name: 'uploaded.xlsx', mimeType: '', bytes: Buffer.from(packed, 'base64') }, options);
  }
  if (packed.length <= MAX_BASE64 && BASE64.test(packed.trimEnd())) {
    const bytes = Buffer.from(packed, 'base64');
    if (looksLikeText(bytes)) return await loadTextFile('uploaded.csv', decodeText(bytes), options);
  }
  return await loadTextFile('text', text, options);
}

async function loadTextFile(name: string, text: string, options: ReadOptions): Promise<LoadedFile | undefined> {
  const tables = await readTextTables(name, text, options);
  return tables.length === 0 ? undefined : { name, tables };
}

/** RAGFlow calls what comes in a `data:` URL `uploaded.xlsx`. */
function uploaded({ mimeType, contentType, bytes }: DataUrl): NamedBytes {
  return { name: mimeType.startsWith('text/') ? 'uploaded.csv' : 'uploaded.xlsx', mimeType: contentType, bytes };
}

async function loadBytes(file: NamedBytes, options: ReadOptions): Promise<LoadedFile> {
  const { name, bytes, mimeType } = file;
  requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) {
    const grids = await readWorkbook(file, options);
    return { name, tables: grids.map((sheet) => tableOfGrid(sheet.name, sheet.rows, options.budget)) };
  }
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) {
    throw unreadable(name, 'it has the format of Excel before 2007, or a password; save it as .xlsx without one.');
  }
  const isCsv = CSV_ENDINGS.has(endingOf(name)) || /\bcsv\b|^text\//.test(mimeType) || looksLikeText(bytes);
  if (!isCsv || isClaimedWorkbook(name, bytes)) {
    throw unreadable(name, 'it is neither an .xlsx workbook nor CSV, or it is damaged.');
  }
  // A CSV file is one sheet, whatever sheets are selected; a range still counts.
  const range = options.selection.length === 1 ? (options.selection[0]?.range ?? WHOLE_SHEET) : WHOLE_SHEET;
  const rows = await readCsv(name, decodeText(bytes, mimeType), { ...options, range });
  // A CSV text without a line has no sheet, as for RAGFlow.
  return { name, tables: rows.length === 0 ? [] : [inferTypes(tableOfGrid('Sheet1', rows, options.budget))] };
}

/** Text under the name of a workbook is no CSV when it is a web page or a message, or has no columns. */
function isClaimedWorkbook(name: string, bytes: Uint8Array): boolean {
  if (!/^xls[xmb]?$/.test(endingOf(name))) return false;
  if (!looksLikeText(bytes)) return true;
  const text = decodeText(bytes.subarray(0, SAMPLE_BYTES));
  return /^\s*[<{]/.test(text) || findDelimiter(text) === undefined;
}

/** What the line between header and rows of a Markdown table consists of. */
const RULE = /^[ \t|:-]+$/;

/**
 * The tables that a text holds: Markdown tables, each a sheet named by the heading above it, or else CSV of at least two lines
 * with a delimiter in each. None for any other text.
 *
 * This is what file inputs make of spreadsheets, so a form's file can be handed to a spreadsheet node as it is.
 * Errors: NODE_FAILED for a text that was cut because of its length, as rows of it are missing.
 */
export async function readTextTables(name: string, text: string, options: ReadOptions): Promise<readonly Table[]> {
  const { selection, budget, signal, warn } = options;
  const isMarkdown = text.includes('|') && text.split('\n').some(isRule);
  if (!isMarkdown && !isCsv(text)) return [];
  if (isCut(text)) {
    throw new EngineError(
      'NODE_FAILED',
      `The text of "${name}" was cut because of its length; give the file itself, {"id": …}, to the spreadsheet node.`,
    );
  }
  if (!isMarkdown) {
    const rows = await readCsv(name, text, { range: WHOLE_SHEET, budget, signal });
    return [inferTypes(tableOfGrid('Sheet1', rows, budget))];
  }
  const found = findTables(text);
  const names = found.map(({ title }, index) => title ?? `Sheet${index + 1}`);
  const { sheets, missing } = selectSheets(selection, names);
  for (const wanted of missing) warn(`"${name}" has no table "${wanted}".`);
  return sheets.map(({ index, range }) => {
    const rows = (found[index]?.rows ?? []).slice(range.firstRow - 1, range.lastRow);
    const grid = rows.map((row) => row.slice(range.firstColumn - 1, range.lastColumn));
    return inferTypes(tableOfGrid(names[index] ?? '', grid, budget));
  });
}

function isRule(line: string): boolean {
  const text = line.trim();
  return text.includes('---') && RULE.test(text);
}

function isCsv(text: string): boolean {
  return text.trim().includes('\n') && findDelimiter(text) !== undefined;
}
