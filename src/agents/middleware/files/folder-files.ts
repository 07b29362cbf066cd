/** Files of an agent in a folder of the machine, and in nothing beside it. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, opendir, realpath, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../../errors.js';
import { readBounded } from '../../../knowledge/loaders/file-loader.js';
import { requireOptions, requireText } from '../../../operators/invalid-option.js';
import { type FileEntry, type FileLimits, type FileSpace, missing, outside, tooLarge } from './file-space.js';
import { type FileBytes, fileLimits, spaceOver } from './space-over.js';

/** See {@link folderFiles}. */
export interface FolderFilesOptions extends FileLimits {
  /** The folder; it has to be there. */
  readonly root: string;
}

/**
 * Files below one folder. No link is followed, and links and devices are not listed. A file is written beside its place and then put there, so that
 * readers never see half of it. Other programs that may put links into the folder while an agent works need a sandbox, not this.
 *
 * @throws EngineError OPTION_INVALID
 */
export function folderFiles(options: FolderFilesOptions): FileSpace {
  requireOptions('folderFiles', options, ['root', 'maxFileBytes', 'maxFiles'], 'an object with "root"');
  const { root } = options;
  requireText('folderFiles', 'root', root, 'the path of a folder');
  const limits = fileLimits('folderFiles', options);
  const place = (wanted: string): Promise<string> => placeBelow(root, wanted);
  const bytes: FileBytes = {
    // One more than counts, so that a search knows that it left something out.
    entries: async (folder) => entriesOf(await place(folder), folder, limits.maxFiles + 1),
    read: async (wanted) => {
      const file = await place(wanted);
      const { size } = await lstat(file).catch((cause: unknown) => {
        throw missing(wanted, cause);
      });
      if (size > limits.maxFileBytes) throw tooLarge(wanted, size, limits.maxFileBytes);
      return readBounded(file, wanted, limits.maxFileBytes);
    },
    write: async (wanted, content) => {
      const file = await place(wanted);
      const there = await lstat(file).catch(() => undefined);
      if (there !== undefined && !there.isFile()) throw isNoFile(wanted);
      await mkdir(path.dirname(file), { recursive: true }).catch((cause: unknown) => {
        throw new EngineError('FILE_UNREADABLE', `The folder of "${wanted}" cannot be made.`, { cause });
      });
      await place(wanted);
      await putInPlace(file, content);
    },
    remove: async (wanted) => {
      const file = await place(wanted);
      const there = await lstat(file).catch((cause: unknown) => {
        throw missing(wanted, cause);
      });
      if (!there.isFile()) throw isNoFile(wanted);
      await unlink(file);
    },
  };
  return spaceOver(bytes, limits);
}

/** Where a path lies; refuses it when a link is on the way. What is not there yet has no links. */
async function placeBelow(root: string, wanted: string): Promise<string> {
  const base = await realpath(root).catch((cause: unknown) => {
    throw new EngineError('FILE_UNKNOWN', `The folder of the files is not there: "${root}".`, { cause });
  });
  let place = base;
  for (const name of wanted.split('/').filter((one) => one !== '')) {
    place = path.join(place, name);
    const facts = await lstat(place).catch(() => undefined);
    if (facts?.isSymbolicLink() === true) throw outside(wanted, 'leads by way of a link');
  }
  return place;
}

async function entriesOf(place: string, folder: string, most: number): Promise<readonly FileEntry[]> {
  const opened = await opendir(place).catch((cause: unknown) => {
    const isFile = (cause as { code?: unknown } | undefined)?.code === 'ENOTDIR';
    throw isFile ? new EngineError('FILE_UNREADABLE', `"${folder}" is a file and no folder.`) : missing(folder, cause);
  });
  const entries: FileEntry[] = [];
  for await (const entry of opened) {
    if (entries.length >= most) break;
    const own = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) entries.push({ path: own, type: 'folder', bytes: 0 });
    if (!entry.isFile()) continue;
    const facts = await lstat(path.join(place, entry.name)).catch(() => undefined);
    if (facts !== undefined) entries.push({ path: own, type: 'file', bytes: facts.size });
  }
  return entries;
}

async function putInPlace(file: string, content: Uint8Array): Promise<void> {
  const beside = path.join(path.dirname(file), `.${randomUUID()}.part`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(beside, flags, 0o644);
  try {
    await handle.writeFile(content);
    await handle.close();
    await rename(beside, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

function isNoFile(wanted: string): EngineError {
  return new EngineError('FILE_UNREADABLE', `"${wanted}" is no file.`);
}
