/** Bodies of answers: read within bounds, decompressed, decoded. */
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { charsetOf, decodeAs, metaCharset } from '../../documents/reading/decode-text.js';
import { egressError } from './failures.js';

/** How large the first piece of the buffer is; most answers are smaller. */
const FIRST_BYTES = 16_384;

/** What an answer may be encoded with. One coding at a time: layered codings serve decompression bombs only. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Bounds of a body, and its request in messages. */
export interface BodyLimits {
  /** Bytes after decompression. */
  readonly maxBytes: number;
  readonly asked: string;
}

/**
 * Reads a body whole, decompressed, and stops at the first byte too much.
 *
 * Errors: `EGRESS_TOO_LARGE`; `EGRESS_FAILED` for an encoding that was not asked for; those of the stream and of zlib.
 */
export async function readBody(body: Readable, encoding: string, limits: BodyLimits): Promise<Uint8Array> {
  const decoder = decoderOf(encoding, limits.asked);
  const collected = new ByteCollector(limits.maxBytes);
  const collect = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of pieces) collected.add(piece);
  };
  try {
    // pipeline destroys every stream when one part fails, the socket's included.
    if (decoder === undefined) await pipeline(body, collect);
    else await pipeline(body, decoder, collect);
  } catch (error) {
    // Of several errors pipeline gives any: here the one of a stream that was destroyed for being too long.
    throw collected.isOver ? tooLarge(limits) : error;
  }
  return collected.bytes();
}

/** The error for a body that is larger than it may be. */
export function tooLarge({ asked, maxBytes }: BodyLimits): Error {
  return egressError('EGRESS_TOO_LARGE', asked, `the answer is larger than the ${maxBytes} bytes that are allowed`);
}

function decoderOf(encoding: string, asked: string): Duplex | undefined {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw egressError('EGRESS_FAILED', asked, 'the answer comes in an encoding that was not asked for');
  }
}

/** One growing buffer: a body that comes byte by byte must not cost an object for each. */
class ByteCollector {
  #buffer: Uint8Array;
  #length = 0;
  /** Whether more came than there may be. */
  isOver = false;

  constructor(private readonly maxBytes: number) {
    this.#buffer = new Uint8Array(Math.min(FIRST_BYTES, maxBytes));
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.maxBytes) {
      this.isOver = true;
      throw new RangeError('too many bytes');
    }
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.min(this.maxBytes, Math.max(length, this.#buffer.length * 2)));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }
}

/**
 * Gives the text of a body: in the character set of its content type, of its own `<meta charset>` when it is HTML, or in UTF-8.
 *
 * A byte order mark is left out, what cannot be decoded reads as U+FFFD, and an unknown character set is read as UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const declared = charsetOf(contentType) ?? (isHtml(contentType) ? metaCharset(bytes) : undefined);
  return decodeAs(declared ?? 'utf-8', bytes);
}

/** Whether a content type is that of a web page. */
export function isHtml(contentType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
