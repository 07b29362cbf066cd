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
 * A JSON text, as compressed bytes when it is large. What is small stays a text: a command that has bytes among its arguments is several
 * times as expensive to write.
 *
 * @throws EngineError LIMIT_REACHED when it has more than `maxBytes`.
 */
export async function pack(what: string, json: string, maxBytes: number): Promise<Buffer | string> {
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) {
    throw new EngineError(
      'LIMIT_REACHED',
      `${what} would get ${bytes} bytes at once, of at most ${maxBytes}; keep files out of variables and outputs.`,
    );
  }
  // The fastest level: the JSON of a state repeats itself enough to shrink well.
  return bytes < COMPRESSED_FROM_BYTES ? json : compress(json, { level: 1 });
}

/** The JSON text that {@link pack} was given. @throws EngineError CHECKPOINT_INVALID when it is damaged or larger than `maxBytes`. */
export async function unpack(what: string, bytes: Buffer, maxBytes: number): Promise<string> {
  const isCompressed = bytes.length >= 2 && bytes.readUInt16BE(0) === GZIP_MAGIC;
  if (!isCompressed) return bytes.toString();
  try {
    return (await decompress(bytes, { maxOutputLength: maxBytes })).toString();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('CHECKPOINT_INVALID', `${what} cannot be read: ${why}.`, { cause });
  }
}
