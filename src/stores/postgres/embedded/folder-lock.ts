import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EngineError } from '../../../errors.js';
import { makeFolder } from '../../make-folder.js';
import { isAlive, type ProcessMark, processMark } from './process-mark.js';

/** Who has a folder; both parts are empty when it is free. */
interface Holder {
  /** The process that writes in it. */
  readonly self?: ProcessMark;
  /** The process that the writer serves and ends with. */
  readonly parent?: ProcessMark;
}

export interface FolderLock {
  release(): Promise<void>;
}

export interface FolderLockOptions {
  /** Process id of whom this process serves. */
  readonly parent: number;
  /** How long a writer without a parent may take to end before it is killed. @default 10,000 ms */
  readonly patienceMs?: number;
}

const NAME = /^database\.lock\.(\d+)$/;
const PAUSE_MS = 20;

/**
 * Takes a folder for this process alone. A holder that died holds nothing, whatever process has its id today.
 *
 * Locks are files with rising numbers, of which the highest counts. A successor makes the next number, which only one can, so no
 * lock is ever removed on the strength of what it was a moment ago. A holder whose parent died is about to end: it is waited for,
 * then killed.
 *
 * @throws EngineError CONFLICT when the folder is in use, CONFIG_INVALID when it is not writable.
 */
export async function lockFolder(folder: string, options: FolderLockOptions): Promise<FolderLock> {
  try {
    return await takeFolder(folder, options);
  } catch (error) {
    throw EngineError.is(error) ? error : cannotUse(folder, error);
  }
}

async function takeFolder(folder: string, options: FolderLockOptions): Promise<FolderLock> {
  const { parent, patienceMs = 10_000 } = options;
  await makeFolder(folder);
  const giveUpAt = Date.now() + patienceMs;
  const own: Holder = { self: processMark(process.pid), parent: processMark(parent) };
  for (;;) {
    const highest = Math.max(0, ...(await numbersIn(folder)));
    const holder = await read(folder, highest);
    if (holder.self !== undefined && isAlive(holder.self)) {
      if (holder.parent !== undefined && isAlive(holder.parent)) throw inUse(folder, holder.parent.pid);
      if (Date.now() > giveUpAt + patienceMs) throw inUse(folder, holder.self.pid);
      if (Date.now() > giveUpAt) kill(holder.self.pid);
      await delay(PAUSE_MS);
    } else if (await claim(folder, highest + 1, own)) {
      return { release: () => writeFile(fileOf(folder, highest + 1), '{}') };
    }
  }
}

/** Makes the lock of that number; false when another process was faster. */
async function claim(folder: string, number: number, own: Holder): Promise<boolean> {
  const draft = path.join(folder, `database.lock.draft-${process.pid}`);
  await writeFile(draft, JSON.stringify(own));
  try {
    // A link appears with its contents or not at all, and never replaces another.
    await link(draft, fileOf(folder, number));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const numbers = await numbersIn(folder);
  if (numbers.some((other) => other > number)) {
    // The number was free only because its successor had tidied up.
    await rm(fileOf(folder, number), { force: true });
    return false;
  }
  await Promise.all(
    numbers.filter((other) => other < number).map((other) => rm(fileOf(folder, other), { force: true })),
  );
  return true;
}

async function numbersIn(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).flatMap((name) => {
    const found = NAME.exec(name);
    return found === null ? [] : [Number(found[1])];
  });
}

/** What cannot be read holds nothing: it was left by a machine that lost its power, or was tidied up just now. */
async function read(folder: string, number: number): Promise<Holder> {
  if (number === 0) return {};
  try {
    return (JSON.parse(await readFile(fileOf(folder, number), 'utf8')) ?? {}) as Holder;
  } catch {
    return {};
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in this moment, or is not ours to end; the next look finds out.
  }
}

function fileOf(folder: string, number: number): string {
  return path.join(folder, `database.lock.${number}`);
}

function cannotUse(folder: string, cause: unknown): EngineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EngineError(
    'CONFIG_INVALID',
    `The data folder ${folder} cannot be used: ${why}. Set RUNNEL_DATA_DIR to a folder that this user may write in.`,
    { cause },
  );
}

function inUse(folder: string, pid: number): EngineError {
  return new EngineError(
    'CONFLICT',
    `The data folder ${folder} is in use by process ${pid}. Stop that process, set RUNNEL_DATA_DIR to another folder, or let both use a Postgres server through DATABASE_URL.`,
  );
}
