/** Pictures of documents: read from `data:` URIs within bounds. */
import { inflateSync } from 'node:zlib';

/** A validated picture: its bytes have the format `type`, and `width` and `height` are within the bounds. */
export interface Image {
  readonly type: 'png' | 'jpg' | 'gif';
  readonly bytes: Uint8Array;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** Bytes of its pixels, where writers unpack them. */
  readonly unpackedBytes: number;
}

/** Most pixels of one picture; writers hold all of them in memory. */
const MAX_PIXELS = 16_777_216;
/** Most bytes of the pixels of one picture, and of all in one document. */
const MAX_UNPACKED = 33_554_432;
/** Most pixels in a row or column. */
const MAX_SIDE = 16_384;

const DATA_URI = /^data:image\/[\w.+-]+;base64,([\w+/=-]+)$/i;

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Chunks that carry the picture; all others are metadata. */
const PNG_PICTURE = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
/** Values of a pixel by colour type: grey, colours, palette, grey and colours with transparency. */
const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/**
 * Reads the picture in a `data:` URI: PNG (not interlaced), JPEG or GIF by its bytes, not by the media type of the URI.
 *
 * Undefined for everything else, for broken pictures and for those of more than 16,777,216 pixels, or of a PNG 32 MiB of them. A PNG comes back
 * without its metadata, and is unpacked once within a bound, as the writers unpack without one.
 */
export function readImage(uri: string): Image | undefined {
  const encoded = DATA_URI.exec(uri)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const image = readPng(bytes) ?? readJpeg(bytes) ?? readGif(bytes);
  if (image === undefined) return undefined;
  const { width, height } = image;
  const fits = width > 0 && height > 0 && Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS;
  return fits ? image : undefined;
}

interface Chunk {
  readonly name: string;
  readonly data: Buffer;
  /** With its length, name and checksum. */
  readonly whole: Buffer;
}

function readPng(bytes: Buffer): Image | undefined {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  const chunks = pngChunks(bytes);
  const header = chunks[0]?.name === 'IHDR' && chunks[0].data.length === 13 ? chunks[0].data : undefined;
  if (header === undefined || chunks.at(-1)?.name !== 'IEND') return undefined;
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const depth = header[8] ?? 0;
  const channels = PNG_CHANNELS[header[9] ?? 1];
  const isInterlaced = header[12] !== 0;
  if (channels === undefined || ![1, 2, 4, 8, 16].includes(depth) || isInterlaced) return undefined;
  if (width * height > MAX_PIXELS) return undefined;
  const size = height * (1 + Math.ceil((width * channels * depth) / 8));
  const packed = Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ data }) => data));
  if (size > MAX_UNPACKED || !unpacksTo(packed, size)) return undefined;
  // The PDF writer takes one byte for a palette index when there is transparency.
  const kept = chunks.filter(({ name }) => PNG_PICTURE.has(name) && !(name === 'tRNS' && depth < 8));
  return {
    type: 'png',
    bytes: Buffer.concat([PNG_SIGNATURE, ...kept.map(({ whole }) => whole)]),
    width,
    height,
    unpackedBytes: size,
  };
}

/** The chunks up to the end mark; without it when the file is cut short. */
function pngChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    const name = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ name, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) });
    if (name === 'IEND') break;
    at = end;
  }
  return chunks;
}

function unpacksTo(packed: Buffer, size: number): boolean {
  try {
    return inflateSync(packed, { maxOutputLength: size }).length === size;
  } catch {
    return false;
  }
}

function readJpeg(bytes: Buffer): Image | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 10 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return undefined;
    // A frame header; C4, C8 and CC are tables that share its range.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return {
        type: 'jpg',
        bytes,
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        unpackedBytes: 0,
      };
  }
  return undefined;
}

function readGif(bytes: Buffer): Image | undefined {
  if (bytes.length < 13 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined;
  return { type: 'gif', bytes, width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), unpackedBytes: 0 };
}

/** Most bytes of pictures in one document; each occurrence counts. */
const MAX_IMAGE_BYTES = 16_777_216;
/** Most pictures in one document. */
const MAX_IMAGES = 500;

/** The pictures of one document: each `data:` URI is read once, and only as many are given as a file may hold. */
export class Images {
  readonly #read = new Map<string, Image | undefined>();
  #count = 0;
  #bytes = 0;
  #unpacked = 0;

  /** The picture of a `data:` URI; undefined for any other address, a broken picture and one too many. */
  take(address: string): Image | undefined {
    if (!address.startsWith('data:')) return undefined;
    if (!this.#read.has(address)) this.#read.set(address, this.#fitting(address));
    const image = this.#read.get(address);
    if (image === undefined) return undefined;
    const bytes = this.#bytes + image.bytes.length;
    if (this.#count >= MAX_IMAGES || bytes > MAX_IMAGE_BYTES) return undefined;
    this.#count += 1;
    this.#bytes = bytes;
    return image;
  }

  /** One that fits beside those before it once all are unpacked, as they are at the same time. */
  #fitting(address: string): Image | undefined {
    if (this.#read.size >= MAX_IMAGES) return undefined;
    const image = readImage(address);
    if (image === undefined || this.#unpacked + image.unpackedBytes > MAX_UNPACKED) return undefined;
    this.#unpacked += image.unpackedBytes;
    return image;
  }
}
