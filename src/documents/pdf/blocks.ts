import type { Block, Inline, ListBlock, Marks } from '../content.js';
import { headingSize } from '../page.js';
import { type Atom, chop, type TextPiece, type TextStyle, wordsOf } from './atoms.js';
import type { PageFlow, Place } from './flow.js';
import { breakLines, LEADING, setLine } from './lines.js';
import type { Outline } from './outline.js';
import type { Pacer } from './pacer.js';
import { type CellSetter, drawTable } from './table.js';

const COLOUR = { text: '#1a1a1a', link: '#0563c1', quote: '#404040', code: '#f5f5f5', rule: '#bfbfbf' } as const;
const BULLETS = ['•', '◦', '▪'];
/** How far lists and quotes stand to the right, in points. */
const LIST_STEP = 22;
const QUOTE_STEP = 14;
/** Narrowest place; deeper lists stand no further to the right. */
const MIN_WIDTH = 120;
const CODE_PADDING = 5;
/** Size of fixed-width text over the text around it. */
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
    private readonly pacer: Pacer,
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
      if (this.pacer.isDue()) await this.pacer.rest();
      if (!isFirst) this.flow.gap(this.size * (block.kind === 'list' && level >= 0 ? 0.2 : 0.6), place);
      await this.#block(block, place, level, isQuoted);
      isFirst = false;
    }
  }

  async #block(block: Block, place: Place, level: number, isQuoted: boolean): Promise<void> {
    const { flow, size } = this;
    switch (block.kind) {
      case 'heading':
        this.#heading(block.level, block.content, place);
        return;
      case 'paragraph':
        await this.#lines(block.content, place, isQuoted ? COLOUR.quote : COLOUR.text);
        return;
      case 'code':
        await this.#code(block.lines, place);
        return;
      case 'quote': {
        const inside = this.#inset(place, QUOTE_STEP);
        await this.draw(block.blocks, { ...inside, bars: [...place.bars, inside.left - QUOTE_STEP + 3] }, level, true);
        return;
      }
      case 'rule':
        flow.strip(size * 0.8, place, (top) => {
          const y = top + size * 0.4;
          flow.pdf
            .moveTo(place.left, y)
            .lineTo(place.left + place.width, y)
            .lineWidth(0.7)
            .stroke(COLOUR.rule);
        });
        return;
      case 'page-break':
        flow.newPage();
        return;
      case 'list':
        await this.#list(block, place, level + 1, isQuoted);
        return;
      case 'table':
        await drawTable(block, flow, place, this.#cells, this.pacer);
        return;
    }
  }

  #heading(level: number, content: readonly Inline[], place: Place): void {
    const size = headingSize(level, this.size);
    const atoms = this.#atoms(content, { size, isBold: true, colour: COLOUR.text, width: place.width });
    const lines = breakLines(atoms, place.width, size, this.flow.typeface.measure);
    const height = lines.reduce((sum, line) => sum + line.height, 0);
    this.flow.gap(size * 0.4, place);
    // A heading does not stand alone at the foot of a page.
    this.flow.reserve(height + this.size * LEADING * 2.6);
    const texts = lines.flatMap(({ pieces }) => pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])));
    this.outline.add(level, texts.join(''));
    for (const line of lines) this.flow.line(line, place);
  }

  async #lines(content: readonly Inline[], place: Place, colour: string): Promise<void> {
    const { size } = this;
    const atoms = this.#atoms(content, { size, isBold: false, colour, width: place.width });
    for (const line of breakLines(atoms, place.width, size, this.flow.typeface.measure)) {
      if (this.pacer.isDue()) await this.pacer.rest();
      this.flow.line(line, place);
    }
  }

  async #code(lines: readonly string[], place: Place): Promise<void> {
    const { flow } = this;
    const style: TextStyle = { font: 'mono', size: this.size * CODE_SIZE, colour: COLOUR.text };
    const width = place.width - 2 * CODE_PADDING;
    for (const line of lines) {
      if (this.pacer.isDue()) await this.pacer.rest();
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
}

function styleOf({ bold, italic, struck, code }: Marks, { size, isBold, colour, href }: Around): TextStyle {
  const strength = isBold || bold ? 'bold' : 'regular';
  return {
    font: code ? MONO[strength] : italic ? ITALIC[strength] : strength,
    size: code ? size * CODE_SIZE : size,
    colour,
    ...(struck && { isStruck: true }),
    ...(href !== undefined && { href }),
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
