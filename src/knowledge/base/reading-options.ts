/** What of a document is read: pages, headers, tables of contents, fields of mails. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** What of a document is read; all of it without any. */
export interface ReadingOptions {
  /** Ranges of pages, from 1, both ends included. @default all */
  readonly pages?: readonly (readonly [first: number, last: number])[] | undefined;
  /** Whether lines that most pages begin or end with are left out. @default false */
  readonly dropsHeaders?: boolean | undefined;
  /** Whether a table of contents is left out. @default false */
  readonly dropsContents?: boolean | undefined;
  /** Fields of a mail: `from to cc bcc date subject body attachments`. @default all */
  readonly mailFields?: readonly string[] | undefined;
}

/** Ranges of pages that are looked at. */
const MAX_RANGES = 1_000;
/** A range up to here and further is that of all pages: RAGFlow's default. */
const ALL_PAGES = 100_000;

/** Ranges of pages as RAGFlow writes them, `[[1, 100]]`; undefined for those of all pages, and for what is none. */
export function pageRanges(given: Json | undefined): ReadingOptions['pages'] {
  if (!Array.isArray(given)) return undefined;
  const ranges = given.slice(0, MAX_RANGES).flatMap((range: Json) => {
    const [first, last] = Array.isArray(range) ? (range as readonly Json[]) : [];
    if (typeof first !== 'number' || typeof last !== 'number' || !(first <= last)) return [];
    return [[Math.max(1, Math.floor(first)), Math.floor(last)] as const];
  });
  const isAll = ranges.some(([first, last]) => first === 1 && last >= ALL_PAGES);
  return ranges.length === 0 || isAll ? undefined : ranges;
}

/** What the settings of a document say of its reading; empty when all of it is read. */
export function readingOptionsOf({ pages: given }: JsonObject): ReadingOptions {
  const pages = pageRanges(given);
  return pages === undefined ? {} : { pages };
}

/** Whether a document is read otherwise than as a whole. */
export function isPartial(options: ReadingOptions): boolean {
  return Object.values(options).some((value) => value !== undefined && value !== false);
}

/** Whether a model sees the layout of its pages, by RAGFlow's `layout_recognize`, which may be a name or have one. */
export function wantsLayout({ layout_recognize: given }: JsonObject): boolean {
  if (typeof given === 'boolean') return given;
  const name = isJsonObject(given) ? given.name : given;
  return typeof name !== 'string' || name === '' || name.toLowerCase() === 'deepdoc';
}
