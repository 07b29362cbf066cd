import { canonicalJson } from '../../dsl/canonical-json.js';
import { sortValues } from '../../dsl/json-order.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { type CellBudget, type Table, uniqueName } from './table.js';

/** Puts tables one under the other; the columns are those of all, in the order of their first appearance. */
export function concatTables(tables: readonly Table[], budget: CellBudget): Table {
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  budget.take(columns.length * tables.reduce((sum, { rows }) => sum + rows.length, 0));
  const rows = tables.flatMap((table) => {
    const places = columns.map((column) => table.columns.indexOf(column));
    return table.rows.map((row) => places.map((place) => row[place] ?? null));
  });
  return { name: 'merged', columns, rows, hasHeader: true };
}

/**
 * Joins tables from left to right on columns that all have (full outer join): rows with equal keys are put together, every
 * pair of them, and rows without a partner stay, with empty cells. As in pandas, which RAGFlow uses, the result is sorted by
 * the keys, empty keys equal each other, and columns of the same name get `_x` and `_y`.
 *
 * @throws EngineError NODE_FAILED for a table without a key column, LIMIT_REACHED beyond the budget.
 */
export function joinTables(tables: readonly Table[], keys: readonly string[], budget: CellBudget): Table {
  for (const table of tables) requireColumns(table, keys);
  const [first, ...others] = tables;
  if (first === undefined) return concatTables([], budget);
  const joined = others.reduce((left, right) => joinPair(left, right, keys, budget), first);
  return { ...joined, name: 'merged' };
}

function joinPair(left: Table, right: Table, keys: readonly string[], budget: CellBudget): Table {
  const added = right.columns.filter((column) => !keys.includes(column));
  const columns = joinedColumns(left.columns, added, keys);
  const leftKeys = keys.map((key) => left.columns.indexOf(key));
  const rightKeys = keys.map((key) => right.columns.indexOf(key));
  const places = added.map((column) => right.columns.indexOf(column));
  const partners = groupRows(right.rows, rightKeys);
  const rows: Json[][] = [];
  const add = (row: Json[]): void => {
    budget.take(columns.length);
    rows.push(row);
  };
  const met = new Set<string>();
  for (const row of left.rows) {
    const key = keyOf(row, leftKeys);
    met.add(key);
    const found = partners.get(key);
    if (found === undefined) add([...row, ...places.map(() => null)]);
    else for (const partner of found) add([...row, ...places.map((place) => partner[place] ?? null)]);
  }
  for (const [key, alone] of partners) {
    if (met.has(key)) continue;
    for (const row of alone) {
      const cells = left.columns.map((column) => row[rightKeys[keys.indexOf(column)] ?? -1] ?? null);
      add([...cells, ...places.map((place) => row[place] ?? null)]);
    }
  }
  return { name: left.name, columns, rows: sortByKeys(rows, leftKeys), hasHeader: true };
}

function groupRows(rows: Table['rows'], places: readonly number[]): Map<string, (readonly Json[])[]> {
  const groups = new Map<string, (readonly Json[])[]>();
  for (const row of rows) {
    const key = keyOf(row, places);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function joinedColumns(left: readonly string[], added: readonly string[], keys: readonly string[]): string[] {
  const taken = new Set<string>();
  return [
    ...left.map((column) =>
      uniqueName(added.includes(column) && !keys.includes(column) ? `${column}_x` : column, taken),
    ),
    ...added.map((column) => uniqueName(left.includes(column) ? `${column}_y` : column, taken)),
  ];
}

function keyOf(row: readonly Json[], places: readonly number[]): string {
  return canonicalJson(places.map((place) => row[place] ?? null));
}

function sortByKeys(rows: readonly Json[][], places: readonly number[]): Json[][] {
  // The position behind the keys keeps equal ones in their order.
  const keyed = rows.map((row, index) => [...places.map((place) => row[place] ?? null), index]);
  return sortValues(keyed).map((key) => rows[(key as readonly Json[]).at(-1) as number] ?? []);
}

function requireColumns({ name, columns }: Table, keys: readonly string[]): void {
  const missing = keys.filter((key) => !columns.includes(key));
  if (missing.length === 0) return;
  const [wanted, had] = [missing, columns].map((names) => names.map((column) => `"${column}"`).join(', '));
  throw new EngineError(
    'NODE_FAILED',
    `Sheet "${name}" cannot be joined on ${wanted}: its columns are ${had === '' ? 'none' : had}. Set join_on to a column that all sheets have.`,
  );
}
