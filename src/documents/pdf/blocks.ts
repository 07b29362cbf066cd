/** Blocks on the pages of a PDF, tables included. */
import {
  type Align,
  type Block,
  type ColumnNeed,
  columnWidths,
  headingSize,
  type Inline,
  type ListBlock,
  type Marks,
  type TableBlock,
} from '../content.js';
import type { Outline, PageFlow, Place, Yielder } from './flow.js';
import {
  type Atom,
  breakLines,
  chop,
  LEADING,
  type Line,
  setLine,
  type TextPiece,
  type TextStyle,
  wordsOf,
} from './lines.js';

const COLOUR = { text: '#1a1a1a', link: '#0563c1', quote: '#404040', code: '#f5f5f5', rule: '#bfbfbf' } as const;
const BULLETS = ['•', '◦', '▪'];
/** How far lists and quotes stand to the right, in points. */
const LIST_STEP = 22;
const QUOTE_STEP = 14;
/** Narrowest place; deeper lists stand no further to the right. */
const MIN_WIDTH = 120;
const CODE_PADDING = 5;
/** Size of fixed-width text relative to the text around it. */
const CODE_SIZE = 0.9;
/** Points in a pixel. */
const PIXEL = 0.75;
const MONO = { regular: 'mono', bold: 'mono-bold' } as const;
const ITALIC = { regular: 'italic', bold: 'bold-italic' } as const;

/** Draws blocks on the pages of a document, one after another. */
export class BlockDrawing {
  readonly #cells: CellSetter;

  constructor(
    private readonly flow: PageFlow,
    private readonly outline: Outline,
    private readonly yielder: Yielder,
    private readonly size: number,
  ) {
    this.#cells = {
      size,
      atoms: (content, width, isHead) => this.#atoms(content, { size, isBold: isHead, colour: COLOUR.text, width }),
    };
  }

  /** Draws blocks in a place, with space between them. */
  async draw(blocks: readonly Block[], place: Place, level = -1, isQuoted = false): Promise<void> {
    let isFirst = true;
    for (const block of blocks) {
      if (this.yielder.isDue()) await this.yielder.yield();
      if (!isFirst) this.flow.gap(this.size * (block.kind === 'list' && level >= 0 ? 0.2 : 0.6), place);
      await this.#block(block, place, level, isQuoted);
      isFirst = false;
    }
  }

  async #block(block: Block, place: Place, level: number, isQuoted: boolean): Promise<void> {
    const { flow, size } = this;
    switch (block.kind) {
      case 'heading':
        return this.#heading(block.level, block.content, place);
      case 'paragraph':
        return this.#lines(block.content, place, isQuoted ? COLOUR.quote : COLOUR.text);
      case 'code':
        return this.#code(block.lines, place);
      case 'quote': {
        const inside = this.#inset(place, QUOTE_STEP);
        return this.draw(block.blocks, { ...inside, bars: [...place.bars, inside.left - QUOTE_STEP + 3] }, level, true);
      }
      case 'rule':
        return flow.strip(size * 0.8, place, (top) => {
          const y = top + size * 0.4;
          flow.pdf
            .moveTo(place.left, y)
            .lineTo(place.left + place.width, y)
            .lineWidth(0.7)
            .stroke(COLOUR.rule);
        });
      case 'page-break':
        return flow.newPage();
      case 'list':
        return this.#list(block, place, level + 1, isQuoted);
      case 'table':
        return drawTable(block, flow, place, this.#cells, this.yielder);
    }
  }

  #heading(level: number, content: readonly Inline[], place: Place): void {
    const size = headingSize(level, this.size);
    const atoms = this.#atoms(content, { size, isBold: true, colour: COLOUR.text, width: place.width });
    const lines = breakLines(atoms, place.width, size, this.flow.typeface.measure);
    const height = lines.reduce((sum, line) => sum + line.height, 0);
    this.flow.gap(size * 0.4, place);
    // Keeps a heading with what follows.
    this.flow.reserve(height + this.size * LEADING * 2.6);
    const texts = lines.flatMap(({ pieces }) => pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])));
    this.outline.add(level, texts.join(''));
    for (const line of lines) this.flow.line(line, place);
  }

  async #lines(content: readonly Inline[], place: Place, colour: string): Promise<void> {
    const { size } = this;
    const atoms = this.#atoms(content, { size, isBold: false, colour, width: place.width });
    for (const line of breakLines(atoms, place.width, size, this.flow.typeface.measure)) {
      if (this.yielder.isDue()) await this.yielder.yield();
      this.flow.line(line, place);
    }
  }

  async #code(lines: readonly string[], place: Place): Promise<void> {
    const { flow } = this;
    const style: TextStyle = { font: 'mono', size: this.size * CODE_SIZE, colour: COLOUR.text };
    const width = place.width - 2 * CODE_PADDING;
    for (const line of lines) {
      if (this.yielder.isDue()) await this.yielder.yield();
      const atoms = flow.typeface
        .pieces(expandTabs(line), style)
        .flatMap((piece) => chop(piece, Number.EPSILON, flow.typeface.measure));
      for (const set of wrapCode(atoms, width).map((pieces) => setLine(pieces, style.size))) {
        flow.strip(set.height, place, (top) => {
          flow.pdf.rect(place.left, top - 0.2, place.width, set.height + 0.4).fill(COLOUR.code);
          flow.drawLine(set, place.left + CODE_PADDING, top);
        });
      }
    }
  }

  async #list({ start, items }: ListBlock, place: Place, level: number, isQuoted: boolean): Promise<void> {
    const { flow, size } = this;
    const style: TextStyle = { font: 'regular', size, colour: COLOUR.text };
    const step = start === undefined ? LIST_STEP : this.#numberStep(start + items.length - 1, style);
    const inside = this.#inset(place, step);
    for (const [index, { checked, blocks }] of items.entries()) {
      const bullet = start === undefined ? (BULLETS[level % BULLETS.length] ?? '•') : `${start + index}.`;
      const text = checked === undefined ? bullet : checked ? '✓' : '□';
      const mark = { line: setLine(flow.typeface.pieces(text, style), size), isDrawn: false };
      if (index > 0) flow.gap(size * 0.2, place);
      const shown: readonly Block[] = blocks.length > 0 ? blocks : [{ kind: 'paragraph', content: [] }];
      await this.draw(shown, { ...inside, mark }, level, isQuoted);
    }
  }

  /** Room for the widest number of a list. */
  #numberStep(last: number, style: TextStyle): number {
    return Math.max(LIST_STEP, this.flow.typeface.measure(`${last}.`, style) + 10);
  }

  #inset(place: Place, step: number): Place {
    const used = Math.max(0, Math.min(step, place.width - MIN_WIDTH));
    return { left: place.left + used, width: place.width - used, bars: place.bars };
  }

  #atoms(content: readonly Inline[], around: Around): Atom[] {
    return content.flatMap((inline) => this.#inlineAtoms(inline, around));
  }

  #inlineAtoms(inline: Inline, around: Around): Atom[] {
    switch (inline.kind) {
      case 'text':
        return this.#words(inline.text, styleOf(inline.marks, around));
      case 'break':
        return [{ kind: 'break' }];
      case 'link':
        return this.#atoms(inline.content, { ...around, href: inline.href, colour: COLOUR.link });
      case 'jump':
        return this.#atoms(inline.content, { ...around, jump: inline.to, colour: COLOUR.link });
      case 'anchor':
        return [{ kind: 'text', text: '', style: { ...styleOf({}, around), anchor: inline.name }, width: 0 }];
      case 'image': {
        const picture = this.flow.pictures.open(inline.image);
        if (picture === undefined) return this.#words(`[${inline.alt}]`, styleOf({}, around));
        const { width, height } = inline.image;
        const most = this.flow.height - this.size * LEADING;
        const scale = Math.min(1, around.width / (width * PIXEL), most / (height * PIXEL));
        return [{ kind: 'picture', picture, width: width * PIXEL * scale, height: height * PIXEL * scale }];
      }
    }
  }

  #words(text: string, style: TextStyle): TextPiece[] {
    return wordsOf(text).flatMap((word) => this.flow.typeface.pieces(word, style));
  }
}

/** What holds for the text of a block. */
interface Around {
  readonly size: number;
  readonly isBold: boolean;
  readonly colour: string;
  /** Widest picture, in points. */
  readonly width: number;
  readonly href?: string;
  readonly jump?: string;
}

function styleOf({ bold, italic, struck, code }: Marks, { size, isBold, colour, href, jump }: Around): TextStyle {
  const strength = isBold || bold ? 'bold' : 'regular';
  return {
    font: code ? MONO[strength] : italic ? ITALIC[strength] : strength,
    size: code ? size * CODE_SIZE : size,
    colour,
    ...(struck && { isStruck: true }),
    ...(href !== undefined && { href }),
    ...(jump !== undefined && { jump }),
  };
}

function expandTabs(line: string): string {
  let text = '';
  for (const character of line) text += character === '\t' ? ' '.repeat(4 - (text.length % 4)) : character;
  return text;
}

/** Lines of characters, as many in each as fit; fixed-width text may break anywhere and keeps its spaces. */
function wrapCode<P extends { readonly width: number }>(characters: readonly P[], width: number): P[][] {
  const lines: P[][] = [[]];
  let taken = 0;
  for (const character of characters) {
    if (taken + character.width > width && taken > 0) {
      lines.push([]);
      taken = 0;
    }
    lines.at(-1)?.push(character);
    taken += character.width;
  }
  return lines;
}

/** Space between the text of a cell and its border, in points. */
const PADDING = 4;
const BORDER = { width: 0.5, colour: '#bfbfbf' } as const;
const HEAD_COLOUR = '#f2f2f2';
/** Most rows that count for the widths of the columns. */
const MAX_MEASURED_ROWS = 500;

/** What a table needs from the writer of blocks. */
export interface CellSetter {
  readonly size: number;
  /** Pieces of a cell whose text is at most `width` wide. */
  atoms(content: readonly Inline[], width: number, isHead: boolean): readonly Atom[];
}

/**
 * Draws a table. A row that does not fit goes to the next page, under the header again; one that is higher than a page is
 * continued there.
 */
async function drawTable(
  table: TableBlock,
  flow: PageFlow,
  place: Place,
  setter: CellSetter,
  yielder: Yielder,
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
    if (yielder.isDue()) await yielder.yield();
    let cells = linesOf(row, false);
    let isOnNewPage = false;
    while (heightOf(cells) > flow.rest) {
      const [now, later] = heightOf(cells) <= whole ? [undefined, cells] : split(cells, flow.rest - 2 * PADDING);
      // A line higher than a whole page is drawn as it is.
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
