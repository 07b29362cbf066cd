import type { Json } from '../../json.js';
import { toUnreadable, unreadable } from '../reading/unreadable.js';
import { openZip, requireUnpackedSize } from '../reading/zip.js';
import { type CellRange, columnNumber, MAX_COLUMNS } from './cell-address.js';
import { type DateKind, dateText } from './date-formats.js';
import { type SheetSelection, selectSheets } from './select-sheets.js';
import type { CellBudget, GridRow } from './table.js';
import { findParts, partReader } from './workbook-parts.js';
import { RunText, readDateStyles, readSharedStrings, unescapeText } from './workbook-values.js';
import type { XmlAttributes, XmlHandler } from './xml-reader.js';

/** A sheet as it stands: its rows that have cells, in order. */
export interface SheetGrid {
  readonly name: string;
  readonly rows: readonly GridRow[];
}

/** Bounds and helpers of reading spreadsheets. */
export interface ReadOptions {
  readonly selection: SheetSelection;
  readonly budget: CellBudget;
  readonly signal?: AbortSignal | undefined;
  /** Told what could not be found. */
  readonly warn: (message: string) => void;
}

/** Most bytes of XML, unpacked; it is read as a stream, so this bounds time and not memory. */
const MAX_XML_BYTES = 512 * 1_048_576;

/** How cells of a workbook become values. */
interface CellContext {
  readonly strings: readonly string[];
  readonly styles: readonly (DateKind | undefined)[];
  readonly is1904: boolean;
}

/**
 * Reads the selected sheets of an `.xlsx` workbook, as a stream: memory grows with the cells that are selected, not with the
 * file, and others get their turn between chunks.
 *
 * Numbers, texts and booleans keep their type. Dates are ISO 8601 text (see `dateText`). A formula counts as the value that
 * it had when the file was saved; error values and formulas never calculated are empty.
 *
 * Errors: FILE_UNREADABLE for a damaged file; what the budget throws. A budget that refuses ends the reading.
 */
export async function readWorkbook(
  file: { readonly name: string; readonly bytes: Uint8Array },
  { selection, budget, signal, warn }: ReadOptions,
): Promise<readonly SheetGrid[]> {
  const { name, bytes } = file;
  try {
    const zip = openZip(bytes, name);
    const read = partReader(zip, name, signal);
    const parts = await findParts(zip, read, name);
    const { sheets, missing } = selectSheets(
      selection,
      parts.sheets.map((sheet) => sheet.name),
    );
    for (const wanted of missing) warn(`File "${name}" has no sheet "${wanted}".`);
    const used = [parts.sharedStrings, parts.styles, ...sheets.map(({ index }) => parts.sheets[index]?.entry)];
    requireUnpackedSize(
      used.filter((entry) => entry !== undefined),
      MAX_XML_BYTES,
      name,
    );
    const context = {
      strings: await readSharedStrings(parts.sharedStrings, read, name),
      styles: await readDateStyles(parts.styles, read),
      is1904: parts.is1904,
    };
    const grids: SheetGrid[] = [];
    for (const { index, range } of sheets) {
      const sheet = parts.sheets[index];
      if (sheet === undefined) continue;
      const cells = new SheetCells(context, range, budget, name);
      await read(sheet.entry, cells, () => cells.isDone);
      grids.push({ name: sheet.name, rows: cells.rows });
    }
    return grids;
  } catch (error) {
    throw toUnreadable(name, error, 'workbook');
  }
}

/** Gathers the cells of one sheet while its XML goes by. */
class SheetCells implements XmlHandler {
  readonly rows: GridRow[] = [];
  /** Whether everything behind the current place is outside of the range. */
  isDone = false;
  readonly #context: CellContext;
  readonly #range: CellRange;
  readonly #budget: CellBudget;
  readonly #file: string;
  readonly #run = new RunText();
  #row: Json[] = [];
  #rowNumber = 0;
  #column = 0;
  #type = '';
  #style = 0;
  #value = '';
  #isInValue = false;

  constructor(context: CellContext, range: CellRange, budget: CellBudget, file: string) {
    this.#context = context;
    this.#range = range;
    this.#budget = budget;
    this.#file = file;
  }

  open(name: string, attributes: XmlAttributes): void {
    switch (name) {
      case 'row':
        this.#rowNumber = Number(attributes.get('r')) || this.#rowNumber + 1;
        this.isDone ||= this.#rowNumber > this.#range.lastRow;
        this.#row = [];
        this.#column = 0;
        return;
      case 'c':
        this.#openCell(attributes);
        return;
      case 'v':
        this.#isInValue = true;
        return;
      default:
        this.#run.open(name);
    }
  }

  close(name: string): void {
    if (name === 'v') this.#isInValue = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'row') {
      if (this.#row.length > 0) this.rows.push(this.#row);
      this.#row = [];
    } else this.#run.close(name);
  }

  text(text: string): void {
    if (this.#isInValue) this.#value += text;
    else this.#run.add(text);
  }

  #openCell(attributes: XmlAttributes): void {
    this.#column = columnNumber(attributes.get('r') ?? '') || this.#column + 1;
    if (this.#column > MAX_COLUMNS) throw unreadable(this.#file, 'it has a cell behind column XFD.');
    this.#type = attributes.get('t') ?? 'n';
    this.#style = Number(attributes.get('s') ?? 0);
    this.#value = '';
    this.#run.clear();
  }

  #closeCell(): void {
    const { firstColumn, firstRow, lastColumn, lastRow } = this.#range;
    const isInside = this.#column >= firstColumn && this.#column <= lastColumn;
    if (!isInside || this.#rowNumber < firstRow || this.#rowNumber > lastRow) return;
    const value = this.#cellValue();
    if (value === null || value === '') return;
    if (!this.#budget.take(1)) this.isDone = true;
    else this.#row[this.#column - firstColumn] = value;
  }

  #cellValue(): Json {
    const value = this.#value;
    switch (this.#type) {
      case 'inlineStr':
        return unescapeText(this.#run.text);
      case 's':
        return this.#context.strings[Number(value)] ?? null;
      case 'str':
        return unescapeText(value);
      case 'b':
        return value === '' ? null : /^(?:1|true)$/.test(value.trim());
      case 'd':
        return value === '' ? null : value;
      case 'e':
        return null;
    }
    const number = value.trim() === '' ? Number.NaN : Number(value);
    if (!Number.isFinite(number)) return null;
    const kind = this.#context.styles[this.#style];
    return kind === undefined ? number : dateText(number, kind, this.#context.is1904);
  }
}
