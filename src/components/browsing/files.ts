import { catchError, concat, concatMap, EMPTY, from, map, type Observable, of, toArray } from 'rxjs';
import type { BrowserSession } from '../../adapters/browser/browsers.js';
import type { BrowserFile } from '../../adapters/browser/downloads.js';
import type { UploadFile } from '../../adapters/browser/session.js';
import type { EgressResponse } from '../../adapters/egress/egress-client.js';
import { baseName } from '../../documents/file-name.js';
import { endingOf } from '../../documents/reading/file-kind.js';
import { openFile } from '../../documents/reading/open-file.js';
import { resolveParam } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Activation } from '../../graph/node.js';
import { type Notice, warning } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { MEDIA_TYPES } from '../../records/files.js';
import { optionalServices, serviceOf } from '../services.js';

/** Files that are given at most, deepest nesting in which they are looked for, bytes of one, milliseconds for one. */
const MAX_FILES = 20;
const MAX_DEPTH = 16;
const MAX_BYTES = 100 * 1_048_576;
/** Bytes of all together; they are in memory until the browser has them. */
const MAX_TOTAL_BYTES = 256 * 1_048_576;
const TIMEOUT_MS = 30_000;

/** Keys of objects that name a file, as clients and other nodes write them. */
const KEYS = ['file_id', 'id', 'url', 'value'] as const;

const HTTP_URL = /^https?:\/\//i;

/**
 * The files that `upload_sources` names, one after the other: ids and URLs in texts (references, JSON lists, commas), objects
 * and lists, each once. What cannot be had is left out with a warning.
 */
export function loadUploads(sources: Json, activation: Activation): Observable<UploadFile | Notice> {
  const names = new Set<string>();
  collect(sources, names, (text) => resolveParam(text, activation.source));
  const wanted = [...names].slice(0, MAX_FILES);
  const left = names.size - wanted.length;
  const tooMany$ =
    left === 0 ? EMPTY : of(warning(`${left} files to upload were left out: ${MAX_FILES} are the most.`));
  const taken = new Set<string>();
  let total = 0;
  const admit = ({ name, bytes }: UploadFile): UploadFile => {
    total += bytes.length;
    if (total > MAX_TOTAL_BYTES)
      throw new EngineError('EGRESS_TOO_LARGE', `Together the files are larger than ${MAX_TOTAL_BYTES} bytes.`);
    return { name: unused(name, taken), bytes };
  };
  const files$ = from(wanted).pipe(
    concatMap((source) =>
      (HTTP_URL.test(source) ? fetchFile(source, activation) : readFile(source, activation)).pipe(
        map(admit),
        catchError((error: unknown) => of(notHad(source, error))),
      ),
    ),
  );
  return concat(tooMany$, files$);
}

/** Whether something that was loaded is a file. */
export function isUpload(loaded: UploadFile | Notice): loaded is UploadFile {
  return 'bytes' in loaded;
}

type Read = (text: string) => Json;

const asIs: Read = (text) => text;

/** Gathers names of files. `read` is for texts of the document; what it gives is not searched for references again. */
function collect(value: Json, into: Set<string>, read: Read, depth = 0): void {
  if (depth > MAX_DEPTH || value === null) return;
  if (typeof value === 'string') {
    const given = read(value);
    const found = typeof given === 'string' ? listIn(given) : given;
    if (found === undefined) for (const part of parts(String(given))) into.add(part);
    else collect(found, into, asIs, depth + 1);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, into, read, depth + 1);
  } else if (isJsonObject(value)) {
    const key = KEYS.find((candidate) => Object.hasOwn(value, candidate) && value[candidate]);
    if (key !== undefined) collect(value[key] ?? null, into, read, depth + 1);
  } else if (typeof value === 'number') {
    into.add(String(value));
  }
}

/** Ids between commas, or URLs, which may have commas in them. */
export function parts(text: string): string[] {
  const trimmed = text.trim();
  const separator = HTTP_URL.test(trimmed) ? /(?<![\s,])[\s,]+(?=https?:\/\/)/i : /(?<!\s)\s*[,\n]\s*/;
  return trimmed.split(separator).filter((part) => part !== '');
}

/** The list that a text holds as JSON. */
function listIn(text: string): Json | undefined {
  return text.trim().startsWith('[') ? parseJson(text) : undefined;
}

function readFile(id: string, { services }: Activation): Observable<UploadFile> {
  return fromAbortable(() => openFile(id, services)).pipe(map(({ name, bytes }) => ({ name: safeName(name), bytes })));
}

function fetchFile(url: string, activation: Activation): Observable<UploadFile> {
  return serviceOf(activation, 'http')
    .fetch({ url, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS })
    .pipe(
      map((response) => {
        const { status, bytes } = response;
        if (status >= 400) throw new EngineError('EGRESS_FAILED', `The server answered with status ${status}.`);
        return { name: safeName(nameOf(response)), bytes };
      }),
    );
}

/** The name in `content-disposition`, the encoded form first, else the last part of the path. */
function nameOf({ headers, url }: EgressResponse): string {
  const disposition = headers['content-disposition'] ?? '';
  const encoded = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  const plain = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(disposition);
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  return (encoded === undefined ? (plain?.[1] ?? plain?.[2]) : decoded(encoded)) ?? decoded(last);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A name without anything that could lead out of a folder. */
export function safeName(name: string): string {
  const ending = /\.[a-z\d]{1,10}$/i.exec(name)?.[0] ?? '';
  return `${baseName(name, /\.[a-z\d]{1,10}$/i) || 'file'}${ending}`;
}

function unused(name: string, taken: Set<string>): string {
  let free = name;
  for (let at = 2; taken.has(free); at += 1) free = `${at}-${name}`;
  taken.add(free);
  return free;
}

function notHad(source: string, error: unknown): Notice {
  const why = EngineError.is(error) ? error.message : 'It could not be read.';
  return warning(
    `A file to upload was left out (${HTTP_URL.test(source) ? 'a URL' : `"${source.slice(0, 100)}"`}): ${why}`,
  );
}

/** Media types by ending; the content of a file is not read. */
const TYPES: Readonly<Record<string, string>> = { ...MEDIA_TYPES, xml: 'application/xml', zip: 'application/zip' };

/** The stored files of a session, as `downloaded_files` lists them, or a warning that they were not stored. */
export type StoredFiles = Notice | { readonly type: 'stored'; readonly files: readonly JsonObject[] };

/** Stores the downloads and screenshots in the file store of the run; one file is in memory at a time. */
export function storeFiles(
  activation: Activation,
  session: BrowserSession,
  pictures: readonly Uint8Array[],
): Observable<StoredFiles> {
  const { files } = optionalServices(activation);
  const taken = pictures.map((bytes, at): BrowserFile => {
    return { name: `screenshot-${at + 1}.png`, size: bytes.length, read: async () => bytes };
  });
  return session.files().pipe(
    concatMap((downloads): Observable<StoredFiles> => {
      const all = [...downloads, ...taken];
      if (files === undefined && all.length > 0) {
        const lost = `${all.length} files of the browser are lost, as the run was started without a place for files.`;
        return of<StoredFiles[]>(warning(lost), { type: 'stored', files: [] });
      }
      return from(all).pipe(
        concatMap((file) =>
          fromAbortable(async (signal) => {
            const bytes = await file.read();
            signal.throwIfAborted();
            const name = safeName(file.name);
            const mimeType = TYPES[endingOf(name)] ?? 'application/octet-stream';
            const id = await files?.save({ name, mimeType, bytes });
            return { file_id: id ?? '', name, size: file.size, parent_id: '' };
          }),
        ),
        toArray(),
        map((stored): StoredFiles => ({ type: 'stored', files: stored })),
      );
    }),
  );
}
