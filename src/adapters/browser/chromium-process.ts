/** The process of Chromium: finding it, its flags, folders, pipe and end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { noop } from 'rxjs';
import { EngineError } from '../../errors.js';
import { codeOf } from '../egress/failures.js';

/** Characters of Chromium's stderr that are stored; they explain a browser that does not start. */
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
  const complaints = collectComplaints(child);
  const transport = openPipeTransport(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const removeNow = (): void => {
    kill(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  signal.addEventListener('abort', () => kill(child), { once: true });
  const ended = endOf(child).finally(() => {
    // Children of a browser that crashed.
    kill(child);
    transport.close();
  });
  const failed = ended.then((how): never => {
    throw new EngineError('BROWSER_FAILED', `The browser ${how}.${complaints()}`);
  });
  // There may be no listener yet, or no longer.
  failed.catch(noop);
  const gone = ended
    .then(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }))
    .catch(noop);
  return { pid: child.pid ?? -1, folder, transport, failed, gone, removeNow };
}

function spawnIn(folder: string, { executable, isSandboxed }: StartOptions): ChildProcess {
  const profile = path.join(folder, 'profile');
  mkdirSync(path.join(profile, 'Default'), { recursive: true });
  // A PDF is downloaded instead of shown.
  const preferences = JSON.stringify({ plugins: { always_open_pdf_externally: true } });
  writeFileSync(path.join(profile, 'Default', 'Preferences'), preferences);
  const [program, ...given] = bounded([executable, ...chromiumFlags(profile, isSandboxed)]);
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
    child.once('error', (error) => resolve(`could not be started (${codeOf(error) || error.name})`));
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

/** Reads Chromium's stderr; gives its last relevant line, as the end of a message. */
function collectComplaints(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('error', noop).on('data', (bytes: Buffer) => {
    text = `${text}${bytes}`.slice(-MAX_COMPLAINTS);
  });
  return () => {
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'));
    const last = lines.findLast((line) => /fatal|error|cannot|no usable sandbox/i.test(line)) ?? lines.at(-1);
    return last === undefined ? '' : ` It said: ${last.trim().slice(0, 300)}`;
  };
}

/** Parts of Chromium that talk to servers of their own, or to the network beside the proxy. */
const DISABLED_FEATURES = [
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'OptimizationHints',
  'PreconnectToSearch',
  'PrewarmDefaultSearchEngine',
  'SearchEnginePreconnect2',
  'SearchEnginePreconnector',
  'Translate',
];

/** Mebibytes of the script heap of a page; beyond that the page crashes. */
const MAX_HEAP_MIB = 512;

/** A proxy that does not exist, for Chromium's own requests: updates, accounts, the time. */
const NO_PROXY = 'http://127.0.0.1:1';

/**
 * The command line of a headless Chromium without any way to the network: windows get a proxy of their own.
 *
 * `<-loopback>` removes the exemption of loopback from proxies; names are never resolved by Chromium itself; QUIC
 * and WebRTC, which use UDP and no proxy, are off.
 */
function chromiumFlags(profile: string, isSandboxed: boolean): readonly string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--proxy-server=${NO_PROXY}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-background-networking',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-client-side-phishing-detection',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    '--disable-popup-blocking',
    '--disable-sync',
    '--metrics-recording-only',
    '--no-pings',
    '--deny-permission-prompts',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--disk-cache-size=33554432',
    `--js-flags=--max-old-space-size=${MAX_HEAP_MIB}`,
    '--mute-audio',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-startup-window',
    '--password-store=basic',
    '--use-mock-keychain',
    ...(isSandboxed ? [] : ['--no-sandbox']),
  ];
}

/** Usual paths of Chromium and its relatives, the likeliest first. */
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/usr/local/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Files that container engines leave in their containers. */
const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv'];

/**
 * The path of a Chromium that can be started: the one that is named, else the first in the usual places.
 *
 * @throws EngineError BROWSER_MISSING when there is none.
 */
export async function findChromium(
  named: string | undefined,
  places: readonly string[] = USUAL_PLACES,
): Promise<string> {
  if (named !== undefined && named !== '') {
    if (await isExecutable(named)) return named;
    throw missing(`"${named}" (RUNNEL_CHROMIUM) is no program that can be started`);
  }
  for (const place of places) {
    if (await isExecutable(place)) return place;
  }
  throw missing('no Chromium is installed on this machine');
}

/**
 * Whether Chromium's own sandbox can work here: the kernel grants it to no root user, and containers rarely do. There the
 * container is what confines the pages.
 */
export function canSandbox(): boolean {
  return process.getuid?.() !== 0 && !CONTAINER_MARKS.some((mark) => existsSync(mark));
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function missing(problem: string): EngineError {
  return new EngineError(
    'BROWSER_MISSING',
    `There is no browser: ${problem}. Install one (Debian and Ubuntu: apt-get install chromium), ` +
      'or set RUNNEL_CHROMIUM to the path of Chromium or Chrome.',
  );
}

/** Longest message of Chromium, in UTF-16 units; a screenshot is one message. */
const MAX_MESSAGE = 256 * 1_048_576;

/**
 * Chromium's DevTools protocol over two pipes, a zero byte behind each message. No port is opened that others could use.
 *
 * A pipe that breaks, and a message that is too long, close the transport.
 */
export function openPipeTransport(input: Writable, output: Readable): ConnectOverCDPTransport {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let length = 0;
  let isOpen = true;
  const transport: ConnectOverCDPTransport = {
    send(message) {
      if (isOpen) input.write(`${JSON.stringify(message)}\0`);
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      input.destroy();
      output.destroy();
      transport.onclose?.();
    },
  };
  const deliver = (message: object): void => {
    if (isOpen) transport.onmessage?.(message);
  };
  const take = (text: string): void => {
    let start = 0;
    for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', start)) {
      parts.push(text.slice(start, end));
      const message = JSON.parse(parts.join('')) as object;
      parts = [];
      length = 0;
      start = end + 1;
      // Each in a turn of its own: what the driver begins to wait for after one message may be the next one.
      setImmediate(deliver, message);
    }
    if (start === text.length) return;
    parts.push(text.slice(start));
    length += text.length - start;
    if (length > MAX_MESSAGE) transport.close();
  };
  output.on('data', (bytes: Buffer) => {
    if (isOpen) take(decoder.write(bytes));
  });
  for (const pipe of [input, output]) pipe.on('error', transport.close).on('close', transport.close);
  return transport;
}

/** Folders of browsers that this machine started, up to the number of the process that did. */
const PREFIX = `runnel-browser-${hostname().replace(/[^\w]/g, '').slice(0, 60)}-`;

/** Makes an empty folder for one browser, named after this process. */
export function makeFolder(): string {
  return mkdtempSync(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
}

/** Deletes the folders that processes left behind when they were killed; what cannot be deleted stays. */
export async function sweepFolders(folder: string = tmpdir()): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid] = /^(\d+)-/.exec(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '') ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
}

/** A process of another user counts as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
