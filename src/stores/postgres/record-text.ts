import type { Column, Resource } from '../../records/repository.js';
import { joinTexts } from '../../records/repository.js';
import { wellFormed } from './well-formed.js';

/** A row as {@link RecordText.selected} gives it. */
export interface RecordRow {
  readonly record: object;
  /** Hash of the shared document. */
  readonly document?: string | undefined;
}

/** How a table has the records of a resource: what a column holds stands in no text beside it. */
export interface RecordText<T> {
  /** The JSON text, without the shared document and without what columns hold. */
  write(record: T): string;
  /** The record of a row, without its shared document. */
  read(row: RecordRow): object;
  /** What a statement selects to read a record. */
  readonly selected: string;
}

/** The text of records of a resource. */
export function createRecordText<T>({ columns, shared }: Pick<Resource<T>, 'columns' | 'shared'>): RecordText<T> {
  const held = new Map<string, Column<T>>();
  const selected = ['record', ...(shared === undefined ? [] : ['document'])];
  for (const [name, column] of Object.entries<Column<T>>(columns)) {
    if (!('field' in column) || column.field === undefined) continue;
    held.set(column.field, column);
    selected.push(`${name}${column.type === 'number' ? '::float8' : ''} as "${column.field}"`);
  }
  if (held.size > 0) selected.push('id');
  return {
    selected: selected.join(', '),
    write(record) {
      if (held.size === 0 && shared === undefined) return JSON.stringify(record);
      const rest: Record<string, unknown> = {};
      for (const field in record) {
        if (field === shared || (field === 'id' && held.size > 0)) continue;
        const column = held.get(field);
        // What a text of Postgres cannot hold stays in the JSON, which can.
        if (column === undefined || storedValue(column, record) !== record[field]) rest[field] = record[field];
      }
      return JSON.stringify(rest);
    },
    read({ document: _, record, ...columnsOfRow }) {
      if (held.size === 0) return record;
      const whole: Record<string, unknown> = {};
      for (const [field, value] of Object.entries(columnsOfRow)) if (value !== null) whole[field] = value;
      return Object.assign(whole, record);
    },
  };
}

/** A column of a record as its table has it. */
export function storedValue<T>({ type, of }: Column<T>, record: T): string | number | null {
  const value = of(record);
  if (type === 'json') return JSON.stringify(value);
  // Postgres takes neither out of JSON.
  if (type === 'list') {
    return JSON.stringify((value as readonly string[]).map((text) => wellFormed(text.replaceAll('\0', ''))));
  }
  const stored = type === 'search' ? joinTexts(value as readonly string[]) : (value as string | number | null);
  return typeof stored === 'string' ? wellFormed(stored) : stored;
}
