import type { StoredFile } from '../../records/files.js';
import { decodeText } from './decode-text.js';
import { endingOf, type FileKind, fileKind, imageType } from './file-kind.js';
import { limitText } from './limit-text.js';
import { MAX_FILE_BYTES, MAX_HTML_BYTES, MAX_IMAGE_BYTES, type ReadLimits } from './limits.js';
import { sizeText, unreadable } from './unreadable.js';

/** Readers by kind; each loads its parser when it is first used. */
const READERS: Readonly<Partial<Record<FileKind, (file: StoredFile, limits: ReadLimits) => string | Promise<string>>>> =
  {
    image: readImage,
    text: ({ bytes, mimeType }) => decodeText(bytes, mimeType),
    html: readHtml,
    pdf: async (file, limits) => (await import('./read-pdf.js')).readPdf(file, limits),
    docx: async (file, limits) => (await import('./read-docx.js')).readDocx(file, limits),
    xlsx: async (file, limits) => (await import('./read-xlsx.js')).readXlsx(file, limits),
  };

/**
 * What a file says, for prompts and forms: an image as a `data:` URL, everything else as text.
 *
 * PDF, Word (`.docx`), Excel (`.xlsx`, every sheet as a Markdown table) and HTML go through a parser; text, Markdown, CSV,
 * JSON, XML and program text are taken as they are.
 *
 * @throws EngineError FILE_UNREADABLE with the file's name, its type and what to give instead.
 */
export async function readDocument(file: StoredFile, limits: ReadLimits): Promise<string> {
  const { name, bytes } = file;
  if (bytes.length > MAX_FILE_BYTES) {
    throw unreadable(name, `it has ${sizeText(bytes.length)}; at most ${sizeText(MAX_FILE_BYTES)} are read.`);
  }
  const kind = fileKind(file);
  const read = READERS[kind];
  if (read === undefined) throw unreadable(name, reasonOf(kind, file));
  const text = await read(file, limits);
  return kind === 'image' ? text : limitText(text, limits.maxCharacters, name);
}

function readImage(file: StoredFile): string {
  const { name, bytes } = file;
  if (bytes.length > MAX_IMAGE_BYTES) {
    throw unreadable(name, `the image has ${sizeText(bytes.length)}; at most ${sizeText(MAX_IMAGE_BYTES)} are read.`);
  }
  return `data:${imageType(file)};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`;
}

async function readHtml({ name, bytes, mimeType }: StoredFile): Promise<string> {
  if (bytes.length > MAX_HTML_BYTES) {
    throw unreadable(name, `the page has ${sizeText(bytes.length)}; at most ${sizeText(MAX_HTML_BYTES)} are read.`);
  }
  const { htmlToText } = await import('./html-to-text.js');
  return await htmlToText(decodeText(bytes, mimeType), name);
}

function reasonOf(kind: FileKind, { name, mimeType }: StoredFile): string {
  if (kind === 'old-office') {
    return 'it has the format of Office before 2007, or a password; save it as .docx or .xlsx without one.';
  }
  const type = mimeType === '' || mimeType === 'application/octet-stream' ? endingOf(name) || 'unknown' : mimeType;
  return `its type is ${type}; give an image, PDF, .docx, .xlsx, HTML, Markdown, CSV, JSON or plain text.`;
}
