/** Zip archives within bounds: the directory, and entries as streams. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createInflateRaw } from 'node:zlib';
import { requireSize, toUnreadable, unreadable } from './limits.js';

/** One file in a zip archive, as the directory at the archive's end describes it. */
export interface ZipEntry {
  readonly path: string;
  readonly isDeflated: boolean;
  /** Bytes in the archive. */
  readonly packedSize: number;
  /** Bytes when unpacked, as declared; unpacking fails when they turn out to be more or less. */
  readonly size: number;
  /** Where the entry's own header begins. */
  readonly offset: number;
}

/** An archive whose directory has been read; nothing is unpacked yet. */
export interface Zip {
  /** By path, slashes forward and none in front. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** The content in chunks; yields to the event loop between two of them. */
  stream(entry: ZipEntry, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
/** Marks a field whose value stands in the zip64 extra field. */
const SEE_EXTRA = 0xffffffff;
const ZIP64_EXTRA = 1;
const CHUNK_BYTES = 65_536;
/** Most files of an archive; Office documents with a thousand pictures stay far below. */
const MAX_ENTRIES = 20_000;

/**
 * Reads the directory of a zip archive (APPNOTE 6.3, sections 4.3.7 to 4.3.16) and unpacks entries within their declared size.
 *
 * The declared sizes are what callers bound (`requireUnpackedSize`), so a zip bomb is refused before anything is unpacked, and
 * one that declares a wrong size as soon as it exceeds that.
 *
 * @throws EngineError FILE_UNREADABLE for what is no archive, is encrypted, or packed in an unusual way.
 */
export function openZip(bytes: Uint8Array, name: string): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(view, bytes, name);
  return { entries, stream: (entry, signal) => unpack(entry, packedBytes(entry, view, bytes, name), name, signal) };
}

/** @throws EngineError FILE_UNREADABLE when entries have more bytes together, unpacked, than they may. */
export function requireUnpackedSize(entries: Iterable<ZipEntry>, maxBytes: number, name: string): void {
  let total = 0;
  for (const { size } of entries) total += size;
  requireSize(name, 'its content unpacks to', total, maxBytes);
}

function readDirectory(view: DataView, bytes: Uint8Array, name: string): Map<string, ZipEntry> {
  const end = findEnd(view);
  if (end === undefined) throw unreadable(name, 'it is no zip archive, or its end is missing.');
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  if (count > MAX_ENTRIES || size > end) throw unreadable(name, `its directory of ${count} files cannot be followed.`);
  // Bytes before the archive move everything by the same distance.
  const shift = end - size - view.getUint32(end + 16, true);
  const entries = new Map<string, ZipEntry>();
  let at = end - size;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw unreadable(name, 'its directory is damaged.');
    const entry = readEntry(view, bytes, at, shift, name);
    if (!entry.path.endsWith('/')) entries.set(entry.path, entry);
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

function findEnd(view: DataView): number | undefined {
  const last = view.byteLength - END_LENGTH;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT); at -= 1) {
    if (view.getUint32(at, true) === END) return at;
  }
  return undefined;
}

function readEntry(view: DataView, bytes: Uint8Array, at: number, shift: number, name: string): ZipEntry {
  const nameEnd = at + 46 + view.getUint16(at + 28, true);
  const path = new TextDecoder()
    .decode(bytes.subarray(at + 46, nameEnd))
    .replaceAll('\\', '/')
    .replace(/^\/+/, '');
  const method = view.getUint16(at + 10, true);
  if ((view.getUint16(at + 8, true) & 1) !== 0) throw unreadable(name, 'it is protected by a password.');
  if (method !== 0 && method !== 8) throw unreadable(name, `"${path}" in it is packed with method ${method}.`);
  const wide = wideFields(view, nameEnd, view.getUint16(at + 30, true));
  const field = (offset: number): number => {
    const value = view.getUint32(at + offset, true);
    return value === SEE_EXTRA ? (wide.next().value ?? value) : value;
  };
  // The extra field holds the large values in this order.
  const size = field(24);
  const packedSize = field(20);
  const offset = field(42) + shift;
  return { path, isDeflated: method === 8, packedSize, size, offset };
}

/** The 64-bit values of the zip64 extra field, one after the other. */
function* wideFields(view: DataView, from: number, length: number): Generator<number, undefined> {
  const end = Math.min(from + length, view.byteLength);
  for (let at = from; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64_EXTRA) continue;
    const valuesEnd = Math.min(end, at + 4 + view.getUint16(at + 2, true));
    for (let value = at + 4; value + 8 <= valuesEnd; value += 8) yield Number(view.getBigUint64(value, true));
    return undefined;
  }
  return undefined;
}

function packedBytes(entry: ZipEntry, view: DataView, bytes: Uint8Array, name: string): Uint8Array {
  const { offset, packedSize, path } = entry;
  if (offset >= 0 && offset + 30 <= view.byteLength && view.getUint32(offset, true) === LOCAL) {
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
    if (start + packedSize <= bytes.length) return bytes.subarray(start, start + packedSize);
  }
  throw unreadable(name, `"${path}" in it is cut off.`);
}

async function* unpack(
  { isDeflated, size, path }: ZipEntry,
  packed: Uint8Array,
  name: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  try {
    for await (const chunk of isDeflated ? inflate(packed) : slices(packed)) {
      signal?.throwIfAborted();
      total += chunk.length;
      if (total > size) throw unreadable(name, `"${path}" in it is larger than declared.`);
      yield chunk;
    }
  } catch (error) {
    throw toUnreadable(name, error, 'zip archive');
  }
  if (total !== size) throw unreadable(name, `"${path}" in it is shorter than declared.`);
}

function inflate(packed: Uint8Array): AsyncIterable<Uint8Array> {
  const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
  inflater.end(packed);
  return inflater;
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
    await nextTurn();
  }
}
