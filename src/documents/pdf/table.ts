import { type ColumnNeed, columnWidths } from '../column-widths.js';
import type { Align, Inline, TableBlock } from '../content.js';
import type { Atom } from './atoms.js';
import type { PageFlow, Place } from './flow.js';
import { breakLines, type Line } from './lines.js';
import type { Pacer } from './pacer.js';

/** Space between the text of a cell and its border, in points. */
const PADDING = 4;
const BORDER = { width: 0.5, colour: '#bfbfbf' } as const;
const HEAD_COLOUR = '#f2f2f2';
/** Most rows that count for the widths of the columns. */
const MAX_MEASURED_ROWS = 500;

/** What a table needs of the writer of blocks. */
export interface CellSetter {
  readonly size: number;
  /** Pieces of a cell whose text is at most `width` wide. */
  atoms(content: readonly Inline[], width: number, isHead: boolean): readonly Atom[];
}

/**
 * Draws a table. A row that does not fit goes to the next page, under the header again; one that is higher than a page is
 * continued there.
 */
export async function drawTable(
  table: TableBlock,
  flow: PageFlow,
  place: Place,
  setter: CellSetter,
  pacer: Pacer,
): Promise<void> {
  const { align, header, rows } = table;
  const widths = cellWidths([header, ...rows.slice(0, MAX_MEASURED_ROWS)], place.width, flow, setter);
  const linesOf = (row: readonly (readonly Inline[])[], isHead: boolean): Line[][] =>
    row.map((cell, column) => {
      const inner = Math.max(1, (widths[column] ?? 0) - 2 * PADDING);
      return breakLines(setter.atoms(cell, inner, isHead), inner, setter.size, flow.typeface.measure);
    });
  const drawing = new TableDrawing(flow, place, widths, align);
  const head = linesOf(header, true);
  const headHeight = heightOf(head);
  const firstHeight = rows[0] === undefined ? 0 : heightOf(linesOf(rows[0], false));
  flow.reserve(headHeight + firstHeight);
  drawing.row(head, true);
  // A header that leaves no room for the rows under it is drawn once.
  const isRepeated = headHeight + setter.size * 4 < flow.height / 2;
  const whole = flow.height - (isRepeated ? headHeight : 0);
  for (const row of rows) {
    if (pacer.isDue()) await pacer.rest();
    let cells = linesOf(row, false);
    let isOnNewPage = false;
    while (heightOf(cells) > flow.rest) {
      const [now, later] = heightOf(cells) <= whole ? [undefined, cells] : split(cells, flow.rest - 2 * PADDING);
      // A line higher than a whole page can give stands there as it is.
      if (now === undefined && isOnNewPage) break;
      if (now !== undefined) drawing.row(now, false);
      flow.newPage();
      isOnNewPage = true;
      if (isRepeated) drawing.row(head, true);
      cells = later;
    }
    drawing.row(cells, false);
  }
}

class TableDrawing {
  constructor(
    private readonly flow: PageFlow,
    private readonly place: Place,
    private readonly widths: readonly number[],
    private readonly align: readonly Align[],
  ) {}

  row(cells: readonly (readonly Line[])[], isHead: boolean): void {
    const { flow, place } = this;
    const height = heightOf(cells);
    flow.strip(height, place, (top) => {
      let x = place.left;
      cells.forEach((lines, column) => {
        const width = this.widths[column] ?? 0;
        if (isHead) flow.pdf.rect(x, top, width, height).fill(HEAD_COLOUR);
        flow.pdf.rect(x, top, width, height).lineWidth(BORDER.width).strokeColor(BORDER.colour).stroke();
        this.#cell(lines, x, top + PADDING, width, this.align[column] ?? 'left');
        x += width;
      });
    });
  }

  #cell(lines: readonly Line[], left: number, top: number, width: number, align: Align): void {
    const share = align === 'right' ? 1 : align === 'center' ? 0.5 : 0;
    let y = top;
    for (const line of lines) {
      const space = Math.max(0, width - 2 * PADDING - line.width);
      this.flow.drawLine(line, left + PADDING + space * share, y);
      y += line.height;
    }
  }
}

function heightOf(cells: readonly (readonly Line[])[]): number {
  const heights = cells.map((lines) => lines.reduce((sum, line) => sum + line.height, 0));
  return Math.max(0, ...heights) + 2 * PADDING;
}

/** The lines of a row that fit into `height`, and the others; undefined when there is none that fits. */
function split(cells: readonly (readonly Line[])[], height: number): [Line[][] | undefined, Line[][]] {
  const counts = cells.map((lines) => {
    let left = height;
    const end = lines.findIndex((line) => {
      left -= line.height;
      return left < 0;
    });
    return end === -1 ? lines.length : end;
  });
  const now = cells.map((lines, column) => lines.slice(0, counts[column]));
  const later = cells.map((lines, column) => lines.slice(counts[column]));
  return [counts.some((count) => count > 0) ? now : undefined, later];
}

function cellWidths(
  rows: readonly (readonly (readonly Inline[])[])[],
  available: number,
  { typeface }: PageFlow,
  setter: CellSetter,
): number[] {
  const needs = (rows[0] ?? []).map((_, column): ColumnNeed => {
    let word = 0;
    let line = 0;
    rows.forEach((row, index) => {
      const atoms = setter.atoms(row[column] ?? [], available, index === 0);
      for (const atom of atoms) if (atom.kind !== 'break') word = Math.max(word, atom.width);
      const natural = breakLines(atoms, Number.POSITIVE_INFINITY, setter.size, typeface.measure);
      for (const { width } of natural) line = Math.max(line, width);
    });
    const most = available / 2;
    return { word: Math.min(word, most) + 2 * PADDING, line: Math.max(line, Math.min(word, most)) + 2 * PADDING };
  });
  return columnWidths(needs, available);
}
