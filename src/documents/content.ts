/** The model of a document between its reader and its writers: blocks, running text, sections, pages. */
import type { Image } from './image.js';

/** Formatting of a run of text. */
export interface Marks {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly struck?: boolean;
  readonly code?: boolean;
}

/** What a line of text consists of. Texts hold no line feeds and no characters that a file format refuses. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string; readonly marks: Marks }
  | { readonly kind: 'break' }
  /** `href` is absolute: http, https or mailto. `content` holds no further link. */
  | { readonly kind: 'link'; readonly href: string; readonly content: readonly Inline[] }
  /** Leads to the anchor of that name, which the document has; `content` holds no link. */
  | { readonly kind: 'jump'; readonly to: string; readonly content: readonly Inline[] }
  /** A place that jumps lead to; shows nothing. */
  | { readonly kind: 'anchor'; readonly name: string }
  | { readonly kind: 'image'; readonly image: Image; readonly alt: string };

/** Where the text of a column stands. */
export type Align = 'left' | 'center' | 'right';

/** A table; every row has as many cells as `align` has entries. */
export interface TableBlock {
  readonly kind: 'table';
  readonly align: readonly Align[];
  readonly header: readonly (readonly Inline[])[];
  readonly rows: readonly (readonly (readonly Inline[])[])[];
}

/** A list. */
export interface ListBlock {
  readonly kind: 'list';
  /** The first number; undefined for a list without numbers. */
  readonly start: number | undefined;
  readonly items: readonly ListItem[];
}

/** An item of a list; `checked` is absent when it is no task. */
export interface ListItem {
  readonly checked?: boolean;
  readonly blocks: readonly Block[];
}

/** What stands below each other on a page. */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4 | 5 | 6; readonly content: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly lines: readonly string[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'rule' }
  | { readonly kind: 'page-break' }
  | ListBlock
  | TableBlock;

/** Blocks under one header and footer; every section begins on a new page. */
export interface Section {
  readonly header: string;
  readonly footer: string;
  readonly blocks: readonly Block[];
}

/** Text without its formatting: links as `text (address)`, images as their description. */
export function plainText(content: readonly Inline[]): string {
  return content.map(plainInline).join('');
}

function plainInline(inline: Inline): string {
  switch (inline.kind) {
    case 'text':
      return inline.text;
    case 'break':
      return '\n';
    case 'image':
      return inline.alt;
    case 'jump':
      return plainText(inline.content);
    case 'anchor':
      return '';
    case 'link': {
      const text = plainText(inline.content);
      return text === '' || sameAddress(text, inline.href) ? text || inline.href : `${text} (${inline.href})`;
    }
  }
}

/** Whether the text of a link is its own address, complete or abbreviated. */
function sameAddress(text: string, href: string): boolean {
  return [text, `${text}/`, `mailto:${text}`, `http://${text}`, `http://${text}/`, `https://${text}`].includes(href);
}

/** Sizes of paper in points (1/72 inch), upright. */
export const PAPER = {
  A3: { width: 841.89, height: 1190.55 },
  A4: { width: 595.28, height: 841.89 },
  A5: { width: 419.53, height: 595.28 },
  Letter: { width: 612, height: 792 },
  Legal: { width: 612, height: 1008 },
} as const;

/** A size of paper. */
export type PageSize = keyof typeof PAPER;

/** Distance of the text from the edges of the paper, in points. */
export const MARGIN = { top: 72, bottom: 72, left: 60, right: 60 } as const;

/** Distance of header and footer from the edges of the paper, and the size of their text, in points. */
export const EDGE = { margin: 36, fontSize: 9 } as const;

/** Page set-up of a document; texts are single lines that every format can hold. */
export interface Page {
  readonly title: string;
  /** Size of the text in points. */
  readonly fontSize: number;
  readonly size: PageSize;
  readonly header: string;
  readonly footer: string;
  readonly watermark: string;
  readonly hasNumbers: boolean;
  /** The line with the time of making; empty when it is not shown. */
  readonly generated: string;
  /** Written into the properties of the file. */
  readonly created: Date;
}

/** Size of a heading in points. */
export function headingSize(level: number, fontSize: number): number {
  return fontSize + Math.max(0, 8 - 2 * level);
}

/** Widths that a column needs: for its longest word, and for its longest line. */
export interface ColumnNeed {
  readonly word: number;
  readonly line: number;
}

/**
 * Divides `available` between the columns of a table as browsers do: every column gets its longest line if all fit;
 * otherwise its longest word, and of the rest as much as its lines ask for. When not even the words fit, all shrink alike.
 */
export function columnWidths(needs: readonly ColumnNeed[], available: number): number[] {
  const total = (key: keyof ColumnNeed) => needs.reduce((sum, need) => sum + need[key], 0);
  const words = total('word');
  const lines = total('line');
  if (lines <= available) return needs.map(({ line }) => line);
  if (words >= available) return needs.map(({ word }) => (word / words) * available);
  const share = (available - words) / (lines - words);
  return needs.map(({ word, line }) => word + (line - word) * share);
}
