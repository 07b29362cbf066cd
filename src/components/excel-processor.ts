import { concatMap, map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { documentJob, threadsOf } from '../documents/document-jobs.js';
import { openSource } from '../documents/spreadsheets/load-tables.js';
import { parseSelection } from '../documents/spreadsheets/select-sheets.js';
import {
  doSpreadsheetWork,
  type FilesWork,
  type GivenSource,
  NOT_ROWS,
  outputsOfFiles,
  type SpreadsheetDone,
  type SpreadsheetWork,
  shorten,
  transformData,
} from '../documents/spreadsheets/spreadsheet-work.js';
import { SPREADSHEET_FORMATS, spreadsheetName } from '../documents/spreadsheets/write-spreadsheet.js';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { typedValue } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type NodeEvent, type Settled, settled, warning } from '../graph/node-events.js';
import { type Json, parseJson } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { MEDIA_TYPES } from '../records/files.js';
import { nodeParams, nullishText, optionalJson } from './base-params.js';
import { defineComponent } from './component.js';
import { serviceOf } from './services.js';
import { readingTexts, type TextReader } from './values/text-reader.js';

const OPERATIONS = ['read', 'merge', 'transform', 'output'] as const;

/** Most bytes of the files that a node reads, together; they are in memory at once. */
const MAX_BYTES = 64 * 1_048_576;
/** Values that are worked on in the calling thread: texts of so many UTF-16 units, data of so many values. */
const MAX_IN_PLACE = 5_000;

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
 * are none of these, and files that cannot be read, are passed over with a warning. Files and all but small data are worked on in
 * a thread; up to 500,000 cells, 64 Mi characters in records and 64 MiB of files fit.
 *
 * Errors: FILE_UNKNOWN, LIMIT_REACHED, CONFIG_INVALID without a file store; NODE_FAILED for a join on a
 * column that is not there; DOCUMENT_NOT_WRITTEN for what does not fit into a workbook.
 */
export const excelProcessor = defineComponent<Params>({
  type: 'ExcelProcessor',
  group: 'data',
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
    const merging = { strategy: given.merge_strategy ?? '', joinOn: given.join_on ?? '' };
    return readingTexts((reader, activation) => {
      switch (given.operation) {
        case 'read':
          return withFiles(given, activation, reader, (sources) => ({ type: 'read', sources, selection }));
        case 'merge':
          return withFiles(given, activation, reader, (sources) => ({
            type: 'merge',
            sources,
            selection,
            options: merging,
          }));
        case 'transform':
          return transform(given, activation, reader);
        case 'output':
          return writeFile(given, activation, reader);
      }
    });
  },
});

/** Does work on the files that the parameters name; at once when there are none. */
function withFiles(
  given: Params,
  activation: Activation,
  reader: TextReader,
  workOn: (sources: readonly GivenSource[]) => FilesWork,
): Settled | Observable<NodeEvent> {
  const values = fileValues(given, reader);
  if (values.length === 0) return settled(outputsOfFiles(workOn([]), []));
  return fromAbortable(async (signal) => {
    const sources: GivenSource[] = [];
    let size = 0;
    for (const value of values) {
      const source = (await openSource(value, activation.services, signal)) ?? { noFile: shorten(renderValue(value)) };
      size += 'file' in source ? source.file.bytes.length : 'text' in source ? source.text.length : 0;
      if (size > MAX_BYTES) {
        throw new EngineError('LIMIT_REACHED', 'The files have more than 64 MiB together; read fewer of them at once.');
      }
      sources.push(source);
    }
    return { sources, isSmall: size <= MAX_IN_PLACE && sources.every((source) => !('file' in source)) };
  }).pipe(
    concatMap(({ sources, isSmall }) => perform(workOn(sources), isSmall, activation)),
    concatMap(({ warnings, outputs }) => of<NodeEvent[]>(...warnings.map((one) => warning(one)), settled(outputs))),
  );
}

function perform(work: SpreadsheetWork, isSmall: boolean, { services }: Activation): Observable<SpreadsheetDone> {
  if (isSmall) return fromAbortable((signal) => doSpreadsheetWork(work, signal));
  const unable = (why: string) =>
    new EngineError('LIMIT_REACHED', `The spreadsheets are too large: ${why}; use fewer sheets, or a range of them.`);
  return documentJob('spreadsheet', work, { threads: threadsOf(services), unable });
}

/** Whether there are no more values in data than are worked on in the calling thread. */
function isSmallData(data: Json): boolean {
  let left = MAX_IN_PLACE;
  const count = (value: Json): void => {
    left -= typeof value === 'string' ? 1 + value.length / 10 : 1;
    if (left < 0 || typeof value !== 'object' || value === null) return;
    for (const one of Object.values(value)) {
      count(one);
      if (left < 0) return;
    }
  };
  count(data);
  return left >= 0;
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

function transform(given: Params, activation: Activation, reader: TextReader): Settled | Observable<NodeEvent> {
  const wanted = given.transform_data ?? '';
  if (wanted === '') return settled({ data: null, summary: 'No transform data reference provided' });
  const data = dataOf(wanted, reader);
  if (isSmallData(data)) return settled(transformData(data));
  return perform({ type: 'transform', data }, false, activation).pipe(map(({ outputs }) => settled(outputs)));
}

function writeFile(given: Params, activation: Activation, reader: TextReader): Settled | Observable<NodeEvent> {
  const { output_format: format, output_filename: name } = given;
  const wanted = given.output_data ?? given.transform_data ?? '';
  const settleWith = (summary: string) => settled({ data: null, summary });
  if (wanted === '') return settleWith('No data reference for output');
  const found = dataOf(wanted, reader);
  if (found === null) return settleWith('No data to output');
  const sheet = given.sheet_name?.trim() || 'Sheet1';
  // Rows of other nodes are data; a grid that was written for the file has its column names in the first row.
  const hasNamedGrids = given.output_data != null || typeof found === 'string';
  const data = parseJsonText(found);
  if (typeof data !== 'object' && typeof found !== 'string') return settleWith(NOT_ROWS);
  const files = serviceOf(activation, 'files');
  const fileName = spreadsheetName(reader.read(name ?? ''), format);
  // A text that is JSON but no rows is looked for tables, as it is written.
  const written = typeof data === 'object' && data !== null ? data : found;
  return perform({ type: 'write', data: written, sheet, hasNamedGrids, format }, isSmallData(written), activation).pipe(
    concatMap(({ outputs, bytes }) =>
      fromAbortable(async () => {
        if (bytes === undefined) return outputs;
        const id = await files.save({ name: fileName, mimeType: MEDIA_TYPES[format], bytes });
        const summary = `Generated ${fileName} ${outputs.summary}`;
        return { ...outputs, summary, attachment: { doc_id: id, format, file_name: fileName } };
      }),
    ),
    map((outputs) => settled(outputs)),
  );
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

function toOperation(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? 'read';
  const name = given.trim().toLowerCase();
  return name === 'write' ? 'output' : name || 'read';
}

function toFormat(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? 'xlsx';
  return given.trim().toLowerCase() || 'xlsx';
}
