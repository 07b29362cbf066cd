/** What every file space does alike, over what holds the bytes. */
import { setImmediate } from 'node:timers/promises';
import { EngineError } from '../../../errors.js';
import { requireWhole } from '../../../operators/invalid-option.js';
import {
  type FileEdit,
  type FileEntry,
  type FileLimits,
  type FileSpace,
  type FindOptions,
  type Found,
  filePathInSpace,
  type GrepMatch,
  type GrepOptions,
  pathInSpace,
  tooLarge,
} from './file-space.js';
import { globPattern, searchPattern } from './patterns.js';

/** What holds the bytes; its paths are those of {@link pathInSpace}. */
export interface FileBytes {
  /** The entries of one folder, in any order. */
  entries(folder: string): Promise<readonly FileEntry[]>;
  read(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
}

/** Entries of a folder that are listed, and paths that a pattern gives. */
const MAX_FOUND = 1_000;
/** Lines that a search gives, and characters of each. */
const MAX_MATCHES = 200;
const MAX_MATCH_TEXT = 500;
/** A search looks at so many characters of a line, bytes of a file, bytes in all, and milliseconds. */
const MAX_SEARCHED_LINE = 10_000;
const MAX_SEARCHED_FILE = 1_048_576;
const MAX_SEARCHED = 33_554_432;
const MAX_SEARCH_MS = 5_000;
/** Milliseconds of work in a row. */
const TURN_MS = 15;

/** The bounds of a space with their defaults. @throws EngineError OPTION_INVALID */
export function fileLimits(owner: string, options: FileLimits): Required<FileLimits> {
  const { maxFileBytes = 10_485_760, maxFiles = 10_000 } = options;
  requireWhole(owner, 'maxFileBytes', maxFileBytes, 1);
  requireWhole(owner, 'maxFiles', maxFiles, 1);
  return { maxFileBytes, maxFiles };
}

/** Makes a space of what holds the bytes. */
export function spaceOver(bytes: FileBytes, limits: Required<FileLimits>): FileSpace {
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: of two edits at once the later one would undo the first.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const write = async (path: string, content: string | Uint8Array): Promise<void> => {
    const size = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
    if (size > limits.maxFileBytes) throw tooLarge(path, size, limits.maxFileBytes);
    await bytes.write(path, typeof content === 'string' ? Buffer.from(content) : content);
  };
  return Object.freeze<FileSpace>({
    list: async (folder = '') => {
      const entries = sorted(await bytes.entries(pathInSpace(folder)));
      return { found: entries.slice(0, MAX_FOUND), isCut: entries.length > MAX_FOUND };
    },
    read: async (given, { offset = 0, limit = 2_000 } = {}) => {
      requireWhole('FileSpace.read', 'offset', offset, 0);
      requireWhole('FileSpace.read', 'limit', limit, 1);
      const path = filePathInSpace(given);
      const lines = linesOf(textOf(path, await bytes.read(path)));
      return { lines: lines.slice(offset, offset + limit), offset, totalLines: lines.length };
    },
    readBytes: async (path) => bytes.read(filePathInSpace(path)),
    write: async (given, content) => {
      const path = filePathInSpace(given);
      await inTurn(() => write(path, content));
    },
    edit: async (given, edit) => {
      const path = filePathInSpace(given);
      return inTurn(async () => {
        const { text, places } = edited(path, textOf(path, await bytes.read(path)), edit, limits.maxFileBytes);
        await write(path, text);
        return places;
      });
    },
    glob: (pattern, options) => glob(bytes, limits, pattern, options),
    grep: (pattern, options) => grep(bytes, limits, pattern, options),
    delete: async (given) => {
      const path = filePathInSpace(given);
      await inTurn(() => bytes.remove(path));
    },
  });
}

function edited(path: string, text: string, { find, replace, all = false }: FileEdit, maxBytes: number) {
  if (find === '') throw new EngineError('TOOL_ARGUMENTS', 'The text to find is empty; give the text that changes.');
  const pieces = text.split(find);
  const places = pieces.length - 1;
  if (places === 0) {
    throw new EngineError('TOOL_ARGUMENTS', `The text to find is not in "${path}"; read the file and give it exactly.`);
  }
  if (places > 1 && !all) {
    const message = `The text to find is in ${places} places of "${path}"; give more of the text around the right one, or change all.`;
    throw new EngineError('TOOL_ARGUMENTS', message);
  }
  const size = Buffer.byteLength(text) + places * (Buffer.byteLength(replace) - Buffer.byteLength(find));
  // Before it is made: many short places could become more than memory holds.
  if (size > maxBytes) throw tooLarge(path, size, maxBytes);
  return { text: pieces.join(replace), places };
}

async function glob(
  bytes: FileBytes,
  limits: Required<FileLimits>,
  pattern: string,
  { folder = '', signal }: FindOptions = {},
): Promise<Found<string>> {
  const fits = await globPattern(pattern);
  const top = pathInSpace(folder);
  const { found, isCut } = await walk(bytes, limits.maxFiles, top, signal);
  const paths = found.map(({ path }) => path).filter((path) => fits(below(top, path)));
  return { found: paths.slice(0, MAX_FOUND), isCut: isCut || paths.length > MAX_FOUND };
}

async function grep(
  bytes: FileBytes,
  limits: Required<FileLimits>,
  pattern: string,
  options: GrepOptions = {},
): Promise<Found<GrepMatch>> {
  const { folder = '', glob: files, ignoreCase = false, signal } = options;
  const fits = await searchPattern(pattern, ignoreCase);
  const named = files === undefined ? undefined : await globPattern(files.includes('/') ? files : `**/${files}`);
  const top = pathInSpace(folder);
  const { found: walked, isCut: isWalkCut } = await walk(bytes, limits.maxFiles, top, signal);
  const matches: GrepMatch[] = [];
  const endsAt = performance.now() + MAX_SEARCH_MS;
  let turnEndsAt = 0;
  let searched = 0;
  let isCut = isWalkCut;
  for (const { path, bytes: size } of walked) {
    if (named?.(below(top, path)) === false) continue;
    if (size > MAX_SEARCHED_FILE || searched + size > MAX_SEARCHED) {
      isCut = true;
      continue;
    }
    searched += size;
    const lines = linesOf(textOrNothing(await bytes.read(path)));
    for (let index = 0; index < lines.length; index += 1) {
      if (performance.now() > turnEndsAt) {
        await setImmediate();
        signal?.throwIfAborted();
        if (performance.now() > endsAt) return { found: matches, isCut: true };
        turnEndsAt = performance.now() + TURN_MS;
      }
      const line = lines[index] as string;
      if (!fits(line.slice(0, MAX_SEARCHED_LINE))) continue;
      if (matches.length === MAX_MATCHES) return { found: matches, isCut: true };
      matches.push({ path, line: index + 1, text: line.slice(0, MAX_MATCH_TEXT) });
    }
  }
  return { found: matches, isCut };
}

/** The files below a folder, by path. */
async function walk(bytes: FileBytes, maxFiles: number, top: string, signal?: AbortSignal): Promise<Found<FileEntry>> {
  const folders = [top];
  const files: FileEntry[] = [];
  // Folders count as well: a space of empty ones would never end the walk.
  for (let looked = 0; folders.length > 0; looked += 1) {
    signal?.throwIfAborted();
    const folder = folders.pop() as string;
    if (looked >= maxFiles) return { found: sorted(files), isCut: true };
    for (const entry of await bytes.entries(folder)) {
      if (entry.type === 'folder') folders.push(entry.path);
      else if (files.length >= maxFiles) return { found: sorted(files), isCut: true };
      else files.push(entry);
    }
  }
  return { found: sorted(files), isCut: false };
}

function sorted(entries: readonly FileEntry[]): readonly FileEntry[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function below(top: string, path: string): string {
  return top === '' ? path : path.slice(top.length + 1);
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function textOf(path: string, bytes: Uint8Array): string {
  const text = textOrNothing(bytes);
  if (text === '' && bytes.length > 0)
    throw new EngineError('FILE_UNREADABLE', `The file "${path}" is no text in UTF-8.`);
  return text;
}

/** The text of a file; empty for what is none. */
function textOrNothing(bytes: Uint8Array): string {
  if (bytes.includes(0)) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}
