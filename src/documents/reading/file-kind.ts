/** What kind of file bytes are, and the content of `data:` URLs. */
import { ownText } from '../../dsl/json-copy.js';
import { MEDIA_TYPES, type StoredFile } from '../../records/files.js';
import { looksLikeText } from './decode-text.js';

/** How a file is read. */
export type FileKind = 'image' | 'pdf' | 'docx' | 'pptx' | 'xlsx' | 'html' | 'mail' | 'text' | 'old-office' | 'unknown';

const OOXML = 'application/vnd.openxmlformats-officedocument.';

const BY_TYPE: ReadonlyMap<string, FileKind> = new Map(
  Object.entries<FileKind>({
    'application/pdf': 'pdf',
    [`${OOXML}wordprocessingml.document`]: 'docx',
    [`${OOXML}wordprocessingml.template`]: 'docx',
    'application/vnd.ms-word.document.macroenabled.12': 'docx',
    [`${OOXML}presentationml.presentation`]: 'pptx',
    [`${OOXML}presentationml.slideshow`]: 'pptx',
    'application/vnd.ms-powerpoint.presentation.macroenabled.12': 'pptx',
    'message/rfc822': 'mail',
    [`${OOXML}spreadsheetml.sheet`]: 'xlsx',
    [`${OOXML}spreadsheetml.template`]: 'xlsx',
    'application/vnd.ms-excel.sheet.macroenabled.12': 'xlsx',
    'text/html': 'html',
    'application/xhtml+xml': 'html',
    'application/msword': 'old-office',
  }),
);

/** Kinds of text beside `text/*`. */
const TEXT_TYPES =
  /^text\/|^application\/(?:json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|csv|markdown|javascript|x-javascript|typescript|x-sh|sql|graphql|x-httpd-php|x-python|x-tex)$|\+(?:json|xml|yaml)$/;

const BY_ENDING: ReadonlyMap<string, FileKind> = new Map(
  Object.entries({
    image: 'png jpg jpeg gif webp bmp avif heic heif tif tiff svg ico',
    pdf: 'pdf',
    docx: 'docx dotx docm',
    pptx: 'pptx ppsx pptm',
    mail: 'eml',
    xlsx: 'xlsx xlsm xltx xltm',
    html: 'html htm xhtml',
    'old-office': 'doc xls ppt dot xlt',
    text: 'txt text md markdown mdx rst adoc tex log csv tsv json jsonl ndjson json5 xml yaml yml toml ini cfg conf env properties srt vtt ics vcf diff patch py pyi js mjs cjs jsx ts mts cts tsx java kt kts scala groovy c h cc cpp cxx hpp hh cs go rs rb php pl pm lua r jl swift m mm dart hs ml ex exs erl clj sh bash zsh fish ps1 bat cmd sql graphql gql proto tf gradle cmake css scss sass less vue svelte',
  }).flatMap(([kind, endings]) => endings.split(' ').map((ending) => [ending, kind as FileKind])),
);

/** Magic bytes, in hexadecimal. */
const MAGIC: readonly (readonly [pattern: RegExp, kind: FileKind, mimeType: string])[] = [
  [/^89504e470d0a1a0a/, 'image', 'image/png'],
  [/^ffd8ff/, 'image', 'image/jpeg'],
  [/^47494638/, 'image', 'image/gif'],
  [/^52494646.{8}57454250/, 'image', 'image/webp'],
  [/^255044462d/, 'pdf', 'application/pdf'],
  [/^d0cf11e0a1b11ae1/, 'old-office', ''],
];

/** The ending of a file name in lower case; empty without one. */
export function endingOf(name: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** Whether files of an ending are known; an ending is in lower case, without its dot. */
export function isKnownEnding(ending: string): boolean {
  return BY_ENDING.has(ending);
}

/**
 * Gives how a file is read: by its media type, by the ending of its name when that is unspecific (`application/octet-stream`),
 * and by its content when neither does.
 */
export function fileKind({ name, mimeType, bytes }: StoredFile): FileKind {
  const type = plainMimeType(mimeType);
  const ending = endingOf(name);
  if (type.startsWith('image/')) return 'image';
  const known = BY_TYPE.get(type);
  if (known !== undefined) return known;
  // An HTML file is often uploaded as plain text; every other text is read the same way.
  if (TEXT_TYPES.test(type)) return BY_ENDING.get(ending) === 'html' ? 'html' : 'text';
  // Also for `application/vnd.ms-excel`, as browsers on Windows call every CSV file.
  return BY_ENDING.get(ending) ?? magicOf(bytes)?.[1] ?? textOrUnknown(bytes);
}

/** The media type of an image: as declared, by its content or by its name. */
export function imageType({ name, mimeType, bytes }: StoredFile): string {
  const type = plainMimeType(mimeType);
  if (type.startsWith('image/')) return type;
  const ending = endingOf(name).replace(/^tif$/, 'tiff');
  return magicOf(bytes)?.[2] ?? ownText(MEDIA_TYPES, ending) ?? `image/${ending}`;
}

function magicOf(bytes: Uint8Array): (typeof MAGIC)[number] | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('hex');
  return MAGIC.find(([pattern]) => pattern.test(start));
}

function textOrUnknown(bytes: Uint8Array): FileKind {
  return looksLikeText(bytes) ? 'text' : 'unknown';
}

/** What a `data:` URL holds. */
export interface DataUrl {
  /** In lower case, without parameters; `text/plain` when the URL names none (RFC 2397). */
  readonly mimeType: string;
  /** The media type as written, with its parameters. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Longest header before the comma. */
const MAX_HEADER = 1024;

/** Reads a `data:` URL (RFC 2397); undefined for every other text. */
export function parseDataUrl(text: string): DataUrl | undefined {
  if (!text.startsWith('data:')) return undefined;
  const comma = text.slice(0, MAX_HEADER).indexOf(',');
  if (comma === -1) return undefined;
  const header = text.slice('data:'.length, comma).trim();
  const isBase64 = /;\s*base64$/i.test(header);
  const contentType = header.replace(/;\s*base64$/i, '') || 'text/plain';
  const content = text.slice(comma + 1);
  return {
    contentType,
    mimeType: plainMimeType(contentType),
    bytes: isBase64 ? Buffer.from(content, 'base64') : percentDecoded(content),
  };
}

/** A media type in lower case and without parameters. */
function plainMimeType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** By byte, as the escapes need not be UTF-8 and malformed ones stay as they are. */
function percentDecoded(content: string): Uint8Array {
  const written = Buffer.from(content, 'utf8');
  if (!content.includes('%')) return written;
  const decoded = Buffer.alloc(written.length);
  let length = 0;
  for (let at = 0; at < written.length; at += 1) {
    const byte = written[at] ?? 0;
    const high = byte === PERCENT ? hexDigit(written[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(written[at + 2]);
    const isEscape = high >= 0 && low >= 0;
    decoded[length] = isEscape ? high * 16 + low : byte;
    length += 1;
    if (isEscape) at += 2;
  }
  return decoded.subarray(0, length);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
