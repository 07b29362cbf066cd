/** Files of an agent in memory. */
import { EngineError } from '../../../errors.js';
import { requireObject, requireOptions, requireWhole } from '../../../operators/invalid-option.js';
import { type FileEntry, type FileLimits, type FileSpace, filePathInSpace, missing, tooLarge } from './file-space.js';
import { type FileBytes, fileLimits, spaceOver } from './space-over.js';

/** See {@link memoryFiles}. */
export interface MemoryFilesOptions extends FileLimits {
  /** What is there at the beginning, by path. @default nothing */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Bytes of all files together. @default 67_108_864 */
  readonly maxBytes?: number;
}

/**
 * Files in memory, for tests and short work; they are gone with the process.
 *
 * @throws EngineError OPTION_INVALID, FORBIDDEN for paths that lead outside, LIMIT_REACHED for too much at the beginning.
 */
export function memoryFiles(options: MemoryFilesOptions = {}): FileSpace {
  requireOptions('memoryFiles', options, ['files', 'maxBytes', 'maxFileBytes', 'maxFiles']);
  const { files = {}, maxBytes = 67_108_864 } = options;
  requireObject('memoryFiles', 'files', files);
  requireWhole('memoryFiles', 'maxBytes', maxBytes, 1);
  const limits = fileLimits('memoryFiles', options);
  const kept = new Map<string, Uint8Array>();
  const put = (path: string, bytes: Uint8Array): void => {
    if (bytes.length > limits.maxFileBytes) throw tooLarge(path, bytes.length, limits.maxFileBytes);
    const before = kept.get(path);
    if (before === undefined && kept.size >= limits.maxFiles) {
      throw new EngineError('LIMIT_REACHED', `There are ${kept.size} files, and no more are allowed; delete some.`);
    }
    const total = sizeOf(kept) - (before?.length ?? 0) + bytes.length;
    if (total > maxBytes) {
      throw new EngineError('LIMIT_REACHED', `The files would have ${total} bytes; at most ${maxBytes} are allowed.`);
    }
    kept.set(path, Uint8Array.from(bytes));
  };
  for (const [path, content] of Object.entries(files)) put(filePathInSpace(path), Buffer.from(content as Uint8Array));
  const bytes: FileBytes = {
    entries: async (folder) => entriesOf(kept, folder),
    read: async (path) => {
      const found = kept.get(path);
      if (found === undefined) throw hasBelow(kept, path) ? isFolder(path) : missing(path);
      return Uint8Array.from(found);
    },
    write: async (path, content) => {
      if (hasBelow(kept, path)) throw isFolder(path);
      const around = foldersAround(path).find((folder) => kept.has(folder));
      if (around !== undefined) throw new EngineError('FILE_UNREADABLE', `"${around}" is a file and no folder.`);
      put(path, content);
    },
    remove: async (path) => {
      if (hasBelow(kept, path)) throw isFolder(path);
      if (!kept.delete(path)) throw missing(path);
    },
  };
  return spaceOver(bytes, limits);
}

function entriesOf(kept: ReadonlyMap<string, Uint8Array>, folder: string): readonly FileEntry[] {
  const start = folder === '' ? '' : `${folder}/`;
  const entries = new Map<string, FileEntry>();
  for (const [path, { length }] of kept) {
    if (!path.startsWith(start)) continue;
    const end = path.indexOf('/', start.length);
    const own = end < 0 ? path : path.slice(0, end);
    entries.set(own, { path: own, type: end < 0 ? 'file' : 'folder', bytes: end < 0 ? length : 0 });
  }
  if (entries.size > 0 || folder === '') return [...entries.values()];
  throw kept.has(folder) ? new EngineError('FILE_UNREADABLE', `"${folder}" is a file and no folder.`) : missing(folder);
}

function foldersAround(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function hasBelow(kept: ReadonlyMap<string, Uint8Array>, path: string): boolean {
  for (const other of kept.keys()) if (other.startsWith(`${path}/`)) return true;
  return false;
}

function sizeOf(kept: ReadonlyMap<string, Uint8Array>): number {
  let total = 0;
  for (const { length } of kept.values()) total += length;
  return total;
}

function isFolder(path: string): EngineError {
  return new EngineError('FILE_UNREADABLE', `"${path}" is a folder and no file.`);
}
