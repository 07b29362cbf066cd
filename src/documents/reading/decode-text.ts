/** Bytes that an encoding is guessed from. */
const SAMPLE_BYTES = 65_536;
const META_CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i;
const CHARSET_PARAMETER = /;\s*charset\s*=\s*"?([^\s";]+)/i;
/** Share of two-byte characters that must be in the common planes of GB 18030 for a text to count as that. */
const COMMON_PAIRS = 0.9;
/** What windows-1252 has from 0x80 to 0x9f; five places are empty. */
const HIGH_CONTROLS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * The text of a file: by its byte order mark, as UTF-8 when it is that, in the character set that its media type or its
 * `<meta charset>` declares, and else in the one of the two that old spreadsheets and editors wrote: GB 18030 when nearly all
 * its double bytes are common Chinese characters, windows-1252 otherwise.
 */
export function decodeText(bytes: Uint8Array, mimeType = ''): string {
  const marked = markedEncoding(bytes);
  if (marked !== undefined) return new TextDecoder(marked).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const declared = charsetOf(mimeType) ?? metaCharset(bytes);
    return decodeAs(declared ?? guess(bytes), bytes);
  }
}

/** Whether bytes of an unknown kind can be shown as text: no control characters, and UTF-8 or marked as UTF-16. */
export function looksLikeText(bytes: Uint8Array): boolean {
  if (markedEncoding(bytes) !== undefined) return true;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  for (const byte of sample) if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) return false;
  try {
    // `stream`: a character that the end of the sample cuts is no error.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: sample.length < bytes.length });
    return true;
  } catch {
    return false;
  }
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** The character set that a media type declares, if it does. */
export function charsetOf(mimeType: string): string | undefined {
  return CHARSET_PARAMETER.exec(mimeType)?.[1];
}

/** The character set that a page declares in its first kilobyte, if it does. */
export function metaCharset(bytes: Uint8Array): string | undefined {
  return META_CHARSET.exec(new TextDecoder('latin1').decode(bytes.subarray(0, 1024)))?.[1];
}

/** The text of bytes in a character set, without a byte order mark; an unknown one is read as UTF-8. */
export function decodeAs(charset: string, bytes: Uint8Array): string {
  try {
    const decoder = new TextDecoder(charset);
    const text = decoder.decode(bytes);
    return decoder.encoding === 'windows-1252' ? mendWindows1252(text) : text;
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Node 20 reads windows-1252 as Latin-1, which has control characters in this place. */
function mendWindows1252(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (character) => HIGH_CONTROLS[character.charCodeAt(0) - 0x80] ?? character);
}

function guess(bytes: Uint8Array): string {
  const end = Math.min(bytes.length, SAMPLE_BYTES);
  let common = 0;
  let pairs = 0;
  for (let at = 0; at + 1 < end; at += 1) {
    if ((bytes[at] ?? 0) < 0x81) continue;
    pairs += 1;
    at += 1;
    if ((bytes[at] ?? 0) >= 0xa1) common += 1;
  }
  return pairs > 0 && common >= pairs * COMMON_PAIRS ? 'gb18030' : 'windows-1252';
}
