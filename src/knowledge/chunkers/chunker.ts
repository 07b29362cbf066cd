/** What cuts a document into the passages that are searched and cited: ranges of its text, in order. */
import type { PageRange } from '../../documents/reading/paged-text.js';
import { EngineError } from '../../errors.js';
import { trimmed } from '../splitters/split-text.js';
import type { CountTokens } from './count-tokens.js';

/** A part of a text, in UTF-16 units: `text.slice(start, end)`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A table that a parser found in a document. */
export interface TableRange extends Range {
  /** The line or lines with the names of its columns. @default none */
  readonly header?: Range;
  /** Its rows, in order, without the header. */
  readonly rows: readonly Range[];
}

/** The text of a file, with what its parser knows about the parts of it. */
export interface ParsedDocument {
  readonly text: string;
  /** In order; what lies between two pages belongs to the first. @default none */
  readonly pages?: readonly PageRange[] | undefined;
  /** In order, without overlaps. @default none: tables are found as Markdown has them */
  readonly tables?: readonly TableRange[] | undefined;
}

/** A passage before it is stored. `text` is `document.text.slice(start, end)`, always. */
export interface ChunkDraft extends Range {
  readonly text: string;
  /** Counted piece by piece, as the chunker put it together; `context` is not counted. */
  readonly tokens: number;
  /** Page on which it begins, from 1. @default unknown */
  readonly page?: number;
  /** All pages that it stands on, where these are several. @default `page` alone */
  readonly pages?: readonly number[];
  /** Each of `pages` with the place where its text begins in the document, in UTF-16 units; the first where the draft begins. @default none without `pages` */
  readonly pageStarts?: readonly (readonly [page: number, start: number])[];
  /** The headings above it, from the outermost. @default none */
  readonly headings?: readonly string[];
  /** What a reader needs beside the text, such as the header of a table; it belongs to what is searched, not to the range. @default none */
  readonly context?: string;
  /** The question that the text answers, as a part of it. @default none */
  readonly question?: string;
  /** Position among the drafts of the passage that this one is a part of, which stands before it. @default none */
  readonly parent?: number;
}

/** Cuts a document; the drafts are made while they are read. */
export type Chunker = (document: ParsedDocument) => Iterable<ChunkDraft>;

/** What every chunker is told. */
export interface ChunkerOptions {
  /** Counts the tokens of a text. */
  readonly countTokens: CountTokens;
  /** Drafts of one document at most. @default 100,000 */
  readonly maxChunks?: number;
}

/** Drafts of one document at most, unless said otherwise. */
export const MAX_CHUNKS = 100_000;

/** Passes drafts on. @throws EngineError LIMIT_REACHED for more than `maxChunks`. */
export function* atMost(drafts: Iterable<ChunkDraft>, maxChunks = MAX_CHUNKS): Generator<ChunkDraft> {
  let count = 0;
  for (const draft of drafts) {
    count += 1;
    if (count > maxChunks) {
      throw new EngineError(
        'LIMIT_REACHED',
        `A document would be cut into more than ${maxChunks} chunks. Choose larger chunks, or raise maxChunks.`,
      );
    }
    yield draft;
  }
}

/** What a draft has beside its range. */
export type DraftFields = Omit<ChunkDraft, 'text' | 'start' | 'end' | 'page' | 'pages' | 'pageStarts'>;

/** The draft of a range without the white space at its ends; undefined when nothing is left. */
export function draftOf(document: ParsedDocument, { start, end }: Range, fields: DraftFields): ChunkDraft | undefined {
  const range = trimmed(document.text, start, end);
  if (range === undefined) return undefined;
  const pages = pagesOn(document.pages, range);
  const [first] = pages;
  return {
    ...fields,
    ...range,
    text: document.text.slice(range.start, range.end),
    ...(first !== undefined && { page: first.page }),
    ...(pages.length > 1 && {
      pages: pages.map(({ page }) => page),
      pageStarts: pages.map((page) => [page.page, Math.max(page.start, range.start)] as const),
    }),
  };
}

/** The pages that a range stands on: from the last that begins at or before it to the last that begins within it. */
function pagesOn(pages: readonly PageRange[] | undefined, { start, end }: Range): PageRange[] {
  if (pages === undefined || pages.length === 0) return [];
  let low = 0;
  let high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pages[middle]?.start ?? 0) <= start) low = middle;
    else high = middle - 1;
  }
  const on: PageRange[] = [];
  for (let at = low; at < pages.length; at += 1) {
    const one = pages[at] as PageRange;
    if (at > low && one.start >= end) break;
    on.push(one);
  }
  return on;
}
