/** What a `data:` URL holds. */
export interface DataUrl {
  /** In lower case, without parameters; `text/plain` when the URL names none (RFC 2397). */
  readonly mimeType: string;
  /** The media type as written, with its parameters. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Longest part before the comma that is looked at. */
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
export function plainMimeType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function percentDecoded(content: string): Uint8Array {
  if (!content.includes('%')) return Buffer.from(content, 'utf8');
  // By byte, as the escapes need not be UTF-8 and malformed ones stay as they are.
  const escaped = Buffer.from(content, 'utf8').toString('latin1');
  const bytes = escaped.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
