/** A file to put into an archive. */
export interface PackedPart {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly crc32: number;
}

const VERSION = 20;

/**
 * Writes a zip archive with its files stored as they are (APPNOTE 6.3, sections 4.3.7 to 4.3.16).
 *
 * For parsers that unpack archives without a bound: they are handed what was unpacked within one.
 */
export function packZip(parts: readonly PackedPart[]): Buffer {
  const chunks: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const part of parts) {
    const path = Buffer.from(part.path, 'utf8');
    const header = common(part, path);
    const local = Buffer.concat([words(0x04034b50), header, path]);
    chunks.push(local, part.bytes);
    // Comment length, disk and attributes are zero.
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(words(0x02014b50), halves(VERSION), header, tail, path);
    offset += local.length + part.bytes.length;
  }
  const central = Buffer.concat(directory);
  const counts = halves(0, 0, parts.length, parts.length);
  return Buffer.concat([...chunks, central, words(0x06054b50), counts, words(central.length, offset), halves(0)]);
}

/** The fields that an entry's own header and the directory share: version, flags (UTF-8), method, time, sizes, name, extra. */
function common({ bytes, crc32 }: PackedPart, path: Buffer): Buffer {
  return Buffer.concat([
    halves(VERSION, 0x0800, 0, 0, 0x21),
    words(crc32, bytes.length, bytes.length),
    halves(path.length, 0),
  ]);
}

function halves(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    buffer.writeUInt16LE(value, index * 2);
  });
  return buffer;
}

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    buffer.writeUInt32LE(value, index * 4);
  });
  return buffer;
}
