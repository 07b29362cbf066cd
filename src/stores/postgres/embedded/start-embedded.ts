import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../../errors.js';
import type { Log } from '../../../logger.js';
import { doubling, retry } from '../../../operators/retry-with.js';
import type { DatabaseMessage } from './messages.js';

export interface EmbeddedOptions {
  /** Where the database is, made when it is not there. One process at a time may use it. */
  readonly folder: string;
  /** File with a prepared database, which need not be there. @default the one in the package, if it has one */
  readonly image?: string | undefined;
  readonly log: Log;
}

/** The embedded database at work in a process of its own. */
export interface EmbeddedServer {
  /** Unix socket that it listens at. */
  readonly path: string;
  /** Id of its process at this moment; undefined while there is none. */
  readonly pid: () => number | undefined;
  /** Ends it; what was acknowledged is on disk. */
  close(): Promise<void>;
}

/** Part of the package, made by its build. */
const IMAGE = fileURLToPath(new URL('./database.image', import.meta.url));

/**
 * Options of Node for a process whose work is in WebAssembly: one thread for what V8 does in the background, each having memory of its own,
 * and little room for young objects of JavaScript. 20 MB less than with the defaults. It collects what its start needed by itself.
 */
const SMALL = ['--v8-pool-size=1', '--max-semi-space-size=2', '--expose-gc'];

/**
 * Makes the allocator of glibc give back what is free, 10 to 20 MB after a start: one arena for all threads, and pieces from 64 KB on are mapped by
 * themselves. Other systems do not read these.
 */
const SMALL_ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** Shortest and longest delay before a database that died is started again. */
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** A database that does not end in this time after the request to is killed. */
const CLOSE_MS = 10_000;

/**
 * Starts the embedded database, and starts it again whenever it dies.
 *
 * @throws EngineError CONFLICT when another process uses the folder, CONFIG_INVALID when it is not writable, INTERNAL when the
 * database cannot be opened.
 */
export async function startEmbedded({ folder, image = IMAGE, log }: EmbeddedOptions): Promise<EmbeddedServer> {
  // A folder that only this user can enter takes the place of a password; its short name fits a socket address.
  const home = await mkdtemp(path.join(tmpdir(), 'runnel-'));
  const socket = path.join(home, 'database.sock');
  const args = [path.resolve(folder), socket, String(process.pid), ...(existsSync(image) ? [path.resolve(image)] : [])];
  const closing = new AbortController();
  let child: ChildProcess | undefined;
  try {
    child = await launch(args, log);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }

  const { signal } = closing;
  const restart = async (): Promise<ChildProcess | undefined> => (signal.aborted ? undefined : launch(args, log));
  const onRetry = (error: unknown): void =>
    log.error({ err: error }, 'the embedded database could not be started again');
  const supervise = async (): Promise<void> => {
    while (child !== undefined) {
      await watch(child, signal, log);
      child = undefined;
      // Also before the first attempt: one that starts and dies at once must not be started without a pause.
      await pause(MIN_DELAY_MS, undefined, { signal });
      child = await retry(restart, {
        delayMs: doubling(MIN_DELAY_MS, MAX_DELAY_MS),
        isRetryable: () => true,
        onRetry,
        signal,
      });
    }
  };
  // An attempt that fails while it closes is its end as well.
  const supervised = supervise().catch(() => {});
  return {
    path: socket,
    pid: () => child?.pid,
    async close() {
      closing.abort();
      await supervised;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Resolves when the process has ended, by itself or on request. */
async function watch(child: ChildProcess, closing: AbortSignal, log: Log): Promise<void> {
  const stop = () => void end(child);
  if (closing.aborted) stop();
  else closing.addEventListener('abort', stop, { once: true });
  const { exitCode, signalCode } = await ended(child);
  closing.removeEventListener('abort', stop);
  if (!closing.aborted) log.warn({ exitCode, signal: signalCode }, 'the embedded database ended; starting it again');
}

/** Resolves when the database answers. */
async function launch(args: readonly string[], log: Log): Promise<ChildProcess> {
  // From the sources, as tests run it, the compiler's loader comes along; it is found from where the sources are.
  const isSource = import.meta.url.endsWith('.ts');
  const child = fork(fileURLToPath(new URL(isSource ? './main.ts' : './main.js', import.meta.url)), args, {
    execArgv: [...SMALL, ...(isSource ? ['--import', 'tsx'] : [])],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...SMALL_ALLOCATOR, ...process.env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const failure = ended(child).then(({ exitCode, signalCode }) => {
    throw notOpened(args[0] as string, `its process ended with ${signalCode ?? exitCode}`);
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: DatabaseMessage) => {
      if (message.type === 'ready') resolve();
      else if (message.type === 'preparing') log.info({ folder: args[0] }, 'preparing the database, once');
      else if (message.code === 'INTERNAL') reject(notOpened(args[0] as string, message.message));
      else reject(new EngineError(message.code, message.message));
    });
  });
  await Promise.race([ready, failure]);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const timeout = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
  if (child.connected) child.disconnect();
  await ended(child);
  clearTimeout(timeout);
}

async function ended(child: ChildProcess): Promise<Pick<ChildProcess, 'exitCode' | 'signalCode'>> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child;
}

function notOpened(folder: string, why: string): EngineError {
  return new EngineError('INTERNAL', `The embedded database in ${folder} cannot be opened: ${why}.`);
}
