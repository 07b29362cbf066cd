/**
 * What the studio's pages weigh, how smoothly they move, and how fast they open long runs, in a real Chromium with software rendering:
 * `npm run bench -- studio`, after `npm run build`; three minutes.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../src/adapters/browser/chromium-process.js';
import type { Row } from './measure.js';
import { chainCanvas, passesCanvas, streamCanvas } from './studio/canvases.js';
import { longestTask, meterPage, openMeteredPage, type Sight, secondsUntil } from './studio/page-meter.js';
import { PROGRAM, STREAMED_PIECES, type StudioServer, startStudioServer } from './studio/studio-server.js';

const PAGE = fileURLToPath(new URL('../dist/studio/index.html', import.meta.url));
/** How long each movement goes on. */
const MOVING_MS = 3_000;
/** What is typed, and the pause between two letters, of one who types fast. */
const TYPED = 'a sentence that is typed into a form without a pause';
const TYPING_MS = 60;
/** Events of a pass of `passesCanvas`. */
const EVENTS_A_PASS = 12;
/** The longest that a run or a page is waited for. */
const TIMEOUT_MS = 300_000;

/** Measures sizes of pages, frames while canvases are moved and runs are followed, and the opening of long runs. */
export async function benchStudio(): Promise<readonly Row[]> {
  const executablePath = await findChromium(undefined).catch(() => undefined);
  if (executablePath === undefined || !existsSync(PROGRAM) || !existsSync(PAGE)) {
    console.warn('The studio is measured with a Chromium and after `npm run build`.');
    return [];
  }
  const server = await startStudioServer();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-quic'] });
  try {
    return [
      ...(await measureSizes(browser, server)),
      ...(await measureMoves(browser, server, 200)),
      ...(await measureMoves(browser, server, 500)),
      ...(await measureTyping(browser, server)),
      ...(await measureLiveRun(browser, server)),
      ...(await measureStream(browser, server)),
      ...(await measureLongRun(browser, server, 10_000, 2)),
      ...(await measureLongRun(browser, server, 100_000, 6)),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Bytes of scripts and styles as they come over the network, and the time until the screen stands. */
async function measureSizes(browser: Browser, server: StudioServer): Promise<readonly Row[]> {
  const agent = await server.agent('Short', chainCanvas(3));
  const first = await load(browser, `${server.url}/#/agents`, { selector: 'h1', begins: 'Agents' });
  const run = await load(browser, `${server.url}/#/agents/${agent}`, { selector: 'textarea' });
  return [
    { name: 'first page, compressed', value: first.kilobytes, unit: 'KB', bar: 200 },
    { name: 'page of a run, compressed', value: run.kilobytes, unit: 'KB', bar: 320 },
    { name: 'first page, until it can be used', value: first.seconds, unit: 's', bar: 2 },
    { name: 'page of a run, until it can be used', value: run.seconds, unit: 's', bar: 2 },
  ];
}

async function load(browser: Browser, address: string, usable: Sight) {
  const page = await openMeteredPage(browser);
  let bytes = 0;
  page.on('requestfinished', (request) => {
    if (!/\/(?:studio\/|$)/.test(new URL(request.url()).pathname)) return;
    void request.sizes().then(({ responseBodySize }) => {
      bytes += responseBodySize;
    });
  });
  const seconds = await secondsUntil(page, address, usable);
  await page.waitForLoadState('networkidle');
  await page.close();
  return { kilobytes: bytes / 1_000, seconds };
}

/** Frames a second while a canvas is moved and a node is dragged. */
async function measureMoves(browser: Browser, server: StudioServer, nodes: number): Promise<readonly Row[]> {
  const page = await openAgent(browser, server, await server.agent(`${nodes} nodes`, chainCanvas(nodes)));
  await page.mouse.move(500, 420);
  const pan = await meterPage(page, async () => {
    await page.mouse.down();
    await moving((at) => page.mouse.move(500 + 150 * Math.sin(at / 8), 420 + 100 * Math.cos(at / 8)));
  });
  await page.mouse.up();
  const zoom = await meterPage(page, () => moving((at) => page.mouse.wheel(0, Math.sin(at / 10) > 0 ? 40 : -40)));
  await page.close();
  const bars = nodes === 200;
  return [
    { name: `${nodes} nodes, pan`, value: pan.frames, unit: 'frames/s', isRate: true, ...(bars && { bar: 50 }) },
    { name: `${nodes} nodes, zoom`, value: zoom.frames, unit: 'frames/s', isRate: true, ...(bars && { bar: 30 }) },
    { name: `${nodes} nodes, pan: main thread`, value: pan.workMs, unit: 'ms/frame', ...(bars && { bar: 10 }) },
    { name: `${nodes} nodes, longest frame of a hundred while panning`, value: pan.slowMs, unit: 'ms' },
  ];
}

/** Work for each letter that is typed into the form of one of 200 nodes. */
async function measureTyping(browser: Browser, server: StudioServer): Promise<readonly Row[]> {
  const page = await openAgent(browser, server, await server.agent('200 nodes, typing', chainCanvas(200)));
  // Most of a long canvas is not in view, where nothing can be clicked.
  await page.locator('.react-flow__node').nth(5).focus();
  await page.keyboard.press('Enter');
  const field = page.getByRole('complementary').getByRole('textbox', { name: 'Name', exact: true });
  await field.click();
  const typed = await meterPage(page, () => field.pressSequentially(TYPED, { delay: TYPING_MS }));
  await page.close();
  const workMs = typed.totalMs / TYPED.length;
  return [{ name: 'a letter typed beside 200 nodes: main thread', value: workMs, unit: 'ms' }];
}

/** Frames a second while 200 nodes run, one behind the other, half of them models. */
async function measureLiveRun(browser: Browser, server: StudioServer): Promise<readonly Row[]> {
  const page = await openAgent(
    browser,
    server,
    await server.agent('200 models', chainCanvas(200, { hasModels: true })),
  );
  const live = await meterPage(page, () => askToTheEnd(page));
  await page.close();
  return [
    { name: 'a run of 200 nodes, live', value: live.frames, unit: 'frames/s', isRate: true, bar: 50 },
    { name: 'a run of 200 nodes: main thread', value: live.workMs, unit: 'ms/frame', bar: 10 },
    { name: 'a run of 200 nodes: longest task', value: live.longestMs, unit: 'ms' },
  ];
}

/** Frames a second while an answer is streamed. */
async function measureStream(browser: Browser, server: StudioServer): Promise<readonly Row[]> {
  const page = await openAgent(browser, server, await server.agent('Stream', streamCanvas()));
  const stream = await meterPage(page, () => askToTheEnd(page));
  await page.close();
  const name = `an answer of ${STREAMED_PIECES} pieces`;
  return [
    { name: `${name}, live`, value: stream.frames, unit: 'frames/s', isRate: true },
    { name: `${name}: main thread`, value: stream.workMs, unit: 'ms/frame' },
    { name: `${name}: longest task`, value: stream.longestMs, unit: 'ms' },
  ];
}

/** The time from an address to the end of a run that has finished, and the longest that the page did not answer meanwhile. */
async function measureLongRun(
  browser: Browser,
  server: StudioServer,
  events: number,
  bar: number,
): Promise<readonly Row[]> {
  const agent = await server.agent(`${events} events`, passesCanvas());
  const words = Array.from({ length: Math.ceil(events / EVENTS_A_PASS) }, (_, at) => `w${at}`);
  const run = await server.run(agent, words.join(','));
  const page = await openMeteredPage(browser);
  const address = `${server.url}/#/agents/${agent}/runs/${run}`;
  const seconds = await secondsUntil(page, address, { selector: '[role=log] *', begins: 'took' });
  const longestMs = await longestTask(page);
  await page.close();
  const name = `a run of ${events.toLocaleString('en')} events`;
  return [
    { name: `${name}, opened`, value: seconds, unit: 's', bar },
    { name: `${name}: longest task`, value: longestMs, unit: 'ms', ...(events <= 10_000 && { bar: 200 }) },
  ];
}

async function openAgent(browser: Browser, server: StudioServer, agent: string): Promise<Page> {
  const page = await openMeteredPage(browser);
  await page.goto(`${server.url}/#/agents/${agent}`);
  await page.locator('.react-flow__node').first().waitFor();
  return page;
}

async function askToTheEnd(page: Page): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('go');
  await box.press('Enter');
  await ended(page);
}

const ended = (page: Page): Promise<void> =>
  page.getByRole('log').getByText(/^took/).last().waitFor({ timeout: TIMEOUT_MS });

async function moving(move: (at: number) => Promise<void>): Promise<void> {
  const end = performance.now() + MOVING_MS;
  for (let at = 0; performance.now() < end; at += 1) await move(at);
}
