/** Markdown as a file: PDF, Word, Excel, HTML, plain text. */
import { firstValue } from '../operators/from-abortable.js';
import { documentJob } from './document-jobs.js';
import { notWritten, refuse } from './failure.js';
import {
  DOCUMENT_FORMATS,
  type DocumentFile,
  type DocumentFormat,
  type DocumentOptions,
  writeDocument,
} from './write-document.js';

export type { PageSize } from './content.js';
export { DOCUMENT_FORMATS, type DocumentFile, type DocumentFormat, type DocumentOptions } from './write-document.js';

/** Longest Markdown text, in bytes of UTF-8. */
const MAX_BYTES = 2_097_152;
/** Longest Markdown that is converted in the calling thread, in UTF-16 units; the slowest such text takes milliseconds. */
const MAX_IN_PLACE = 4_000;

/**
 * Converts Markdown (GitHub's) to a file.
 *
 * Nothing is fetched and no file of this machine is read: pictures come from `data:` URIs, others become links. Raw HTML is
 * shown as text. `\newpage` or `<!-- pagebreak -->` alone on a line starts a page, `<!-- section -->` a section, and
 * `<!-- header: … -->`, `<!-- footer: … -->` set its edges. `[text](#name)` leads to the place `<!-- anchor: name -->` within running text, where PDF, Word or
 * HTML is written.
 *
 * @throws EngineError `DOCUMENT_NOT_WRITTEN` (`details: { format, reason }`) for more than 2 MiB, invalid options,
 * nesting beyond 32 levels, tables beyond 63 columns or 100,000 cells (Excel: 16,384 and 200,000).
 */
export async function convertMarkdown(markdown: string, options: DocumentOptions): Promise<DocumentFile> {
  const { signal, threads, ...rest } = options;
  signal?.throwIfAborted();
  requireFormat(options.format);
  requireSize(markdown, options.format);
  // The bytes of a picture are no text, and unpack to more than that.
  if (markdown.length <= MAX_IN_PLACE && !markdown.includes('data:')) return writeDocument(markdown, options);
  const unable = (why: string) => notWritten(options.format, refuse(why));
  return firstValue(documentJob('convert', { markdown, options: rest }, { threads, unable }), signal);
}

function requireFormat(format: DocumentFormat): void {
  if (Object.hasOwn(DOCUMENT_FORMATS, format)) return;
  const known = Object.keys(DOCUMENT_FORMATS).join(', ');
  throw notWritten(String(format), refuse(`there is no such format; known are ${known}.`));
}

function requireSize(markdown: string, format: DocumentFormat): void {
  const size = Buffer.byteLength(markdown);
  if (size <= MAX_BYTES) return;
  throw notWritten(format, refuse(`the content has ${size} bytes; at most ${MAX_BYTES} can be written.`));
}
