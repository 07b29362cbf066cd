/** The browser of the tests: one for each file, started when a test needs it. */
import { type Browser, chromium } from 'playwright-core';
import { afterAll } from 'vitest';
import { findChromium } from '../../../src/adapters/browser/chromium-process.js';

const executable: string | undefined = await findChromium(undefined).catch(() => undefined);

/** Whether tests can drive a browser. */
export const hasChromium: boolean = executable !== undefined;

if (!hasChromium && process.env.CI) throw new Error('Tests of the studio need Chromium: "apt-get install -y chromium"');

/** Adds to the name of a group of tests why it is skipped. */
export const named = (name: string): string =>
  hasChromium ? name : `${name} (skipped: no Chromium here, run "apt-get install -y chromium")`;

let browser: Promise<Browser> | undefined;

afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** The browser of this file. */
export function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: executable as string,
    // Drawings by WebGL are drawn by the processor.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--enable-unsafe-swiftshader'],
  });
  return browser;
}
