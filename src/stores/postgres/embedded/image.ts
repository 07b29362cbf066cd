import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip, type ZlibOptions } from 'node:zlib';

/**
 * A folder as one file, compressed: four bytes for the length of the list, the list of what is in the folder as JSON, and the contents
 * of the files in that order, each without the zeros at its end: a log of 16 MB that was not written to is nothing but zeros.
 */
interface List {
  readonly folders: readonly string[];
  readonly files: readonly PackedFile[];
}

interface PackedFile {
  readonly name: string;
  /** Length of the file. */
  readonly size: number;
  /** What the image holds of it; zeros follow up to `size`. */
  readonly bytes: number;
}

/** Large pieces are given back to the system when they are collected; of small ones, a thousand of them, 17 MB stayed with the process. */
const PIECE_BYTES = 1024 ** 2;

/** Writes what an image holds into a folder. */
export async function unpackImage(image: Uint8Array, folder: string): Promise<void> {
  const bytes = await promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)(image, { chunkSize: PIECE_BYTES });
  const start = 4 + bytes.readUInt32BE(0);
  const { folders, files } = JSON.parse(bytes.toString('utf8', 4, start)) as List;
  // A thousand small files are written several times faster without a turn of the event loop for each; nothing else needs it here.
  for (const name of ['', ...folders]) mkdirSync(path.join(folder, name), { recursive: true, mode: 0o700 });
  let at = start;
  for (const file of files) {
    const target = path.join(folder, file.name);
    writeFileSync(target, bytes.subarray(at, at + file.bytes), { mode: 0o600 });
    if (file.size > file.bytes) truncateSync(target, file.size);
    at += file.bytes;
  }
}

/**
 * Makes an image of a folder, such as that of a database that no process uses. See `scripts/prepare-database.ts`.
 *
 * @param isWanted which files it holds, by their path in the folder; all of them when it is not given
 */
export async function packFolder(
  folder: string,
  isWanted: (name: string) => boolean = () => true,
): Promise<Uint8Array> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  // Parents come before what is in them.
  const nameOf = (entry: (typeof entries)[number]): string =>
    path.relative(folder, path.join(entry.parentPath, entry.name));
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(nameOf)
    .sort();
  const names = entries
    .filter((entry) => entry.isFile())
    .map(nameOf)
    .filter(isWanted)
    .sort();
  const contents: Uint8Array[] = [];
  const files: PackedFile[] = [];
  for (const name of names) {
    const whole = await readFile(path.join(folder, name));
    const content = withoutZeros(whole);
    contents.push(content);
    files.push({ name, size: whole.length, bytes: content.length });
  }
  const list = Buffer.from(JSON.stringify({ folders, files } satisfies List));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  return promisify(gzip)(Buffer.concat([length, list, ...contents]), { level: 9 });
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}
