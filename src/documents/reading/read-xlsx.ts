import type { StoredFile } from '../../records/files.js';
import { readWorkbook } from '../spreadsheets/read-workbook.js';
import { parseSelection } from '../spreadsheets/select-sheets.js';
import { createCellBudget, createSoftBudget, tableOfGrid } from '../spreadsheets/table.js';
import { sheetsMarkdown } from '../spreadsheets/table-markdown.js';
import type { ReadLimits } from './limits.js';

/** Fewest characters that a cell takes in a Markdown table: its bar, two blanks and its text. */
const MIN_CELL_CHARACTERS = 4;

/**
 * The text of a workbook: every sheet as a Markdown table under its name. Reading stops when there is more than
 * `maxCharacters`.
 *
 * Errors: FILE_UNREADABLE; LIMIT_REACHED for cells so far apart that the table between them does not fit.
 */
export async function readXlsx(file: StoredFile, { maxCharacters, signal }: ReadLimits): Promise<string> {
  const maxCells = Math.ceil(maxCharacters / MIN_CELL_CHARACTERS) + 1;
  const budget = createSoftBudget(maxCells);
  const grids = await readWorkbook(file, { selection: parseSelection('all'), budget, signal, warn() {} });
  const holes = createCellBudget(maxCells);
  return sheetsMarkdown(grids.map(({ name, rows }) => tableOfGrid(name, rows, holes)));
}
