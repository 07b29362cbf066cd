/**
 * What the studio's pages weigh and how smoothly they move, in a real Chromium with software rendering: `npm run bench -- studio`.
 *
 * The program and the page are the built ones (`npm run build`). A server with a data folder of its own gets canvases of 200 and 500 nodes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../src/adapters/browser/chromium-process.js';
import { quantile, type Row } from './measure.js';

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const PAGE = fileURLToPath(new URL('../dist/studio/index.html', import.meta.url));
/** How long each movement goes on. */
const MOVING_MS = 3_000;

/** Measures sizes of pages, the time until they can be used, and frames; about a minute. */
export async function benchStudio(): Promise<readonly Row[]> {
  const executablePath = await findChromium(undefined).catch(() => undefined);
  if (executablePath === undefined || !existsSync(PROGRAM) || !existsSync(PAGE)) {
    console.warn('The studio is measured with a Chromium and after `npm run build`.');
    return [];
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-studio-bench-'));
  const server = await startServer(folder);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-quic'] });
  try {
    return [
      ...(await measureSizes(browser, server.url)),
      ...(await measureCanvas(browser, server.url, 200)),
      ...(await measureCanvas(browser, server.url, 500)),
    ];
  } finally {
    await browser.close();
    server.child.kill('SIGTERM');
    await once(server.child, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
}

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startServer(folder: string): Promise<Server> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--examples'], {
    env: { ...process.env, RUNNEL_PORT: '0', RUNNEL_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /https?:\/\/[\d.:[\]a-z]+/.exec(line)?.[0];
    if (url !== undefined) {
      child.stderr.resume();
      child.stdout.resume();
      return { url, child };
    }
  }
  throw new Error('The server ended before it listened.');
}

/** Bytes of scripts and styles as they come over the network, and the time until the screen stands. */
async function measureSizes(browser: Browser, url: string): Promise<readonly Row[]> {
  const first = await load(browser, `${url}/#/agents`, 'Agents');
  const run = await load(browser, `${url}/#/agents/example-hello`);
  return [
    { name: 'first page, compressed', value: first.kilobytes, unit: 'KB', bar: 200 },
    { name: 'page of a run, compressed', value: run.kilobytes, unit: 'KB', bar: 320 },
    { name: 'first page, until it can be used', value: first.seconds, unit: 's', bar: 2 },
    { name: 'page of a run, until it can be used', value: run.seconds, unit: 's', bar: 2 },
  ];
}

async function load(browser: Browser, address: string, heading?: string) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  let bytes = 0;
  page.on('requestfinished', (request) => {
    if (!/\/(?:studio\/|$)/.test(new URL(request.url()).pathname)) return;
    void request.sizes().then(({ responseBodySize }) => {
      bytes += responseBodySize;
    });
  });
  const start = performance.now();
  await page.goto(address);
  if (heading !== undefined) await page.getByRole('heading', { name: heading }).waitFor();
  else await page.getByRole('textbox').first().waitFor();
  const seconds = (performance.now() - start) / 1_000;
  await page.waitForLoadState('networkidle');
  await page.close();
  return { kilobytes: bytes / 1_000, seconds };
}

/** Frames a second while a canvas is moved, and work of the main thread for each. */
async function measureCanvas(browser: Browser, url: string, nodes: number): Promise<readonly Row[]> {
  const id = await createAgent(url, nodes);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${url}/#/agents/${id}`);
  await page.locator('.react-flow__node').first().waitFor();
  const center = { x: 500, y: 420 };
  await page.mouse.move(center.x, center.y);
  const pan = await framesDuring(page, async (at) => {
    if (at === 0) await page.mouse.down();
    await page.mouse.move(center.x + 150 * Math.sin(at / 8), center.y + 100 * Math.cos(at / 8));
  });
  await page.mouse.up();
  const zoom = await framesDuring(page, (at) => page.mouse.wheel(0, Math.sin(at / 10) > 0 ? 40 : -40));
  await page.close();
  const bars = nodes === 200;
  return [
    { name: `${nodes} nodes, pan`, value: pan.frames, unit: 'frames/s', isRate: true, ...(bars && { bar: 50 }) },
    { name: `${nodes} nodes, zoom`, value: zoom.frames, unit: 'frames/s', isRate: true, ...(bars && { bar: 30 }) },
    { name: `${nodes} nodes, longest frame of a hundred while panning`, value: pan.slowMs, unit: 'ms' },
  ];
}

/** What the functions that run in the page use of it; the types of browsers are `web`'s alone. */
interface PageGlobals {
  readonly requestAnimationFrame: (callback: (time: number) => void) => number;
  /** Times of the frames since the move began. */
  frames: { readonly times: number[] };
}

/** Counts the frames that the page draws while it is moved. */
async function framesDuring(page: Page, move: (at: number) => Promise<void>) {
  await page.evaluate(() => {
    const browser = globalThis as unknown as PageGlobals;
    // A method, for the compiler wraps functions in a helper that the page does not have.
    const frames = {
      times: [] as number[],
      note(time: number): void {
        frames.times.push(time);
        browser.requestAnimationFrame(frames.note);
      },
    };
    browser.requestAnimationFrame(frames.note);
    browser.frames = frames;
  });
  const end = performance.now() + MOVING_MS;
  for (let at = 0; performance.now() < end; at += 1) await move(at);
  const times = await page.evaluate(() => (globalThis as unknown as PageGlobals).frames.times);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return { frames: (1_000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0), slowMs: quantile(gaps, 0.99) };
}

/** A chain of Messages, ten in a row of the drawing. */
async function createAgent(url: string, nodes: number): Promise<string> {
  const ids = ['begin', ...Array.from({ length: nodes - 1 }, (_, at) => `Message:Step${at}`)];
  const components = Object.fromEntries(
    ids.map((id, at) => [
      id,
      {
        obj: {
          component_name: at === 0 ? 'Begin' : 'Message',
          params: at === 0 ? {} : { content: [`step ${at} of {sys.query}`] },
        },
        downstream: ids.slice(at + 1, at + 2),
        upstream: ids.slice(Math.max(0, at - 1), at),
      },
    ]),
  );
  const dsl = { components, globals: { 'sys.query': '' }, history: [], path: [], retrieval: [] };
  const response = await fetch(`${url}/api/v1/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: `${nodes} nodes`, dsl }),
  });
  const { data, message } = (await response.json()) as { data?: { id: string }; message?: string };
  if (data === undefined) throw new Error(`The canvas was not created: ${message}`);
  return data.id;
}
