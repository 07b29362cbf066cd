/** Rows of drivers as JSON. */
import { type Json, jsonOrText } from '../../json.js';
import type { StatementBounds, Table } from './session.js';

/** How a column's values are read. `plain`: by the type of the value alone. */
export type CellKind = 'plain' | 'whole' | 'decimal' | 'date' | 'time' | 'json' | 'bits';

/** Makes what gives the kind of a column, from the numbers or names that a server has for types of each kind. */
export function kindsOf<T>(types: Partial<Record<CellKind, readonly T[]>>): (type: T) => CellKind {
  const kinds = new Map<T, CellKind>();
  for (const [kind, numbers] of Object.entries(types)) for (const type of numbers) kinds.set(type, kind as CellKind);
  return (type) => kinds.get(type) ?? 'plain';
}

/** Digits that every double keeps. */
const SAFE_DIGITS = 15;

/**
 * A value as JSON.
 *
 * Numbers that a double would change are texts; NaN and infinities are null; dates are `YYYY-MM-DD` and times
 * `YYYY-MM-DD HH:mm:ss`; bytes are text where they are UTF-8, else hexadecimal.
 */
function toCell(value: unknown, kind: CellKind = 'plain'): Json {
  if (value === null || value === undefined) return null;
  if (kind === 'bits' && value instanceof Uint8Array) return wholeCell(bitsOf(value));
  if (value instanceof Uint8Array) return bytesCell(value);
  if (value instanceof Date) return dateCell(value, kind);
  if (typeof value === 'bigint') return wholeCell(String(value));
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string') return textCell(value, kind);
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => toCell(item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toCell(item)]));
}

/** Column names as keys of one object: a repeated one gets its number. */
function uniqueNames(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  const taken = new Set(names);
  return names.map((name) => {
    const before = seen.get(name) ?? 0;
    if (before === 0) {
      seen.set(name, 1);
      return name;
    }
    let count = before + 1;
    while (taken.has(`${name}_${count}`)) count += 1;
    seen.set(name, count);
    taken.add(`${name}_${count}`);
    return `${name}_${count}`;
  });
}

/** About how many bytes a cell takes. */
function sizeOfCell(cell: Json): number {
  if (typeof cell === 'string') return cell.length + 2;
  return typeof cell === 'object' && cell !== null ? JSON.stringify(cell).length : 8;
}

function textCell(text: string, kind: CellKind): Json {
  switch (kind) {
    case 'whole':
      return wholeCell(text);
    case 'decimal':
      return decimalCell(text);
    case 'date':
      return text.slice(0, 10) === text ? text : text.replace(/^(\d{4}-\d\d-\d\d)[ T].*$/, '$1');
    case 'time':
      return text.replace(/^(\d{4,6}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?/, '$1 $2');
    case 'json':
      return jsonOrText(text);
    default:
      return text;
  }
}

function wholeCell(text: string): Json {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

function decimalCell(text: string): Json {
  const number = Number(text);
  if (!Number.isFinite(number)) return null;
  const digits = text.replace(/^-?0*\.?0*|\./g, '').replace(/e.*$/i, '');
  return digits.length <= SAFE_DIGITS || Number.isSafeInteger(number) ? number : text;
}

/** Drivers that give dates give them in UTC. */
function dateCell(value: Date, kind: CellKind): Json {
  if (Number.isNaN(value.getTime())) return null;
  const text = value.toISOString().replace('T', ' ');
  return kind === 'date' ? text.slice(0, -14) : text.slice(0, -5);
}

function bytesCell(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `0x${Buffer.from(bytes).toString('hex')}`;
  }
}

function bitsOf(bytes: Uint8Array): string {
  return bytes.length === 0 ? '0' : String(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

/** A column as a driver names it. */
export interface Column {
  readonly name: string;
  readonly kind: CellKind;
}

/** Gathers rows of one statement until they are enough; the first one that does not fit says that there are more. */
export class RowCollector {
  private columns: readonly Column[] = [];
  private readonly rows: Json[][] = [];
  private bytes = 0;
  private isCut = false;

  constructor(private readonly bounds: Pick<StatementBounds, 'maxRows' | 'maxBytes'>) {}

  /** Must come before the rows. */
  setColumns(columns: readonly Column[]): void {
    this.columns = columns;
  }

  /** Takes a row, in the order of the columns; false when it was one too many. */
  add(row: readonly unknown[]): boolean {
    if (this.isCut) return false;
    const cells = this.columns.map(({ kind }, index) => toCell(row[index], kind));
    this.bytes += cells.reduce<number>((sum, cell) => sum + sizeOfCell(cell), 0);
    this.isCut = this.rows.length >= this.bounds.maxRows || this.bytes > this.bounds.maxBytes;
    if (!this.isCut) this.rows.push(cells);
    return !this.isCut;
  }

  table(): Table {
    return { columns: uniqueNames(this.columns.map(({ name }) => name)), rows: this.rows, isCut: this.isCut };
  }
}
