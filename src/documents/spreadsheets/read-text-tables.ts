import { EngineError } from '../../errors.js';
import { isCut } from '../reading/limit-text.js';
import { findTables } from '../tables.js';
import { WHOLE_SHEET } from './cell-address.js';
import { inferTypes } from './infer-types.js';
import { findDelimiter, readCsv } from './read-csv.js';
import type { ReadOptions } from './read-workbook.js';
import { selectSheets } from './select-sheets.js';
import { type Table, tableOfGrid } from './table.js';

/** What the line between header and rows of a Markdown table consists of. */
const RULE = /^[ \t|:-]+$/;

/**
 * The tables that a text holds: Markdown tables, each a sheet named by the heading above it, or else CSV of at least two lines
 * with a delimiter in each. None for any other text.
 *
 * This is what file inputs make of spreadsheets, so a form's file can be handed to a spreadsheet node as it is.
 * Errors: NODE_FAILED for a text that was cut because of its length, as rows of it are missing.
 */
export async function readTextTables(name: string, text: string, options: ReadOptions): Promise<readonly Table[]> {
  const { selection, budget, signal, warn } = options;
  const isMarkdown = text.includes('|') && text.split('\n').some(isRule);
  if (!isMarkdown && !isCsv(text)) return [];
  if (isCut(text)) {
    throw new EngineError(
      'NODE_FAILED',
      `The text of "${name}" was cut because of its length; give the file itself, {"id": …}, to the spreadsheet node.`,
    );
  }
  if (!isMarkdown) {
    const rows = await readCsv(name, text, { range: WHOLE_SHEET, budget, signal });
    return [inferTypes(tableOfGrid('Sheet1', rows, budget))];
  }
  const found = findTables(text);
  const names = found.map(({ title }, index) => title ?? `Sheet${index + 1}`);
  const { sheets, missing } = selectSheets(selection, names);
  for (const wanted of missing) warn(`"${name}" has no table "${wanted}".`);
  return sheets.map(({ index, range }) => {
    const rows = (found[index]?.rows ?? []).slice(range.firstRow - 1, range.lastRow);
    const grid = rows.map((row) => row.slice(range.firstColumn - 1, range.lastColumn));
    return inferTypes(tableOfGrid(names[index] ?? '', grid, budget));
  });
}

function isRule(line: string): boolean {
  const text = line.trim();
  return text.includes('---') && RULE.test(text);
}

function isCsv(text: string): boolean {
  return text.trim().includes('\n') && findDelimiter(text) !== undefined;
}
