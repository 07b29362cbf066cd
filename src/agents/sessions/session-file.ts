/**
 * One session in one file: a line that names it, then one line of JSON for each batch of entries.
 *
 * A batch comes into the file in two steps, so that of several processes one wins and a process may be killed at any moment. First it is
 * written to a file of its own, flushed, and linked under the number of its first entry, which succeeds for one writer: its claim says at
 * which place of the session's file the line belongs. Then the line is written to that place and flushed, and the claim is removed. Every
 * reader and writer that finds a claim for the next number finishes it first; that two do so at once is harmless, because they write the
 * same bytes to the same place. What stands behind the last whole line counts for nothing.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../errors.js';
import { isJsonObject, parseOwnJson } from '../../json.js';

/** A place behind a whole line. */
export interface Place {
  /** Bytes before it. */
  readonly offset: number;
  /** Number of the newest entry before it; 0: none. */
  readonly newest: number;
  /** Time of that entry, in milliseconds since 1970. */
  readonly time: number;
}

/** A batch as it lies in the file. */
export interface Batch {
  readonly id: string;
  readonly entries: readonly unknown[];
  /** Behind it. */
  readonly end: Place;
}

/** A session's file that is open. */
export interface SessionFile {
  readonly handle: FileHandle;
  readonly file: string;
  /** Chosen when the file was made, so that one of the same name is known to be another. */
  readonly id: string;
  readonly session: string;
  readonly startedAt: number;
  /** Behind the first line. */
  readonly begin: Place;
}

/** Opens the file of a session; undefined when there is none. @throws EngineError SESSION_INVALID when it is no such file */
export async function openSessionFile(file: string): Promise<SessionFile | undefined> {
  const handle = await open(file, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    const end = buffer.subarray(0, bytesRead).indexOf(NEW_LINE);
    const head = end === -1 ? undefined : parseOwnJson(buffer.toString('utf8', 0, end));
    if (!isJsonObject(head) || head.runnel !== 'session' || head.version !== 1) throw noSession(file);
    const { id, session, startedAt } = head;
    if (typeof id !== 'string' || typeof session !== 'string' || typeof startedAt !== 'number') throw noSession(file);
    return { handle, file, id, session, startedAt, begin: { offset: end + 1, newest: 0, time: startedAt } };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Makes the file of a session with its first batch; false when there is one already. */
export async function makeSessionFile(
  file: string,
  session: string,
  entries: readonly string[],
  time: number,
): Promise<boolean> {
  const head = { runnel: 'session', version: 1, id: randomUUID(), session, startedAt: time };
  const isMade = await linkNew(file, `${JSON.stringify(head)}\n${lineOf(randomUUID(), entries)}`);
  if (isMade) await syncFolder(path.dirname(file));
  return isMade;
}

/**
 * Appends a batch behind `end`, which {@link settledEnd} gave; false when another writer was faster.
 *
 * @param size bytes of the file: what stands behind `end` is covered
 */
export async function appendBatch(
  opened: SessionFile,
  entries: readonly string[],
  end: Place,
  size: number,
): Promise<boolean> {
  const id = randomUUID();
  const line = lineOf(id, entries, size - end.offset);
  const claim = claimOf(opened, end.newest + 1);
  if (!(await linkNew(claim, `${end.offset}\n${line}`))) return false;
  // Stored meanwhile: by another writer, whose claim was removed before this one was made, or for this one by another process.
  for await (const batch of batchesBehind(opened, end)) {
    await rm(claim, { force: true });
    return batch.id === id;
  }
  await writeLine(opened, line, end.offset);
  await rm(claim, { force: true });
  return true;
}

/** The place behind the last whole line, once what another writer began was finished. @param from a place that is known */
export async function settledEnd(opened: SessionFile, from: Place): Promise<Place> {
  for (let end = await endBehind(opened, from); ; ) {
    const claim = claimOf(opened, end.newest + 1);
    const text = await readFile(claim).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return end;
    const place = text.indexOf(NEW_LINE);
    const isWhole = place !== -1 && text.at(-1) === NEW_LINE && Number(text.toString('utf8', 0, place)) === end.offset;
    const now = await endBehind(opened, end);
    // Only a claim that was made before its number was stored may be carried out.
    if (isWhole && now.newest === end.newest) await writeLine(opened, text.subarray(place + 1), end.offset);
    await rm(claim, { force: true });
    end = await endBehind(opened, end);
  }
}

/** The batches behind a place, in order. @throws EngineError SESSION_INVALID when a line is damaged that another one follows */
export async function* batchesBehind(opened: SessionFile, from: Place): AsyncGenerator<Batch> {
  let { newest } = from;
  let damagedAt: number | undefined;
  for await (const { text, end } of linesBehind(opened.handle, from.offset)) {
    if (damagedAt !== undefined) throw damaged(opened, damagedAt);
    const batch = batchOf(text, newest + 1, end);
    if (batch === undefined) {
      damagedAt = newest + 1;
      continue;
    }
    newest = batch.end.newest;
    yield batch;
  }
}

const NEW_LINE = 0x0a;
const MAX_HEAD_BYTES = 4_096;
const CHUNK_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;

async function endBehind(opened: SessionFile, from: Place): Promise<Place> {
  const { size } = await opened.handle.stat();
  if (size === from.offset) return from;
  let end = size < from.offset ? opened.begin : from;
  end = (await lastInTail(opened, end, size)) ?? end;
  for await (const batch of batchesBehind(opened, end)) end = batch.end;
  return end;
}

/** The place behind the last line, where that line is short: the lines before it need not be read then. */
async function lastInTail({ handle }: SessionFile, from: Place, size: number): Promise<Place | undefined> {
  const start = Math.max(from.offset, size - TAIL_BYTES);
  if (start === from.offset) return undefined;
  const tail = (await handle.read(Buffer.alloc(size - start), 0, size - start, start)).buffer;
  const last = tail.lastIndexOf(NEW_LINE);
  const before = last < 1 ? -1 : tail.lastIndexOf(NEW_LINE, last - 1);
  if (before === -1) return undefined;
  return batchOf(tail.toString('utf8', before + 1, last), undefined, start + last + 1)?.end;
}

/** Whole lines behind an offset, and the offsets behind them. */
async function* linesBehind(
  handle: FileHandle,
  offset: number,
): AsyncGenerator<{ readonly text: string; readonly end: number }> {
  let parts: Buffer[] = [];
  for (let at = offset; ; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, from)) {
      parts.push(chunk.subarray(from, end));
      yield { text: Buffer.concat(parts).toString('utf8'), end: at + end + 1 };
      parts = [];
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    at += bytesRead;
  }
}

/** The batch of a line; undefined when it is none. @param first number of its first entry; undefined: any */
function batchOf(line: string, first: number | undefined, offset: number): Batch | undefined {
  const value = parseOwnJson(line);
  if (!isJsonObject(value) || typeof value.batch !== 'string' || !Array.isArray(value.entries)) return undefined;
  const entries: readonly unknown[] = value.entries;
  const [begin, last] = [entries[0], entries.at(-1)];
  if (!isPlaced(begin) || !isPlaced(last) || (first !== undefined && begin.at !== first)) return undefined;
  return { id: value.batch, entries, end: { offset, newest: last.at, time: last.time } };
}

function isPlaced(value: unknown): value is { readonly at: number; readonly time: number } {
  return isJsonObject(value as never) && Number.isSafeInteger((value as { at?: unknown }).at);
}

/** @param covered bytes that it must have at least */
function lineOf(id: string, entries: readonly string[], covered = 0): string {
  const text = `{"batch":"${id}","entries":[${entries.join(',')}]}`;
  return `${text}${' '.repeat(Math.max(0, covered - Buffer.byteLength(text) - 1))}\n`;
}

function claimOf({ file, id }: SessionFile, at: number): string {
  return `${file}.${id}.${at}.next`;
}

/** Makes a file with all its contents or not at all; false when there is one of that name. */
async function linkNew(file: string, contents: string): Promise<boolean> {
  const draft = path.join(path.dirname(file), `${randomUUID()}.draft`);
  const handle = await open(draft, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(contents);
      await makeLast(handle);
    } finally {
      await handle.close();
    }
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeLine({ handle }: SessionFile, line: string | Uint8Array, offset: number): Promise<void> {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  for (let at = 0; at < bytes.byteLength; ) {
    at += (await handle.write(bytes, at, bytes.byteLength - at, offset + at)).bytesWritten;
  }
  await makeLast(handle);
}

/** Flushes a file, with a time of change that is finer than the clock of most file systems: lists are in the order of the changes. */
async function makeLast(handle: FileHandle): Promise<void> {
  const seconds = (performance.timeOrigin + performance.now()) / 1_000;
  await handle.utimes(seconds, seconds);
  await handle.sync();
}

/** Makes a new name last; not every system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function noSession(file: string): EngineError {
  return new EngineError('SESSION_INVALID', `The file ${file} is no session of Runnel; move it to another folder.`);
}

function damaged({ file, session }: SessionFile, at: number): EngineError {
  return new EngineError(
    'SESSION_INVALID',
    `Entry ${at} of session "${session}" cannot be read from ${file}: its line was damaged. Restore the file, or delete the session.`,
  );
}
