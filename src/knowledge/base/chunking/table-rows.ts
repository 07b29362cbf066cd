/** Tables in texts, with the place of every row. */
import type { DocumentTable, TableRow } from '../ports.js';

/** The line below the names of the columns in Markdown. */
const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Longest line that is looked at as a row of a table, in UTF-16 units. */
const MAX_ROW = 100_000;

/** The tables of a Markdown text: a line of names, a line of dashes, lines with bars. Linear in the text. */
export function markdownTables(text: string): DocumentTable[] {
  const tables: DocumentTable[] = [];
  let header: TableRow | undefined;
  let rows: TableRow[] | undefined;
  const close = (): void => {
    const last = rows?.at(-1) ?? header;
    if (rows !== undefined && header !== undefined && last !== undefined) {
      tables.push({ start: header.start, end: last.end, header, rows });
    }
    header = undefined;
    rows = undefined;
  };
  for (const { start, end } of lines(text)) {
    const line = end - start > MAX_ROW ? '' : text.slice(start, end);
    const isRow = line.trimStart().startsWith('|');
    if (isRow && rows !== undefined) rows.push({ start, end, cells: barCells(line) });
    else if (isRow && header !== undefined && RULE.test(line)) rows = [];
    else {
      close();
      if (isRow) header = { start, end, cells: barCells(line) };
    }
  }
  close();
  return tables;
}

/** The one table of a text of separated values: its first record has the names of the columns. Linear in the text. */
export function separatedTable(text: string): DocumentTable | undefined {
  const separator = separatorOf(text);
  const records = [...separatedRecords(text, separator)];
  const [header, ...rows] = records;
  const last = records.at(-1);
  return header === undefined || last === undefined ? undefined : { start: header.start, end: last.end, header, rows };
}

/** Records of separated values; quotes hold separators and ends of lines. Records without any text are left out. */
export function* separatedRecords(text: string, separator: string): Generator<TableRow> {
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

/** The separator of most of the first line. */
export function separatorOf(text: string): string {
  const end = text.indexOf('\n');
  const line = text.slice(0, end === -1 ? MAX_ROW : Math.min(end, MAX_ROW));
  const counts = ['\t', ';', ','].map((sign) => [line.split(sign).length, sign] as const);
  return counts.reduce((best, one) => (one[0] > best[0] ? one : best))[1];
}

function* lines(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    yield { start, end };
    start = end + 1;
  }
}

/** Cells between bars; a bar behind a backslash is one of the text. */
function barCells(line: string): string[] {
  const cells = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/);
  return cells.map((cell) => cell.replaceAll('\\|', '|').trim());
}
