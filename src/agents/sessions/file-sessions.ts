import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../errors.js';
import { Newest } from '../../newest.js';
import { requireOptions, requireText, requireWhole } from '../../operators/invalid-option.js';
import type { EntryBatch, EntryQuery, SessionEntries, SessionHead } from '../../records/session-entries.js';
import {
  appendBatch,
  batchesBehind,
  makeSessionFile,
  openSessionFile,
  type Place,
  type SessionFile,
  settledEnd,
} from './session-file.js';
import type { SessionStore } from './session-store.js';
import { SESSION_OPTIONS, type SessionStoreOptions, storedSessions } from './stored-sessions.js';

/** Bounds of sessions in files. */
export interface FileSessionsOptions extends SessionStoreOptions {
  /** Bytes of the file of one session. @default 256 MiB */
  readonly maxSessionBytes?: number;
}

/**
 * Sessions in a folder, one file of JSON lines each, made when it is missing. Several processes of one machine may use it at once; a process
 * that is killed loses at most the append whose promise had not resolved. The file system must know hard links.
 *
 * @throws EngineError OPTION_INVALID
 */
export function fileSessions(directory: string, options: FileSessionsOptions = {}): SessionStore {
  const owner = 'fileSessions';
  requireText(owner, 'directory', directory, 'the path of a folder');
  requireOptions(owner, options, [...SESSION_OPTIONS, 'maxSessionBytes']);
  const { maxSessionBytes = 256 * 1024 ** 2 } = options;
  requireWhole(owner, 'maxSessionBytes', maxSessionBytes, 1);
  return storedSessions(owner, fileEntries(directory, maxSessionBytes), options);
}

/** Writers that may be faster in one append, before it is given up. */
const MAX_TRIES = 1_000;
/** Sessions whose places are known. */
const MAX_KNOWN = 1_000;
/** Entries between two places that are remembered. */
const PLACE_EVERY = 500;
/** A draft that is older was left by a process that was killed. */
const DRAFT_AGE_MS = 3_600_000;

/** Places of a session's file that need not be looked for, the first one first. */
interface Known {
  readonly id: string;
  readonly places: readonly Place[];
  readonly end: Place;
}

function fileEntries(directory: string, maxSessionBytes: number): SessionEntries {
  const known = new Newest<Known>({ maxCount: MAX_KNOWN });
  const folderOf = (tenant: string): string => path.join(directory, digestOf(tenant));
  const fileOf = (tenant: string, session: string): string => path.join(folderOf(tenant), `${digestOf(session)}.jsonl`);
  const folders = new Map<string, Promise<void>>();
  /** Makes the folder and removes old drafts, once in a process. */
  const prepare = (folder: string): Promise<void> => {
    const before = folders.get(folder);
    if (before !== undefined) return before;
    const preparing = prepareFolder(folder);
    if (folders.size < MAX_KNOWN) folders.set(folder, preparing);
    preparing.catch(() => folders.delete(folder));
    return preparing;
  };
  return {
    append: (tenant, session, batch) =>
      orStoreError(session, async () => {
        await prepare(folderOf(tenant));
        return append(known, fileOf(tenant, session), session, batch, maxSessionBytes);
      }),
    read: (tenant, session, query) =>
      orStoreError(session, async () => {
        const found = await withFile(fileOf(tenant, session), (opened) => read(known, opened, query));
        return found ?? [];
      }),
    delete: (tenant, session) => orStoreError(session, () => remove(fileOf(tenant, session))),
    list: (tenant, { limit, after }) =>
      orStoreError('', async () => {
        const files = await filesIn(folderOf(tenant));
        const from = after === undefined ? files : files.filter(({ cursor }) => cursor < after);
        const heads: SessionHead[] = [];
        for (const { file, cursor } of from) {
          if (heads.length === limit) break;
          const head = await withFile(file, async (opened): Promise<SessionHead> => {
            const { newest, time } = (await settledOf(known, opened)).end;
            return { session: opened.session, newest, startedAt: opened.startedAt, changedAt: time, cursor };
          });
          if (head !== undefined) heads.push(head);
        }
        return heads;
      }),
    prune: (tenant, { before = Number.NEGATIVE_INFINITY, keep = Number.POSITIVE_INFINITY }, limit) =>
      orStoreError('', async () => {
        let count = 0;
        for (const [place, { file, cursor }] of (await filesIn(folderOf(tenant))).entries()) {
          if (count === limit) break;
          const time =
            place >= keep ? undefined : await withFile(file, async (one) => (await settledOf(known, one)).end.time);
          if (place < keep && (time === undefined || time >= before)) continue;
          // It changed meanwhile.
          if ((await cursorOf(file)) !== cursor) continue;
          await remove(file);
          count += 1;
        }
        return count;
      }),
  };
}

async function append(
  known: Newest<Known>,
  file: string,
  session: string,
  { after, entries, time }: EntryBatch,
  maxBytes: number,
) {
  const bytes = entries.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const newest = after + entries.length;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const result = await withFile(file, async (opened) => {
      const { end } = await settledOf(known, opened);
      if (end.newest !== after) return { isStored: false, newest: end.newest };
      const { size } = await opened.handle.stat();
      if (end.offset + bytes > maxBytes) throw tooLarge(session, end.offset + bytes, maxBytes);
      return (await appendBatch(opened, entries, end, size)) ? { isStored: true, newest } : undefined;
    });
    if (result !== undefined) return result;
    if (bytes > maxBytes) throw tooLarge(session, bytes, maxBytes);
    const isThere = await stat(file).catch(() => undefined);
    // The claim of another writer was found: it is finished first.
    if (isThere !== undefined) continue;
    if (after > 0) return { isStored: false, newest: 0 };
    if (await makeSessionFile(file, session, entries, time)) return { isStored: true, newest };
  }
  throw new EngineError('STORE_UNAVAILABLE', `Session "${session}" is written by too many at once; try again.`, {
    retryable: true,
  });
}

async function read(known: Newest<Known>, opened: SessionFile, query: EntryQuery): Promise<readonly unknown[]> {
  const { after, maxEntries, maxBytes } = query;
  const { end, places } = await settledOf(known, opened);
  if (end.newest <= after) return [];
  const from = places.findLast(({ newest }) => newest <= after) ?? opened.begin;
  const found: unknown[] = [];
  const passed: Place[] = [];
  let at = from;
  for await (const batch of batchesBehind(opened, from)) {
    const entries = batch.end.newest <= after ? [] : batch.entries.slice(Math.max(0, after - at.newest));
    at = batch.end;
    passed.push(at);
    for (const entry of entries) {
      found.push(entry);
      if (found.length === maxEntries) break;
    }
    if (found.length === maxEntries || (found.length > 0 && at.offset - from.offset > maxBytes)) break;
  }
  remember(known, opened, end, [...places, ...passed]);
  return found;
}

/** The end of the file, once what others began was finished, and the places that are known. */
async function settledOf(known: Newest<Known>, opened: SessionFile): Promise<Known> {
  const before = known.get(opened.file);
  const mine = before?.id === opened.id ? before : { id: opened.id, places: [], end: opened.begin };
  const end = await settledEnd(opened, mine.end);
  return end === mine.end ? mine : remember(known, opened, end, [...mine.places, mine.end]);
}

function remember(known: Newest<Known>, opened: SessionFile, end: Place, found: readonly Place[]): Known {
  const places: Place[] = [];
  for (const place of found.toSorted((a, b) => a.newest - b.newest)) {
    if (place.newest - (places.at(-1)?.newest ?? 0) >= PLACE_EVERY && place.newest <= end.newest) places.push(place);
  }
  const now: Known = { id: opened.id, places, end };
  known.put(opened.file, now);
  return now;
}

/** Ids of tenants and sessions as names of files: such a name has nothing of what it stands for. */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 40);
}

async function withFile<T>(file: string, work: (opened: SessionFile) => Promise<T>): Promise<T | undefined> {
  const opened = await openSessionFile(file);
  if (opened === undefined) return undefined;
  try {
    return await work(opened);
  } finally {
    await opened.handle.close();
  }
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.draft')) continue;
    const draft = path.join(folder, name);
    const about = await stat(draft).catch(() => undefined);
    if (about !== undefined && Date.now() - about.mtimeMs > DRAFT_AGE_MS) await rm(draft, { force: true });
  }
}

async function remove(file: string): Promise<void> {
  await rm(file, { force: true });
  const name = path.basename(file);
  const left = (await namesIn(path.dirname(file))).filter((one) => one.startsWith(`${name}.`));
  for (const one of left) await rm(path.join(path.dirname(file), one), { force: true });
}

/** The files of sessions, those that changed last first. */
async function filesIn(folder: string): Promise<readonly { readonly file: string; readonly cursor: string }[]> {
  const files: { readonly file: string; readonly cursor: string }[] = [];
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('.jsonl')) continue;
    const file = path.join(folder, name);
    const cursor = await cursorOf(file);
    if (cursor !== undefined) files.push({ file, cursor });
  }
  return files.sort((a, b) => (a.cursor < b.cursor ? 1 : -1));
}

/** When a file changed last, with its name; undefined when it is gone. */
async function cursorOf(file: string): Promise<string | undefined> {
  const about = await stat(file, { bigint: true }).catch(() => undefined);
  // As many digits for every time, so that they are in order as texts.
  return about && `${String(about.mtimeNs).padStart(20, '0')}-${path.basename(file)}`;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** @throws EngineError LIMIT_REACHED when the disk takes no more, STORE_UNAVAILABLE for other errors of the system */
async function orStoreError<T>(session: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (EngineError.is(error)) throw error;
    const { code = 'unknown', message } = error as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
    const what = session === '' ? 'The list of sessions' : `Session "${session}"`;
    throw new EngineError(
      isFull ? 'LIMIT_REACHED' : 'STORE_UNAVAILABLE',
      `${what} cannot be read or written in its folder (${code}): ${message}. Check the disk and who may write there.`,
      { cause: error, retryable: !isFull },
    );
  }
}

function tooLarge(session: string, bytes: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `The file of session "${session}" would have ${bytes} bytes, of at most ${most}; begin another session, or raise maxSessionBytes.`,
  );
}
