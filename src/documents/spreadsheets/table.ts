/** Tables of spreadsheets: rows under named columns, budgets of cells, types of columns, Markdown. */
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';
import { markdownTable } from '../markdown-tables.js';

/** Cells of a row of a sheet; a column without a cell is a hole. */
export type GridRow = readonly (Json | undefined)[];

/** Rows under named columns. */
export interface Table {
  /** Name of the sheet. */
  readonly name: string;
  /** Each once, in order. */
  readonly columns: readonly string[];
  /** One value per column; null stands for an empty cell. */
  readonly rows: readonly (readonly Json[])[];
  /** False when the columns were numbered, as the data has no names for them. */
  readonly hasHeader: boolean;
}

/** Counts cells, and the UTF-16 units of their texts, against the most that may be held. */
export interface CellBudget {
  /** Takes cells with so many UTF-16 units together; false, or an error, when there are not so many. */
  take(cells: number, characters?: number): boolean;
}

/**
 * Most UTF-16 units of the texts of one node's spreadsheets, the names of columns counted for every row. A few bytes of a workbook can
 * refer to a long text half a million times: what leaves the thread holds each of them.
 */
export const MAX_CHARACTERS = 64 * 1_048_576;

/**
 * Makes a budget of `maxCells` cells and {@link MAX_CHARACTERS} UTF-16 units, whose `take` throws EngineError LIMIT_REACHED when more are
 * taken.
 */
export function createCellBudget(maxCells: number): CellBudget {
  const budget = createSoftBudget(maxCells);
  let characters = 0;
  return {
    take(cells, added = 0) {
      characters += added;
      if (characters > MAX_CHARACTERS) throw tooLong();
      if (budget.take(cells)) return true;
      throw new EngineError(
        'LIMIT_REACHED',
        `The spreadsheets have more than ${maxCells.toLocaleString('en-US')} cells together; read fewer sheets, or a range such as Sheet1!A1:F5000.`,
      );
    },
  };
}

function tooLong(): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The texts of the spreadsheets, with the names of their columns in every row, have more than ${MAX_CHARACTERS.toLocaleString('en-US')} characters together; read fewer sheets, or a range such as Sheet1!A1:F5000.`,
  );
}

/** @throws EngineError LIMIT_REACHED for tables whose records have more than {@link MAX_CHARACTERS} UTF-16 units together. */
export function requireRecordSize(tables: readonly Table[]): void {
  let characters = 0;
  for (const { columns, rows } of tables) {
    for (const name of columns) characters += name.length * Math.max(1, rows.length);
    for (const row of rows) for (const cell of row) if (typeof cell === 'string') characters += cell.length;
    if (characters > MAX_CHARACTERS) throw tooLong();
  }
}

/**
 * Makes a budget of `maxCells` cells for readers that stop when it is used up. The text that exceeds `maxCharacters` is still taken, and
 * the next cell is not.
 */
export function createSoftBudget(maxCells: number, maxCharacters = Number.POSITIVE_INFINITY): CellBudget {
  let left = maxCells;
  let taken = 0;
  return {
    take(cells, characters = 0) {
      if (taken > maxCharacters) return false;
      left -= cells;
      taken += characters;
      return left >= 0;
    },
  };
}

/**
 * Makes a table of a grid: the first row that is not empty names the columns. Empty rows, and columns without name and
 * values, are left out. A column without a name is `Unnamed: <index>`, a name that is taken gets `.1`, `.2` …, as pandas
 * does it for RAGFlow.
 *
 * The cells of the grid are counted already, so the budget is asked for the holes alone.
 */
export function tableOfGrid(name: string, grid: readonly GridRow[], budget: CellBudget): Table {
  const filled = grid.filter((row) => row.some(hasValue));
  const [header = [], ...body] = filled;
  const used = new Set<number>();
  let given = 0;
  for (const row of filled) {
    row.forEach((cell, column) => {
      given += 1;
      if (hasValue(cell)) used.add(column);
    });
  }
  const positions = [...used].sort((left, right) => left - right);
  // One distant cell makes a wide table.
  budget.take(Math.max(0, positions.length * filled.length - given));
  const taken: TakenNames = new Map();
  const columns = positions.map((column) => {
    const cell = header[column] ?? null;
    return uniqueName(hasValue(cell) ? String(cell) : `Unnamed: ${column}`, taken);
  });
  const rows = body.map((row) => positions.map((column) => emptyToNull(row[column])));
  return { name, columns, rows, hasHeader: true };
}

/** Names that are taken, each with the number that is tried next for another one like it. */
export type TakenNames = Map<string, number>;

/** `name`, with `.1`, `.2` … when it is taken already; takes it. Linear in the names, however many are alike. */
export function uniqueName(name: string, taken: TakenNames): string {
  const next = taken.get(name);
  if (next === undefined) {
    taken.set(name, 1);
    return name;
  }
  let count = next;
  while (taken.has(`${name}.${count}`)) count += 1;
  taken.set(name, count + 1);
  taken.set(`${name}.${count}`, 1);
  return `${name}.${count}`;
}

/** The rows as objects by column. */
export function toRecords({ columns, rows }: Table): JsonObject[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
}

function hasValue(cell: Json | undefined): boolean {
  return cell !== undefined && cell !== null && cell !== '';
}

function emptyToNull(cell: Json | undefined): Json {
  return cell === undefined || cell === '' ? null : cell;
}

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

/** Whether a text is a number that a spreadsheet keeps as it is written. */
export function isExactNumber(text: string): boolean {
  if (!NUMBER.test(text) || !Number.isFinite(Number(text))) return false;
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return digits.length <= MAX_DIGITS;
}

/** The first `maxRows` rows of a table in Markdown. */
export function tableMarkdown({ columns, rows }: Table, maxRows = Number.POSITIVE_INFINITY): string {
  if (columns.length === 0) return '';
  return markdownTable(
    columns,
    (rows.length > maxRows ? rows.slice(0, maxRows) : rows).map((row) => row.map((cell) => renderValue(cell))),
  );
}

/** Tables in Markdown, each under its name as a heading. */
export function sheetsMarkdown(tables: readonly Table[], maxRows?: number): string {
  return tables.map((table) => `### ${table.name}\n\n${tableMarkdown(table, maxRows)}`.trimEnd()).join('\n\n');
}
