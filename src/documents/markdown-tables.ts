/** Tables in Markdown: found in texts, and written. */

/** A table as it stands in a text: a title and rows of raw cells, the first row being the header. */
export interface FoundTable {
  readonly title: string | undefined;
  readonly rows: readonly (readonly string[])[];
}

const RULE = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
/** One cell: everything up to a bar that is not escaped. */
const CELL = /((?:\\.|[^\\|])*)(?:\||$)/gy;
const WHOLLY_MARKED = /^(\*\*|__|`)((?:(?!\1).)+)\1$/;

/**
 * Finds the tables of a Markdown text by their lines, as RAGFlow's spreadsheet export does: a table is a run of lines that
 * begin with `|`, lines of dashes left out. Its title is the nearest line above it, after the table before, that begins
 * with `#` or "table" or holds a colon. Short rows are filled, long ones cut to the header.
 */
export function findTables(markdown: string): FoundTable[] {
  const tables: FoundTable[] = [];
  let title: string | undefined;
  let rows: string[][] = [];
  const close = (): void => {
    const width = rows[0]?.length ?? 0;
    if (width > 0) tables.push({ title, rows: rows.map((row) => fitRow(row, width)) });
    if (rows.length > 0) title = undefined;
    rows = [];
  };
  for (const line of markdown.split('\n')) {
    const text = line.trim();
    if (text.startsWith('|')) {
      if (!isTableRule(text)) rows.push(cellsOf(text));
      continue;
    }
    close();
    if (/^table/i.test(text) || text.startsWith('#') || text.includes(':')) title = titleOf(text) || title;
  }
  close();
  return tables;
}

/** Whether a line of a table is the dashes below its header. */
export function isTableRule(line: string): boolean {
  return RULE.test(line.trim());
}

/** The cells of a line of a table of Markdown. */
export function cellsOf(line: string): string[] {
  const inner = line.replace(/^\|/, '').replace(/(?<!\\)\|$/, '');
  return [...`${inner}|`.matchAll(CELL)].slice(0, -1).map(([, cell = '']) => cellText(cell));
}

/** The text of a cell, without formatting that covers all of it. */
function cellText(cell: string): string {
  const text = cell
    .trim()
    .replace(/\\\|/g, '|')
    .replace(/<br\s*\/?>/gi, '\n');
  return WHOLLY_MARKED.exec(text)?.[2] ?? text;
}

function titleOf(line: string): string {
  return line
    .replace(/^#+\s*/, '')
    .replace(/[*_`]{2,}|`/g, '')
    .replace(/:\s*$/, '')
    .trim();
}

function fitRow(row: readonly string[], width: number): string[] {
  return Array.from({ length: width }, (_, column) => row[column] ?? '');
}

/** A table in Markdown (GitHub's). Short rows are filled up; bars are escaped, line ends written as `<br>`. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  let width = header.length;
  for (const row of rows) width = Math.max(width, row.length);
  const line = (cells: readonly string[]): string => {
    let text = '|';
    for (let column = 0; column < width; column += 1) text += ` ${escapedCell(cells[column] ?? '')} |`;
    return text;
  };
  const rule = `|${' --- |'.repeat(width)}`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

function escapedCell(text: string): string {
  return text
    .trim()
    .replaceAll('|', '\\|')
    .replace(/\r\n?|\n/g, '<br>');
}
