import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { EngineError } from '../../errors.js';

/** Texts from here on are compressed, in bytes. */
const COMPRESSED_FROM_BYTES = 64 * 1024;

/** The first bytes of everything that is gzipped (RFC 1952); no JSON text begins so. */
const GZIP_MAGIC = 0x1f8b;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * A JSON value as bytes, compressed when it is large.
 *
 * @throws EngineError LIMIT_REACHED when its JSON text has more than `maxBytes`.
 */
export async function pack(what: string, value: unknown, maxBytes: number): Promise<Buffer> {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length > maxBytes) {
    throw new EngineError(
      'LIMIT_REACHED',
      `${what} has ${text.length} bytes, of at most ${maxBytes}; keep files out of variables and outputs, or raise the limit.`,
    );
  }
  // The fastest level: JSON of a state repeats itself enough to shrink well.
  return text.length < COMPRESSED_FROM_BYTES ? text : compress(text, { level: 1 });
}

/** What {@link pack} wrote. @throws EngineError CHECKPOINT_INVALID when it is neither JSON nor gzipped JSON of at most `maxBytes`. */
export async function unpack(what: string, bytes: Buffer, maxBytes: number): Promise<unknown> {
  try {
    const isCompressed = bytes.length >= 2 && bytes.readUInt16BE(0) === GZIP_MAGIC;
    const text = isCompressed ? await decompress(bytes, { maxOutputLength: maxBytes }) : bytes;
    return JSON.parse(text.toString()) as unknown;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('CHECKPOINT_INVALID', `${what} cannot be read: ${why}.`, { cause });
  }
}
