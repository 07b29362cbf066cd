/** Pages of a PDF as pictures: drawn by Chromium, since nothing smaller draws them all. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EngineError } from '../../errors.js';
import { canSandbox, findChromium, startChromium } from '../browser/chromium-process.js';

/** A page as a picture. */
export interface PageImage {
  /** From 1. */
  readonly page: number;
  readonly jpeg: Uint8Array;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** How pages are drawn. */
export interface RenderOptions {
  /** Path of Chromium or Chrome. @default the first in the usual places */
  readonly executable?: string | undefined;
  /** Pages at most, the first ones. */
  readonly maxPages: number;
  readonly signal: AbortSignal;
  /** Milliseconds that one page may take. @default 20,000 */
  readonly timeoutMs?: number | undefined;
}

/** Pixels for each point, and of the longer side at most. */
const SCALE = 2;
const MAX_SIDE = 3_000;
/** Milliseconds until Chromium answers. */
const START_MS = 30_000;

/** Runs in the page of the browser, which has no network. */
const OPEN = `async ([source, data]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { getDocument } = await import(url);
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  window.pdf = await getDocument({ data: bytes, isEvalSupported: false, useSystemFonts: true, verbosity: 0 }).promise;
  return window.pdf.numPages;
}`;
const DRAW = `async ([number, scale, maxSide]) => {
  const page = await window.pdf.getPage(number);
  const own = page.getViewport({ scale: 1 });
  const fitting = Math.min(scale, maxSide / Math.max(own.width, own.height));
  const viewport = page.getViewport({ scale: fitting });
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  const canvasContext = canvas.getContext('2d');
  canvasContext.fillStyle = 'white';
  canvasContext.fillRect(0, 0, canvas.width, canvas.height);
  await page.render({ canvasContext, canvas, viewport }).promise;
  page.cleanup();
  return { data: canvas.toDataURL('image/jpeg', 0.9), width: canvas.width, height: canvas.height };
}`;

/**
 * Draws pages one after the other. The browser has a process of its own, no network, and ends with the loop or the signal.
 *
 * @throws EngineError BROWSER_MISSING without a Chromium; BROWSER_FAILED for a page that cannot be drawn in time
 */
export async function* renderPages(pdf: Uint8Array, options: RenderOptions): AsyncGenerator<PageImage> {
  const { executable, maxPages, signal, timeoutMs = 20_000 } = options;
  const found = await findChromium(executable);
  const life = new AbortController();
  const chromium = startChromium(
    { executable: found, isSandboxed: canSandbox() },
    AbortSignal.any([signal, life.signal]),
  );
  try {
    const { chromium: driver } = await import('playwright-core');
    const browser = await driver.connectOverCDP(chromium.transport, { timeout: START_MS });
    const window = await browser.newContext({ offline: true });
    const page = await window.newPage();
    const run = async <T>(script: string, given: unknown): Promise<T> => {
      const done = page.evaluate(`(${script})(${JSON.stringify(given)})`) as Promise<T>;
      return Promise.race([done, chromium.failed, expired(timeoutMs, life.signal)]);
    };
    const source = await readFile(join(dirname(createRequire(import.meta.url).resolve('unpdf')), 'pdfjs.mjs'), 'utf8');
    const count = await run<number>(OPEN, [source, Buffer.from(pdf).toString('base64')]);
    for (let number = 1; number <= Math.min(count, maxPages); number += 1) {
      signal.throwIfAborted();
      const drawn = await run<{ data: string; width: number; height: number }>(DRAW, [number, SCALE, MAX_SIDE]);
      const jpeg = Buffer.from(drawn.data.slice(drawn.data.indexOf(',') + 1), 'base64');
      yield { page: number, jpeg, width: drawn.width, height: drawn.height };
    }
  } catch (error) {
    signal.throwIfAborted();
    if (EngineError.is(error)) throw error;
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new EngineError('BROWSER_FAILED', `The browser did not draw the pages: ${why}`, { cause: error });
  } finally {
    life.abort();
    await chromium.gone;
  }
}

/** Rejects after a time, unless the signal comes first. */
function expired(milliseconds: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const clock = setTimeout(() => {
      reject(new EngineError('BROWSER_FAILED', `The browser took longer than ${milliseconds} ms for a page.`));
    }, milliseconds);
    clock.unref();
    signal.addEventListener('abort', () => clearTimeout(clock), { once: true });
  });
}
