/** What a spreadsheet node does with files and data, as one piece of work that a thread can do. */
import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';
import { type LoadedFile, loadSource, readTextTables, type TableSource } from './load-tables.js';
import { type MergeOptions, mergeResult, readResult, recordsByName, tablesOfData, transformResult } from './results.js';
import { parseSelection, type SheetSelection } from './select-sheets.js';
import { createCellBudget, requireRecordSize, type Table } from './table.js';
import { type SpreadsheetFormat, spreadsheetBytes } from './write-spreadsheet.js';

/** Work on files. */
export type FilesWork = { readonly sources: readonly GivenSource[]; readonly selection: SheetSelection } & (
  | { readonly type: 'read' }
  | { readonly type: 'merge'; readonly options: MergeOptions }
);

/** The work, with all that it needs. */
export type SpreadsheetWork =
  | FilesWork
  | { readonly type: 'transform'; readonly data: Json }
  | {
      readonly type: 'write';
      /** Texts are looked for tables. */
      readonly data: Json;
      /** Name of the sheet of rows that have none. */
      readonly sheet: string;
      /** As {@link tablesOfData}. */
      readonly hasNamedGrids: boolean;
      readonly format: SpreadsheetFormat;
    };

/** What stands for a file, or how a value is called that stands for none. */
export type GivenSource = TableSource | { readonly noFile: string };

/** What came of it. */
export interface SpreadsheetDone {
  readonly outputs: JsonObject;
  /** What was passed over. */
  readonly warnings: readonly string[];
  /** The file that was written. */
  readonly bytes?: Uint8Array;
}

/** Most cells that one node holds: they all become values that other nodes can read. */
const MAX_CELLS = 500_000;

/** Summary of data that is no rows. */
export const NOT_ROWS = 'Invalid data format for Excel output';

/**
 * Does the work in the calling thread.
 *
 * Errors: LIMIT_REACHED for more than 500,000 cells or 64 Mi characters; NODE_FAILED for a join on a column that is not there; DOCUMENT_NOT_WRITTEN for what
 * does not fit into a workbook. Files that cannot be read are passed over.
 */
export async function doSpreadsheetWork(work: SpreadsheetWork, signal?: AbortSignal): Promise<SpreadsheetDone> {
  const budget = createCellBudget(MAX_CELLS);
  switch (work.type) {
    case 'read':
    case 'merge': {
      const { files, warnings } = await load(work, signal);
      return { outputs: outputsOfFiles(work, files), warnings };
    }
    case 'transform':
      return { outputs: transformData(work.data), warnings: [] };
    case 'write': {
      const { data, sheet, hasNamedGrids, format } = work;
      const tables = tablesOfData(data, sheet, budget, { hasNamedGrids }) ?? (await tablesOfText(data, signal));
      if (tables.length === 0) return { outputs: { data: null, summary: NOT_ROWS }, warnings: [] };
      requireRecordSize(tables);
      const outputs = { data: recordsByName(tables), summary: summaryOf(tables) };
      return { outputs, warnings: [], bytes: await spreadsheetBytes(tables, format, signal) };
    }
  }
}

/** What reading or merging gives of loaded files. Errors: those of `mergeResult`. */
export function outputsOfFiles(work: FilesWork, files: readonly LoadedFile[]): JsonObject {
  return work.type === 'read' ? readResult(files) : mergeResult(files, work.options, createCellBudget(MAX_CELLS));
}

/** What transforming gives of data. @throws EngineError LIMIT_REACHED for more than 500,000 cells. */
export function transformData(data: Json): JsonObject {
  return transformResult(data, createCellBudget(MAX_CELLS));
}

/** Behind the name of the file. */
function summaryOf(tables: readonly Table[]): string {
  const total = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  return `with ${tables.length} sheet(s), ${total} total rows`;
}

async function load(
  { sources, selection }: FilesWork,
  signal: AbortSignal | undefined,
): Promise<{ readonly files: readonly LoadedFile[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const warn = (message: string): void => {
    warnings.push(message);
  };
  const options = { selection, budget: createCellBudget(MAX_CELLS), signal, warn };
  const files: LoadedFile[] = [];
  // One after the other: what a file holds in memory while it is read is many times its size.
  for (const source of sources) {
    if ('noFile' in source) {
      warn(`A value that is no file is passed over: ${source.noFile}`);
      continue;
    }
    const file = await loadSource(source, options).catch(unreadableMessage);
    if (typeof file === 'string') warn(`A file is passed over: ${file}`);
    else if (file !== undefined) files.push(file);
    else if ('text' in source) warn(`A value that is no file is passed over: ${shorten(source.text)}`);
  }
  return { files, warnings };
}

/** What is wrong with a file that cannot be read, which leaves the others; throws every other error again. */
function unreadableMessage(error: unknown): string {
  if (error instanceof EngineError && error.code === 'FILE_UNREADABLE') return error.message;
  throw error;
}

/** Models also write tables as Markdown. */
async function tablesOfText(data: Json, signal: AbortSignal | undefined): Promise<readonly Table[]> {
  if (typeof data !== 'string') return [];
  const options = { selection: parseSelection('all'), budget: createCellBudget(MAX_CELLS), signal, warn() {} };
  return readTextTables('data', data, options);
}

/** The beginning of a text that is no file. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
