/** The tables of a Markdown text as a workbook. */
import { cutText } from './characters.js';
import { refuse } from './failure.js';
import { type FoundTable, findTables } from './markdown-tables.js';
import { isExactNumber } from './spreadsheets/table.js';
import { MAX_CELL_TEXT, writeWorkbook } from './spreadsheets/write-workbook.js';

/** Most cells of one file. */
const MAX_CELLS = 200_000;
/** Most sheets of one file. */
const MAX_SHEETS = 200;

/**
 * Writes every table of a Markdown text as a sheet. A text without tables becomes the sheet `Data` with one column
 * `Content`.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` beyond 200 sheets, 200,000 cells or what Excel opens.
 */
export async function writeXlsx(markdown: string, signal?: AbortSignal): Promise<Uint8Array> {
  const found = findTables(markdown);
  const tables = found.length > 0 ? found : [wholeText(markdown)];
  if (tables.length > MAX_SHEETS) throw refuse(`the content has ${tables.length} tables; at most ${MAX_SHEETS} fit.`);
  const cells = tables.reduce((sum, { rows }) => sum + rows.length * (rows[0]?.length ?? 0), 0);
  if (cells > MAX_CELLS) throw refuse(`the tables have ${cells} cells; at most ${MAX_CELLS} fit.`);
  const sheets = tables.map(({ title, rows: [columns = [], ...rows] }) => ({
    name: title ?? '',
    columns,
    rows: rows.map((row) => row.map(cellValue)),
    hasHeader: true,
  }));
  return new Uint8Array(await writeWorkbook(sheets, signal));
}

/** The text as one column; a text that is too long for a cell continues in the next. */
function wholeText(text: string): FoundTable {
  const rows = [['Content']];
  let rest = text;
  do {
    const part = cutText(rest, MAX_CELL_TEXT);
    rows.push([part]);
    rest = rest.slice(part.length);
  } while (rest !== '');
  return { title: 'Data', rows };
}

const GROUPED = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
/**
 * The value of a spreadsheet cell that reads `text`: a number for `12`, `-1.5e3` and `1,234.5`, else the text. Digits that
 * begin with zero and those that a number cannot hold are texts, because they are names: of an account, of an article.
 */
export function cellValue(text: string): string | number {
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text;
  return isExactNumber(digits) ? Number(digits) : text;
}
