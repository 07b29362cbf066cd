import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { EngineError } from '../../errors.js';
import { chromiumFlags } from './chromium-flags.js';
import { makeFolder } from './own-folders.js';
import { openPipeTransport } from './pipe-transport.js';

/** What of Chromium's own complaints is kept, in characters; it explains a browser that does not start. */
const MAX_COMPLAINTS = 4_096;

/** Kibibytes of data of one process of Chromium. */
const MAX_PROCESS_KIB = 1_572_864;

/** Programs that a launcher script of a distribution calls. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** How a Chromium is started. */
export interface StartOptions {
  readonly executable: string;
  readonly isSandboxed: boolean;
}

/** A Chromium that runs. */
export interface ChromiumProcess {
  readonly pid: number;
  /** A folder of its own, deleted with it. */
  readonly folder: string;
  readonly transport: ConnectOverCDPTransport;
  /** Rejects when it ends by itself; settles in no other way. */
  readonly failed: Promise<never>;
  /** Resolves when the process is gone and its folder is deleted. */
  readonly gone: Promise<void>;
  /** Kills it and deletes its folder before it returns, for a process that ends. */
  removeNow(): void;
}

/**
 * Starts a Chromium that lives until `signal` is aborted: then its whole process group is killed at once, and its folder
 * deleted. It also ends with this process, whose end of the pipe it watches.
 *
 * It sees no environment variable of this process, as they hold secrets.
 */
export function startChromium(options: StartOptions, signal: AbortSignal): ChromiumProcess {
  signal.throwIfAborted();
  const folder = makeFolder();
  const child = spawnIn(folder, options);
  const complaints = keepComplaints(child);
  const transport = openPipeTransport(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const removeNow = (): void => {
    kill(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  signal.addEventListener('abort', () => kill(child), { once: true });
  const ended = endOf(child).finally(() => {
    // Children of a browser that fell over by itself.
    kill(child);
    transport.close();
  });
  const failed = ended.then((how): never => {
    throw new EngineError('BROWSER_FAILED', `The browser ${how}.${complaints()}`);
  });
  // Nobody may be listening yet, or any more.
  failed.catch(ignore);
  const gone = ended
    .then(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }))
    .catch(ignore);
  return { pid: child.pid ?? -1, folder, transport, failed, gone, removeNow };
}

function spawnIn(folder: string, { executable, isSandboxed }: StartOptions): ChildProcess {
  const profile = path.join(folder, 'profile');
  mkdirSync(path.join(profile, 'Default'), { recursive: true });
  // A PDF is a file to keep, not a page to look at.
  const preferences = JSON.stringify({ plugins: { always_open_pdf_externally: true } });
  writeFileSync(path.join(profile, 'Default', 'Preferences'), preferences);
  const [program, ...given] = bounded([executable, ...chromiumFlags({ profile, isSandboxed })]);
  return spawn(program, given, {
    cwd: folder,
    // A process group of its own: killing reaches renderers too, and Ctrl-C in a terminal does not.
    detached: true,
    env: { PATH: SYSTEM_PATH, HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
}

/**
 * The same command with a bound on the memory of each process: a flag of Chromium bounds scripts, but no buffers, pictures and
 * elements. Only Linux holds a process to it.
 */
function bounded(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.platform !== 'linux') return command;
  return ['/bin/sh', '-c', 'ulimit -d "$0" 2>/dev/null; exec "$@"', String(MAX_PROCESS_KIB), ...command];
}

/** Resolves when a process is gone, or could not be started, with how. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${codeOf(error)})`));
    child.once('exit', (code, killedBy) => resolve(`ended by itself (${killedBy ?? `exit code ${code}`})`));
  });
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No such group: it is gone, or the system has no groups.
    child.kill('SIGKILL');
  }
}

/** Reads what Chromium complains about; gives the last line that is no noise, as the end of a message. */
function keepComplaints(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('error', ignore).on('data', (bytes: Buffer) => {
    text = `${text}${bytes}`.slice(-MAX_COMPLAINTS);
  });
  return () => {
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'));
    const last = lines.findLast((line) => /fatal|error|cannot|no usable sandbox/i.test(line)) ?? lines.at(-1);
    return last === undefined ? '' : ` It said: ${last.trim().slice(0, 300)}`;
  };
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

function ignore(): void {}
