import type { Json } from '../../json.js';
import { type CellKind, sizeOfCell, toCell, uniqueNames } from './cells.js';
import type { StatementBounds, Table } from './session.js';

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
  private readonly bounds: Pick<StatementBounds, 'maxRows' | 'maxBytes'>;

  constructor(bounds: Pick<StatementBounds, 'maxRows' | 'maxBytes'>) {
    this.bounds = bounds;
  }

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
