import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../errors.js';
import type { FileRecord, FileStore } from '../records/files.js';
import { isExpired } from './file-expiry.js';
import { makeFolder } from './make-folder.js';

/** What is known about a file whose bytes lie on disk. */
export interface FileEntry extends Omit<FileRecord, 'bytes'> {
  readonly size: number;
  /** Where the bytes are, below the folder of files; chosen at random, so no name of a user reaches the file system. */
  readonly path: string;
}

/** The index of files: their tenants and where their bytes are. */
export interface FileIndex {
  /** Inserts or replaces; gives the path that is free now. */
  put(tenant: string, entry: FileEntry): Promise<string | undefined>;
  find(tenant: string, id: string): Promise<FileEntry | undefined>;
  /** Which of these paths no file of any tenant has. */
  unknownPaths(paths: readonly string[]): Promise<readonly string[]>;
}

export interface FilesOnDiskOptions {
  /** Where the bytes go; made when it is not there. */
  readonly folder: string;
  readonly index: FileIndex;
  /** Bytes of one file. @default 256 MiB */
  readonly maxFileBytes?: number;
}

/** Files whose bytes lie on disk. */
export interface DiskFiles extends FileStore {
  /** Removes bytes, after their entries are gone. */
  remove(paths: readonly string[]): Promise<void>;
  /** Removes bytes that were written before `olderThan` and have no entry: a process died in between. Gives their number. */
  sweep(olderThan: number): Promise<number>;
}

const SWEEP_SIZE = 1_000;

/** Name of a folder that bytes lie in. */
const PART = /^[0-9a-f]{2}$/;

/**
 * Files as an index and bytes on disk.
 *
 * Bytes are written to a file of their own, flushed, then renamed; only then they are entered in the index. So every
 * entry has all its bytes, and a crash leaves at most bytes without an entry, which `sweep` finds.
 */
export function createFilesOnDisk({ folder, index, maxFileBytes = 256 * 1024 ** 2 }: FilesOnDiskOptions): DiskFiles {
  const remove = async (paths: readonly string[]): Promise<void> => {
    for (const name of paths) await rm(path.join(folder, name), { force: true });
  };

  return {
    async save(tenant, { bytes, ...about }) {
      if (bytes.byteLength > maxFileBytes) throw tooLarge(about.name, bytes.byteLength, maxFileBytes);
      const name = newPath();
      await write(path.join(folder, name), bytes);
      try {
        const replaced = await index.put(tenant, { ...about, size: bytes.byteLength, path: name });
        if (replaced !== undefined) await remove([replaced]);
      } catch (error) {
        // Without an answer the entry may exist, and then the bytes are needed; otherwise `sweep` finds them.
        if (!EngineError.is(error) || !error.retryable) await remove([name]);
        throw error;
      }
    },
    async find(tenant, id) {
      const entry = await index.find(tenant, id);
      if (entry === undefined || isExpired(entry, Date.now())) return undefined;
      const { size, path: name, ...about } = entry;
      const bytes = await read(path.join(folder, name));
      if (bytes?.byteLength !== size) throw damaged(entry, bytes?.byteLength);
      return { ...about, bytes };
    },
    remove,
    async sweep(olderThan) {
      let removed = 0;
      const old = await oldFiles(folder, olderThan);
      for (let at = 0; at < old.length; at += SWEEP_SIZE) {
        const unknown = await index.unknownPaths(old.slice(at, at + SWEEP_SIZE));
        await remove(unknown);
        removed += unknown.length;
      }
      return removed;
    },
  };
}

/** Spread over 256 folders: some file systems dislike large ones. */
function newPath(): string {
  const id = randomUUID();
  return `${id.slice(0, 2)}/${id}`;
}

async function write(target: string, bytes: Uint8Array): Promise<void> {
  const draft = `${target}.draft`;
  await makeFolder(path.dirname(target));
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, target);
}

async function read(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Paths below the folder of what was written before `olderThan`. */
async function oldFiles(folder: string, olderThan: number): Promise<readonly string[]> {
  const found: string[] = [];
  // Other files in this folder, such as those of `runnel run`, are not of this store.
  for (const part of (await readdir(folder).catch(() => [])).filter((name) => PART.test(name))) {
    for (const name of await readdir(path.join(folder, part)).catch(() => [])) {
      const about = await stat(path.join(folder, part, name)).catch(() => undefined);
      if (about !== undefined && about.mtimeMs < olderThan) found.push(`${part}/${name}`);
    }
  }
  return found;
}

function tooLarge(name: string, bytes: number, most: number): EngineError {
  return new EngineError('LIMIT_REACHED', `File "${name}" has ${bytes} bytes, of at most ${most}.`);
}

function damaged({ id, size }: FileEntry, found: number | undefined): EngineError {
  return new EngineError(
    'FILE_UNREADABLE',
    `File "${id}" should have ${size} bytes on disk and has ${found ?? 'none'}; was the folder of files moved or changed?`,
  );
}
