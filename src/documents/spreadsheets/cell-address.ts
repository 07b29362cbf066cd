/** Most columns and rows that a spreadsheet has. */
export const MAX_COLUMNS = 16_384;
export const MAX_ROWS = 1_048_576;

/** A rectangle of a sheet; all bounds count from 1 and belong to it. */
export interface CellRange {
  readonly firstColumn: number;
  readonly firstRow: number;
  readonly lastColumn: number;
  readonly lastRow: number;
}

/** Every cell of a sheet. */
export const WHOLE_SHEET: CellRange = { firstColumn: 1, firstRow: 1, lastColumn: MAX_COLUMNS, lastRow: MAX_ROWS };

const CORNER = /^\$?([A-Z]{1,3})?\$?([1-9]\d{0,6})?$/i;

/** Reads `A1:C10`, `A:C`, `2:9` or `B2`, with or without `$`; undefined for any other text. */
export function parseRange(text: string): CellRange | undefined {
  const corners = text.split(':');
  const [from = '', to = from] = corners;
  const first = parseCorner(from);
  const last = parseCorner(to);
  if (corners.length > 2 || first === undefined || last === undefined) return undefined;
  // `A:3` mixes two ways of writing.
  if ((first.column === undefined) !== (last.column === undefined)) return undefined;
  if ((first.row === undefined) !== (last.row === undefined)) return undefined;
  const columns = [first.column ?? 1, last.column ?? MAX_COLUMNS];
  const rows = [first.row ?? 1, last.row ?? MAX_ROWS];
  return {
    firstColumn: Math.min(...columns),
    firstRow: Math.min(...rows),
    lastColumn: Math.max(...columns),
    lastRow: Math.max(...rows),
  };
}

/** The number of a column from 1: `A` is 1, `XFD` is 16,384; digits behind the letters are passed over. */
export function columnNumber(address: string): number {
  let number = 0;
  for (let at = 0; at < address.length; at += 1) {
    const letter = address.charCodeAt(at) & 0xdf;
    if (letter < 65 || letter > 90) break;
    number = number * 26 + letter - 64;
  }
  return number;
}

function parseCorner(text: string): { readonly column?: number; readonly row?: number } | undefined {
  const [, letters, digits] = CORNER.exec(text.trim()) ?? [];
  if (letters === undefined && digits === undefined) return undefined;
  const column = letters === undefined ? undefined : columnNumber(letters);
  const row = digits === undefined ? undefined : Number(digits);
  if ((column ?? 1) > MAX_COLUMNS || (row ?? 1) > MAX_ROWS) return undefined;
  return { ...(column !== undefined && { column }), ...(row !== undefined && { row }) };
}
