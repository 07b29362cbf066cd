/** The text of an uploaded file: PDF, Word, PowerPoint, Excel, mail, HTML and texts. */
import { buffer } from 'node:stream/consumers';
import { firstValue } from '../../operators/from-abortable.js';
import type { StoredFile } from '../../records/files.js';
import type { Threads } from '../../threads/threads.js';
import { documentJob } from '../document-jobs.js';
import { readWorkbook } from '../spreadsheets/read-workbook.js';
import { parseSelection } from '../spreadsheets/select-sheets.js';
import { createCellBudget, createSoftBudget, sheetsMarkdown, tableOfGrid } from '../spreadsheets/table.js';
import { decodeText } from './decode-text.js';
import { endingOf, type FileKind, fileKind, imageType } from './file-kind.js';
import { htmlToText } from './html-to-text.js';
import {
  limitText,
  MAX_FILE_BYTES,
  MAX_HTML_BYTES,
  MAX_IMAGE_BYTES,
  type ReadLimits,
  requireSize,
  toUnreadable,
  unreadable,
} from './limits.js';
import type { PagedText } from './paged-text.js';
import { readMail } from './read-mail.js';
import { readPdf } from './read-pdf.js';
import { readSlides } from './read-slides.js';
import { readWordPart, type WordPart } from './word-parts.js';
import { openZip, requireUnpackedSize } from './zip.js';

/** Readers by kind; each loads its parser when it is first used. */
const READERS: Readonly<
  Partial<Record<FileKind, (file: StoredFile, limits: ReadLimits) => string | PagedText | Promise<string | PagedText>>>
> = {
  image: readImage,
  text: ({ bytes, mimeType }) => decodeText(bytes, mimeType),
  html: readHtml,
  mail: readMail,
  pdf: readPdf,
  docx: readDocx,
  pptx: readSlides,
  xlsx: readXlsx,
};

/**
 * The content of a file, for prompts and forms: an image as a `data:` URL, everything else as text.
 *
 * PDF, Word (`.docx`), PowerPoint (`.pptx`), Excel (`.xlsx`, every sheet as a Markdown table), mail (`.eml`) and HTML go through a parser; text,
 * Markdown, CSV, JSON, XML and program text are taken as they are.
 *
 * @throws EngineError FILE_UNREADABLE with the file's name, its type and what to give instead.
 */
export async function readDocument(file: StoredFile, limits: ReadLimits): Promise<string> {
  return (await readPages(file, limits)).text;
}

/** The content of a file as {@link readDocument} gives it, with the pages of a PDF and the slides of a presentation. */
export async function readPages(file: StoredFile, limits: ReadLimits): Promise<PagedText> {
  const { name, bytes } = file;
  requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
  const kind = fileKind(file);
  const read = READERS[kind];
  if (read === undefined) throw unreadable(name, reasonOf(kind, file));
  const content = await read(file, limits);
  const { text, pages }: PagedText = typeof content === 'string' ? { text: content } : content;
  if (kind === 'image' || text.length <= limits.maxCharacters) return pages === undefined ? { text } : { text, pages };
  const kept = limitText(text, limits.maxCharacters, name);
  return pages === undefined
    ? { text: kept }
    : { text: kept, pages: pages.filter(({ end }) => end <= limits.maxCharacters) };
}

/** Largest text that is decoded in the calling thread, in bytes. */
const MAX_TEXT_IN_PLACE = 1_048_576;

/**
 * The content of a file as {@link readDocument} gives it, read in a thread; images and all but large texts, which need no parser, in this
 * one.
 *
 * Errors: those of `readDocument`; FILE_UNREADABLE for what needs more time or memory than a thread has; LIMIT_REACHED when too many
 * files wait to be read.
 */
export async function readInThread(file: StoredFile, limits: ReadLimits, threads?: Threads): Promise<string> {
  return (await readPagesInThread(file, limits, threads)).text;
}

/** The content of a file as {@link readPages} gives it, read in a thread as {@link readInThread} does it. Errors: those of `readInThread`. */
export async function readPagesInThread(file: StoredFile, limits: ReadLimits, threads?: Threads): Promise<PagedText> {
  const { id, name, mimeType, bytes } = file;
  const kind = fileKind(file);
  const isPlain =
    READERS[kind] === undefined || kind === 'image' || (kind === 'text' && bytes.length <= MAX_TEXT_IN_PLACE);
  if (isPlain || bytes.length > MAX_FILE_BYTES) return readPages(file, limits);
  const { maxCharacters, signal } = limits;
  const given = { file: { id, name, mimeType, bytes }, maxCharacters };
  return firstValue(documentJob('read', given, { threads, unable: (why) => unreadable(name, `${why}.`) }), signal);
}

function readImage(file: StoredFile): string {
  const { name, bytes } = file;
  requireSize(name, 'the image has', bytes.length, MAX_IMAGE_BYTES);
  return `data:${imageType(file)};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`;
}

/** Most tags of a page; as a tree they take what a thread has. */
const MAX_TAGS = 150_000;

async function readHtml({ name, bytes, mimeType }: StoredFile): Promise<string> {
  requireSize(name, 'the page has', bytes.length, MAX_HTML_BYTES);
  let tags = 0;
  for (let at = bytes.indexOf(TAG); at !== -1; at = bytes.indexOf(TAG, at + 1)) {
    tags += 1;
    if (tags > MAX_TAGS) throw unreadable(name, `it has more than ${MAX_TAGS.toLocaleString('en-US')} tags.`);
  }
  return await htmlToText(decodeText(bytes, mimeType), name);
}

/** The byte that a tag begins with, also in UTF-16. */
const TAG = 0x3c;

function reasonOf(kind: FileKind, { name, mimeType }: StoredFile): string {
  if (kind === 'old-office') {
    return 'it has the format of Office before 2007, or a password; save it as .docx or .xlsx without one.';
  }
  const type = mimeType === '' || mimeType === 'application/octet-stream' ? endingOf(name) || 'unknown' : mimeType;
  return `its type is ${type}; give an image, PDF, .docx, .pptx, .xlsx, .eml, HTML, Markdown, CSV, JSON or plain text.`;
}

/** Most bytes of XML, unpacked: a book of a thousand pages. */
const MAX_XML_BYTES = 16 * 1_048_576;

/** The parts that hold text and its structure; pictures, fonts, settings, headers and embedded files are left out. */
const TEXT_PARTS = /(?:\.rels|^\[Content_Types\]\.xml|(?:document\d*|styles|numbering|footnotes|endnotes)\.xml)$/i;
/** Of these, those that are read as a stream, and the one that is read in pieces. */
const LONG_PARTS = /(?:document\d*|footnotes|endnotes)\.xml$/i;
const MAIN_PART = /document\d*\.xml$/i;

const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => h2:fresh",
  "p[style-name='Code'] => pre:separator('\\n')",
];

/**
 * The text of a Word document; headings, lists and tables as Markdown. Reading stops at the piece that fills `maxCharacters`.
 *
 * The archive is unpacked here within a bound, rid of what is not read and repacked in pieces: the parser unpacks without a bound, and
 * makes trees that take a hundred times the bytes of a piece. Errors: FILE_UNREADABLE.
 */
async function readDocx({ name, bytes }: StoredFile, { maxCharacters, signal }: ReadLimits): Promise<string> {
  const zip = openZip(bytes, name);
  const entries = [...zip.entries.values()].filter(({ path }) => TEXT_PARTS.test(path));
  if (!entries.some(({ path }) => path.endsWith('.rels'))) throw unreadable(name, 'it is no Word document.');
  requireUnpackedSize(entries, MAX_XML_BYTES, name);
  try {
    const parts: Record<string, Uint8Array> = {};
    let main: { readonly path: string; readonly part: WordPart } | undefined;
    for (const entry of entries) {
      const { path } = entry;
      const part = LONG_PARTS.test(path) ? await readWordPart(zip, entry) : undefined;
      if (part !== undefined && MAIN_PART.test(path)) main = { path, part };
      parts[path] = part === undefined ? await buffer(zip.stream(entry, signal)) : bytesOf(part, part.pieces);
    }
    const texts: string[] = [];
    let length = 0;
    for (const piece of main === undefined || main.part.hasNotes ? [undefined] : main.part.pieces) {
      signal?.throwIfAborted();
      if (main !== undefined && piece !== undefined) parts[main.path] = bytesOf(main.part, [piece]);
      const text = await textOfWord(parts, name);
      if (text !== '') texts.push(text);
      length += text.length;
      if (length > maxCharacters) break;
    }
    return texts.join('\n\n');
  } catch (error) {
    throw toUnreadable(name, error, 'Word document');
  }
}

function bytesOf({ head, tail }: WordPart, pieces: readonly string[]): Uint8Array {
  return Buffer.from(`${head}${pieces.join('')}${tail}`);
}

async function textOfWord(parts: Record<string, Uint8Array>, name: string): Promise<string> {
  const [{ default: mammoth }, { zipSync }] = await Promise.all([import('mammoth'), import('fflate')]);
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(zipSync(parts, { level: 0 })) },
    {
      styleMap: STYLES,
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
    },
  );
  return htmlToText(value, name);
}

/** Fewest characters that a cell takes in a Markdown table: its bar, two blanks and its text. */
const MIN_CELL_CHARACTERS = 4;

/**
 * The text of a workbook: every sheet as a Markdown table under its name. Reading stops when there is more than
 * `maxCharacters`.
 *
 * Errors: FILE_UNREADABLE; LIMIT_REACHED for cells so far apart that the table between them does not fit.
 */
async function readXlsx(file: StoredFile, { maxCharacters, signal }: ReadLimits): Promise<string> {
  const maxCells = Math.ceil(maxCharacters / MIN_CELL_CHARACTERS) + 1;
  const budget = createSoftBudget(maxCells, maxCharacters);
  const grids = await readWorkbook(file, { selection: parseSelection('all'), budget, signal, warn() {} });
  const holes = createCellBudget(maxCells);
  return sheetsMarkdown(grids.map(({ name, rows }) => tableOfGrid(name, rows, holes)));
}
