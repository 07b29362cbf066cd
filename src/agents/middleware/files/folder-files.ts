/** Files of an agent in a folder of the machine, and in nothing beside it. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rename, unlink } from 'node:fs/promises';
import { EngineError } from '../../../errors.js';
import { requireOptions, requireText } from '../../../operators/invalid-option.js';
import { type FileEntry, type FileLimits, type FileSpace, missing, outside, tooLarge } from './file-space.js';
import { bestHolding, type HeldFolder, type Holding, holdFolder } from './held-folder.js';
import { type FileBytes, fileLimits, spaceOver } from './space-over.js';

/** See {@link folderFiles}. */
export interface FolderFilesOptions extends FileLimits {
  /** The folder; it has to be there. */
  readonly root: string;
}

/**
 * Files below one folder. No link is followed, and links and devices are not listed. A file is written beside its place and then put there, so that
 * readers never see half of it. Folders are held open while something is done in them, so that links which other programs put there meanwhile lead
 * nowhere; on systems without `/proc` what was opened is compared with what the path leads to.
 *
 * @throws EngineError OPTION_INVALID
 */
export function folderFiles(options: FolderFilesOptions): FileSpace {
  requireOptions('folderFiles', options, ['root', 'maxFileBytes', 'maxFiles'], 'an object with "root"');
  const { root } = options;
  requireText('folderFiles', 'root', root, 'the path of a folder');
  const limits = fileLimits('folderFiles', options);
  let holding: Promise<Holding> | undefined;
  const within = async <T>(
    wanted: string,
    names: readonly string[],
    work: (folder: HeldFolder) => Promise<T>,
    makes = false,
  ): Promise<T> => {
    holding ??= bestHolding();
    const folder = await holdFolder({ root, names, wanted, makes }, await holding);
    try {
      return await work(folder);
    } finally {
      await folder.close();
    }
  };
  const bytes: FileBytes = {
    // One more than counts, so that a search knows that it left something out.
    entries: (wanted) => within(wanted, namesOf(wanted), (folder) => entriesOf(folder, wanted, limits.maxFiles + 1)),
    read: (wanted) => {
      const [names, name] = fileOf(wanted);
      return within(wanted, names, (folder) => readIn(folder, name, wanted, limits.maxFileBytes));
    },
    write: (wanted, content) => {
      const [names, name] = fileOf(wanted);
      return within(wanted, names, (folder) => writeIn(folder, name, wanted, content), true);
    },
    remove: (wanted) => {
      const [names, name] = fileOf(wanted);
      return within(wanted, names, async (folder) => {
        const there = await factsIn(folder, name, wanted);
        if (there === undefined) throw missing(wanted);
        await unlink(folder.pathOf(name));
      });
    },
  };
  return spaceOver(bytes, limits);
}

function namesOf(wanted: string): readonly string[] {
  return wanted.split('/').filter((name) => name !== '');
}

function fileOf(wanted: string): readonly [readonly string[], string] {
  const names = namesOf(wanted);
  return [names.slice(0, -1), names.at(-1) as string];
}

/** What a name is; undefined for nothing. @throws EngineError FORBIDDEN for a link, FILE_UNREADABLE for what is no file */
async function factsIn(folder: HeldFolder, name: string, wanted: string) {
  const facts = await lstat(folder.pathOf(name)).catch(() => undefined);
  if (facts?.isSymbolicLink() === true) throw outside(wanted, 'leads by way of a link');
  if (facts !== undefined && !facts.isFile()) throw isNoFile(wanted);
  return facts;
}

async function entriesOf(folder: HeldFolder, wanted: string, most: number): Promise<readonly FileEntry[]> {
  const opened = await opendir(folder.pathOf());
  const entries: FileEntry[] = [];
  for await (const entry of opened) {
    if (entries.length >= most) break;
    const own = wanted === '' ? entry.name : `${wanted}/${entry.name}`;
    if (entry.isDirectory()) entries.push({ path: own, type: 'folder', bytes: 0 });
    if (!entry.isFile()) continue;
    const facts = await lstat(folder.pathOf(entry.name)).catch(() => undefined);
    if (facts !== undefined) entries.push({ path: own, type: 'file', bytes: facts.size });
  }
  return entries;
}

/** The bytes of a file in a folder that is held. @throws EngineError FORBIDDEN, FILE_UNKNOWN, FILE_UNREADABLE, LIMIT_REACHED */
export async function readIn(folder: HeldFolder, name: string, wanted: string, maxBytes: number): Promise<Uint8Array> {
  if ((await factsIn(folder, name, wanted)) === undefined) throw missing(wanted);
  // Without waiting: the other end of a named pipe may never come.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(folder.pathOf(name), flags).catch((cause: unknown) => {
    throw new EngineError('FILE_UNREADABLE', `"${wanted}" cannot be opened.`, { cause });
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw isNoFile(wanted);
    await folder.verify(name, facts);
    if (facts.size > maxBytes) throw tooLarge(wanted, facts.size, maxBytes);
    return await readAll(handle, wanted, maxBytes);
  } finally {
    await handle.close();
  }
}

const READ_BYTES = 1_048_576;

/** As much as is there, which may be more than the size of a file that grows. */
async function readAll(handle: FileHandle, wanted: string, maxBytes: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const piece = Buffer.alloc(Math.min(READ_BYTES, maxBytes + 1 - total));
    const { bytesRead } = await handle.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return Buffer.concat(pieces, total);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(wanted, total, maxBytes);
    pieces.push(piece.subarray(0, bytesRead));
  }
}

/** Puts a file into a folder that is held. @throws EngineError FORBIDDEN, FILE_UNREADABLE */
export async function writeIn(folder: HeldFolder, name: string, wanted: string, content: Uint8Array): Promise<void> {
  await factsIn(folder, name, wanted);
  const part = `.${randomUUID()}.part`;
  const beside = folder.pathOf(part);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(beside, flags, 0o644);
  try {
    await folder.verify(part, await handle.stat());
    await handle.writeFile(content);
    await handle.close();
    await rename(beside, folder.pathOf(name));
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

function isNoFile(wanted: string): EngineError {
  return new EngineError('FILE_UNREADABLE', `"${wanted}" is no file.`);
}
