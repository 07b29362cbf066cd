import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';

/**
 * A folder as one file, compressed: four bytes for the length of the list, the list of what is in the folder as JSON, and the contents
 * of the files in that order.
 */
interface List {
  readonly folders: readonly string[];
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

/** A new, empty database as one file, so that a first start does not take long. Takes seconds. */
export async function createImage(): Promise<Uint8Array> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-image-'));
  try {
    const db = await PGlite.create({ dataDir: folder });
    await db.close();
    return await pack(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes what an image holds into a folder. */
export async function unpackImage(image: Uint8Array, folder: string): Promise<void> {
  const bytes = await promisify(gunzip)(image);
  const start = 4 + bytes.readUInt32BE(0);
  const { folders, files } = JSON.parse(bytes.toString('utf8', 4, start)) as List;
  // A thousand small files are written several times faster without a turn of the event loop for each; nothing else needs it here.
  for (const name of ['', ...folders]) mkdirSync(path.join(folder, name), { recursive: true, mode: 0o700 });
  let at = start;
  for (const file of files) {
    writeFileSync(path.join(folder, file.name), bytes.subarray(at, at + file.bytes), { mode: 0o600 });
    at += file.bytes;
  }
}

async function pack(folder: string): Promise<Uint8Array> {
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
    .sort();
  const contents = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  const files = names.map((name, at) => ({ name, bytes: contents[at]?.length as number }));
  const list = Buffer.from(JSON.stringify({ folders, files } satisfies List));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  return promisify(gzip)(Buffer.concat([length, list, ...contents]), { level: 9 });
}
