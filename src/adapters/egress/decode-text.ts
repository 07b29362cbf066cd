/** Bytes at the start of a page in which its own declaration of a character set is looked for. */
const PRESCAN_BYTES = 1024;

const CHARSET_PARAMETER = /;\s*charset\s*=\s*"?([^\s";]+)/i;
const META_CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i;

/**
 * Gives the text of a body: in the character set of its content type, of its own `<meta charset>` when it is HTML, or in UTF-8.
 *
 * A byte order mark is left out, what cannot be decoded reads as U+FFFD, and a set that nobody knows as UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const declared = CHARSET_PARAMETER.exec(contentType)?.[1] ?? (isHtml(contentType) ? metaCharset(bytes) : undefined);
  return decode(bytes, declared);
}

/** Whether a content type is that of a web page. */
export function isHtml(contentType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}

function metaCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN_BYTES));
  return META_CHARSET.exec(start)?.[1];
}

function decode(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
