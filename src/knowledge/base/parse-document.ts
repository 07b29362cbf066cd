/** Files as documents of a knowledge base: texts with pages and tables. */
import { cutText } from '../../documents/characters.js';
import { looksLikeText } from '../../documents/reading/decode-text.js';
import { endingOf, type FileKind, fileKind } from '../../documents/reading/file-kind.js';
import { MAX_FILE_BYTES, requireSize, unreadable } from '../../documents/reading/limits.js';
import { joinPages, type PageRange } from '../../documents/reading/paged-text.js';
import { readPages } from '../../documents/reading/read-document.js';
import type { StoredFile } from '../../records/files.js';
import { separatedTable } from './chunking/table-rows.js';
import type { DocumentText } from './ports.js';

/** Longest text of a document, in UTF-16 units; of a longer one the beginning is read. */
export const MAX_DOCUMENT_CHARACTERS = 16 * 1_048_576;

/** How the text of a file is written. */
export type TextForm = 'text' | 'separated';

/** What a file is, before it is read. */
export interface DetectedFile {
  readonly kind: FileKind;
  readonly form: TextForm;
}

/** Endings of separated values. */
const SEPARATED = /^(?:csv|tsv)$/;

/**
 * What a file is, by media type, ending and its first bytes.
 *
 * @throws EngineError FILE_UNREADABLE for what cannot be read as text: pictures, old formats of Office, unknown ones.
 */
export function detectFile(file: StoredFile): DetectedFile {
  const { name, bytes } = file;
  requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
  const kind = fileKind(file);
  switch (kind) {
    case 'image':
      throw unreadable(name, 'it is a picture, of which only a vision model could make a text.');
    case 'old-office':
    case 'unknown':
      throw unreadable(
        name,
        'it is no text, and no format that can be read; give a PDF, .docx, .pptx, .xlsx, .eml, HTML, Markdown, CSV, JSON or plain text.',
      );
    case 'text':
      // Old character sets are no UTF-8 and still text; bytes of zero are none, but for UTF-16.
      if (!looksLikeText(bytes) && bytes.subarray(0, 65_536).includes(0)) {
        throw unreadable(name, 'its name is that of a text, and its bytes are not.');
      }
      return { kind, form: SEPARATED.test(endingOf(name)) ? 'separated' : 'text' };
    default:
      return { kind, form: 'text' };
  }
}

/** What stands in place of the text of a PDF or presentation that has none. */
const NO_TEXT_LINE = /^\[The [\d,]+ (?:pages|slides) of ".*" hold no text\.\]$/;

/**
 * Reads a file. The text is that of the parser; {@link cleanDocument} makes a document of it.
 *
 * @throws EngineError FILE_UNREADABLE as `readDocument`
 */
export async function parseFile(file: StoredFile): Promise<DocumentText> {
  // More than is kept, which tells whether it is all.
  const { text, pages } = await readPages(file, { maxCharacters: MAX_DOCUMENT_CHARACTERS * 2 });
  if (NO_TEXT_LINE.test(text)) return { text: '' };
  if (text.length <= MAX_DOCUMENT_CHARACTERS) return pages === undefined ? { text } : { text, pages };
  const kept = cutText(text, MAX_DOCUMENT_CHARACTERS);
  const whole = pages?.filter(({ end }) => end <= kept.length);
  return { text: kept, isCut: true, ...(whole && { pages: whole }) };
}

/**
 * The document that is cut, stored and cited: ends of lines are `\n`, control characters and halves of characters are blanks, and pages and
 * tables have their places.
 */
export function cleanDocument({ text, pages, isCut }: DocumentText, form: TextForm): DocumentText {
  const cleaned = pages === undefined || pages.length === 0 ? { text: cleanText(text) } : cleanPages(text, pages);
  const table = form === 'separated' ? separatedTable(cleaned.text) : undefined;
  return { ...cleaned, ...(table && { tables: [table] }), ...(isCut === true && { isCut }) };
}

/** Pages keep their numbers; those that turn out to be blank are left out. */
function cleanPages(text: string, pages: readonly PageRange[]): DocumentText {
  const joined = joinPages(pages.map(({ start, end }) => cleanText(text.slice(start, end))));
  return {
    text: joined.text,
    pages: (joined.pages ?? []).map(({ page, ...range }) => ({ ...range, page: pages[page - 1]?.page ?? page })),
  };
}

/** Control characters but tabs and ends of lines, and halves of characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const NO_TEXT = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]|\p{Surrogate}/gu;

function cleanText(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    .replace(NO_TEXT, ' ');
}
