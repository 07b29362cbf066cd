import type { FileChild, IParagraphOptions } from 'docx';
import { columnsOf } from '../characters.js';
import { columnWidths } from '../column-widths.js';
import { type Block, type Inline, type ListBlock, plainText, type TableBlock } from '../content.js';
import { LIST_STEP, type ListNumbering, MAX_LEVEL, type Numberings } from './numbering.js';
import { type Docx, runsOf } from './runs.js';
import { COLOUR, STYLE } from './styles.js';

const TWIPS_A_POINT = 20;
/** How far a quote stands to the right, in twips. */
const QUOTE_STEP = 360;
/** Longest line and word of a table that count for the widths of its columns, in characters. */
const MAX_LINE = 60;
const MAX_WORD = 20;

const HEADINGS = ['Heading1', 'Heading2', 'Heading3', 'Heading4', 'Heading5', 'Heading6'] as const;

/** Turns blocks into paragraphs and tables of Word. */
export class BlockWriter {
  constructor(
    private readonly docx: Docx,
    private readonly numberings: Numberings,
    /** Width of the text, in points. */
    private readonly width: number,
  ) {}

  /** The blocks of a section; never empty, as a section has to hold a paragraph. */
  write(blocks: readonly Block[]): FileChild[] {
    const children = this.#write(blocks, { left: 0, level: -1, isQuoted: false });
    return children.length > 0 ? children : [new this.docx.Paragraph({})];
  }

  #write(blocks: readonly Block[], place: Place): FileChild[] {
    return blocks.flatMap((block) => this.#block(block, place));
  }

  #block(block: Block, place: Place): FileChild[] {
    const { Paragraph, PageBreak, BorderStyle } = this.docx;
    switch (block.kind) {
      case 'heading':
        return [this.#paragraph(block.content, place, { style: HEADINGS[block.level - 1] ?? 'Heading6' })];
      case 'paragraph':
        return [this.#paragraph(block.content, place)];
      case 'code':
        return [this.#code(block.lines, place)];
      case 'quote':
        return this.#write(block.blocks, { ...place, left: place.left + QUOTE_STEP, isQuoted: true });
      case 'rule':
        return [
          new Paragraph({ border: { bottom: { style: BorderStyle.SINGLE, size: 6, space: 1, color: COLOUR.line } } }),
        ];
      case 'page-break':
        return [new Paragraph({ children: [new PageBreak()] })];
      case 'list':
        return this.#list(block, place);
      case 'table':
        // Without a paragraph between them, Word joins two tables into one.
        return [this.#table(block, place), new Paragraph({ spacing: { after: 0, line: 120, lineRule: 'exact' } })];
    }
  }

  #paragraph(content: readonly Inline[], place: Place, options: IParagraphOptions = {}): FileChild {
    const width = this.width - place.left / TWIPS_A_POINT;
    return new this.docx.Paragraph({
      ...this.#standing(place),
      ...options,
      children: runsOf(this.docx, content, width),
    });
  }

  /** How a paragraph stands among lists and quotes. */
  #standing({ left, level, isQuoted }: Place): IParagraphOptions {
    const bar = { style: this.docx.BorderStyle.SINGLE, size: 12, space: 8, color: COLOUR.line };
    return {
      ...(isQuoted && { style: STYLE.quote, border: { left: bar } }),
      ...(!isQuoted && level >= 0 && { style: STYLE.list }),
      ...(left > 0 && { indent: { left } }),
    };
  }

  #code(lines: readonly string[], place: Place): FileChild {
    const { Paragraph, TextRun } = this.docx;
    const children = lines.map((line, index) => new TextRun({ text: line, ...(index > 0 && { break: 1 }) }));
    return new Paragraph({
      ...this.#standing(place),
      style: STYLE.code,
      shading: { type: 'clear', color: 'auto', fill: COLOUR.code },
      children,
    });
  }

  #list({ start, items }: ListBlock, place: Place): FileChild[] {
    const numbering = this.numberings.open(start);
    const inside: Place = { ...place, left: place.left + LIST_STEP, level: Math.min(MAX_LEVEL, place.level + 1) };
    return items.flatMap(({ checked, blocks }) => {
      const [first, ...others] = blocks;
      const isText = first?.kind === 'paragraph';
      const opening = this.#opening(isText ? first.content : [], checked, numbering, inside);
      return [opening, ...this.#write(isText ? others : blocks, inside)];
    });
  }

  /** The paragraph that carries the mark of an item. */
  #opening(
    content: readonly Inline[],
    checked: boolean | undefined,
    numbering: ListNumbering,
    place: Place,
  ): FileChild {
    const indent = { left: place.left, hanging: LIST_STEP };
    const { reference, instance } = numbering;
    if (checked === undefined) {
      return this.#paragraph(content, place, { numbering: { reference, level: place.level, instance }, indent });
    }
    const box: Inline = { kind: 'text', text: checked ? '☑ ' : '☐ ', marks: {} };
    return this.#paragraph([box, ...content], place, { indent });
  }

  #table({ align, header, rows }: TableBlock, place: Place): FileChild {
    const { Table, TableRow, TableCell, WidthType, BorderStyle } = this.docx;
    const widths = this.#columnWidths([header, ...rows], this.width - place.left / TWIPS_A_POINT);
    const cell = (content: readonly Inline[], column: number, isHead: boolean) =>
      new TableCell({
        width: { size: widths[column] ?? 0, type: WidthType.DXA },
        ...(isHead && { shading: { type: 'clear' as const, color: 'auto', fill: COLOUR.head } }),
        children: [
          new this.docx.Paragraph({
            spacing: { after: 0 },
            alignment: align[column] ?? 'left',
            children: runsOf(
              this.docx,
              isHead ? emboldened(content) : content,
              (widths[column] ?? 0) / TWIPS_A_POINT - 12,
            ),
          }),
        ],
      });
    const row = (cells: readonly (readonly Inline[])[], isHead: boolean) =>
      new TableRow({
        ...(isHead && { tableHeader: true }),
        cantSplit: true,
        children: cells.map((content, column) => cell(content, column, isHead)),
      });
    const line = { style: BorderStyle.SINGLE, size: 4, color: COLOUR.line };
    return new Table({
      columnWidths: widths,
      width: { size: widths.reduce((sum, width) => sum + width, 0), type: WidthType.DXA },
      ...(place.left > 0 && { indent: { size: place.left, type: WidthType.DXA } }),
      margins: { top: 60, bottom: 60, left: 100, right: 100 },
      borders: { top: line, bottom: line, left: line, right: line, insideHorizontal: line, insideVertical: line },
      rows: [row(header, true), ...rows.map((cells) => row(cells, false))],
    });
  }

  /** In twips: shared by the number of characters, since only the reader of the file knows its fonts. */
  #columnWidths(rows: readonly (readonly (readonly Inline[])[])[], width: number): number[] {
    const needs = (rows[0] ?? []).map((_, column) => {
      const texts = rows.map((row) => plainText(row[column] ?? []));
      const longest = (parts: readonly string[], most: number) =>
        parts.reduce((longestYet, part) => Math.max(longestYet, Math.min(most, columnsOf(part))), 3);
      const word = longest(
        texts.flatMap((text) => text.split(/\s+/)),
        MAX_WORD,
      );
      return {
        word,
        line: Math.max(
          word,
          longest(
            texts.flatMap((text) => text.split('\n')),
            MAX_LINE,
          ),
        ),
      };
    });
    const shares = columnWidths(needs, MAX_LINE);
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => Math.floor((share / total) * width * TWIPS_A_POINT));
  }
}

/** Where a block stands: its distance from the left in twips, its level of lists from 0 (-1: none). */
interface Place {
  readonly left: number;
  readonly level: number;
  readonly isQuoted: boolean;
}

function emboldened(content: readonly Inline[]): Inline[] {
  return content.map((inline) => {
    if (inline.kind === 'text') return { ...inline, marks: { ...inline.marks, bold: true } };
    return inline.kind === 'link' ? { ...inline, content: emboldened(inline.content) } : inline;
  });
}
