/** Sections of blocks as a document of Word: paragraphs, lists, tables, styles. */
import type {
  FileChild,
  INumberingOptions,
  IParagraphOptions,
  IParagraphStyleOptions,
  IRunOptions,
  ISectionOptions,
  IStylesOptions,
  ParagraphChild,
} from 'docx';
import { columnsOf } from './characters.js';
import {
  type Block,
  columnWidths,
  EDGE,
  headingSize,
  type Inline,
  type ListBlock,
  MARGIN,
  type Marks,
  PAPER,
  type Page,
  plainText,
  type Section,
  type TableBlock,
} from './content.js';
import {
  Bookmark,
  BorderStyle,
  Document,
  ExternalHyperlink,
  Footer,
  Header,
  ImageRun,
  InternalHyperlink,
  Packer,
  PageBreak,
  PageNumber,
  Paragraph,
  Tab,
  Table,
  TableCell,
  TableRow,
  TabStopType,
  TextRun,
  TextWatermark,
  WidthType,
} from './docx-library.js';
import type { Image } from './image.js';

/**
 * Writes sections as a document of Word: styles Normal and Heading 1 to 6, real lists and tables, a header, and a footer with
 * its text left, the time of making in the middle and the page number right.
 */
export async function writeDocx(sections: readonly Section[], page: Page): Promise<Uint8Array> {
  const numberings = new Numberings();
  const paper = PAPER[page.size];
  const writer = new BlockWriter(numberings, paper.width - MARGIN.left - MARGIN.right);
  const written = sections.map(
    (section): ISectionOptions => ({
      properties: {
        page: { size: twips(paper), margin: twips({ ...MARGIN, header: EDGE.margin, footer: EDGE.margin }) },
      },
      headers: { default: headerOf(section, page) },
      footers: { default: footerOf(section, page) },
      children: writer.write(section.blocks),
    }),
  );
  const file = new Document({
    title: page.title,
    creator: 'Runnel',
    lastModifiedBy: 'Runnel',
    styles: documentStyles(page.fontSize),
    numbering: numberings.options,
    sections: written,
  });
  return new Uint8Array(await Packer.toBuffer(file));
}

function headerOf({ header }: Section, { watermark }: Page) {
  const mark = { text: watermark, font: 'Calibri', color: COLOUR.watermark, opacity: 0.5, rotation: 315 };
  const children: ParagraphChild[] = [];
  if (header !== '') children.push(new TextRun(header));
  if (watermark !== '') children.push(new TextWatermark(mark));
  return new Header({ children: [new Paragraph({ style: STYLE.edge, children })] });
}

function footerOf({ footer }: Section, { generated, hasNumbers, size }: Page) {
  const width = PAPER[size].width - MARGIN.left - MARGIN.right;
  const tab = new Tab();
  const children = [
    new TextRun({ text: footer }),
    new TextRun({ children: [tab, generated] }),
    new TextRun({ children: hasNumbers ? [tab, 'Page ', PageNumber.CURRENT] : [tab] }),
  ];
  const tabStops = [
    { type: TabStopType.CENTER, position: Math.round(width * 10) },
    { type: TabStopType.RIGHT, position: Math.round(width * 20) },
  ];
  return new Footer({ children: [new Paragraph({ style: STYLE.edge, tabStops, children })] });
}

/** Points as twentieths of a point, the unit of Word. */
function twips<K extends string>(points: Readonly<Record<K, number>>): Record<K, number> {
  const entries = Object.entries<number>(points).map(([key, value]) => [key, Math.round(value * 20)]);
  return Object.fromEntries(entries) as Record<K, number>;
}

const TWIPS_A_POINT = 20;
/** How far a quote stands to the right, in twips. */
const QUOTE_STEP = 360;
/** Longest line and word of a table that count for the widths of its columns, in characters. */
const MAX_LINE = 60;
const MAX_WORD = 20;

const HEADINGS = ['Heading1', 'Heading2', 'Heading3', 'Heading4', 'Heading5', 'Heading6'] as const;

/** Turns blocks into paragraphs and tables of Word. */
class BlockWriter {
  constructor(
    private readonly numberings: Numberings,
    /** Width of the text, in points. */
    private readonly width: number,
  ) {}

  /** The blocks of a section; never empty, as a section has to hold a paragraph. */
  write(blocks: readonly Block[]): FileChild[] {
    const children = this.#write(blocks, { left: 0, level: -1, isQuoted: false });
    return children.length > 0 ? children : [new Paragraph({})];
  }

  #write(blocks: readonly Block[], place: Place): FileChild[] {
    return blocks.flatMap((block) => this.#block(block, place));
  }

  #block(block: Block, place: Place): FileChild[] {
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
    return new Paragraph({
      ...this.#standing(place),
      ...options,
      children: runsOf(content, width),
    });
  }

  /** How a paragraph stands among lists and quotes. */
  #standing({ left, level, isQuoted }: Place): IParagraphOptions {
    const bar = { style: BorderStyle.SINGLE, size: 12, space: 8, color: COLOUR.line };
    return {
      ...(isQuoted && { style: STYLE.quote, border: { left: bar } }),
      ...(!isQuoted && level >= 0 && { style: STYLE.list }),
      ...(left > 0 && { indent: { left } }),
    };
  }

  #code(lines: readonly string[], place: Place): FileChild {
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
    if (checked === undefined) {
      return this.#paragraph(content, place, { numbering: { ...numbering, level: place.level }, indent });
    }
    const box: Inline = { kind: 'text', text: checked ? '☑ ' : '☐ ', marks: {} };
    return this.#paragraph([box, ...content], place, { indent });
  }

  #table({ align, header, rows }: TableBlock, place: Place): FileChild {
    const widths = this.#columnWidths([header, ...rows], this.width - place.left / TWIPS_A_POINT);
    const cell = (content: readonly Inline[], column: number, isHead: boolean) =>
      new TableCell({
        width: { size: widths[column] ?? 0, type: WidthType.DXA },
        ...(isHead && { shading: { type: 'clear' as const, color: 'auto', fill: COLOUR.head } }),
        children: [
          new Paragraph({
            spacing: { after: 0 },
            alignment: align[column] ?? 'left',
            children: runsOf(content, (widths[column] ?? 0) / TWIPS_A_POINT - 12, isHead ? { bold: true } : {}),
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
      const longest = (between: RegExp, most: number, least: number) =>
        texts
          .flatMap((text) => text.split(between))
          .reduce((longestYet, part) => Math.max(longestYet, Math.min(most, columnsOf(part))), least);
      const word = longest(/\s+/, MAX_WORD, 3);
      return { word, line: longest(/\n/, MAX_LINE, word) };
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

const MILLIMETRES = 25.4;
const PIXELS_AN_INCH = 96;
/** Tallest picture, so that it fits a page with its paragraph, in pixels. */
const MAX_HEIGHT = (210 / MILLIMETRES) * PIXELS_AN_INCH;

/** The runs of a text. `width` is what a picture may take, in points; `setting` comes over that of the texts. */
function runsOf(content: readonly Inline[], width: number, setting: IRunOptions = {}): ParagraphChild[] {
  return content.map((inline) => runOf(inline, width, setting));
}

function runOf(inline: Inline, width: number, setting: IRunOptions): ParagraphChild {
  switch (inline.kind) {
    case 'text':
      return new TextRun({ text: inline.text, ...settingOf(inline.marks), ...setting });
    case 'break':
      return new TextRun({ break: 1 });
    case 'image':
      return imageRun(inline.image, inline.alt, width);
    case 'link': {
      const children = runsOf(inline.content, width, { ...setting, style: 'Hyperlink' });
      return new ExternalHyperlink({ link: inline.href, children });
    }
    case 'jump': {
      const children = runsOf(inline.content, width, { ...setting, style: 'Hyperlink' });
      return new InternalHyperlink({ anchor: inline.to, children });
    }
    case 'anchor':
      return new Bookmark({ id: inline.name, children: [] });
  }
}

function settingOf({ bold, italic, struck, code }: Marks): IRunOptions {
  return {
    ...(bold && { bold }),
    ...(italic && { italics: true }),
    ...(struck && { strike: true }),
    ...(code && { style: STYLE.codeText }),
  };
}

function imageRun(image: Image, alt: string, width: number): ParagraphChild {
  const scale = Math.min(1, ((width / 72) * PIXELS_AN_INCH) / image.width, MAX_HEIGHT / image.height);
  const size = {
    width: Math.max(1, Math.round(image.width * scale)),
    height: Math.max(1, Math.round(image.height * scale)),
  };
  const name = alt || 'Image';
  return new ImageRun({
    type: image.type,
    data: image.bytes,
    transformation: size,
    altText: { name: name.slice(0, 100), title: '', description: name },
  });
}

/** Deepest level of lists in Word, counted from 0. */
const MAX_LEVEL = 8;
/** How far each level of a list stands to the right, and its mark to the left of that; in twips (1/20 point). */
const LIST_STEP = 420;

const BULLETS = ['•', '◦', '▪'];
/** Largest first number that Word takes. */
const MAX_START = 32_767;

/** How the paragraphs of one list refer to its numbering. */
interface ListNumbering {
  readonly reference: string;
  /** Lists of one reference with different instances count apart. */
  readonly instance: number;
}

/** The numberings of one document: one kind for bullets, one for each first number. */
class Numberings {
  readonly #starts = new Set<number>();
  #lists = 0;

  /** Starts a list; `start` is its first number, undefined for bullets. */
  open(start: number | undefined): ListNumbering {
    if (start === undefined) return { reference: 'bullets', instance: 0 };
    const first = Math.min(MAX_START, start);
    this.#starts.add(first);
    this.#lists += 1;
    return { reference: `numbers-${first}`, instance: this.#lists };
  }

  /** What all lists so far refer to. */
  get options(): INumberingOptions {
    const numbered = [...this.#starts].map((start) => ({
      reference: `numbers-${start}`,
      levels: levels('decimal', (level) => `%${level + 1}.`, start),
    }));
    const bullets = { reference: 'bullets', levels: levels('bullet', (level) => BULLETS[level % 3] ?? '•', 1) };
    return { config: [bullets, ...numbered] };
  }
}

function levels(format: 'decimal' | 'bullet', text: (level: number) => string, start: number) {
  return Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
    level,
    format,
    start,
    text: text(level),
    alignment: 'left' as const,
    style: { paragraph: { indent: { left: LIST_STEP * (level + 1), hanging: LIST_STEP } } },
  }));
}

/** Fonts by script; a reader that lacks one takes its own. */
const FONT = { ascii: 'Calibri', hAnsi: 'Calibri', cs: 'Calibri', eastAsia: 'Microsoft YaHei' };
const CODE_FONT = { ascii: 'Consolas', hAnsi: 'Consolas', cs: 'Consolas', eastAsia: 'Microsoft YaHei' };

/** Line height, in 240ths of a line. */
const LINE = 288;

/** Names of the styles that the body uses. */
const STYLE = {
  code: 'CodeBlock',
  codeText: 'CodeText',
  quote: 'Quote',
  edge: 'PageEdge',
  list: 'ListParagraph',
} as const;

/** Colours without the `#`. */
const COLOUR = { edge: '595959', line: 'BFBFBF', head: 'F2F2F2', code: 'F5F5F5', watermark: 'D9D9D9' } as const;

/** The styles of a document whose text is `fontSize` points high. */
function documentStyles(fontSize: number): IStylesOptions {
  const heading = (level: number) => ({
    run: { font: FONT, bold: true, color: '1F1F1F', size: halfPoints(headingSize(level, fontSize)) },
    paragraph: { spacing: { before: 240, after: 120, line: LINE }, keepNext: true },
  });
  return {
    default: {
      document: {
        run: { font: FONT, size: halfPoints(fontSize) },
        paragraph: { spacing: { after: 120, line: LINE } },
      },
      heading1: heading(1),
      heading2: heading(2),
      heading3: heading(3),
      heading4: heading(4),
      heading5: heading(5),
      heading6: heading(6),
      hyperlink: { run: { color: '0563C1', underline: { type: 'single' } } },
    },
    paragraphStyles: [
      paragraphStyle(STYLE.list, 'List Paragraph', { paragraph: { spacing: { after: 60, line: LINE } } }),
      paragraphStyle(STYLE.quote, 'Quote', { run: { color: '404040' } }),
      paragraphStyle(STYLE.edge, 'Page Edge', {
        run: { color: COLOUR.edge, size: halfPoints(9) },
        paragraph: { spacing: { after: 0 } },
      }),
      paragraphStyle(STYLE.code, 'Code Block', {
        run: { font: CODE_FONT, size: halfPoints(fontSize * 0.9) },
        paragraph: { spacing: { after: 120, line: 252 } },
      }),
    ],
    characterStyles: [
      { id: STYLE.codeText, name: 'Code Text', basedOn: 'DefaultParagraphFont', run: { font: CODE_FONT } },
    ],
  };
}

function paragraphStyle(id: string, name: string, options: Partial<IParagraphStyleOptions>): IParagraphStyleOptions {
  return { id, name, basedOn: 'Normal', quickFormat: true, ...options };
}

/** Word measures text in half points. */
function halfPoints(points: number): number {
  return Math.round(points * 2);
}
