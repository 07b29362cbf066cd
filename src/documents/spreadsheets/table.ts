import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';

/** Cells of a sheet row, as they stand; a column without a cell is a hole. */
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

/** Counts cells against the most that may be held. */
export interface CellBudget {
  /** Takes cells; false, or an error, when there are not so many. */
  take(cells: number): boolean;
}

/** Makes a budget of `maxCells` cells, whose `take` throws EngineError LIMIT_REACHED when more are taken. */
export function createCellBudget(maxCells: number): CellBudget {
  let left = maxCells;
  return {
    take(cells) {
      left -= cells;
      if (left >= 0) return true;
      throw new EngineError(
        'LIMIT_REACHED',
        `The spreadsheets have more than ${maxCells.toLocaleString('en-US')} cells together; read fewer sheets, or a range such as Sheet1!A1:F5000.`,
      );
    },
  };
}

/** Makes a budget of `maxCells` cells for readers that stop when it is used up. */
export function createSoftBudget(maxCells: number): CellBudget {
  let left = maxCells;
  return {
    take(cells) {
      left -= cells;
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
  // A cell far away from the others makes a wide table of a few cells.
  budget.take(Math.max(0, positions.length * filled.length - given));
  const taken = new Set<string>();
  const columns = positions.map((column) => {
    const cell = header[column] ?? null;
    return uniqueName(hasValue(cell) ? String(cell) : `Unnamed: ${column}`, taken);
  });
  const rows = body.map((row) => positions.map((column) => emptyToNull(row[column])));
  return { name, columns, rows, hasHeader: true };
}

/** `name`, with `.1`, `.2` … when it is taken already; takes it. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let count = 1; taken.has(unique); count += 1) unique = `${name}.${count}`;
  taken.add(unique);
  return unique;
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
