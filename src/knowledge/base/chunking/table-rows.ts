/** Separated values with the place of every record, which streams of records do not tell. */
import { findDelimiter } from '../../../documents/spreadsheets/find-delimiter.js';
import type { Range, TableRange } from '../../chunkers/chunker.js';

/** A record of separated values. */
export interface SeparatedRecord extends Range {
  readonly cells: readonly string[];
}

/** The one table of a text of separated values: its first record has the names of the columns. Linear in the text. */
export function separatedTable(text: string): TableRange | undefined {
  const records = [...separatedRecords(text)];
  const [header, ...rows] = records;
  const last = records.at(-1);
  return header === undefined || last === undefined ? undefined : { start: header.start, end: last.end, header, rows };
}

/** Records of separated values; quotes hold separators and ends of lines. Records without any text are left out. */
export function* separatedRecords(text: string): Generator<SeparatedRecord> {
  const separator = findDelimiter(text) ?? ',';
  let start = 0;
  let cells: string[] = [];
  let cell = '';
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at <= text.length; at += 1) {
    const sign = text[at];
    if (isQuoted && sign !== undefined) {
      if (sign !== '"') continue;
      cell += text.slice(from, at);
      from = at + 1;
      // Two quotes stand for one.
      if (text[at + 1] === '"') at += 1;
      else isQuoted = false;
      continue;
    }
    if (sign === '"' && cell === '' && text.slice(from, at).trim() === '') {
      isQuoted = true;
      from = at + 1;
      continue;
    }
    if (sign !== separator && sign !== '\n' && sign !== undefined) continue;
    cells.push((cell + text.slice(from, at)).trim());
    cell = '';
    from = at + 1;
    if (sign === separator) continue;
    if (cells.some((one) => one !== '')) yield { start, end: at, cells };
    cells = [];
    start = at + 1;
  }
}
