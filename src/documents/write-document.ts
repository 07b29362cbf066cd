/** The writers of files: each format by its own library, which is loaded with its first use. */

import { MEDIA_TYPES } from '../records/files.js';
import type { Threads } from '../threads/threads.js';
import { writable, writableLine } from './characters.js';
import { PAPER, type Page, type PageSize, type Section } from './content.js';
import { notWritten, refuse } from './failure.js';
import { localTime } from './file-name.js';

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
  /** Where all but small texts are converted. @default a thread for this one */
  readonly threads?: Threads | undefined;
}

/** A file that was made. */
export interface DocumentFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** Without a dot. */
  readonly extension: string;
}

/** Does the work of `convertMarkdown` in the calling thread. */
export async function writeDocument(markdown: string, options: DocumentOptions): Promise<DocumentFile> {
  const { format, signal } = options;
  try {
    const page = pageOf(options);
    const sections = async () => {
      const { readMarkdown } = await import('./read-markdown.js');
      return readMarkdown(markdown, page);
    };
    const bytes = await WRITERS[format]({ markdown, page, options, sections });
    return { bytes, ...DOCUMENT_FORMATS[format] };
  } catch (error) {
    signal?.throwIfAborted();
    throw notWritten(format, error);
  }
}

/** Longest title, header, footer and watermark, in UTF-16 units. */
const MAX_LINE = 500;

/** What a writer gets. */
interface Source {
  readonly markdown: string;
  readonly page: Page;
  readonly options: DocumentOptions;
  /** Reads the Markdown. */
  readonly sections: () => Promise<readonly Section[]>;
}

const utf8 = new TextEncoder();

const WRITERS: Readonly<Record<DocumentFormat, (source: Source) => Promise<Uint8Array>>> = {
  async pdf({ page, options, sections }) {
    const { writePdf } = await import('./pdf/write-pdf.js');
    return writePdf(await sections(), page, options.signal);
  },
  async docx({ page, sections }) {
    const { writeDocx } = await import('./write-docx.js');
    return writeDocx(await sections(), page);
  },
  async txt({ page, sections }) {
    const { writeText } = await import('./write-text.js');
    return utf8.encode(writeText(await sections(), page.generated));
  },
  async html({ page, options, sections }) {
    const { writeHtml } = await import('./write-html.js');
    return utf8.encode(writeHtml(await sections(), page, options.layout));
  },
  async markdown({ markdown, page: { generated } }) {
    const text = writable(markdown);
    return utf8.encode(generated === '' ? text : `${generated}\n\n${text}`);
  },
  async xlsx({ markdown, options }) {
    const { writeXlsx } = await import('./write-xlsx.js');
    return writeXlsx(writable(markdown), options.signal);
  },
};

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
