import type { Image } from './image.js';

/** How a stretch of text is set. */
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

/** Text as it is without its setting: links as `text (address)`, images as their description. */
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
    case 'link': {
      const text = plainText(inline.content);
      return text === '' || sameAddress(text, inline.href) ? text || inline.href : `${text} (${inline.href})`;
    }
  }
}

/** Whether a link only shows its own address, with or without what a browser completes. */
function sameAddress(text: string, href: string): boolean {
  return [text, `${text}/`, `mailto:${text}`, `http://${text}`, `http://${text}/`, `https://${text}`].includes(href);
}
