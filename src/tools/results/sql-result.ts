import type { Table } from '../../adapters/sql/session.js';
import { markdownTable } from '../../documents/markdown-tables.js';
import type { Json, JsonObject } from '../../json.js';
import { type ToolResult, toolResult } from '../tool.js';

/** What one statement gave: rows, or a sentence in their place. */
export type Outcome = { readonly table: Table } | { readonly content: string };

const NOTHING = 'No record in the database!';
const TOO_LARGE = 'There are rows, but they are too large to be shown; select fewer columns, or smaller ones.';

/** One element of `json` and one part of the text per statement. */
export function sqlResult(outcomes: readonly Outcome[]): ToolResult {
  const shown = outcomes.map((outcome) =>
    'table' in outcome && outcome.table.rows.length === 0
      ? { content: outcome.table.isCut ? TOO_LARGE : NOTHING }
      : outcome,
  );
  const json = shown.map(
    (outcome): Json => ('table' in outcome ? rowsOf(outcome.table) : { content: outcome.content }),
  );
  const text = shown.map((outcome) => ('table' in outcome ? tableText(outcome.table) : outcome.content)).join('\n\n');
  return toolResult(text, { formalized_content: text, json });
}

function rowsOf({ columns, rows }: Table): JsonObject[] {
  // Entries and no assignments: a column may be called `__proto__`.
  return rows.map((cells) => Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? null])));
}

function tableText({ columns, rows, isCut }: Table): string {
  const table = markdownTable(
    columns,
    rows.map((cells) => cells.map(cellText)),
  );
  return isCut ? `${table}\n\nThese are the first ${rows.length} rows; there are more.` : table;
}

/** Fractions with six digits, as RAGFlow's tables have them. */
function cellText(cell: Json): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return Number.isInteger(cell) ? String(cell) : cell.toFixed(6);
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}
