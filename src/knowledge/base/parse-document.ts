/** Files as documents of a knowledge base: text with pages, headings and tables. */
import { cutText } from '../../documents/characters.js';
import { looksLikeText } from '../../documents/reading/decode-text.js';
import { endingOf, type FileKind, fileKind } from '../../documents/reading/file-kind.js';
import { MAX_FILE_BYTES, requireSize, unreadable } from '../../documents/reading/limits.js';
import { readDocument, readPdfPages } from '../../documents/reading/read-document.js';
import type { StoredFile } from '../../records/files.js';
import { markdownHeadings } from '../splitters/markdown-sections.js';
import { markdownTables, separatedTable } from './chunking/table-rows.js';
import type { ParsedDocument } from './ports.js';

/** Longest text of a document, in UTF-16 units; of a longer one the beginning is read. */
export const MAX_DOCUMENT_CHARACTERS = 16 * 1_048_576;

/** How the text of a file is written. */
export type TextForm = 'plain' | 'markdown' | 'separated';

/** What a file is, before it is read. */
export interface DetectedFile {
  readonly kind: FileKind;
  readonly form: TextForm;
}

const FORMS: Readonly<Record<string, TextForm>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
  csv: 'separated',
  tsv: 'separated',
};

/**
 * What a file is, by media type, ending and its first bytes.
 *
 * @throws EngineError FILE_UNREADABLE for what cannot be read as text: pictures, old formats of Office, unknown ones.
 */
export function detectFile(file: StoredFile): DetectedFile {
  const { name, bytes } = file;
  requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
  const kind = fileKind(file);
  const ending = endingOf(name);
  switch (kind) {
    case 'image':
      throw unreadable(name, 'it is a picture, of which only a vision model could make a text.');
    case 'old-office':
    case 'unknown':
      throw unreadable(
        name,
        'it is no text, and no format that can be read; give a PDF, .docx, .xlsx, HTML, Markdown, CSV, JSON or plain text.',
      );
    case 'text':
      if (!looksLikeText(bytes) && bytes.subarray(0, 65_536).includes(0)) {
        throw unreadable(name, 'its name is that of a text, and its bytes are not.');
      }
      return { kind, form: Object.hasOwn(FORMS, ending) ? (FORMS[ending] as TextForm) : 'plain' };
    case 'pdf':
      return { kind, form: 'plain' };
    default:
      return { kind, form: 'markdown' };
  }
}

/**
 * Reads a file. The text is that of the parser; {@link cleanDocument} makes a document of it.
 *
 * @throws EngineError FILE_UNREADABLE as `readDocument`
 */
export async function parseFile(file: StoredFile, { kind }: DetectedFile): Promise<ParsedDocument> {
  const limits = { maxCharacters: MAX_DOCUMENT_CHARACTERS };
  if (kind === 'pdf') return readPdfPages(file, limits);
  // One more than is kept, which tells whether it is all.
  const text = await readDocument(file, { maxCharacters: MAX_DOCUMENT_CHARACTERS * 2 });
  return text.length <= MAX_DOCUMENT_CHARACTERS
    ? { text }
    : { text: cutText(text, MAX_DOCUMENT_CHARACTERS), isCut: true };
}

/**
 * The document that is cut, stored and cited: ends of lines are `\n`, halves of characters and characters that no text has are replaced, and
 * headings and tables have their places.
 */
export function cleanDocument({ text, pages, isCut }: ParsedDocument, form: TextForm): ParsedDocument {
  const cleaned = pages === undefined ? { text: cleanText(text) } : cleanPages(text, pages);
  const tables = tablesOf(cleaned.text, form);
  const headings = form === 'markdown' ? markdownHeadings(cleaned.text) : [];
  return {
    ...cleaned,
    ...(headings.length > 0 && { headings }),
    ...(tables.length > 0 && { tables }),
    ...(isCut === true && { isCut }),
  };
}

function tablesOf(text: string, form: TextForm): NonNullable<ParsedDocument['tables']> {
  if (form === 'markdown') return markdownTables(text);
  const table = form === 'separated' ? separatedTable(text) : undefined;
  return table === undefined ? [] : [table];
}

function cleanPages(text: string, pages: NonNullable<ParsedDocument['pages']>): Pick<ParsedDocument, 'text' | 'pages'> {
  let cleaned = '';
  const moved = pages.map(({ page, start, end }) => {
    if (cleaned !== '') cleaned += '\n\n';
    const from = cleaned.length;
    cleaned += cleanText(text.slice(start, end));
    return { page, start: from, end: cleaned.length };
  });
  return { text: cleaned, pages: moved };
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
