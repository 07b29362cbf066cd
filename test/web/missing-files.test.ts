/** Parts of the page whose files do not come: the server is away, or is another version, or one file is missing. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import type { Studio, StudioFile } from '../../src/transport/studio/studio-files.js';
import { freePort } from '../support/server-process.js';
import { documentOf, ECHO } from '../transport/support/documents.js';
import { startServer, type TestServer } from '../transport/support/server.js';
import { readPage } from './support/build-page.js';
import { messageField } from './support/conversation.js';
import { hasChromium, named, openPages, openStudio } from './support/studio.js';

const canvasNode = (page: Page) => page.getByRole('group', { name: /^Message/ });
const form = (page: Page) => page.getByRole('complementary', { name: /Message/ });
const missing = (page: Page) => page.getByRole('alert').filter({ hasText: /could not be loaded|earlier version/ });

const UNPLACED = documentOf({ begin: ['Begin', ['UserFillUp:Ask']], 'UserFillUp:Ask': ['UserFillUp', [], {}] });

/** A server whose port and stores stay while it is stopped and started again. */
async function openRestartable() {
  const [studio, stores, port] = [await readPage(), createMemoryStores(), await freePort()];
  const start = (page: Studio): Promise<TestServer> =>
    startServer({ studio: page, stores, env: { RUNNEL_PORT: String(port) } });
  const server = await start(studio);
  const agent = await server.agent(ECHO);
  const { page, open } = await openPages(() => `${server.url}/`);
  await open(`/agents/${agent}`);
  await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
  return { page, server, agent, studio, start };
}

/** The page as another build has it, all of whose files are called something else. */
function renamed({ page, files }: Studio): Studio {
  const changed = (text: string): string =>
    text.replace(/(?<=[\w.]-)[\w-]{8}(?=\.(?:js|css)\b)/g, (hash) => [...hash].toReversed().join(''));
  const fileOf = (file: StudioFile): StudioFile =>
    /javascript|html/.test(file.type)
      ? { ...file, bytes: Buffer.from(changed(file.bytes.toString())), compressed: {}, hash: `${file.hash}x` }
      : file;
  return { page: fileOf(page), files: new Map([...files].map(([name, file]) => [changed(name), fileOf(file)])) };
}

describe.skipIf(!hasChromium)(named('parts of the page that do not come'), () => {
  it('say that the server is away, and come when it is back, with all that was typed', async () => {
    const { page, server, studio, start } = await openRestartable();
    await server.stop();
    await messageField(page).fill('half a sent');
    await canvasNode(page).click();
    await missing(page)
      .getByText(/the server cannot be reached/)
      .waitFor();
    expect(await canvasNode(page).isVisible()).toBe(true);
    await start(studio);
    await form(page).waitFor();
    await missing(page).waitFor({ state: 'detached' });
    expect(await messageField(page).inputValue()).toBe('half a sent');
    // It came with its styles.
    expect(await form(page).evaluate((element) => getComputedStyle(element).position)).toBe('absolute');
  });

  it('are asked for again where one file did not come, beside what is there', async () => {
    const { page, open, agent } = await openStudio();
    const lost = ['editor', 'publish-dialog', 'runs-page'];
    const nameOf = (name: string) => `**/studio/${name}-*.js`;
    for (const name of lost) await page.route(nameOf(name), (route) => route.abort());
    const again = async (name: string): Promise<void> => {
      await missing(page).waitFor();
      await page.unroute(nameOf(name));
      await missing(page).getByRole('button', { name: 'Try again' }).click();
    };
    await open(`/agents/${await agent(ECHO)}`);
    await missing(page).waitFor();
    await canvasNode(page).waitFor();
    await again('editor');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog', { name: 'This part of the page is missing' }).waitFor();
    await again('publish-dialog');
    await page.getByRole('dialog', { name: /^Publish/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Runs' }).click();
    await again('runs-page');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    expect(await missing(page).count()).toBe(0);
  });

  it('are waited for where a canvas cannot be laid out without them', async () => {
    const { page, open, agent } = await openStudio();
    const [worker, layout] = ['**/studio/worker-*.js', '**/studio/arrange-*.js'];
    let layouts = 0;
    await page.route(worker, (route) => route.abort());
    await page.route(layout, (route) => {
      layouts++;
      return route.abort();
    });
    await open(`/agents/${await agent(UNPLACED)}`);
    const node = page.getByRole('group', { name: /^UserFillUp, / });
    await expect.poll(() => layouts, { timeout: 30_000 }).toBeGreaterThan(1);
    expect(await node.count()).toBe(0);
    await page.unroute(layout);
    await node.waitFor();
    // The worker is asked again by the next canvas.
    await page.unroute(worker);
    await page.getByRole('link', { name: 'Agents' }).first().click();
    await open(`/agents/${await agent(UNPLACED)}`);
    await node.waitFor();
  });

  it('say that the page is from an earlier version, and lose nothing when it is loaded anew', async () => {
    const { page, server, studio, start } = await openRestartable();
    await server.stop();
    await start(renamed(studio));
    await messageField(page).fill('half a sent');
    await canvasNode(page).click();
    await missing(page)
      .getByText(/^This page is from an earlier version of the server/)
      .waitFor();
    expect(await missing(page).getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await missing(page).getByRole('button', { name: 'Reload the page' }).click();
    await missing(page).waitFor({ state: 'detached' });
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    await canvasNode(page).click();
    await form(page).waitFor();
    expect(await messageField(page).inputValue()).toBe('half a sent');
  });
});
