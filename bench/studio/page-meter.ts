/** What a page did while something happened: frames, work of its main thread, its longest task, when it showed something. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { quantile } from '../measure.js';

export interface Movement {
  /** Frames a second, the mean over the whole time. */
  readonly frames: number;
  /** The longest of a hundred frames, in ms. */
  readonly slowMs: number;
  /** Work of the main thread for each frame, in ms. */
  readonly workMs: number;
  /** Work of the main thread in all, in ms. */
  readonly totalMs: number;
  /** The longest task of the main thread, in ms; 0 when none took 50 ms. */
  readonly longestMs: number;
}

/** What the functions that run in the page use of it; the types of browsers are `web`'s alone. */
interface PageGlobals {
  readonly requestAnimationFrame: (callback: (time: number) => void) => number;
  readonly PerformanceObserver: new (
    told: (list: { getEntries(): readonly { readonly duration: number }[] }) => void,
  ) => { observe(options: { readonly type: 'longtask'; readonly buffered: boolean }): void };
  readonly document: {
    querySelectorAll(selector: string): Iterable<{ readonly textContent: string | null; checkVisibility(): boolean }>;
  };
  /** Times of the frames since the meter was started. */
  frames: number[];
  /** Tasks of more than 50 ms since then, in ms. */
  longTasks: number[];
  /** When the page showed what it is waited for, in ms since the navigation. */
  shownMs?: number;
}

/** A browser is at rest when its processes take less than so much processor time, in ms, in so long; it is waited for so many times. */
const REST_MS = 15;
const REST_IN_MS = 250;
const MOST_RESTS = 80;

/** A page that notes its long tasks from the start, in a window that has opened. */
export async function openMeteredPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(() => {
    const browser = globalThis as unknown as PageGlobals;
    browser.longTasks = [];
    new browser.PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) browser.longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  await atRest(browser);
  return page;
}

/**
 * Waits until the browser does nothing. Chromium loads pages of its own into each new window, which take a processor for about a second: a person
 * who goes to an address has had the window for long.
 */
async function atRest(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const taken = async (): Promise<number> => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return 1_000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  for (let at = 0; at < MOST_RESTS; at += 1) {
    const before = await taken();
    await pause(REST_IN_MS);
    if ((await taken()) - before < REST_MS) break;
  }
  await session.detach();
}

/** What a page is waited for: something visible that a selector finds, and whose text begins so. */
export interface Sight {
  readonly selector: string;
  /** @default any text */
  readonly begins?: string;
}

/**
 * Goes to an address and gives the seconds from there until the page shows `sight`, by the clock of the page, which looks at each frame. Playwright
 * itself looks every half second.
 */
export async function secondsUntil(page: Page, address: string, sight: Sight): Promise<number> {
  await page.addInitScript(({ selector, begins = '' }) => {
    const browser = globalThis as unknown as PageGlobals;
    const meter = {
      look(): void {
        for (const element of browser.document.querySelectorAll(selector)) {
          if (element.textContent?.startsWith(begins) !== true || !element.checkVisibility()) continue;
          browser.shownMs ??= performance.now();
          return;
        }
        browser.requestAnimationFrame(meter.look);
      },
    };
    browser.requestAnimationFrame(meter.look);
  }, sight);
  await page.goto(address);
  const milliseconds = await page.evaluate(async () => {
    const browser = globalThis as unknown as PageGlobals;
    while (browser.shownMs === undefined) await new Promise((resolve) => browser.requestAnimationFrame(resolve));
    return browser.shownMs;
  });
  return milliseconds / 1_000;
}

/** The longest task since the page was opened, in ms. */
export const longestTask = async (page: Page): Promise<number> =>
  Math.max(0, ...(await page.evaluate(() => (globalThis as unknown as PageGlobals).longTasks)));

/** Measures a page of {@link openMeteredPage} while `work` goes on. */
export async function meterPage(page: Page, work: () => Promise<unknown>): Promise<Movement> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  await page.evaluate(() => {
    const browser = globalThis as unknown as PageGlobals;
    browser.frames = [];
    browser.longTasks.length = 0;
    // A method, for the compiler wraps functions in a helper that the page does not have.
    const meter = {
      note(time: number): void {
        browser.frames.push(time);
        browser.requestAnimationFrame(meter.note);
      },
    };
    browser.requestAnimationFrame(meter.note);
  });
  const before = await taskSeconds();
  await work();
  const seconds = (await taskSeconds()) - before;
  const times = await page.evaluate(() => (globalThis as unknown as PageGlobals).frames);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return {
    frames: (1_000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0),
    slowMs: quantile(gaps, 0.99),
    workMs: (1_000 * seconds) / gaps.length,
    totalMs: 1_000 * seconds,
    longestMs: await longestTask(page),
  };
}
