/** Texts that know on which page each part of them stands. */

/** A page of a text, in UTF-16 units. */
export interface PageRange {
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly page: number;
}

/** The text of a file. */
export interface PagedText {
  readonly text: string;
  /** Pages or slides, in order, without those that hold no text. @default none: the file has no pages */
  readonly pages?: readonly PageRange[];
}

/** Joins the texts of pages by a blank line; pages without text are left out, the others keep their number. */
export function joinPages(texts: readonly string[]): PagedText {
  const pages: PageRange[] = [];
  let text = '';
  for (const [index, own] of texts.entries()) {
    if (own === '') continue;
    if (text !== '') text += '\n\n';
    pages.push({ start: text.length, end: text.length + own.length, page: index + 1 });
    text += own;
  }
  return { text, pages };
}
