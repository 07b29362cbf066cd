import { type CellRange, parseRange, WHOLE_SHEET } from './cell-address.js';

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
