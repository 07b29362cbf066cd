import { cutText } from '../../documents/characters.js';
import { decodeText, looksLikeText } from '../../documents/reading/decode-text.js';
import { MAX_FILE_BYTES, requireSize, unreadable } from '../../documents/reading/limits.js';
import type { ParseFunction, ParserInput } from '../ports.js';
import { markdownHeadings } from '../splitters/markdown-sections.js';
import { documentsOf, sourceName } from './parsed.js';

/** Longest title that is taken from a text, in UTF-16 units. */
const MAX_TITLE = 1_000;

/**
 * A parser of plain text: a source is one document, in its character set (byte order mark, UTF-8, what the media type declares, GB 18030 or
 * windows-1252).
 *
 * Errors of a call: `FILE_UNREADABLE` beyond 64 MiB, and for bytes that are no text.
 */
export function textParser(): ParseFunction {
  return async (input, options = {}) => {
    options.signal?.throwIfAborted();
    return documentsOf(input, [{ text: textOf(input) }], options);
  };
}

/** A parser of Markdown: as `textParser`, and the first heading of level 1 becomes `title`. */
export function markdownParser(): ParseFunction {
  return async (input, options = {}) => {
    options.signal?.throwIfAborted();
    const text = textOf(input);
    const title = markdownHeadings(text).find(({ level }) => level === 1)?.title ?? '';
    return documentsOf(
      input,
      [{ text, ...(title !== '' && { metadata: { title: cutText(title, MAX_TITLE) } }) }],
      options,
    );
  };
}

/** The bytes of a source as text. @throws EngineError FILE_UNREADABLE for too many, and for bytes that are no text. */
export function textOf({ bytes, uri, mimeType }: ParserInput): string {
  const name = sourceName(uri);
  requireSize(name, 'it has', bytes.length, MAX_FILE_BYTES);
  // Old character sets are no UTF-8 and still text; bytes of zero are none, but for UTF-16.
  if (!looksLikeText(bytes) && bytes.subarray(0, 65_536).includes(0)) {
    throw unreadable(name, 'it is no text; give a parser for its format.');
  }
  return decodeText(bytes, mimeType);
}
