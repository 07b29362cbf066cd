/** The studio in a real browser, with a server of its own in this process. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { startServer, type TestServer, type TestServerOptions } from '../../transport/support/server.js';
import { readPage } from './build-page.js';
import { openBrowser } from './chromium.js';

export { hasChromium, named } from './chromium.js';

export interface StudioOptions extends Omit<TestServerOptions, 'studio'> {
  /** Of the browser: `colorScheme`, `locale`, `viewport` … @default light, English, 1440 x 900 */
  readonly browser?: BrowserContextOptions;
  /** Address that the browser is given instead of the server's, such as that of a proxy. */
  readonly address?: (server: TestServer) => Promise<string> | string;
}

/** A page of the studio, and what it did that no page may do. */
export interface StudioPage {
  readonly page: Page;
  /** Errors on the console, dialogs, reports of the policy, requests to elsewhere: to be empty. */
  readonly faults: string[];
  /** Goes to an address behind `#`, such as `/agents`, as one that opens it first. */
  open(address: string): Promise<void>;
}

export interface OpenedStudio extends StudioPage {
  readonly server: TestServer;
  readonly context: BrowserContext;
  /** Address of the page. */
  readonly url: string;
  /** Another tab. */
  tab(): Promise<StudioPage>;
  /** Stores a document and gives the id of its agent. */
  agent(dsl: JsonObject): Promise<string>;
}

/**
 * Starts a server with the scripted model, and opens its page. Both are gone with the test, which fails when the page did what no page may.
 */
export async function openStudio({ browser = {}, address, ...options }: StudioOptions = {}): Promise<OpenedStudio> {
  const studio = await readPage();
  const server = await startServer({ studio, ...options });
  const url = address === undefined ? `${server.url}/` : await address(server);
  const opened = await openPages(() => url, browser);
  return { ...opened, server, url, agent: (dsl) => server.agent(dsl) };
}

/** Milliseconds for which pages are waited for: what is wrong fails after them, and a machine that is busy does not. */
const PATIENCE_MS = 60_000;

/** Pages of a server that runs elsewhere, whose address may change. */
export async function openPages(
  urlNow: () => string,
  options: BrowserContextOptions = {},
): Promise<StudioPage & { readonly context: BrowserContext; tab(): Promise<StudioPage> }> {
  const chromium = await openBrowser();
  const context = await chromium.newContext({
    locale: 'en-US',
    colorScheme: 'light',
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(() => context.close());
  // Behind the one of the context: those are run in the order of their making, last first.
  const tab = async (): Promise<StudioPage> => {
    const page = await context.newPage();
    const faults: string[] = [];
    await watch(page, urlNow, faults);
    onTestFinished(() => expect(faults).toEqual([]));
    const open = async (behind: string): Promise<void> => {
      await page.goto(`${urlNow()}#${behind}`);
    };
    return { page, faults, open };
  };
  return { ...(await tab()), context, tab };
}

/** What browsers say of connections that break; the page says it itself, to its user. */
const BROKEN = /ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|WebSocket connection|Failed to load resource/;

async function watch(page: Page, urlNow: () => string, faults: string[]): Promise<void> {
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !BROKEN.test(text)) faults.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(urlNow()).origin && protocol !== 'blob:' && protocol !== 'data:') {
      faults.push(`request: ${request.url()}`);
    }
  });
  // What a page asks for is there: a path that no route has is a mistake of the page, or of the server.
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    const isMissing = response.status() === 404 || response.status() === 405;
    if (isMissing && pathname.startsWith('/api/'))
      faults.push(`${response.status()}: ${response.request().method()} ${pathname}`);
  });
  await page.exposeFunction('reportViolation', (what: string) => faults.push(`policy: ${what}`));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      const { reportViolation } = window as unknown as { reportViolation: (what: string) => void };
      reportViolation(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
}
