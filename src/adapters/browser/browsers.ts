/** Browser sessions: starting, bounding and stopping them, with stored cookies. */
import { Observable, of, type Subscriber } from 'rxjs';
import { EngineError } from '../../errors.js';
import { createLimiter } from '../../models/limiter.js';
import { Newest } from '../../newest.js';
import { fromAbortable, UNSUBSCRIBED } from '../../operators/from-abortable.js';
import { requireObject, requireWhole } from '../../operators/invalid-option.js';
import { within } from '../../operators/within.js';
import { type Resolver, resolveWithSystem } from '../egress/dial.js';
import type { ActionOutcome, BrowserAction, PageView } from './action.js';
import { type ChromiumProcess, canSandbox, findChromium, startChromium, sweepFolders } from './chromium-process.js';
import { type BrowserFile, createNotes, type DownloadLimits, type Notes } from './downloads.js';
import { type Dial, type DomainList, requireDomains, startGuardProxy } from './guard-proxy.js';
import { type DriverSession, openSession, type StoredState, type UploadFile } from './session.js';

/** How browsers are started. */
export interface BrowsersOptions {
  /** Path of Chromium or Chrome. @default the first in the usual places */
  readonly executable?: string | undefined;
  /** Lets pages reach private and loopback addresses, but no metadata services. @default false */
  readonly allowPrivateNetwork?: boolean;
  /** Gives all addresses of a name. @default the operating system's */
  readonly resolver?: Resolver;
  /** How a connection to an address that was judged is made; for tests. @default a socket */
  readonly dial?: Dial;
  /** Domains, subdomains included, that pages may be loaded from; a node can only narrow them. @default all */
  readonly allowedDomains?: readonly string[];
  /** Browsers at once, at least 1. @default 2 */
  readonly maxBrowsers?: number;
  /** Sessions that may wait for a browser; a further one fails with `LIMIT_REACHED`. @default 32 */
  readonly maxWaiting?: number;
  /** Bytes that the pages of one session may load. @default 512 MiB */
  readonly maxBytes?: number;
  /** What one session may download. @default 20 files of 64 MiB */
  readonly downloads?: Partial<DownloadLimits>;
  /** Called with each process that was started; for tests and logs. */
  readonly onStart?: (process: Pick<ChromiumProcess, 'pid' | 'folder'>) => void;
}

/** How one session is opened. */
export interface OpenOptions {
  /** Files that the pages may be given, by name. */
  readonly uploads?: readonly UploadFile[];
  /** Domains that pages may be loaded from, as far as all browsers may. @default all */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Restores the cookies and storage that an earlier session stored under this key. @default starts with none */
  readonly rememberAs?: string;
  /** Requires Chromium's sandbox: without it the browser does not start. @default wherever it can work */
  readonly isSandboxed?: boolean;
}

/** One browser with one profile. Every Observable is cold, does its work once per subscription and emits one value. */
export interface BrowserSession {
  /** Reads the page. */
  look(): Observable<PageView>;
  /** Does something, and waits until the page has settled. */
  perform(action: BrowserAction): Observable<ActionOutcome>;
  /** What was downloaded, once no download is in progress. */
  files(): Observable<readonly BrowserFile[]>;
  /** Stores cookies and storage for a later session with the same `rememberAs`, in memory; without a key it does nothing. */
  remember(): Observable<void>;
}

/** See {@link createBrowsers}. */
export interface Browsers {
  /**
   * Emits one session and stays open: the browser lives exactly as long as the subscription.
   *
   * Errors: `BROWSER_MISSING`; `BROWSER_FAILED` when it does not start or exits by itself at any moment;
   * `LIMIT_REACHED` when too many wait.
   */
  open(options?: OpenOptions): Observable<BrowserSession>;
  /** The same browsers for the sessions of one tenant: tenants take turns. @default all share one queue */
  forTenant?(tenant: string): Browsers;
  /** Ends all sessions with `BROWSER_FAILED`; resolves when their processes are gone and their folders deleted. */
  close(): Promise<void>;
}

/** Milliseconds that Chromium may take to answer after its start. */
const START_MS = 30_000;

/** Milliseconds to wait for the exit status of a Chromium whose connection broke. */
const END_MS = 1_000;

const MEBIBYTE = 1_048_576;

/** What all sessions share. */
interface House {
  readonly options: BrowsersOptions;
  readonly domains: DomainList;
  readonly states: ReturnType<typeof createRememberedStates>;
  /** Every browser whose process or folder still exists. */
  readonly present: Set<ChromiumProcess>;
  /** Whether folders of killed processes were looked for. */
  isSwept: boolean;
}

/**
 * Starts a headless Chromium per session, with a profile and a network proxy of its own.
 *
 * - Everything that its pages ask for goes through a proxy of ours, which judges URLs and addresses as the egress client does.
 * - Unsubscribing, a failure and the end of this process kill the browser's process group at once and delete its folder.
 * - A page has 512 MiB for its scripts and 1.5 GiB in all; beyond that, allocations fail or the page crashes alone.
 * - The number of browsers, of waiting sessions, of files and of loaded bytes have bounds; every action has a time.
 *
 * `playwright-core` is loaded with the first session.
 * @throws EngineError OPTION_INVALID at construction.
 */
export function createBrowsers(options: BrowsersOptions = {}): Browsers {
  requireObject('createBrowsers', 'options', options, 'an object');
  const { maxBrowsers = 2, maxWaiting = 32, maxBytes = 1 } = options;
  requireWhole('createBrowsers', 'maxBytes', maxBytes, 1);
  const limiter = createLimiter({
    maxConcurrent: maxBrowsers,
    maxWaiting,
    whenFull: `${maxBrowsers} browsers are running and ${maxWaiting} nodes wait for one; try again later, or raise RUNNEL_MAX_BROWSERS.`,
  });
  const domains = requireDomains('createBrowsers', 'allowedDomains', options.allowedDomains ?? []);
  const house: House = { options, domains, states: createRememberedStates(), present: new Set(), isSwept: false };
  const removeAll = (): void => {
    for (const chromium of house.present) chromium.removeNow();
  };
  process.once('exit', removeAll);
  const subscribers = new Set<Subscriber<BrowserSession>>();
  let isClosed = false;
  const browsersOf = (tenant?: string): Browsers => ({
    forTenant: browsersOf,
    open: (open = {}) =>
      new Observable<BrowserSession>((subscriber) => {
        if (isClosed) {
          subscriber.error(closed());
          return;
        }
        const life = new AbortController();
        subscribers.add(subscriber);
        subscriber.add(() => {
          subscribers.delete(subscriber);
          life.abort(UNSUBSCRIBED);
        });
        const fail = (error: unknown): void => subscriber.error(error);
        start(house, open, life.signal, fail).then((session) => subscriber.next(session), fail);
      }).pipe(limiter.limit(tenant)),
    async close() {
      isClosed = true;
      for (const subscriber of subscribers) subscriber.error(closed());
      house.states.clear();
      await Promise.all([...house.present].map(({ gone }) => gone));
      process.removeListener('exit', removeAll);
    },
  });
  return browsersOf();
}

/** Starts everything that a session is made of; all of it ends with the signal. */
async function start(
  house: House,
  open: OpenOptions,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<BrowserSession> {
  const { allowPrivateNetwork = false, resolver = resolveWithSystem, dial, maxBytes = 512 * MEBIBYTE } = house.options;
  const notes = createNotes();
  if (!house.isSwept) {
    house.isSwept = true;
    void sweepFolders();
  }
  const executable = await findChromium(house.options.executable);
  const { port: proxyPort } = await startGuardProxy(
    {
      allowPrivateNetwork,
      resolver,
      domains: [house.domains, requireDomains('open', 'allowedDomains', open.allowedDomains ?? [])],
      dial,
      maxBytes,
      maxConnections: 256,
      onRefused: (reason, host) => notes.add(`Not loaded: ${reason}`, host),
    },
    signal,
  );
  const isSandboxed = open.isSandboxed === true || canSandbox();
  const chromium = startChromium({ executable, isSandboxed }, signal);
  house.present.add(chromium);
  void chromium.gone.then(() => house.present.delete(chromium));
  house.options.onStart?.(chromium);
  chromium.failed.catch(fail);
  const driver = await Promise.race([connect(chromium, house, open, { proxyPort, notes }), chromium.failed]);
  return toSession(driver, house, open.rememberAs);
}

/** Opens a window in a Chromium that was started; `network` is its proxy and where that notes what it refuses. */
async function connect(
  chromium: ChromiumProcess,
  { options, states }: House,
  { uploads, rememberAs }: OpenOptions,
  { proxyPort, notes }: { readonly proxyPort: number; readonly notes: Notes },
): Promise<DriverSession> {
  // Loaded on first use: a process that never opens a browser does not load the driver.
  const { chromium: driver } = await import('playwright-core');
  const { folder, transport, failed } = chromium;
  try {
    const browser = await driver.connectOverCDP(transport, { timeout: START_MS });
    return await openSession(browser, notes, {
      folder,
      proxyPort,
      uploads,
      state: rememberAs === undefined ? undefined : states.get(rememberAs),
      limits: { maxFiles: 20, maxFileBytes: 64 * MEBIBYTE, ...options.downloads },
      allowPrivateNetwork: options.allowPrivateNetwork ?? false,
    });
  } catch (cause) {
    // The exit of the browser explains more than the broken connection.
    await within(END_MS, failed, undefined);
    throw broken('The browser started and could not be driven.', cause);
  }
}

function toSession(driver: DriverSession, { states }: House, rememberAs: string | undefined): BrowserSession {
  const ask = <T>(work: () => Promise<T>): Observable<T> =>
    fromAbortable(() =>
      work().catch((cause: unknown) => {
        throw EngineError.is(cause) ? cause : broken('The browser did not do what it was asked.', cause);
      }),
    );
  return {
    look: () => ask(() => driver.look()),
    perform: (action) => ask(() => driver.perform(action)),
    files: () => ask(() => driver.files()),
    remember: () => {
      if (rememberAs === undefined) return of(undefined);
      return ask(async () => states.set(rememberAs, await driver.state()));
    },
  };
}

function broken(message: string, cause: unknown): EngineError {
  return new EngineError('BROWSER_FAILED', message, { cause });
}

function closed(): EngineError {
  return new EngineError('BROWSER_FAILED', 'The browsers were closed.');
}

/** Most stored sessions, how long each is stored (milliseconds), and the largest one (UTF-16 units of JSON). */
const MAX_STATES = 64;
const MAX_AGE_MS = 1_800_000;
const MAX_LENGTH = 1_048_576;

/**
 * Cookies and storage of sessions that later sessions may restore, in memory only.
 *
 * Stores the 64 sessions that were used last, for half an hour each; one larger than a mebibyte is not stored.
 */
export function createRememberedStates(now: () => number = Date.now) {
  const states = new Newest<{ readonly json: string; readonly at: number }>({ maxCount: MAX_STATES });
  return {
    /** Undefined when there is no entry, or no longer. */
    get(key: string): StoredState | undefined {
      const found = states.get(key);
      if (found === undefined) return undefined;
      if (now() - found.at <= MAX_AGE_MS) return JSON.parse(found.json) as StoredState;
      states.delete(key);
      return undefined;
    },
    set(key: string, state: StoredState): void {
      const json = JSON.stringify(state);
      if (json.length > MAX_LENGTH) states.delete(key);
      else states.put(key, { json, at: now() });
    },
    clear: () => states.clear(),
  };
}
