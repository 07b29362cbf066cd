/** The sheets of an `.xlsx` workbook: cells, shared texts, dates. */
import type { Json } from '../../json.js';
import { toUnreadable, unreadable } from '../reading/limits.js';
import { openZip, requireUnpackedSize, type ZipEntry } from '../reading/zip.js';
import { type CellRange, columnNumber, MAX_COLUMNS, type SheetSelection, selectSheets } from './select-sheets.js';
import type { CellBudget, GridRow } from './table.js';
import { findParts, partReader, type ReadPart } from './workbook-parts.js';
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
  /** Called with what could not be found. */
  readonly warn: (message: string) => void;
}

/** Most bytes of XML, unpacked; it is read as a stream, so this bounds time and not memory. */
const MAX_XML_BYTES = 512 * 1_048_576;

/** How cells of a workbook become values. */
interface CellContext {
  readonly strings: SharedStrings;
  readonly styles: readonly (DateKind | undefined)[];
  readonly is1904: boolean;
}

/**
 * Reads the selected sheets of an `.xlsx` workbook, as a stream: memory grows with the cells that are selected, not with the
 * file, and it yields to the event loop between chunks.
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

/** Collects the cells of one sheet while its XML is parsed. */
class SheetCells implements XmlHandler {
  readonly rows: GridRow[] = [];
  /** Whether everything behind the current place is outside of the range. */
  isDone = false;
  readonly #run = new RunText();
  #row: Json[] = [];
  #rowNumber = 0;
  #column = 0;
  #type = '';
  #style = 0;
  #value = '';
  #isInValue = false;

  constructor(
    private readonly context: CellContext,
    private readonly range: CellRange,
    private readonly budget: CellBudget,
    private readonly file: string,
  ) {}

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'c') this.#openCell(attributes);
    else if (name === 'v') this.#isInValue = true;
    else if (name === 'row') {
      this.#rowNumber = Number(attributes.get('r')) || this.#rowNumber + 1;
      this.isDone ||= this.#rowNumber > this.range.lastRow;
      this.#row = [];
      this.#column = 0;
    } else this.#run.open(name);
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
    if (this.#isInValue) this.#value = withinLimit(this.#value + text);
    else this.#run.add(text);
  }

  #openCell(attributes: XmlAttributes): void {
    this.#column = columnNumber(attributes.get('r') ?? '') || this.#column + 1;
    if (this.#column > MAX_COLUMNS) throw unreadable(this.file, 'it has a cell behind column XFD.');
    this.#type = attributes.get('t') ?? 'n';
    this.#style = Number(attributes.get('s') ?? 0);
    this.#value = '';
    this.#run.clear();
  }

  #closeCell(): void {
    const { firstColumn, firstRow, lastColumn, lastRow } = this.range;
    const isInside = this.#column >= firstColumn && this.#column <= lastColumn;
    if (!isInside || this.#rowNumber < firstRow || this.#rowNumber > lastRow) return;
    const value = this.#cellValue();
    if (value === null || value === '') return;
    const characters = typeof value === 'string' ? value.length : 0;
    if (!this.budget.take(1, characters)) this.isDone = true;
    else this.#row[this.#column - firstColumn] = value;
  }

  #cellValue(): Json {
    const value = this.#value;
    switch (this.#type) {
      case 'inlineStr':
        return unescapeText(this.#run.text);
      case 's':
        return this.context.strings.at(Number(value)) ?? null;
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
    const kind = this.context.styles[this.#style];
    return kind === undefined ? number : dateText(number, kind, this.context.is1904);
  }
}

/** Longest text of a cell, in UTF-16 units; Excel has 32,767. */
const MAX_CELL_CHARACTERS = 1_048_576;

/** Errors: Error for a text that is longer, as joining its pieces would take all of the thread's memory at once. */
function withinLimit(text: string): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  throw new Error(`the text of a cell has more than ${MAX_CELL_CHARACTERS.toLocaleString('en-US')} characters`);
}

/** Longest texts of a workbook together, in UTF-16 units; all of them are in memory at once. */
const MAX_SHARED_CHARACTERS = 64 * 1_048_576;
/** Characters that XML cannot hold, as spreadsheets write them: `_x000D_`. */
const ESCAPED = /_x([0-9a-f]{4})_/gi;

/** The text of a cell as it was typed. */
function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text
    .replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\r\n', '\n');
}

/**
 * Collects the text of an element that may have differently formatted runs; the reading aid of East Asian texts (`rPh`) is
 * no part of it.
 */
class RunText {
  text = '';
  #isCollecting = false;
  #isAid = false;

  clear(): void {
    this.text = '';
    this.#isCollecting = false;
    this.#isAid = false;
  }

  open(name: string): void {
    if (name === 'rPh') this.#isAid = true;
    else if (name === 't') this.#isCollecting = !this.#isAid;
  }

  close(name: string): void {
    if (name === 'rPh') this.#isAid = false;
    else if (name === 't') this.#isCollecting = false;
  }

  add(text: string): void {
    if (this.#isCollecting) this.text = withinLimit(this.text + text);
  }
}

/** Texts on a page of {@link SharedStrings}. */
const PAGE_LENGTH = 65_536;

/** Texts by number. One long list would grow in steps that end the process where the thread has no memory for them. */
class SharedStrings {
  readonly #pages: string[][] = [[]];

  push(text: string): void {
    let page = this.#pages.at(-1);
    if (page === undefined || page.length === PAGE_LENGTH) {
      page = [];
      this.#pages.push(page);
    }
    page.push(text);
  }

  at(index: number): string | undefined {
    return this.#pages[Math.floor(index / PAGE_LENGTH)]?.[index % PAGE_LENGTH];
  }
}

/** Reads the texts that cells refer to by number. Errors: FILE_UNREADABLE beyond 64 Mi characters. */
async function readSharedStrings(entry: ZipEntry | undefined, read: ReadPart, name: string): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (entry === undefined) return strings;
  const run = new RunText();
  let total = 0;
  await read(entry, {
    open(element) {
      if (element === 'si') run.clear();
      else run.open(element);
    },
    close(element) {
      run.close(element);
      if (element !== 'si') return;
      total += run.text.length;
      if (total > MAX_SHARED_CHARACTERS) throw unreadable(name, 'its texts are longer than 64 million characters.');
      strings.push(unescapeText(run.text));
    },
    text: (text) => run.add(text),
  });
  return strings;
}

/** Most formats, and most styles; Excel has about 64,000. */
const MAX_STYLES = 262_144;

/** Reads what each cell style, by its number, shows numbers as. */
async function readDateStyles(entry: ZipEntry | undefined, read: ReadPart): Promise<readonly (DateKind | undefined)[]> {
  const codes = new Map<number, string>();
  const styles: (DateKind | undefined)[] = [];
  if (entry === undefined) return styles;
  let isInCells = false;
  await read(entry, {
    open(element, attributes) {
      if (styles.length > MAX_STYLES || codes.size > MAX_STYLES) {
        throw new Error(`it has more than ${MAX_STYLES.toLocaleString('en-US')} styles or formats`);
      }
      if (element === 'cellXfs') isInCells = true;
      else if (element === 'numFmt') codes.set(Number(attributes.get('numFmtId')), attributes.get('formatCode') ?? '');
      else if (element === 'xf' && isInCells) {
        const id = Number(attributes.get('numFmtId') ?? 0);
        styles.push(dateKind(id, codes.get(id)));
      }
    },
    close(element) {
      if (element === 'cellXfs') isInCells = false;
    },
  });
  return styles;
}

/** What a number format shows a number as. */
export type DateKind = 'date' | 'date-time' | 'time' | 'duration';

const DAY_MS = 86_400_000;
/** Days between 1899-12-30, where numbers of the 1900 calendar count from, and 1970-01-01. */
const EPOCH_1900 = 25_569;
/** The 1904 calendar of old Macs begins so many days later. */
const SHIFT_1904 = 1462;
/** Serial number of 1900-02-29, a day that only spreadsheets have; those before it stand one day off. */
const PHANTOM_DAY = 60;
/** Serial number after 9999-12-31. */
const MAX_SERIAL = 2_958_466;

/** Built-in formats by id (ECMA-376, 18.8.30), the East Asian ones included. */
const BUILT_IN: ReadonlyMap<number, DateKind> = new Map([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date'] as const),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56].map((id) => [id, 'time'] as const),
  [22, 'date-time'],
  [46, 'duration'],
]);

/** Parts of a format that show no number: quoted and escaped text, fillers, colours, conditions, currencies. */
const LITERALS = /"[^"]*"|\\.|[_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;

/** Longest format of Excel, in characters. */
const MAX_CODE = 255;

/** What a number format shows; undefined for plain numbers. `code` is the format's text, absent for a built-in one. */
export function dateKind(id: number, code: string | undefined): DateKind | undefined {
  if (code === undefined) return BUILT_IN.get(id);
  const [format = ''] = code.slice(0, MAX_CODE).replace(LITERALS, '').split(';', 1);
  if (/^general$/i.test(format.trim())) return undefined;
  if (/\[(?:h+|m+|s+)\]/i.test(format)) return 'duration';
  const hasTime = /[hs]|a\/p|am\/pm/i.test(format);
  const letters = format.replace(/am\/pm|a\/p/gi, '');
  const hasDate = /[yd]/i.test(letters) || (!hasTime && /m/i.test(letters));
  if (hasDate) return hasTime ? 'date-time' : 'date';
  return hasTime ? 'time' : undefined;
}

/**
 * A date of a spreadsheet as ISO 8601 text without a zone, as spreadsheets know none: `2024-01-31`, `2024-01-31T10:20:30`,
 * `10:20:30`; a duration may have more than 24 hours. A number that is no date of the calendar stays a number.
 */
export function dateText(serial: number, kind: DateKind, is1904: boolean): string | number {
  const days = is1904 ? serial + SHIFT_1904 : serial;
  if (serial < 0 || days >= MAX_SERIAL) return serial;
  if (kind === 'duration' || (kind !== 'date-time' && serial < 1 && (kind === 'time' || serial > 0))) {
    return timeText(serial);
  }
  const shifted = days < PHANTOM_DAY ? days + 1 : days;
  // Fractions of a day are not exact in binary; a spreadsheet keeps milliseconds.
  const text = new Date(Math.round((shifted - EPOCH_1900) * DAY_MS)).toISOString();
  if (kind === 'date' && text.endsWith('T00:00:00.000Z')) return text.slice(0, 10);
  return text.replace(/(?:\.000)?Z$/, '');
}

function timeText(serial: number): string {
  const total = Math.round(serial * DAY_MS);
  const [hours, minutes, seconds] = [total / 3_600_000, (total / 60_000) % 60, (total / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  const fraction = total % 1000 === 0 ? '' : `.${String(total % 1000).padStart(3, '0')}`;
  return `${hours}:${minutes}:${seconds}${fraction}`;
}
