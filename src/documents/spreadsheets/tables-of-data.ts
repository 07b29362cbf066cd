import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { type CellBudget, type Table, uniqueName } from './table.js';

/** What a list of anything but objects and lists is written under, as pandas does it for RAGFlow. */
const ONLY_COLUMN = '0';

/** How data is read. */
export interface DataOptions {
  /** Whether a first row of nothing but texts names the columns of a grid; otherwise they are numbered. Default false. */
  readonly hasNamedGrids?: boolean;
}

/**
 * The tables that data stands for: an object whose values are all lists is one sheet per key, any other object one row, a
 * list the rows of one sheet named `name`. Undefined for texts, numbers, booleans and null.
 */
export function tablesOfData(
  data: Json,
  name: string,
  budget: CellBudget,
  { hasNamedGrids = false }: DataOptions = {},
): readonly Table[] | undefined {
  const tableOf = (sheet: string, items: readonly Json[]): Table =>
    items.length > 0 && items.every((item) => Array.isArray(item))
      ? tableOfLists(sheet, items as readonly (readonly Json[])[], budget, hasNamedGrids)
      : tableOfRows(sheet, items, budget);
  if (Array.isArray(data)) return [tableOf(name, data)];
  if (!isJsonObject(data)) return undefined;
  if (!isSheets(data)) return [tableOf(name, [data])];
  return Object.entries(data).map(([sheet, rows]) => tableOf(sheet, rows as readonly Json[]));
}

/** Whether an object holds one list of rows per sheet. */
export function isSheets(data: JsonObject): boolean {
  return Object.values(data).every((value) => Array.isArray(value));
}

/** A list of rows as a table. Objects have a column per key; everything else goes into one column. */
function tableOfRows(name: string, items: readonly Json[], budget: CellBudget): Table {
  const objects = items.map((item) => (isJsonObject(item) ? item : { [ONLY_COLUMN]: item }));
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  budget.take(columns.length * objects.length);
  const rows = objects.map((object) => columns.map((column) => ownValue(object, column)));
  return { name, columns, rows, hasHeader: items.some(isJsonObject) };
}

/** A grid as a table. */
function tableOfLists(
  name: string,
  lists: readonly (readonly Json[])[],
  budget: CellBudget,
  hasNamedGrids: boolean,
): Table {
  const [first = []] = lists;
  const hasHeader = hasNamedGrids && first.length > 0 && first.every((cell) => typeof cell === 'string' && cell !== '');
  let width = 0;
  for (const list of lists) width = Math.max(width, list.length);
  budget.take(width * lists.length);
  const taken = new Set<string>();
  const columns = Array.from({ length: width }, (_, index) =>
    uniqueName(hasHeader && index < first.length ? String(first[index]) : String(index), taken),
  );
  const rows = lists.slice(hasHeader ? 1 : 0).map((list) => columns.map((_, index) => list[index] ?? null));
  return { name, columns, rows, hasHeader };
}

function ownValue(object: JsonObject, key: string): Json {
  return Object.hasOwn(object, key) ? (object[key] ?? null) : null;
}
