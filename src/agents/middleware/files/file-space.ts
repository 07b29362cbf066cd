/** The files that an agent works with: the port, and the rules of its paths. */
import { EngineError } from '../../../errors.js';

/** What a folder holds. */
export interface FileEntry {
  /** From the top of the space, with `/`. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  /** 0 for folders. */
  readonly bytes: number;
}

/** Which lines are read. */
export interface ReadLinesOptions {
  /** Lines that are left out at the beginning. @default 0 */
  readonly offset?: number;
  /** Lines at most. @default 2_000 */
  readonly limit?: number;
}

/** Lines of a file. */
export interface FileLines {
  readonly lines: readonly string[];
  readonly offset: number;
  /** Lines of the whole file. */
  readonly totalLines: number;
}

/** A text in place of another one. */
export interface FileEdit {
  /** Stands in the file, exactly once unless `all`. */
  readonly find: string;
  readonly replace: string;
  /** Every place. @default false */
  readonly all?: boolean;
}

/** Where is searched. */
export interface FindOptions {
  /** A folder. @default the whole space */
  readonly folder?: string;
  readonly signal?: AbortSignal;
}

/** See `FileSpace.grep`. */
export interface GrepOptions extends FindOptions {
  /** Files that are looked at. @default all */
  readonly glob?: string;
  /** @default false */
  readonly ignoreCase?: boolean;
}

/** A line that fits. */
export interface GrepMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** At most 500 characters. */
  readonly text: string;
}

/** What was found, and whether the bounds of the space left something out. */
export interface Found<T> {
  readonly found: readonly T[];
  readonly isCut: boolean;
}

/**
 * Files of an agent. Paths are relative to the top of the space, with `/`; the top is `''` or `.`. What is written is there for everything that
 * reads afterwards, and changes of one space are carried out one after the other.
 *
 * Errors of all: `FORBIDDEN` for a path that leads outside (absolute, with `..` or a NUL, by way of a link), `FILE_UNKNOWN` for what is not there,
 * `FILE_UNREADABLE` for what is no text where text is wanted, or no file, `LIMIT_REACHED` for what is larger than the space allows.
 */
export interface FileSpace {
  /** What a folder holds, by name. */
  list(folder?: string): Promise<Found<FileEntry>>;
  /** Lines of a text. */
  read(path: string, options?: ReadLinesOptions): Promise<FileLines>;
  readBytes(path: string): Promise<Uint8Array>;
  /** Makes the file and its folders, or puts the content in place of what is there. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Gives how many places were changed. TOOL_ARGUMENTS when the text is not there, or in several places. */
  edit(path: string, edit: FileEdit): Promise<number>;
  /** Paths of files that fit a pattern of `*`, `**`, `?` and `{a,b}`, sorted. */
  glob(pattern: string, options?: FindOptions): Promise<Found<string>>;
  /** Lines that fit a pattern in the syntax of RE2, which takes linear time. TOOL_ARGUMENTS for one that cannot be read. */
  grep(pattern: string, options?: GrepOptions): Promise<Found<GrepMatch>>;
  /** Deletes a file. */
  delete(path: string): Promise<void>;
}

/** Bounds of a space. */
export interface FileLimits {
  /** Bytes of a file, written or read. @default 10_485_760 */
  readonly maxFileBytes?: number;
  /** Files that a search looks at. @default 10_000 */
  readonly maxFiles?: number;
}

/** Characters of a path. */
const MAX_PATH = 1_000;

/** A path as it is kept: without `.` and double `/`; `''` is the top. @throws EngineError FORBIDDEN */
export function pathInSpace(path: string): string {
  if (typeof path !== 'string' || path.length > MAX_PATH) throw outside(path, `has more than ${MAX_PATH} characters`);
  // A colon after one letter is a drive, and a backslash a folder, on some systems.
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) throw outside(path, 'is absolute');
  if (path.includes('\0') || path.includes('\\')) throw outside(path, 'has a character that no path here has');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw outside(path, 'leads upwards');
  return names.join('/');
}

/** The same for a file, which the top is not. @throws EngineError FORBIDDEN, FILE_UNREADABLE */
export function filePathInSpace(path: string): string {
  const kept = pathInSpace(path);
  if (kept === '') throw new EngineError('FILE_UNREADABLE', `${JSON.stringify(path)} is no file; name one.`);
  return kept;
}

/** The error of a path that leads out of its space. */
export function outside(path: unknown, why: string): EngineError {
  const shown = JSON.stringify(typeof path === 'string' ? path.slice(0, 100) : path);
  return new EngineError('FORBIDDEN', `The path ${shown} ${why}; give one that is relative to the top of the files.`);
}

/** The error of a file that is not there. */
export function missing(path: string, cause?: unknown): EngineError {
  return new EngineError('FILE_UNKNOWN', `There is no file "${path}"; look for it with ls or glob.`, { cause });
}

/** The error of a file that is too large. */
export function tooLarge(path: string, bytes: number, maxBytes: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The file "${path}" would have ${bytes} bytes; at most ${maxBytes} are allowed.`,
  );
}
