import { concatMap, map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { type LoadedFile, loadFile, readTextTables } from '../documents/spreadsheets/load-tables.js';
import {
  mergeResult,
  outputResult,
  readResult,
  tablesOfData,
  transformResult,
} from '../documents/spreadsheets/results.js';
import { parseSelection, type SheetSelection } from '../documents/spreadsheets/select-sheets.js';
import { createCellBudget, type Table } from '../documents/spreadsheets/table.js';
import { SPREADSHEET_FORMATS, writeSpreadsheet } from '../documents/spreadsheets/write-spreadsheet.js';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { typedValue } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type NodeEvent, type Notice, type Outputs, type Settled, settled, warning } from '../graph/node-events.js';
import { type Json, parseJson } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { nodeParams, nullishText, optionalJson } from './base-params.js';
import { defineComponent } from './component.js';
import { serviceOf } from './services.js';
import { readingTexts, type TextReader } from './values/text-reader.js';

const OPERATIONS = ['read', 'merge', 'transform', 'output'] as const;

/** Most cells that one node holds: they all become values that other nodes can read. */
const MAX_CELLS = 2_000_000;
const NOT_ROWS = 'Invalid data format for Excel output';

const params = nodeParams({
  operation: z
    .preprocess(toOperation, z.enum(OPERATIONS))
    .describe(`What to do: ${OPERATIONS.join(', ')}; "write" means output. Default: read.`),
  input_files: z
    .union([z.string(), z.array(z.json())])
    .nullish()
    .describe(
      'read, merge: references of files, or of texts that hold tables (data: URL, Base64, CSV, Markdown). Default: none.',
    ),
  file_ref: optionalJson.describe('read, merge: another name of input_files. Default: none.'),
  sheet_selection: nullishText.describe(
    'read, merge: "all", "first", or names of sheets with commas between; a range may follow, as in Sheet1!A1:C10. Default: all.',
  ),
  merge_strategy: nullishText.describe(
    'merge: "concat" puts rows one under the other, "join" puts those with equal keys together. Default: concat.',
  ),
  join_on: nullishText.describe('merge: column to join on, or several with commas. Default: none, which concats.'),
  transform_instructions: nullishText.describe('A note for the editor; nothing reads it. Default: "".'),
  transform_data: optionalJson.describe(
    'transform, output: reference of the data: rows, or an object with rows by sheet. Default: none.',
  ),
  output_data: optionalJson.describe(
    'output: the data itself instead of transform_data; a first row of texts alone names the columns. Default: none.',
  ),
  sheet_name: nullishText.describe('output: name of the sheet of rows that have none. Default: Sheet1.'),
  output_format: z
    .preprocess(toFormat, z.enum(SPREADSHEET_FORMATS))
    .describe('output: "xlsx", or "csv" with the first sheet alone. Default: xlsx.'),
  output_filename: nullishText.describe(
    'output: name of the file without its ending; references are replaced. Default: output.',
  ),
});

type Params = z.infer<typeof params>;

/**
 * ExcelProcessor: reads and merges spreadsheets into rows, and writes rows as a spreadsheet.
 *
 * A file is an object with `id` or `file_id`, a list of them, a `data:` URL, Base64, or a text with a table in it; values that
 * are none of these, and files that cannot be read, are passed over with a warning. Sheets are read as streams; up to two
 * million cells fit.
 *
 * Errors: FILE_UNKNOWN, LIMIT_REACHED, CONFIG_INVALID without a file store; NODE_FAILED for a join on a
 * column that is not there; DOCUMENT_NOT_WRITTEN for what does not fit into a workbook.
 */
export const excelProcessor = defineComponent<Params>({
  type: 'ExcelProcessor',
  summary: 'Reads and merges Excel and CSV files into rows, and writes rows as an Excel or CSV file.',
  thoughts: 'Working on spreadsheets.',
  params,
  outputs: {
    data: {
      type: 'object',
      description: 'The rows: by file and sheet, under "merged", or by sheet of what was written.',
    },
    summary: { type: 'string', description: 'What was read or written, in words.' },
    markdown: { type: 'string', description: 'The first rows as Markdown tables.' },
    attachment: { type: 'object', description: 'The file that was written: {doc_id, format, file_name}.' },
  },
  create(given) {
    const selection = parseSelection(given.sheet_selection ?? '');
    return readingTexts((reader, activation) => {
      switch (given.operation) {
        case 'read':
          return withFiles(given, selection, activation, reader, readResult);
        case 'merge':
          return withFiles(given, selection, activation, reader, (files) => {
            const { merge_strategy: strategy, join_on: joinOn } = given;
            const options = { strategy: strategy ?? '', joinOn: joinOn ?? '' };
            return mergeResult(files, options, createCellBudget(MAX_CELLS));
          });
        case 'transform':
          return settled(transform(given, reader));
        case 'output':
          return writeFile(given, activation, reader);
      }
    });
  },
});

/** Loads the files that the parameters name and makes outputs of them; at once when there are none. */
function withFiles(
  given: Params,
  selection: SheetSelection,
  activation: Activation,
  reader: TextReader,
  outputsOf: (files: readonly LoadedFile[]) => Outputs,
): Settled | Observable<NodeEvent> {
  const values = fileValues(given, reader);
  if (values.length === 0) return settled(outputsOf([]));
  const { services } = activation;
  return fromAbortable(async (signal) => {
    const warnings: Notice[] = [];
    const warn = (message: string): void => {
      warnings.push(warning(message));
    };
    const options = { selection, budget: createCellBudget(MAX_CELLS), signal, warn };
    const files: LoadedFile[] = [];
    // One after the other: what a file holds in memory while it is read is many times its size.
    for (const value of values) {
      const file = await loadFile(value, services, options).catch(unreadableMessage);
      if (typeof file === 'string') warn(`A file is passed over: ${file}`);
      else if (file === undefined) warn(`A value that is no file is passed over: ${shorten(renderValue(value))}`);
      else files.push(file);
    }
    return { warnings, outputs: outputsOf(files) };
  }).pipe(concatMap(({ warnings, outputs }) => of<NodeEvent[]>(...warnings, settled(outputs))));
}

/** What is wrong with a file that cannot be read, which leaves the others; throws every other error again. */
function unreadableMessage(error: unknown): string {
  if (error instanceof EngineError && error.code === 'FILE_UNREADABLE') return error.message;
  throw error;
}

/** What the references of `input_files` name, lists taken apart, without what is empty. */
function fileValues(given: Params, reader: TextReader): readonly Json[] {
  const named = given.input_files ?? given.file_ref ?? [];
  const entries: readonly Json[] = Array.isArray(named) ? named : [named];
  return entries
    .flatMap((entry) => {
      const value = typeof entry === 'string' ? readValue(entry, reader) : entry;
      return Array.isArray(value) ? (value as readonly Json[]) : [value];
    })
    .filter((value) => value !== null && value !== '');
}

function transform(given: Params, reader: TextReader): Outputs {
  const wanted = given.transform_data ?? '';
  if (wanted === '') return { data: null, summary: 'No transform data reference provided' };
  return transformResult(dataOf(wanted, reader), createCellBudget(MAX_CELLS));
}

function writeFile(given: Params, activation: Activation, reader: TextReader): Settled | Observable<NodeEvent> {
  const { output_format: format, output_filename: name } = given;
  const wanted = given.output_data ?? given.transform_data ?? '';
  const settleWith = (summary: string) => settled({ data: null, summary });
  if (wanted === '') return settleWith('No data reference for output');
  const data = dataOf(wanted, reader);
  if (data === null) return settleWith('No data to output');
  const sheet = given.sheet_name?.trim() || 'Sheet1';
  // Rows of other nodes are data; a grid that was written for the file has its column names in the first row.
  const hasNamedGrids = given.output_data != null || typeof data === 'string';
  const tables = tablesOfData(parseJsonText(data), sheet, createCellBudget(MAX_CELLS), { hasNamedGrids });
  if (tables === undefined && typeof data !== 'string') return settleWith(NOT_ROWS);
  const files = serviceOf(activation, 'files');
  const fileName = reader.read(name ?? '');
  return fromAbortable(async (signal): Promise<Outputs> => {
    const found = tables ?? (await tablesOfText(String(data), signal));
    if (found.length === 0) return { data: null, summary: NOT_ROWS };
    return outputResult(found, await writeSpreadsheet(found, { format, name: fileName, files, signal }));
  }).pipe(map((outputs) => settled(outputs)));
}

/** Models also write tables as Markdown. */
function tablesOfText(text: string, signal: AbortSignal): Promise<readonly Table[]> {
  const options = { selection: parseSelection('all'), budget: createCellBudget(MAX_CELLS), signal, warn() {} };
  return readTextTables('data', text, options);
}

/** Data given as a reference, or itself. */
function dataOf(wanted: Json, reader: TextReader): Json {
  return typeof wanted === 'string' ? readValue(wanted, reader) : wanted;
}

/** The value that a text names as a reference; any other text is the value itself. */
function readValue(text: string, reader: TextReader): Json {
  const reference = parseReference(text);
  return reference === undefined ? text : typedValue(reference, reader.lookup(reference));
}

/** Models write rows as JSON text, often in a fence. */
function parseJsonText(data: Json): Json {
  if (typeof data !== 'string') return data;
  const text = data.trim();
  const isFenced = text.startsWith('```') && text.endsWith('```');
  const value = parseJson(isFenced ? text.slice(text.indexOf('\n') + 1, -3) : text);
  return value === undefined ? data : value;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function toOperation(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? 'read';
  const name = given.trim().toLowerCase();
  return name === 'write' ? 'output' : name || 'read';
}

function toFormat(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? 'xlsx';
  return given.trim().toLowerCase() || 'xlsx';
}
