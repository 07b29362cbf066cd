/**
 * Logs of turns in a folder: `<session>/<turn>.<epoch>.jsonl`, each line a snapshot (`s{…}`) or an event (`e{…}`).
 *
 * Every writer has a file of its own, whose number is that of the writer before and one. Making it takes the turn over: a writer looks for a file with a
 * higher number before it stores anything. Older files go once the new one has a snapshot. The time of the file's last change tells that its writer is alive.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { interval, type Subscription } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { RunEvent } from '../../graph/events.js';
import type { Checkpoint } from '../../graph/state.js';
import { groupBy } from '../../group-by.js';
import { requireCallable, requireOptions, requireText, requireWhole } from '../../operators/invalid-option.js';
import { type LogLine, loggedRun, type TurnLog, type TurnLogs, takenOver } from './turn-logs.js';

/** How long and how large logs of turns are. */
export interface FileTurnLogsOptions {
  /** Milliseconds without a sign of life after which the process of a turn counts as lost. @default 30,000 */
  readonly leaseMs?: number;
  /** Bytes of one log, behind which the next snapshot takes the place of what stands before it. @default 8 MiB */
  readonly compactBytes?: number;
  /** Milliseconds since 1970, the same for all processes. @default Date.now */
  readonly now?: () => number;
}

/**
 * Logs of turns in a folder, made when it is missing, for runners of several processes of one machine. What `flush` has stored survives a power cut.
 *
 * @throws EngineError OPTION_INVALID. Errors of its verbs: SESSION_BUSY for a writer whose turn was taken over; STORE_UNAVAILABLE for what the file
 * system refuses
 */
export function fileTurnLogs(directory: string, options: FileTurnLogsOptions = {}): TurnLogs {
  const owner = 'fileTurnLogs';
  requireText(owner, 'directory', directory, 'the path of a folder');
  requireOptions(owner, options, ['leaseMs', 'compactBytes', 'now']);
  const { leaseMs = 30_000, compactBytes = 8 * 1024 ** 2, now = Date.now } = options;
  requireWhole(owner, 'leaseMs', leaseMs, 1);
  requireWhole(owner, 'compactBytes', compactBytes, 1);
  requireCallable(owner, 'now', now);
  const placeOf = (session: string, turn: string): TurnPlace => ({
    folder: path.join(directory, digestOf(session)),
    name: digestOf(turn),
    session,
    turn,
  });
  return {
    open: (session, turn) =>
      orUnavailable(async () => {
        const place = placeOf(session, turn);
        await mkdir(place.folder, { recursive: true });
        const { handle, epoch, before } = await claim(place);
        const stored = await newestStored(place, before);
        return { log: new FileTurnLog(place, handle, { epoch, before, leaseMs, compactBytes, now }), stored };
      }),
    heldFor: (session, turn) =>
      orUnavailable(async () => {
        const place = placeOf(session, turn);
        const newest = (await epochsOf(place)).at(-1);
        if (newest === undefined) return 0;
        const { mtimeMs } = await stat(fileOf(place, newest));
        return Math.max(0, Math.ceil(mtimeMs + leaseMs - now()));
      }),
    delete: (session, turn) => orUnavailable(() => remove(placeOf(session, turn))),
    prune: (before) => orUnavailable(() => removeOld(directory, before, now() - leaseMs)),
  };
}

interface TurnPlace {
  readonly folder: string;
  readonly name: string;
  readonly session: string;
  readonly turn: string;
}

/** Bytes that are taken before a run has to wait until they are stored. */
const MAX_WAITING = 8 * 1024 ** 2;

/** Makes the file with the next number; of several that try, each gets one of its own. */
async function claim(
  place: TurnPlace,
): Promise<{ readonly handle: FileHandle; readonly epoch: number; readonly before: readonly number[] }> {
  for (;;) {
    const before = await epochsOf(place);
    const epoch = (before.at(-1) ?? 0) + 1;
    const handle = await open(fileOf(place, epoch), 'wx').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (handle !== undefined) return { handle, epoch, before };
  }
}

/** What the newest writer with a snapshot has stored. */
async function newestStored(place: TurnPlace, epochs: readonly number[]) {
  for (const epoch of epochs.toReversed()) {
    const found = loggedRun(linesOf(await readFile(fileOf(place, epoch), 'utf8')));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whole lines; what stands behind the last line break was being written when the process was lost. */
function linesOf(text: string): readonly LogLine[] {
  const end = text.lastIndexOf('\n');
  if (end < 0) return [];
  return text
    .slice(0, end)
    .split('\n')
    .map((line) => ({ kind: line.startsWith('s') ? 's' : 'e', text: line.slice(1) }));
}

interface Writing {
  readonly epoch: number;
  /** Numbers of the files before. */
  readonly before: readonly number[];
  readonly leaseMs: number;
  readonly compactBytes: number;
  readonly now: () => number;
}

class FileTurnLog implements TurnLog {
  readonly #place: TurnPlace;
  readonly #writing: Writing;
  readonly #alive: Subscription;
  #handle: FileHandle;
  #taken: string[] = [];
  /** Place of the newest snapshot in what was taken; -1 without one. */
  #snapshotAt = -1;
  #takenBytes = 0;
  #size = 0;
  #before: readonly number[];
  #last: Promise<void> = Promise.resolve();

  constructor(place: TurnPlace, handle: FileHandle, writing: Writing) {
    this.#place = place;
    this.#handle = handle;
    this.#writing = writing;
    this.#before = writing.before;
    const tell = (): void => {
      this.#touch(writing.now()).catch(() => undefined);
    };
    tell();
    // A sign that fails is no failure: what is stored next is.
    this.#alive = interval(Math.max(1, Math.floor(writing.leaseMs / 3))).subscribe(tell);
  }

  append(event: RunEvent): number {
    return this.#take('e', JSON.stringify(event));
  }

  snapshot(checkpoint: Checkpoint): number {
    this.#snapshotAt = this.#taken.length;
    return this.#take('s', JSON.stringify(checkpoint));
  }

  flush(): Promise<void> {
    const written = this.#last.then(() => orUnavailable(() => this.#write()));
    // Every further call fails as well, since it begins with this one.
    this.#last = written;
    written.catch(() => undefined);
    return written;
  }

  ready(): Promise<void> | undefined {
    return this.#takenBytes > MAX_WAITING ? this.flush() : undefined;
  }

  async close(): Promise<void> {
    this.#alive.unsubscribe();
    try {
      await this.flush();
      await this.#touch(0).catch(() => undefined);
    } finally {
      await this.#handle.close();
    }
  }

  #take(kind: LogLine['kind'], text: string): number {
    const line = `${kind}${text}\n`;
    const bytes = Buffer.byteLength(line);
    this.#taken.push(line);
    this.#takenBytes += bytes;
    return bytes;
  }

  async #write(): Promise<void> {
    const { epoch, compactBytes } = this.#writing;
    const newest = (await epochsOf(this.#place)).at(-1);
    if (newest !== epoch) throw takenOver(this.#place.session, this.#place.turn);
    const [taken, snapshotAt] = [this.#taken, this.#snapshotAt];
    if (taken.length === 0) return;
    this.#taken = [];
    this.#snapshotAt = -1;
    this.#takenBytes = 0;
    if (snapshotAt >= 0 && this.#size > compactBytes) await this.#compact(taken.slice(snapshotAt).join(''));
    else await this.#store(taken.join(''));
    if (snapshotAt < 0 || this.#before.length === 0) return;
    // Nothing goes on from what stands in them any more.
    for (const before of this.#before) await rm(fileOf(this.#place, before), { force: true });
    this.#before = [];
  }

  async #store(text: string): Promise<void> {
    await this.#handle.appendFile(text);
    await this.#handle.datasync();
    this.#size += Buffer.byteLength(text);
  }

  /** Begins the file anew, from a snapshot on. */
  async #compact(text: string): Promise<void> {
    const file = fileOf(this.#place, this.#writing.epoch);
    const draft = await open(`${file}.draft`, 'w');
    await draft.appendFile(text);
    await draft.datasync();
    await rename(`${file}.draft`, file);
    const before = this.#handle;
    this.#handle = draft;
    this.#size = Buffer.byteLength(text);
    await before.close();
  }

  async #touch(ms: number): Promise<void> {
    await utimes(fileOf(this.#place, this.#writing.epoch), ms / 1_000, ms / 1_000);
  }
}

/** Numbers of the files of a turn, the lowest first. */
async function epochsOf({ folder, name }: TurnPlace): Promise<readonly number[]> {
  const files = await namesIn(folder);
  return files
    .filter((file) => file.startsWith(`${name}.`) && file.endsWith('.jsonl'))
    .map((file) => Number(file.slice(name.length + 1, -'.jsonl'.length)))
    .filter((epoch) => Number.isSafeInteger(epoch))
    .sort((a, b) => a - b);
}

function fileOf({ folder, name }: TurnPlace, epoch: number): string {
  return path.join(folder, `${name}.${epoch}.jsonl`);
}

async function remove(place: TurnPlace): Promise<void> {
  for (const epoch of await epochsOf(place)) await rm(fileOf(place, epoch), { force: true });
}

/** Removes the turns of which no file changed since a time, and whose writers have told nothing of themselves since another one. */
async function removeOld(directory: string, before: number, aliveSince: number): Promise<number> {
  let count = 0;
  for (const entry of await namesIn(directory)) {
    const folder = path.join(directory, entry);
    const turns = groupBy(await namesIn(folder), (file) => file.slice(0, file.indexOf('.')));
    for (const files of turns.values()) {
      const about = await Promise.all(files.map((file) => stat(path.join(folder, file)).catch(() => undefined)));
      // Closing a log sets its time to 0, which changes when the file itself was changed.
      if (about.some((one) => one !== undefined && (one.ctimeMs >= before || one.mtimeMs >= aliveSince))) continue;
      for (const file of files) await rm(path.join(folder, file), { force: true });
      count += 1;
    }
    // Fails unless it is empty.
    await rmdir(folder).catch(() => undefined);
  }
  return count;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}

/** A name for a file, of an id of any characters. */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 40);
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (EngineError.is(error)) throw error;
    const { code = 'unknown', message } = error as NodeJS.ErrnoException;
    throw new EngineError('STORE_UNAVAILABLE', `The log of a turn could not be reached (${code}): ${message}`, {
      cause: error,
    });
  }
}
