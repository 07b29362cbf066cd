import { from, toArray } from 'rxjs';
import { threadsOf } from '../documents/document-jobs.js';
import { parseDataUrl } from '../documents/reading/file-kind.js';
import { MAX_TEXT_CHARACTERS } from '../documents/reading/limits.js';
import { fileName, openFile } from '../documents/reading/open-file.js';
import { readInThread } from '../documents/reading/read-document.js';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { firstValue, fromAbortable } from '../operators/from-abortable.js';
import { mapInOrder } from '../operators/map-in-order.js';

/** Files that are read at the same time: while one is parsed, the next one comes from the store. */
const FILES_AT_ONCE = 2;
/** Files that a turn or a form may give, unless the services of a run say otherwise. */
const MAX_FILES = 10;

/** How files given to a run are read. */
export interface FileInputOptions {
  /** Ends the reading early. @default never */
  readonly signal?: AbortSignal;
  /** Most UTF-16 units of a document's text; what is longer is cut, with a note. @default 4 Mi */
  readonly maxCharacters?: number;
}

/**
 * The content of a file that a form or a turn was given: an image as a `data:` URL, everything else as text.
 *
 * @param value the file as clients send it, `{id, name, mime_type}` (or `file_id`, `filename`), or its id alone; a `data:`
 * URL of an image is its own content, any other is read like a file.
 * @throws EngineError CONFIG_INVALID when the run has no file store, FILE_UNKNOWN when the store has no such file,
 * FILE_UNREADABLE for a file that is damaged, too large or of a kind that cannot be read, BAD_REQUEST for a value that names no file.
 */
export async function readFileValue(value: Json, services: unknown, options: FileInputOptions = {}): Promise<Json> {
  const { signal, maxCharacters = MAX_TEXT_CHARACTERS } = options;
  const limits = { signal, maxCharacters };
  const threads = threadsOf(services);
  if (typeof value === 'string' && value.startsWith('data:')) {
    if (value.startsWith('data:image/')) return value;
    const url = parseDataUrl(value);
    if (url === undefined) return value;
    return await readInThread(
      { id: '', name: 'uploaded', mimeType: url.contentType, bytes: url.bytes },
      limits,
      threads,
    );
  }
  const file = await openFile(value, services);
  signal?.throwIfAborted();
  const name = file.name === '' ? (fileName(value) ?? file.id) : file.name;
  return await readInThread({ ...file, name }, limits, threads);
}

/**
 * The contents of files in their order, two read at a time; fails with the first error (see {@link readFileValue}).
 *
 * @throws EngineError BAD_REQUEST for more than `services.maxFiles`, 10 by default.
 */
export async function readFileValues(
  values: readonly Json[],
  services: unknown,
  options: FileInputOptions = {},
): Promise<readonly Json[]> {
  requireFewFiles(values.length, services);
  const read = (value: Json) => fromAbortable((signal) => readFileValue(value, services, { ...options, signal }));
  const pace = { concurrency: FILES_AT_ONCE, ahead: Math.max(1, values.length) };
  return firstValue(from(values).pipe(mapInOrder(read, pace), toArray()), options.signal);
}

/** @throws EngineError BAD_REQUEST for more files than a turn or a form may give. */
export function requireFewFiles(count: number, services: unknown): void {
  const isGiven = typeof services === 'object' && services !== null && 'maxFiles' in services;
  const most = isGiven && typeof services.maxFiles === 'number' ? services.maxFiles : MAX_FILES;
  if (count <= most) return;
  throw new EngineError(
    'BAD_REQUEST',
    `${count} files are given; at most ${most} are read at once (RUNNEL_TURN_FILES).`,
  );
}
