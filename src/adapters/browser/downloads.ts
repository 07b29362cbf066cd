/** Downloads and other events of pages. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, CDPSession } from 'playwright-core';
import { noop } from 'rxjs';
import { Newest } from '../../newest.js';
import { within } from '../../operators/within.js';

/** Bounds of what pages may download in one session. */
export interface DownloadLimits {
  /** Files. */
  readonly maxFiles: number;
  /** Bytes of one file. */
  readonly maxFileBytes: number;
}

/** A file that a session made. */
export interface BrowserFile {
  /** As the page calls it; not safe as a name on a disk. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  read(): Promise<Uint8Array>;
}

interface Download {
  readonly name: string;
  state: 'inProgress' | 'completed' | 'canceled';
  size: number;
}

/** Lets pages of a browser context download into `folder`, under names of Chromium's own, as far as the limits go. */
export async function watchDownloads(
  browser: Browser,
  browserContextId: string,
  { folder, limits, notes }: { readonly folder: string; readonly limits: DownloadLimits; readonly notes: Notes },
) {
  const cdp = await browser.newBrowserCDPSession();
  const downloads = new Map<string, Download>();
  const waiting = new Set<() => void>();
  const cancel = (guid: string, why: string): void => {
    notes.add(why);
    const download = downloads.get(guid);
    if (download !== undefined) download.state = 'canceled';
    void discard(cdp, guid, browserContextId, folder);
    notify();
  };
  const isBusy = (): boolean => [...downloads.values()].some(({ state }) => state === 'inProgress');
  const notify = (): void => {
    if (isBusy()) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  cdp.on('Browser.downloadWillBegin', ({ guid, suggestedFilename: name }) => {
    if (downloads.size >= limits.maxFiles) {
      cancel(guid, `The download ${quoted(name)} was refused: ${limits.maxFiles} files are the most.`);
      return;
    }
    downloads.set(guid, { name, state: 'inProgress', size: 0 });
    notes.add(`The download ${quoted(name)} began.`);
  });
  cdp.on('Browser.downloadProgress', ({ guid, receivedBytes, state }) => {
    const download = downloads.get(guid);
    if (download?.state !== 'inProgress') return;
    download.size = receivedBytes;
    if (receivedBytes > limits.maxFileBytes) {
      cancel(
        guid,
        `The download ${quoted(download.name)} was refused: it is larger than ${limits.maxFileBytes} bytes.`,
      );
      return;
    }
    download.state = state;
    if (state === 'completed') notes.add(`The download ${quoted(download.name)} is complete.`);
    if (state === 'canceled') notes.add(`The download ${quoted(download.name)} failed.`);
    notify();
  });
  await cdp.send('Browser.setDownloadBehavior', {
    behavior: 'allowAndName',
    downloadPath: folder,
    eventsEnabled: true,
    browserContextId,
  });
  return {
    /** Those that are complete, in the order in which they began. */
    finished: (): readonly BrowserFile[] =>
      [...downloads].flatMap(([guid, { name, size, state }]) =>
        state === 'completed' && size > 0 ? [{ name, size, read: () => readFile(path.join(folder, guid)) }] : [],
      ),
    /**
     * Resolves when no download is in progress, at the latest after so many milliseconds; what is in progress then is
     * cancelled.
     */
    async settle(withinMs: number): Promise<void> {
      if (isBusy()) await within(withinMs, new Promise<void>((resolve) => void waiting.add(resolve)), undefined);
      for (const [guid, { name, state }] of downloads) {
        if (state === 'inProgress') cancel(guid, `The download ${quoted(name)} took too long.`);
      }
    },
  };
}

async function discard(cdp: CDPSession, guid: string, browserContextId: string, folder: string): Promise<void> {
  await cdp.send('Browser.cancelDownload', { guid, browserContextId }).catch(noop);
  // A guid is Chromium's; a name of a page is never part of a path.
  await rm(path.join(folder, guid), { force: true }).catch(noop);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** Most notes between two reads, and the longest of them in characters. */
const MAX_NOTES = 20;
const MAX_LENGTH = 300;

/** Most host names that are stored; the oldest is dropped first. */
const MAX_HOSTS = 1_000;

/** Events of a page, each once, until they are read. */
export interface Notes {
  /** Adds an event; one about a host only if a page requests that host before the next read. */
  add(text: string, host?: string): void;
  /** A page asks for something of a host, by its name without the port. */
  asked(host: string): void;
  take(): readonly string[];
}

/**
 * Makes an empty list of notes; surplus notes are dropped.
 *
 * Chromium makes requests of its own too, such as a connection to the default search engine. What
 * becomes of those is no event of a page.
 */
export function createNotes(): Notes {
  let notes = new Map<string, string | undefined>();
  const hosts = new Newest<true>({ maxCount: MAX_HOSTS });
  return {
    add: (text, host) => {
      const line = text.replace(/\s+/g, ' ').slice(0, MAX_LENGTH);
      if (notes.size < MAX_NOTES || notes.has(line)) notes.set(line, host);
    },
    asked: (host) => hosts.put(host, true),
    take: () => {
      const taken = [...notes]
        .filter(([, host]) => host === undefined || hosts.get(host) !== undefined)
        .map(([text]) => text);
      notes = new Map();
      return taken;
    },
  };
}
