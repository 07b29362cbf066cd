import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../errors.js';
import type { FileRecord, FileStore } from '../records/files.js';
import type { FileUsage } from '../records/quotas.js';
import { DiskDraft, type DraftFiles } from './file-draft.js';
import { isExpired } from './file-expiry.js';

/** What is known about a file whose bytes lie on disk. */
export interface FileEntry extends Omit<FileRecord, 'bytes'> {
  readonly size: number;
  /** Where the bytes are, below the folder of files; chosen at random, so no name of a user reaches the file system. */
  readonly path: string;
  /** SHA-256 of the bytes, in hexadecimal; absent from files of older versions. */
  readonly sha256?: string;
}

/** The index of files: their tenants and where their bytes are. */
export interface FileIndex {
  /** Inserts or replaces, all or none; gives the paths that are free now. @throws EngineError QUOTA_EXCEEDED */
  put(tenant: string, entries: readonly FileEntry[]): Promise<readonly string[]>;
  /** @throws EngineError QUOTA_EXCEEDED when there is no room for files that take so much. */
  requireRoom(tenant: string, added: FileUsage): Promise<void>;
  find(tenant: string, id: string): Promise<FileEntry | undefined>;
  /** Gives what was deleted. */
  delete(tenant: string, id: string): Promise<FileEntry | undefined>;
  /** Deletes at most `limit` files of a tenant that have expired at `now`; gives their paths. */
  deleteExpired(tenant: string, now: number, limit: number): Promise<readonly string[]>;
  /** Which of these paths no file of any tenant has. */
  unknownPaths(paths: readonly string[]): Promise<readonly string[]>;
}

export interface FilesOnDiskOptions {
  /** Where the bytes go; made when it is not there. */
  readonly folder: string;
  readonly index: FileIndex;
  /** Bytes of one file. @default 256 MiB */
  readonly maxFileBytes?: number;
  /** What bytes are written with. @default the file system of Node */
  readonly draftFiles?: DraftFiles;
}

/** Files whose bytes lie on disk. */
export interface DiskFiles extends FileStore {
  /** Removes bytes, after their entries are gone. */
  remove(paths: readonly string[]): Promise<void>;
  /** Removes bytes that were written before `olderThan` and have no entry: a process died in between. Gives their number. */
  sweep(olderThan: number): Promise<number>;
}

const SWEEP_SIZE = 1_000;

/** Expired files that one upload deletes. */
const EXPIRED_AT_ONCE = 500;

/** Name of a folder that bytes lie in. */
const PART = /^[0-9a-f]{2}$/;

/**
 * Files as an index and bytes on disk.
 *
 * Bytes are written to a file of their own, flushed, then renamed; only then they are entered in the index. So every
 * entry has all its bytes, and a crash leaves at most bytes without an entry, which `sweep` finds.
 */
export function createFilesOnDisk(options: FilesOnDiskOptions): DiskFiles {
  const { folder, index, maxFileBytes = 256 * 1024 ** 2, draftFiles } = options;
  const remove = async (paths: readonly string[]): Promise<void> => {
    for (const name of paths) await rm(path.join(folder, name), { force: true });
  };
  const draft = (): DiskDraft => new DiskDraft({ folder, maxBytes: maxFileBytes, files: draftFiles });
  /** Does `work`, once more when there was no room and files have expired. */
  const makingRoom = async <T>(tenant: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!EngineError.is(error) || error.code !== 'QUOTA_EXCEEDED') throw error;
      const expired = await index.deleteExpired(tenant, Date.now(), EXPIRED_AT_ONCE);
      if (expired.length === 0) throw error;
      await remove(expired);
      return work();
    }
  };
  const saveDrafts: DiskFiles['saveDrafts'] = async (tenant, files) => {
    const drafts = files.map((file) => file.draft as DiskDraft);
    const finished = await Promise.all(drafts.map((one) => one.finish()));
    let replaced: readonly string[];
    try {
      const entries = files.map(({ about }, at) => ({ ...about, ...(finished[at] as (typeof finished)[number]) }));
      replaced = await makingRoom(tenant, () => index.put(tenant, entries));
    } catch (error) {
      // Without an answer the entries may exist, and then the bytes are needed; otherwise `sweep` finds them.
      if (EngineError.is(error) && error.retryable) for (const one of drafts) one.stored();
      throw error;
    }
    for (const one of drafts) one.stored();
    await remove(replaced);
  };

  return {
    draft,
    saveDrafts,
    requireRoom: (tenant, added) => makingRoom(tenant, () => index.requireRoom(tenant, added)),
    async save(tenant, { bytes, ...about }) {
      if (bytes.byteLength > maxFileBytes) throw tooLarge(about.name, bytes.byteLength, maxFileBytes);
      const drafted = draft();
      try {
        await drafted.write(bytes);
        await saveDrafts(tenant, [{ about, draft: drafted }]);
      } finally {
        await drafted.discard();
      }
    },
    async find(tenant, id) {
      const entry = await index.find(tenant, id);
      if (entry === undefined || isExpired(entry, Date.now())) return undefined;
      const { size, path: name, sha256: _, ...about } = entry;
      const bytes = await read(path.join(folder, name));
      if (bytes?.byteLength !== size) throw damaged(entry, bytes?.byteLength);
      return { ...about, bytes };
    },
    async open(tenant, id) {
      const entry = await index.find(tenant, id);
      if (entry === undefined || isExpired(entry, Date.now())) return undefined;
      const { size, path: name, sha256: _, ...about } = entry;
      const file = path.join(folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found?.size !== size) throw damaged(entry, found?.size);
      return { about, size, read: () => createReadStream(file) };
    },
    async delete(tenant, id) {
      const entry = await index.delete(tenant, id);
      if (entry === undefined) return false;
      await remove([entry.path]);
      return !isExpired(entry, Date.now());
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
