import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_FILE_BYTES, requireSize } from '../../documents/reading/limits.js';
import { EngineError } from '../../errors.js';
import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import { parserByExtension } from '../parsers/parser-by-extension.js';
import type { DocumentLoader, LoadFunction, ParseFunction } from '../ports.js';

/** Which files are loaded. */
export interface FileLoaderOptions {
  /** The folder below which all files lie. */
  readonly root: string;
  /** Reads the bytes. @default `parserByExtension()` */
  readonly parser?: ParseFunction;
  /** Bytes of a file at most, at least 1. @default 67_108_864 */
  readonly maxBytes?: number;
  /** @default 'fileLoader' */
  readonly name?: string;
}

const OPTIONS = ['root', 'parser', 'maxBytes', 'name'];

/**
 * A loader of files below one folder. The URI is a path: relative to the folder, or absolute and inside of it. The ids and the `source` of
 * documents are the path relative to the folder, with `/` on every system.
 *
 * Links are followed as long as they stay below the folder. Errors of a call: `FILE_UNKNOWN` for what is not there, `FORBIDDEN` for what
 * lies elsewhere, `FILE_UNREADABLE` for folders, devices and too many bytes, and those of the parser.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function fileLoader(options: FileLoaderOptions): DocumentLoader {
  requireOptions('fileLoader', options, OPTIONS, 'an object with "root"');
  const { root, parser = parserByExtension(), maxBytes = MAX_FILE_BYTES, name = 'fileLoader' } = options;
  if (typeof root !== 'string' || root === '') throw invalidOption('fileLoader', 'root', 'the path of a folder', root);
  requireWhole('fileLoader', 'maxBytes', maxBytes, 1);
  const load: LoadFunction = async (uri, call = {}) => {
    call.signal?.throwIfAborted();
    const { file, source } = await locate(root, uri);
    const bytes = await readBounded(file, source, maxBytes, call.signal);
    return await parser({ bytes, uri: source }, call);
  };
  return componentFunction(name, 'loader', load);
}

interface Located {
  /** Its real path. */
  readonly file: string;
  /** Its path below the root, as it was asked for. */
  readonly source: string;
}

async function locate(root: string, uri: string): Promise<Located> {
  if (typeof uri !== 'string' || uri === '' || uri.includes('\0')) {
    throw new EngineError(
      'FILE_UNKNOWN',
      `A file cannot be loaded by the path ${JSON.stringify(uri)}; give one below the folder.`,
    );
  }
  const base = await realpath(root).catch((cause: unknown) => {
    throw unknown(root, 'the folder of the loader is not there', cause);
  });
  const wanted = path.resolve(base, uri);
  // An absolute path may be written by way of a link to the folder.
  const below = [base, path.resolve(root)].map((folder) => inside(folder, wanted)).find((one) => one !== undefined);
  if (below === undefined) throw outside(uri);
  const file = await realpath(path.join(base, below)).catch((cause: unknown) => {
    throw unknown(uri, 'there is no such file', cause);
  });
  if (inside(base, file) === undefined) throw outside(uri);
  return { file, source: below.split(path.sep).join('/') };
}

/** The path of a file below a folder; undefined when it is not below it. */
function inside(folder: string, file: string): string | undefined {
  const relative = path.relative(folder, file);
  const isInside =
    relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
  return isInside ? relative : undefined;
}

/**
 * Reads the file at a real path. Opens it once and looks at what was opened, so that it cannot become another one in between.
 *
 * Errors: `FILE_UNKNOWN`, `FILE_UNREADABLE` for folders, devices and too many bytes, `FORBIDDEN` when another file was put in its place.
 */
export async function readBounded(
  file: string,
  source: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  // Without waiting: the other end of a named pipe may never come.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(file, flags).catch((cause: unknown) => {
    throw unknown(source, 'it cannot be opened', cause);
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw unreadableFile(source, 'it is no file; name one file');
    const now = await stat(await realpath(file)).catch(() => undefined);
    if (now?.ino !== facts.ino || now.dev !== facts.dev) throw outside(source);
    requireSize(source, 'it has', facts.size, maxBytes);
    return await readAll(handle, source, maxBytes, signal);
  } finally {
    await handle.close();
  }
}

const READ_BYTES = 1_048_576;

/** Reads as much as is there, which may be more than the size of a file that grows. */
async function readAll(
  handle: FileHandle,
  source: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(READ_BYTES), 0, READ_BYTES);
    if (bytesRead === 0) return Buffer.concat(parts);
    length += bytesRead;
    requireSize(source, 'it has', length, maxBytes);
    parts.push(buffer.subarray(0, bytesRead));
  }
}

function unknown(uri: string, why: string, cause: unknown): EngineError {
  return new EngineError('FILE_UNKNOWN', `File "${uri}" cannot be loaded: ${why}.`, { cause });
}

function unreadableFile(uri: string, why: string): EngineError {
  return new EngineError('FILE_UNREADABLE', `File "${uri}" cannot be loaded: ${why}.`);
}

function outside(uri: string): EngineError {
  return new EngineError(
    'FORBIDDEN',
    `File "${uri}" cannot be loaded: it does not lie below the folder of the loader.`,
  );
}
