/** The files of the page that browsers get, read once when the server starts: no request can name another file. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../errors.js';

/** Most files of a page, and most bytes of them all; the page has a few dozen files and a few megabytes. */
const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** The page itself. */
const INDEX = 'index.html';

/** Where files lie whose names change with their bytes. */
const ASSETS = 'studio/';

/** Types by ending; files with another ending are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
};

/** Endings of files that the build compressed. */
const COMPRESSED = { br: '.br', gzip: '.gz' } as const;

/** How a file may be compressed, best first. */
export const ENCODINGS = ['br', 'gzip'] as const;

/** A way in which a file is compressed. */
export type StudioEncoding = (typeof ENCODINGS)[number];

/** A file as it is served. */
export interface StudioFile {
  /** Media type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** The same, compressed when the page was built. */
  readonly compressed: Readonly<Partial<Record<StudioEncoding, Buffer>>>;
  /** Hash of the bytes. */
  readonly hash: string;
  /** The name changes with the bytes. */
  readonly isHashed: boolean;
}

/** The page and what it asks for. */
export interface Studio {
  /** `index.html`. */
  readonly page: StudioFile;
  /** By path from the page, such as `studio/app-1a2b3c4d.js`. */
  readonly files: ReadonlyMap<string, StudioFile>;
}

/**
 * Reads a page that was built: the files of its folder, and of the folder `studio` in there. Other folders, links and files of no known type
 * are left out.
 *
 * @returns undefined when the folder has no `index.html`. @throws EngineError CONFIG_INVALID when a file cannot be read, or there is too much.
 */
export async function readStudio(folder: string): Promise<Studio | undefined> {
  const contents = new Map<string, Buffer>();
  const names = (await Promise.all(['', ASSETS].map((below) => namesIn(folder, below)))).flat();
  if (names.length > MAX_FILES) throw unusable(folder, `has ${names.length} files, more than ${MAX_FILES}`);
  let bytes = 0;
  for (const name of names) {
    const content = await read(path.join(folder, name));
    contents.set(name, content);
    bytes += content.byteLength;
    if (bytes > MAX_BYTES) throw unusable(folder, `has more than ${MAX_BYTES} bytes`);
  }
  const files = new Map<string, StudioFile>();
  for (const [name, content] of contents) {
    const file = fileOf(name, content, contents);
    if (file !== undefined) files.set(name, file);
  }
  const page = files.get(INDEX);
  files.delete(INDEX);
  return page && { page, files };
}

/** Names of plain files that an address can name without being encoded. */
async function namesIn(folder: string, below: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path.join(folder, below), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && /^\w[\w.-]*$/.test(entry.name))
      .map(({ name }) => `${below}${name}`);
  } catch (error) {
    if (isMissing(error)) return [];
    throw unusable(folder, 'cannot be listed', error);
  }
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw unusable(file, 'cannot be read', error);
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Undefined for a file of no known type, such as a compressed one or a source map. */
function fileOf(name: string, bytes: Buffer, all: ReadonlyMap<string, Buffer>): StudioFile | undefined {
  const ending = path.extname(name);
  if (!Object.hasOwn(TYPES, ending)) return undefined;
  const compressed: Partial<Record<StudioEncoding, Buffer>> = {};
  for (const encoding of ENCODINGS) {
    const found = all.get(`${name}${COMPRESSED[encoding]}`);
    // What is no smaller only costs the browser time.
    if (found !== undefined && found.byteLength < bytes.byteLength) compressed[encoding] = found;
  }
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
  const isHashed = name.startsWith(ASSETS) && /-[\w-]{8,}\.\w+$/.test(name);
  return { type: TYPES[ending] as string, bytes, compressed, hash, isHashed };
}

function unusable(where: string, why: string, cause?: unknown): EngineError {
  const message = `The page of the server, "${where}", ${why}. Build it again with "npm run build", or set RUNNEL_STUDIO=off.`;
  return new EngineError('CONFIG_INVALID', message, { cause });
}
