import { fileKind } from '../../documents/reading/file-kind.js';
import { isCut, MAX_TEXT_CHARACTERS, unreadable } from '../../documents/reading/limits.js';
import { readInThread } from '../../documents/reading/read-document.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { MEDIA_TYPES, type StoredFile } from '../../records/files.js';
import type { Threads } from '../../threads/threads.js';
import type { ParseFunction } from '../ports.js';
import { documentsOf, fileNameOf, sourceName } from './parsed.js';

/** How files are read. */
export interface FileParserOptions {
  /** UTF-16 units of text at most; a longer text is cut, which its last line and `isCut` of its metadata say. @default 4_194_304 */
  readonly maxCharacters?: number;
  /** Where PDF, Word, Excel, HTML and long texts are read. @default a thread of its own per file */
  readonly threads?: Threads | undefined;
}

/** What a parser reads a source as; undefined for what the source itself says. */
type Format = 'pdf' | 'docx' | 'xlsx' | undefined;

/**
 * A parser that finds out the format by media type, ending and content: PDF, Word (`.docx`), Excel (`.xlsx`), HTML and every kind of text.
 * A source is one document; headings, lists and tables are Markdown.
 *
 * Errors of a call: `FILE_UNREADABLE` with the reason, also for pictures; `LIMIT_REACHED` when too many files wait to be read.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function fileParser(options: FileParserOptions = {}): ParseFunction {
  return parserFor(undefined, options);
}

/** A parser of PDF; the pages are parted by an empty line. Options and errors as of `fileParser`. */
export function pdfParser(options: FileParserOptions = {}): ParseFunction {
  return parserFor('pdf', options);
}

/** A parser of Word documents (`.docx`), as Markdown. Options and errors as of `fileParser`. */
export function docxParser(options: FileParserOptions = {}): ParseFunction {
  return parserFor('docx', options);
}

/** A parser of Excel workbooks (`.xlsx`); every sheet is a Markdown table under its name. Options and errors as of `fileParser`. */
export function xlsxParser(options: FileParserOptions = {}): ParseFunction {
  return parserFor('xlsx', options);
}

function parserFor(format: Format, given: FileParserOptions): ParseFunction {
  requireOptions('fileParser', given, ['maxCharacters', 'threads']);
  const { maxCharacters = MAX_TEXT_CHARACTERS, threads } = given;
  requireWhole('fileParser', 'maxCharacters', maxCharacters, 1);
  return async (input, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    const file = storedFile(input, format);
    if (fileKind(file) === 'image') {
      throw unreadable(file.name, 'it is a picture, which holds no text; give a parser of your own for its ending.');
    }
    const text = await readInThread(file, { maxCharacters, signal }, threads);
    return documentsOf(input, [{ text, ...(isCut(text) && { metadata: { isCut: true } }) }], options);
  };
}

/** The file that the readers of files are given. */
export function storedFile({ bytes, uri, mimeType = '' }: Parameters<ParseFunction>[0], format?: Format): StoredFile {
  const name = fileNameOf(uri) || sourceName(uri);
  return { id: uri, name, mimeType: format === undefined ? mimeType : MEDIA_TYPES[format], bytes };
}
