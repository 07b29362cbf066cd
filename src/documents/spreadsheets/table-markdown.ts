import { renderValue } from '../../dsl/render-value.js';
import { markdownTable } from '../markdown-table.js';
import type { Table } from './table.js';

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
