/** Which sheets and cells of a spreadsheet are read: selections and addresses. */

/** Sheets to read, in order, each whole or a range of it. */
export type SheetSelection = readonly SheetChoice[];

interface SheetChoice {
  /** `name` also matches without regard to case. */
  readonly sheet: 'all' | 'first' | { readonly name: string };
  readonly range: CellRange;
}

/** A sheet that was selected, by its position. */
export interface SelectedSheet {
  readonly index: number;
  readonly range: CellRange;
}

/** One part between commas; a comma in quotes belongs to the name: `'Sales, EU'!A1:C9`. */
const PART = /(?:'(?:[^']|'')*'|[^,'])+|'/g;
const QUOTED = /^'((?:[^']|'')*)'$/;

/**
 * Reads a selection of sheets: `all`, `first`, or names with commas between them. A range may follow behind `!`, as in a
 * formula (`Sheet1!A1:C10`, `all!B2:D9`), or stand alone for all sheets (`A1:C10`).
 */
export function parseSelection(text: string): SheetSelection {
  const parts = (text.match(PART) ?? []).map((part) => part.trim()).filter((part) => part !== '');
  return parts.length === 0 ? [{ sheet: 'all', range: WHOLE_SHEET }] : parts.map(toChoice);
}

/** The selected sheets among `names`, each once for each choice that names it, and the names that no sheet has. */
export function selectSheets(
  selection: SheetSelection,
  names: readonly string[],
): { readonly sheets: readonly SelectedSheet[]; readonly missing: readonly string[] } {
  const sheets: SelectedSheet[] = [];
  const missing: string[] = [];
  for (const { sheet, range } of selection) {
    if (sheet === 'all') sheets.push(...names.map((_, index) => ({ index, range })));
    else if (sheet === 'first') sheets.push(...names.slice(0, 1).map(() => ({ index: 0, range })));
    else {
      const index = indexOfName(names, sheet.name);
      if (index === -1) missing.push(sheet.name);
      else sheets.push({ index, range });
    }
  }
  return { sheets, missing };
}

function toChoice(part: string): SheetChoice {
  const mark = part.lastIndexOf('!');
  const range = mark === -1 ? undefined : parseRange(part.slice(mark + 1));
  if (mark > 0 && range !== undefined) return { sheet: toSheet(part.slice(0, mark).trim()), range };
  const alone = part.includes(':') ? parseRange(part) : undefined;
  return alone === undefined ? { sheet: toSheet(part), range: WHOLE_SHEET } : { sheet: 'all', range: alone };
}

function toSheet(text: string): SheetChoice['sheet'] {
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return { name: quoted.replaceAll("''", "'") };
  const word = text.toLowerCase();
  return word === 'all' || word === 'first' ? word : { name: text };
}

function indexOfName(names: readonly string[], wanted: string): number {
  const exact = names.indexOf(wanted);
  return exact === -1 ? names.findIndex((name) => name.toLowerCase() === wanted.toLowerCase()) : exact;
}

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
