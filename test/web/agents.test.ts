/** The screen of all agents, and how an agent is drawn. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { toV2 } from '../../src/dsl/convert.js';
import { parseDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { axeFindings } from './support/axe.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
const FOLDER = process.env.RAGFLOW_TEMPLATES ?? '';

const textOf = (name: string): Promise<string> => readFile(path.join(EXAMPLES, name), 'utf8');
const example = async (name: string): Promise<JsonObject> => JSON.parse(await textOf(`${name}/canvas.json`));

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const node = (page: Page, name: string | RegExp) => page.getByRole('group', { name, exact: true });

const fileOf = (name: string, value: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

describe.skipIf(!hasChromium)(named('the agents'), () => {
  it('are found by words and by tag, which the address keeps', async () => {
    const { page, open, server } = await openStudio();
    const dsl = await example('hello');
    await server.call('POST', '/api/v1/agents', {
      title: 'Trip planner',
      tags: 'travel',
      description: 'Plans trips',
      dsl,
    });
    await server.call('POST', '/api/v1/agents', { title: 'Report writer', tags: 'work', dsl });
    await open('/agents');
    await link(page, 'Trip planner').waitFor();
    await page.getByText('Plans trips').waitFor();
    await page.getByText('never run').first().waitFor();
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('report');
    await link(page, 'Trip planner').waitFor({ state: 'detached' });
    await link(page, 'Report writer').waitFor();
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('');
    await page.getByRole('button', { name: 'travel 1' }).click();
    await link(page, 'Report writer').waitFor({ state: 'detached' });
    await page.reload();
    await link(page, 'Trip planner').waitFor();
    expect(await link(page, 'Report writer').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('nothing like this');
    await page.getByText('No agent fits this search.').waitFor();
  });

  it('come from files, which say what they are made of before', async () => {
    const { page, open } = await openStudio();
    await open('/agents');
    await page.getByRole('button', { name: 'Import' }).click();
    const two = toV2(parseDocument(await example('triage'))).canvas;
    const unknown = {
      components: {
        begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Warp:A'] },
        'Warp:A': { obj: { component_name: 'Warp', params: {} }, downstream: [] },
      },
    };
    await page
      .getByLabel('Choose files')
      .setInputFiles([
        fileOf('help_desk.json', two),
        fileOf('strange.json', unknown),
        fileOf('broken.json', '{"components": '),
      ]);
    const previewOf = (name: string) => page.getByRole('region', { name });
    await previewOf('help_desk.json').getByText('Version 2, 6 components.').waitFor();
    await previewOf('help_desk.json').getByText('Categorize', { exact: true }).waitFor();
    await previewOf('strange.json').getByText('This server has no Warp.').waitFor();
    await previewOf('broken.json').getByText('This is no canvas that can be read.').waitFor();
    expect(await previewOf('help_desk.json').getByLabel('Title').inputValue()).toBe('help desk');
    await page.getByRole('button', { name: 'Import 2 agents' }).click();
    await link(page, 'help desk').waitFor();
    await link(page, 'strange').click();
    await node(page, 'Warp, Warp').waitFor();
    await page.getByText('Warp, unknown type').waitFor();
  });

  it('come from a pasted text, under a title of their own', async () => {
    const { page, open, server } = await openStudio();
    const dsl = await example('hello');
    await server.call('POST', '/api/v1/agents', { title: 'Imported agent', dsl });
    await open('/agents');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByLabel('Or paste the JSON of a canvas').fill(JSON.stringify(dsl));
    await page.getByText('Version 1, 2 components.').waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await node(page, 'Begin, Begin').waitFor();
    await open('/agents');
    await link(page, 'Imported agent 2').waitFor();
  });

  it('come from templates', async () => {
    const { page, open } = await openStudio();
    await open('/agents');
    await page.getByText('There is no agent yet.').waitFor();
    await page.getByRole('button', { name: 'New agent' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Desk');
    await page.getByRole('radio', { name: /^Triage/ }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await node(page, 'Desk, Categorize').waitFor();
  });

  it('are copied, and given as files', async () => {
    const { page, open, server } = await openStudio();
    await server.call('POST', '/api/v1/agents', { title: 'Greeter', dsl: await example('hello') });
    await open('/agents');
    await page.getByRole('button', { name: 'More for Greeter' }).click();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export as version 2' }).click();
    const download = await downloaded;
    expect(download.suggestedFilename()).toBe('Greeter.v2.json');
    expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toMatchObject({ version: 2 });
    await page.getByRole('button', { name: 'More for Greeter' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await node(page, 'Begin, Begin').waitFor();
    await open('/agents');
    await link(page, 'Greeter 2').waitFor();
  });

  it('are deleted when that was not taken back, also when the page is left', async () => {
    const { page, open, server } = await openStudio();
    const dsl = await example('hello');
    await server.call('POST', '/api/v1/agents', { title: 'Kept', dsl });
    await server.call('POST', '/api/v1/agents', { title: 'Gone', dsl });
    const titles = async () => {
      const { body } = await server.call('GET', '/api/v1/agents');
      return (body.data.canvas as { title: string }[]).map(({ title }) => title);
    };
    await open('/agents');
    for (const title of ['Kept', 'Gone']) {
      await page.getByRole('button', { name: `More for ${title}` }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await link(page, title).waitFor({ state: 'detached' });
    }
    expect((await titles()).toSorted()).toEqual(['Gone', 'Kept']);
    await page
      .getByRole('status')
      .getByText('"Kept" was deleted')
      .locator('..')
      .getByRole('button', { name: 'Undo' })
      .click();
    await link(page, 'Kept').waitFor();
    await page.goto('about:blank');
    await expect.poll(titles).toEqual(['Kept']);
  });

  it.each(['light', 'dark'] as const)('keep nobody out, %s', async (colorScheme) => {
    const { page, open, server } = await openStudio({ browser: { colorScheme } });
    await server.call('POST', '/api/v1/agents', {
      title: 'Greeter',
      tags: 'a',
      description: 'Says hello',
      dsl: await example('hello'),
    });
    await open('/agents');
    await page.getByText('never run').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'New agent' }).click();
    await page.getByRole('radio', { name: /^Triage/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe.skipIf(!hasChromium)(named('the drawing of an agent'), () => {
  it('says every node with its state, and which branch was chosen', async () => {
    const { page, open, agent } = await openStudio({ models: await textOf('triage/models.json') });
    await open(`/agents/${await agent(await example('triage'))}`);
    await node(page, 'Desk, Categorize').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Why was I charged twice?');
    await page.keyboard.press('Enter');
    await node(page, 'Billing answer, Message, done').waitFor();
    await node(page, 'Technical answer, Message').waitFor();
    await page
      .getByRole('group', { name: 'Desk, Categorize, done', description: /billing chosen; technical/ })
      .waitFor();
    await page.getByRole('group', { name: 'Desk → Billing desk, billing' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('draws bodies in their containers, with the pass', async () => {
    const { page, open, agent } = await openStudio({ models: await textOf('iteration/models.json') });
    await open(`/agents/${await agent(await example('iteration'))}`);
    // The editor takes the place of the first drawing.
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    const container = node(page, /^For each word, Iteration/);
    const inner = node(page, 'Translate, LLM');
    await inner.waitFor();
    const [around, within] = [await container.boundingBox(), await inner.boundingBox()];
    expect(within!.x).toBeGreaterThan(around!.x);
    expect(within!.y + within!.height).toBeLessThan(around!.y + around!.height);
    await page.getByRole('textbox', { name: 'Message' }).fill('one, two');
    await page.keyboard.press('Enter');
    await expect.poll(() => container.textContent()).toMatch(/^For each word, Iteration, done, pass 2/);
  });

  it('lets nodes be chosen by keyboard, and its layout be tidied', async () => {
    const { page, open, agent } = await openStudio({ browser: { colorScheme: 'dark' } });
    await open(`/agents/${await agent(await example('branch'))}`);
    // The editor takes the place of the first drawing.
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    const topic = node(page, 'Topic, Switch');
    await topic.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => topic.getAttribute('aria-current')).toBe('true');
    const before = await node(page, 'Begin, Begin').boundingBox();
    await page.getByRole('button', { name: 'Tidy' }).click();
    await page.getByRole('button', { name: 'Undo' }).and(page.locator(':enabled')).waitFor();
    await expect.poll(() => node(page, 'Begin, Begin').boundingBox()).not.toEqual(before);
    expect(await axeFindings(page)).toEqual([]);
  });

  it.skipIf(FOLDER === '').each(['trip_planner', 'stock_market_research_assistant', 'advanced_ingestion_pipeline'])(
    skippedUnless(FOLDER !== '', 'no folder at RAGFLOW_TEMPLATES', 'shows %s of RAGFlow, imported as a file'),
    async (name) => {
      const { page, open } = await openStudio();
      await open('/agents');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByLabel('Choose files').setInputFiles(path.join(FOLDER, `${name}.json`));
      await page.getByText(/^Version 1, \d+ components\./).waitFor();
      await page.getByRole('button', { name: 'Import', exact: true }).last().click();
      await page.getByRole('group', { name: /^(?:begin, Begin|File, File|.*, File)$/i }).waitFor();
    },
  );
});
