import type { Json } from '../../json.js';
import type { Table } from './table.js';

/** A number as programs write it; one with leading zeros is a name, such as a postal code. */
const NUMBER = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
/** Digits that a number keeps. */
const MAX_DIGITS = 15;
const BOOLEAN = /^(?:true|false)$/i;

/**
 * Gives the columns of a table of texts their types: a column in which every value is a number holds numbers, one of `true` and
 * `false` booleans, all others stay texts. So an article number does not change because its neighbour has no letters.
 */
export function inferTypes(table: Table): Table {
  const converters = table.columns.map((_, column) => converterOf(table.rows, column));
  if (converters.every((convert) => convert === undefined)) return table;
  const rows = table.rows.map((row) =>
    row.map((cell, column) => {
      const convert = converters[column];
      return convert === undefined || typeof cell !== 'string' ? cell : convert(cell);
    }),
  );
  return { ...table, rows };
}

function converterOf(rows: Table['rows'], column: number): ((text: string) => Json) | undefined {
  let isNumber = true;
  let isBoolean = true;
  let isEmpty = true;
  for (const row of rows) {
    const cell = row[column];
    if (typeof cell !== 'string') continue;
    isEmpty = false;
    const text = cell.trim();
    isNumber &&= isExactNumber(text);
    isBoolean &&= BOOLEAN.test(text);
    if (!isNumber && !isBoolean) return undefined;
  }
  if (isEmpty) return undefined;
  return isNumber ? (text) => Number(text.trim()) : (text) => text.trim().toLowerCase() === 'true';
}

function isExactNumber(text: string): boolean {
  if (!NUMBER.test(text) || !Number.isFinite(Number(text))) return false;
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return digits.length <= MAX_DIGITS;
}
