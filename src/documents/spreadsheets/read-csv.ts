import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineError } from '../../errors.js';
import { toUnreadable, unreadable } from '../reading/limits.js';
import { findDelimiter } from './find-delimiter.js';
import { type CellRange, MAX_COLUMNS } from './select-sheets.js';
import type { CellBudget, GridRow } from './table.js';

/** What Excel writes, and reads, as a first line of its own. */
const DECLARED = /^sep=(.)\r?\n/i;
const PIECE_LENGTH = 65_536;
/** Longest record, in bytes: a quote that never ends would take in the rest of the file. */
const MAX_RECORD_BYTES = 4 * 1_048_576;
/** Characters that the parser is given without a record of them: it counts the bytes of fields, and so no empty ones. */
const MAX_PENDING = 2 * MAX_RECORD_BYTES;

/** Bounds of reading a CSV text. */
export interface CsvOptions {
  readonly range: CellRange;
  readonly budget: CellBudget;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the records of a CSV text as a stream: RFC 4180, with the delimiter that the text uses (see {@link findDelimiter}),
 * quotes within unquoted fields, records of different lengths, and empty lines, which are left out.
 *
 * @throws EngineError FILE_UNREADABLE for a quote that never ends, and for more fields than a sheet has columns, LIMIT_REACHED beyond the budget.
 */
export async function readCsv(name: string, text: string, { range, budget, signal }: CsvOptions): Promise<GridRow[]> {
  const { parse } = await import('csv-parse');
  const declared = DECLARED.exec(text);
  const lineEnd = findLineEnd(text);
  const parser = parse({
    delimiter: declared?.[1] ?? findDelimiter(text) ?? ',',
    // Looking for the line end takes the parser longer than all the rest, up to the first one.
    ...(lineEnd !== undefined && { record_delimiter: lineEnd }),
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_BYTES,
  });
  const source = Readable.from(
    pieces(text, declared?.[0].length ?? 0, () => {
      signal?.throwIfAborted();
      const { records, empty_lines: empty } = parser.info;
      return records + empty;
    }),
  );
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  const rows: GridRow[] = [];
  let number = 0;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      number += 1;
      if (number > range.lastRow) break;
      if (number < range.firstRow) continue;
      if (record.length > MAX_COLUMNS && range.lastColumn === MAX_COLUMNS) {
        throw unreadable(name, `a record of it has ${record.length} fields; at most ${MAX_COLUMNS} are read.`);
      }
      const row = record.slice(range.firstColumn - 1, range.lastColumn);
      budget.take(row.length);
      rows.push(row);
    }
  } catch (error) {
    const isLong = error instanceof Error && 'code' in error && error.code === 'CSV_MAX_RECORD_SIZE';
    throw isLong || error instanceof TooLong ? longRecord(name) : toUnreadable(name, error, 'CSV');
  } finally {
    source.destroy();
  }
  return rows;
}

/** The line end of a text that has no other one; undefined when several are mixed, and quotes decide which is one. */
function findLineEnd(text: string): '\n' | '\r' | '\r\n' | undefined {
  if (!text.includes('\r')) return '\n';
  if (!text.includes('\n')) return '\r';
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? undefined : '\r\n';
}

/** A record that does not end. */
class TooLong extends Error {}

function longRecord(name: string): EngineError {
  return unreadable(name, `a record of it has more than ${MAX_RECORD_BYTES / 1_048_576} MiB; a quote may be missing.`);
}

/** The text in pieces; `countLines` gives how many records and empty lines the parser has found so far. */
async function* pieces(text: string, from: number, countLines: () => number): AsyncGenerator<string> {
  let lines = 0;
  let since = from;
  for (let at = from; at < text.length; ) {
    const found = countLines();
    if (found > lines) {
      lines = found;
      since = at;
    } else if (at - since > MAX_PENDING) throw new TooLong();
    let end = Math.min(at + PIECE_LENGTH, text.length);
    // A piece becomes bytes of its own, so no surrogate pair may be parted.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    yield text.slice(at, end);
    at = end;
    await nextTurn();
  }
}
