/** Pages of one browser window: reading, acting, settling. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { noop } from 'rxjs';
import { within } from '../../operators/within.js';
import type { ActionOutcome, BrowserAction, PageView } from './action.js';
import { type BrowserFile, type DownloadLimits, type Notes, watchDownloads } from './downloads.js';
import { performAction } from './perform-action.js';

/** Milliseconds for the first try to read a page, for the second, and for downloads that are still coming at the end.
 * A short first one, as the driver may wait for a frame that has just gone away. */
const FIRST_LOOK_MS = 2_500;
const LOOK_MS = 10_000;
const DOWNLOADS_MS = 60_000;

/** Longest snapshot, in UTF-16 units; what is longer is cut. */
const MAX_SNAPSHOT = 1_000_000;

/** Tabs at once; a further one is closed. */
const MAX_TABS = 8;

/** What is seen of a page, in pixels. */
const VIEWPORT = { width: 1280, height: 900 };

/** Longest address that is shown, in UTF-16 units. */
const MAX_URL = 2_000;

/** Cookies and storage of sites, as the driver gives them. */
export type StoredState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A file that pages may be given. */
export interface UploadFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What a session is opened with. */
export interface SessionOptions {
  readonly uploads?: readonly UploadFile[] | undefined;
  readonly state?: StoredState | undefined;
  readonly limits: DownloadLimits;
  readonly allowPrivateNetwork: boolean;
  /** Port on loopback of the proxy that judges everything. */
  readonly proxyPort: number;
  /** A folder of the session's own. */
  readonly folder: string;
}

/** A browser's pages, driven by promises. */
export interface DriverSession {
  look(): Promise<PageView>;
  perform(action: BrowserAction): Promise<ActionOutcome>;
  /** Waits for downloads that are still coming, for a minute at most. */
  files(): Promise<readonly BrowserFile[]>;
  state(): Promise<StoredState>;
}

/** Opens a private window in a browser that runs. */
export async function openSession(browser: Browser, notes: Notes, options: SessionOptions): Promise<DriverSession> {
  const { folder, limits, state, allowPrivateNetwork, proxyPort } = options;
  const context = await browser.newContext({
    acceptDownloads: true,
    proxy: { server: `http://127.0.0.1:${proxyPort}`, bypass: '<-loopback>' },
    viewport: VIEWPORT,
    ...(state === undefined ? {} : { storageState: state }),
  });
  const uploads = await writeUploads(options);
  const tabs = createTabs(context, notes);
  const page = await context.newPage();
  const browserContextId = await contextIdOf(context, page);
  const downloads = await watchDownloads(browser, browserContextId, {
    folder: path.join(folder, 'downloads'),
    limits,
    notes,
  });
  const settler = createSettler(context);
  let refs: ReadonlySet<string> = new Set();
  return {
    async look() {
      const page = await tabs.current();
      const snapshot = await readSnapshot(page, notes);
      refs = new Set([...snapshot.matchAll(/\[ref=([a-z\d]+)\]/g)].map(([, ref = '']) => ref));
      const title = await answerOf(page.title(), '');
      const url = await addressOf(page);
      return { url: url.slice(0, MAX_URL), title, tabs: tabs.count(), snapshot, notes: notes.take() };
    },
    async perform(action) {
      const page = await tabs.current();
      let outcome: ActionOutcome = { isDone: false, text: '' };
      await settler.settle(tabs.newest, async () => {
        outcome = await performAction({ page, refs, uploads, allowPrivateNetwork }, action);
      });
      return outcome;
    },
    async files() {
      await downloads.settle(DOWNLOADS_MS);
      return downloads.finished();
    },
    state: () => context.storageState(),
  };
}

/** The driver reports ":" for a new tab that navigates before it attaches; so the page itself is asked. */
async function addressOf(page: Page): Promise<string> {
  const known = page.url();
  if (URL.canParse(known)) return known;
  const asked: unknown = await answerOf(page.evaluate('location.href'), known);
  return typeof asked === 'string' ? asked : known;
}

/** A page that changes while it is read is read once more; one that cannot be read is empty. */
async function readSnapshot(page: Page, notes: Notes): Promise<string> {
  const read = (timeout: number): Promise<string> => page.ariaSnapshot({ mode: 'ai', timeout });
  const text = await read(FIRST_LOOK_MS)
    .catch(() => read(LOOK_MS))
    .catch(() => {
      notes.add('The page does not let itself be read; wait, or open another.');
      return '';
    });
  return text.length > MAX_SNAPSHOT ? `${text.slice(0, MAX_SNAPSHOT)}\n… (cut)` : text;
}

/** The open pages of a session. */
function createTabs(context: BrowserContext, notes: Notes) {
  let pages: readonly Page[] = [];
  let front: Page | undefined;
  const asks = (url: string): void => notes.asked(new URL(url).hostname);
  context.on('request', (request) => asks(request.url()));
  const leave = (page: Page): void => {
    pages = pages.filter((one) => one !== page);
    // Chromium has another tab in front now.
    front = undefined;
  };
  context.on('page', (page) => {
    if (pages.length >= MAX_TABS) {
      notes.add(`A new tab was closed again: ${MAX_TABS} are the most.`);
      page.once('close', () => leave(page));
      page.close().catch(noop);
      return;
    }
    if (pages.length > 0) notes.add('A new tab opened, which is the page now.');
    pages = [...pages, page];
    page.on('websocket', (socket) => asks(socket.url()));
    page.once('close', () => leave(page));
    page.once('crash', () => {
      notes.add('The page crashed and was closed; it may have used too much memory.');
      leave(page);
      page.close().catch(noop);
    });
    page.on('dialog', (dialog) => {
      const kind = dialog.type();
      const isAccepted = kind === 'alert' || kind === 'beforeunload';
      notes.add(
        `A dialog (${kind}) said ${JSON.stringify(dialog.message().slice(0, 200))}; it was ${isAccepted ? 'accepted' : 'dismissed'}.`,
      );
      (isAccepted ? dialog.accept() : dialog.dismiss()).catch(noop);
    });
  });
  return {
    /** The newest page; a blank one when all were closed. */
    async current(): Promise<Page> {
      const page = pages.at(-1) ?? (await context.newPage());
      // A page in the background draws nothing, and some of what it is asked waits for that.
      if (page !== front) await answerOf(page.bringToFront(), undefined);
      front = page;
      return page;
    },
    newest: () => pages.at(-1),
    count: () => pages.length,
  };
}

/** Chromium's own id of a window, which the driver does not expose. */
async function contextIdOf(context: BrowserContext, page: Page): Promise<string> {
  const cdp = await context.newCDPSession(page);
  const { targetInfo } = await cdp.send('Target.getTargetInfo');
  await cdp.detach();
  return targetInfo.browserContextId ?? '';
}

/** Puts given files where Chromium can read them; gives their paths by name. */
async function writeUploads({ folder, uploads = [] }: SessionOptions): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const [index, { name, bytes }] of uploads.entries()) {
    // The page sees the last part of the path: a folder per file keeps the name, and files of one name apart.
    const place = path.join(folder, 'uploads', String(index));
    await mkdir(place, { recursive: true });
    const last = path.basename(name);
    const file = path.join(place, /^\.{0,2}$/.test(last) ? 'file' : last);
    await writeFile(file, bytes);
    paths.set(name, file);
  }
  return paths;
}

/** The value if it arrives in time, else the fallback: a page that hangs never answers, and one that is gone fails. */
function answerOf<T>(work: Promise<T>, fallback: T): Promise<T> {
  return within(
    FIRST_LOOK_MS,
    work.catch(() => fallback),
    fallback,
  );
}

/** How long a page must be without requests to count as settled, and how long it may take, in milliseconds. */
const QUIET_MS = 120;
const MAX_MS = 3_000;

/** Watches the requests of a context: knows when its pages have loaded what an action made them load. */
function createSettler(context: BrowserContext) {
  const open = new Set<Request>();
  let changedAt = performance.now();
  const changed = (): void => {
    changedAt = performance.now();
  };
  context.on('request', (request) => {
    open.add(request);
    changed();
  });
  const ended = (request: Request): void => {
    open.delete(request);
    changed();
  };
  context.on('requestfinished', ended);
  context.on('requestfailed', ended);
  const isQuiet = (): boolean => open.size === 0 && performance.now() - changedAt >= QUIET_MS;
  return {
    /** Works, then waits until nothing that began since has been loading for a moment, for 3 seconds at most. */
    async settle(page: () => Page | undefined, work: () => Promise<void>): Promise<void> {
      // What was loading before belongs to an earlier page, or never ends.
      open.clear();
      await work();
      const end = performance.now() + MAX_MS;
      changed();
      do await delay(QUIET_MS);
      while (!isQuiet() && performance.now() < end);
      const leftMs = Math.max(1, end - performance.now());
      await page()?.waitForLoadState('domcontentloaded', { timeout: leftMs }).catch(noop);
    },
  };
}
