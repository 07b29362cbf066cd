import type { BrowserContext, Page, Request } from 'playwright-core';

/** How long a page must be without requests to count as settled, and how long it may take, in milliseconds. */
const QUIET_MS = 120;
const MAX_MS = 3_000;

/** Knows when the pages of a context have loaded what an action made them load. */
export interface Settler {
  /** Works, then waits until nothing that began since has been loading for a moment, for 3 seconds at most. */
  settle(page: () => Page | undefined, work: () => Promise<void>): Promise<void>;
}

/** Watches the requests of a context. */
export function createSettler(context: BrowserContext): Settler {
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
    async settle(page, work) {
      // What was loading before belongs to an earlier page, or never ends.
      open.clear();
      await work();
      const end = performance.now() + MAX_MS;
      changed();
      do await pause(QUIET_MS);
      while (!isQuiet() && performance.now() < end);
      const leftMs = Math.max(1, end - performance.now());
      await page()?.waitForLoadState('domcontentloaded', { timeout: leftMs }).catch(ignore);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function ignore(): void {}
