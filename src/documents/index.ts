/** Markdown as a file: PDF, Word, Excel, HTML, plain text. The libraries for a format are loaded with its first use. */

import { firstValueFrom, fromEvent, map, merge, NEVER } from 'rxjs';
import { MEDIA_TYPES } from '../records/files.js';
import { runInThread } from '../threads/run-in-thread.js';
import { writable, writableLine } from './characters.js';
import { PAPER, type Page, type PageSize, type Section } from './content.js';
import { notWritten, refuse } from './failure.js';
import { localTime } from './file-name.js';

export type { PageSize } from './content.js';

/** How a document is made. */
export interface DocumentOptions {
  readonly format: DocumentFormat;
  /** Title in the properties of the file and of an HTML page; @default the format's own, mostly none */
  readonly title?: string;
  /** Size of the text in points, 6 to 72; headings are up to 6 larger. @default 12 */
  readonly fontSize?: number;
  /** Line above the text of every page: PDF, Word and HTML; 500 UTF-16 units at most. @default '' */
  readonly header?: string;
  /** Line below the text, as {@link header}. @default '' */
  readonly footer?: string;
  /** Pale text across every page: PDF, Word and HTML. @default '' */
  readonly watermark?: string;
  /** Numbers the pages: PDF, Word, and HTML when it is printed. @default false */
  readonly pageNumbers?: boolean;
  /**
   * Shows when the document was made, in local time; in the footer of PDF and Word, else as first paragraph. @default not
   * shown
   */
  readonly timestamp?: Date;
  /** Time of making in the properties of a PDF. @default `timestamp`, else now */
  readonly created?: Date;
  /** Paper. @default 'A4' */
  readonly pageSize?: PageSize;
  /** Handlebars template for HTML, in place of the built-in page: `title style watermark generated body`. */
  readonly layout?: string;
  /** Stops the work, which is then rejected with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** A file that was made. */
export interface DocumentFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** Without a dot. */
  readonly extension: string;
}

/** Longest Markdown text, in bytes of UTF-8. */
const MAX_BYTES = 2_097_152;
/** Longest Markdown that is read in this thread, in UTF-16 units; the slowest such text takes milliseconds. */
const MAX_IN_PLACE = 4_000;
/** Longest title, header, footer and watermark, in UTF-16 units. */
const MAX_LINE = 500;

/**
 * Converts Markdown (GitHub's) to a file.
 *
 * Nothing is fetched and no file of this machine is read: pictures come from `data:` URIs, others become links. Raw HTML is
 * shown as text. `\newpage` or `<!-- pagebreak -->` alone on a line starts a page, `<!-- section -->` a section, and
 * `<!-- header: … -->`, `<!-- footer: … -->` set its edges.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` (`details: { format, reason }`) for more than 2 MiB, invalid options,
 * nesting beyond 32 levels, tables beyond 63 columns or 100,000 cells (Excel: 16,384 and 200,000).
 */
export async function convertMarkdown(markdown: string, options: DocumentOptions): Promise<DocumentFile> {
  const { format, signal } = options;
  if (!Object.hasOwn(DOCUMENT_FORMATS, format)) {
    const known = Object.keys(DOCUMENT_FORMATS).join(', ');
    throw notWritten(String(format), refuse(`there is no such format; known are ${known}.`));
  }
  signal?.throwIfAborted();
  try {
    const size = Buffer.byteLength(markdown);
    if (size > MAX_BYTES) throw refuse(`the content has ${size} bytes; at most ${MAX_BYTES} can be written.`);
    const bytes = await WRITERS[format](markdown, pageOf(options), options);
    return { bytes, ...DOCUMENT_FORMATS[format] };
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    throw notWritten(format, error);
  }
}

type Writer = (markdown: string, page: Page, options: DocumentOptions) => Promise<Uint8Array>;

const utf8 = new TextEncoder();

const WRITERS: Readonly<Record<DocumentFormat, Writer>> = {
  pdf: fromSections(
    () => import('./pdf/write-pdf.js'),
    ({ writePdf }, sections, page, { signal }) => writePdf(sections, page, signal),
  ),
  docx: fromSections(
    () => import('./write-docx.js'),
    ({ writeDocx }, sections, page) => writeDocx(sections, page),
  ),
  txt: fromSections(
    () => import('./write-text.js'),
    ({ writeText }, sections, { generated }) => utf8.encode(writeText(sections, generated)),
  ),
  html: fromSections(
    () => import('./write-html.js'),
    ({ writeHtml }, sections, page, { layout }) => utf8.encode(writeHtml(sections, page, layout)),
  ),
  async markdown(markdown, { generated }) {
    const text = writable(markdown);
    return utf8.encode(generated === '' ? text : `${generated}\n\n${text}`);
  },
  async xlsx(markdown, _, { signal }) {
    const { writeXlsx } = await import('./write-xlsx.js');
    return writeXlsx(writable(markdown), signal);
  },
};

/** A writer that is loaded while the Markdown is read. */
function fromSections<M>(
  load: () => Promise<M>,
  write: (
    writer: M,
    sections: readonly Section[],
    page: Page,
    options: DocumentOptions,
  ) => ReturnType<Writer> | Uint8Array,
): Writer {
  return async (markdown, page, options) => {
    const [sections, writer] = await Promise.all([sectionsOf(markdown, page, options.signal), load()]);
    return write(writer, sections, page, options);
  };
}

async function sectionsOf(markdown: string, page: Page, signal: AbortSignal | undefined) {
  if (markdown.length <= MAX_IN_PLACE) {
    const { readMarkdown } = await import('./read-markdown.js');
    return readMarkdown(markdown, page);
  }
  const { header, footer } = page;
  return readInThread({ markdown, page: { header, footer } }, signal);
}

function pageOf(options: DocumentOptions): Page {
  const { fontSize = 12, pageSize = 'A4', timestamp } = options;
  if (!(fontSize >= 6 && fontSize <= 72)) throw refuse(`the font size ${fontSize} is not between 6 and 72 points.`);
  if (!Object.hasOwn(PAPER, pageSize)) {
    throw refuse(`there is no page size "${pageSize}"; known are ${Object.keys(PAPER).join(', ')}.`);
  }
  const line = (text = '') => writableLine(text, MAX_LINE);
  return {
    title: line(options.title),
    fontSize,
    size: pageSize,
    header: line(options.header),
    footer: line(options.footer),
    watermark: line(options.watermark),
    hasNumbers: options.pageNumbers ?? false,
    generated: timestamp === undefined ? '' : `Generated: ${localTime(timestamp)}`,
    created: options.created ?? timestamp ?? new Date(),
  };
}

/** The formats that Markdown can be converted to. */
export const DOCUMENT_FORMATS = {
  pdf: { mimeType: MEDIA_TYPES.pdf, extension: 'pdf' },
  docx: { mimeType: MEDIA_TYPES.docx, extension: 'docx' },
  txt: { mimeType: MEDIA_TYPES.txt, extension: 'txt' },
  markdown: { mimeType: MEDIA_TYPES.md, extension: 'md' },
  html: { mimeType: MEDIA_TYPES.html, extension: 'html' },
  xlsx: { mimeType: MEDIA_TYPES.xlsx, extension: 'xlsx' },
} as const;

/** The name of a format. */
export type DocumentFormat = keyof typeof DOCUMENT_FORMATS;

/** What the thread of a document reads. */
export interface MarkdownRequest {
  readonly markdown: string;
  readonly page: { readonly header: string; readonly footer: string };
}

/** Milliseconds that reading may take; ordinary texts take far less than one second. */
const TIMEOUT_MS = 20_000;

/**
 * Reads Markdown in a thread: the parser takes quadratic time or more for hostile texts such as `_a_a_a…`.
 *
 * Rejects as `readMarkdown`, with `DOCUMENT_NOT_WRITTEN` for more than 20 seconds, and with the reason of the signal.
 */
function readInThread(request: MarkdownRequest, signal?: AbortSignal): Promise<readonly Section[]> {
  const sections$ = runInThread<readonly Section[]>({
    file: new URL('./markdown-thread', import.meta.url),
    data: request,
    timeoutMs: TIMEOUT_MS,
    unable: refuse,
  });
  const stopped$ = signal === undefined ? NEVER : fromEvent(signal, 'abort').pipe(map(() => stop(signal)));
  return firstValueFrom(merge(sections$, stopped$));
}

function stop({ reason }: AbortSignal): never {
  throw reason;
}
