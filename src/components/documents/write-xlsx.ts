import { cellValue } from './cell-value.js';
import { columnsOf, cutText } from './characters.js';
import { refuse } from './failure.js';
import type { Page } from './page.js';
import { sheetNames } from './sheet-names.js';
import { type FoundTable, findTables } from './tables.js';

/** Most cells of one file; all of them are in memory at once. */
const MAX_CELLS = 200_000;
/** Most columns and rows of a sheet of Excel. */
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;
/** Most sheets of one file. */
const MAX_SHEETS = 200;
/** Most UTF-16 units of a cell of Excel. */
const MAX_CELL_TEXT = 32_767;
/** Widest column, in characters. */
const MAX_WIDTH = 60;

/**
 * Writes every table of a Markdown text as a sheet. A text without tables becomes the sheet `Data` with one column
 * `Content`.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` beyond 200 sheets, 200,000 cells or what Excel opens.
 */
export async function writeXlsx(markdown: string, { title, created }: Page): Promise<Uint8Array> {
  const found = findTables(markdown);
  const tables = found.length > 0 ? found : [wholeText(markdown)];
  checkSize(tables);
  const { default: excel } = await import('exceljs');
  const workbook = new excel.Workbook();
  Object.assign(workbook, { title, creator: 'Runnel', lastModifiedBy: 'Runnel', created, modified: created });
  const names = sheetNames(tables.map((table) => table.title));
  tables.forEach(({ rows }, index) => {
    const sheet = workbook.addWorksheet(names[index] ?? '', { views: [{ state: 'frozen', ySplit: 1 }] });
    sheet.columns = widthsOf(rows).map((width) => ({ width }));
    rows.forEach((row, line) => {
      const values = row.map((text) => {
        const whole = cutText(text, MAX_CELL_TEXT);
        return line === 0 ? whole : cellValue(whole);
      });
      const added = sheet.addRow(values);
      if (line === 0) added.font = { bold: true };
    });
  });
  return new Uint8Array(await workbook.xlsx.writeBuffer());
}

/** The text as one column; a text that is too long for a cell goes on in the next. */
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

function checkSize(tables: readonly FoundTable[]): void {
  if (tables.length > MAX_SHEETS) throw refuse(`the content has ${tables.length} tables; at most ${MAX_SHEETS} fit.`);
  let cells = 0;
  for (const { rows } of tables) {
    const columns = rows[0]?.length ?? 0;
    if (columns > MAX_COLUMNS) throw refuse(`a table has ${columns} columns; at most ${MAX_COLUMNS} fit.`);
    if (rows.length > MAX_ROWS) throw refuse(`a table has ${rows.length} rows; at most ${MAX_ROWS} fit.`);
    cells += rows.length * columns;
  }
  if (cells > MAX_CELLS) throw refuse(`the tables have ${cells} cells; at most ${MAX_CELLS} fit.`);
}

function widthsOf(rows: FoundTable['rows']): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((text, column) => {
      const longest = Math.max(...text.slice(0, 1000).split('\n').map(columnsOf));
      widths[column] = Math.min(MAX_WIDTH, Math.max(widths[column] ?? 8, longest + 2));
    });
  }
  return widths;
}
