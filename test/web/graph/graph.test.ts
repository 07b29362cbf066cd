/** The graph of a dataset on its page: built, looked at, narrowed down, asked, its names taken for one. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readingModel } from '../../ingestion/support/graph-texts.js';
import { axeFindings } from '../support/axe.js';
import { hasChromium, named } from '../support/studio.js';
import { openGraph, WORLD } from './support/graph-studio.js';

const row = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Entities' }).getByRole('row').filter({ hasText: name });

const choose = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Entities' }).getByRole('button', { name, exact: true }).click();

const NOT_READ = /chunks? (is|are) not in the graph yet/;

describe.skipIf(!hasChromium)(named('the graph of a dataset'), () => {
  it('says what a build takes, is built before the eyes of the user, and is drawn and listed', async () => {
    const { page, open, id } = await openGraph();
    await open(`/datasets/${id}`);
    await page.getByRole('link', { name: 'Graph' }).click();
    await page.waitForURL(`**/#/graph/${id}`);
    await page.getByText('This dataset has no graph yet.').waitFor();
    await page.getByText(/Links and rules: 3 chunks to read, no model, no key/).waitFor();
    await page.getByText(/No model is configured/).waitFor();
    expect(await page.locator('canvas').count()).toBe(0);
    await page.getByRole('button', { name: 'Build links and rules' }).click();
    await row(page, 'Ada Lenz').waitFor();
    await page.getByText('The last build is done.').waitFor();
    await page.getByText('Rules: names and relations by patterns: 3 of 3').waitFor();
    await page.getByRole('img', { name: /^Drawing of \d+ entities/ }).waitFor();
    await page.locator('canvas').first().waitFor();
    expect(await page.locator('canvas').count()).toBeGreaterThan(2);
    await page.getByRole('button', { name: 'Zoom in' }).click();
  });

  it('is built by a model within a budget, and says what it took and what is missing', async () => {
    const { page, open, address } = await openGraph(WORLD, { chat: () => readingModel(() => {}) });
    await open(address);
    await page.getByText('With the model reader').waitFor();
    await page.getByRole('checkbox', { name: 'Also by the model' }).check();
    await page.getByLabel('Calls at most').fill('4');
    await page.getByRole('button', { name: 'Build', exact: true }).click();
    await page.getByText('The last build is done.').waitFor();
    await page.getByText('Model: entities and relations that a model reads: 3 of 3').waitFor();
    await page.getByText(/^Reports on communities that a model wrote: [01] of \d+$/).waitFor();
    await page.getByText(/^Spent: 4 calls, [\d,]+ tokens$/).waitFor();
    await page.getByText('reports: the budget was reached before all communities had one').waitFor();
  });

  it('says that it is being built, and is stopped', async () => {
    const { page, open, address } = await openGraph({}, { parses: false });
    await open(address);
    await page.getByText(/The dataset has no chunks|the dataset has no chunks/).waitFor();
    await page.getByRole('button', { name: 'Build links and rules' }).click();
    await page.getByRole('progressbar', { name: 'Progress of the build' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The last build was stopped; what was read stays.').waitFor();
  });

  it('says what was not read yet', async () => {
    const { page, open, address, build, ingest, id } = await openGraph();
    await build();
    await ingest(id, 'Vega.md', 'Vega replaces Orion.');
    await open(address);
    await page.getByText(NOT_READ).waitFor();
    await page.getByRole('button', { name: 'Build again' }).click();
    await row(page, 'Vega').waitFor();
    await page.getByText(NOT_READ).waitFor({ state: 'detached' });
  });

  it('is narrowed down by kind, by name, and around an entity; the address says so', async () => {
    const { page, open, address, build, ask, path } = await openGraph();
    await build();
    const { nodes } = await ask('GET', path);
    expect(nodes).toContainEqual(expect.objectContaining({ name: 'Redis', type: 'storage' }));
    await open(address);
    await row(page, 'Ada Lenz').waitFor();
    await page.getByRole('checkbox', { name: 'Storage' }).check();
    await row(page, 'Ada Lenz').waitFor({ state: 'detached' });
    await row(page, 'Redis').waitFor();
    expect(page.url()).toContain('types=storage');
    await page.getByRole('button', { name: 'Show the whole graph' }).click();
    await page.getByRole('searchbox', { name: 'Find an entity' }).fill('lenz');
    await row(page, 'Kafka').waitFor({ state: 'detached' });
    await choose(page, 'Ada Lenz');
    const panel = page.getByRole('region', { name: 'Ada Lenz' });
    await panel.getByRole('list', { name: 'Relations' }).getByRole('button', { name: 'Orion' }).first().waitFor();
    await panel.getByRole('button', { name: 'Show around it' }).click();
    await page.waitForURL('**around=Ada+Lenz**');
    await page.getByRole('combobox', { name: 'Steps' }).selectOption('2');
    await page.waitForURL('**depth=2**');
    await page.getByRole('searchbox', { name: 'Find an entity' }).fill('');
    await row(page, 'Kafka').waitFor();
    await page.reload();
    await panel.getByRole('heading', { name: 'Ada Lenz' }).waitFor();
    await panel.getByRole('link', { name: 'Ada Lenz.md' }).first().click();
    await page.getByText('Only the cited chunk is shown.').waitFor();
  });

  it('gives an entity another name, and takes it away', async () => {
    const { page, open, address, build, ask, path } = await openGraph();
    await build();
    await open(address);
    await choose(page, 'Kafka');
    const panel = page.getByRole('region', { name: 'Kafka' });
    await panel.getByLabel('Another name').fill('Big Bus');
    await panel.getByRole('button', { name: 'Add a name' }).click();
    await panel.getByRole('list', { name: 'Also called' }).getByText('Big Bus').waitFor();
    await panel.getByRole('button', { name: 'Remove the name Big Bus' }).click();
    await panel.getByText('Big Bus').waitFor({ state: 'detached' });
    expect((await ask('GET', `${path}/aliases`)).aliases).toEqual([]);
  });

  it('tells how two names are connected, and shows the way', async () => {
    const { page, open, address, build } = await openGraph();
    await build();
    await open(address);
    await page.getByRole('combobox', { name: 'Kind of search' }).selectOption('Ways between two');
    await page.getByLabel('From', { exact: true }).fill('Orion');
    await page.getByLabel('To', { exact: true }).fill('Port Soller');
    await page.getByRole('button', { name: 'Ask' }).click();
    const ways = page.getByRole('list', { name: 'Ways' });
    const first = ways.locator(':scope > li').first();
    await first.getByText('Ada Lenz').first().waitFor();
    expect(await first.getAttribute('aria-current')).toBe('true');
    await first.getByRole('button', { name: 'Hide way 1' }).click();
    await first.getByRole('button', { name: 'Show way 1 in the drawing' }).click();
    await page.waitForURL('**way=1**');
    await page.getByRole('list', { name: 'Passages', exact: true }).getByRole('link').first().click();
    await page.getByText('Only the cited chunk is shown.').waitFor();
  });

  it.each([
    ['Around entities', 'Who is Ada Lenz?'],
    ['Over communities', 'Which towns does Orion know?'],
    ['Communities, then entities', 'Which towns does Orion know?'],
    ['By a walk over all', 'Which towns does Orion know?'],
  ])('is asked a question: %s', async (kind, question) => {
    const { page, open, address, build } = await openGraph();
    await build();
    await open(address);
    await page.getByRole('combobox', { name: 'Kind of search' }).selectOption(kind);
    await page.getByRole('textbox', { name: 'Question' }).fill(question);
    await page.keyboard.press('Enter');
    await page.getByText(/^\d+ passages? found/).waitFor();
    await page.getByRole('list', { name: 'Passages', exact: true }).getByRole('article').first().waitFor();
    if (kind.includes('ommunities')) await page.getByRole('list', { name: 'What the reports say' }).waitFor();
    expect(page.url()).toContain('q=');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText(/passages? found/).waitFor({ state: 'detached' });
  });

  it('takes two names for one after a question, and undoes it', async () => {
    const { page, open, address, build } = await openGraph();
    await build();
    await open(address);
    await page.getByRole('checkbox', { name: 'Choose Kafka for a merge' }).check();
    await page.getByRole('checkbox', { name: 'Choose Orion for a merge' }).check();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    const merge = page.getByRole('dialog', { name: 'Take these names for one?' });
    await merge.getByRole('button', { name: 'Merge' }).click();
    await page.getByRole('checkbox', { name: 'Choose Kafka for a merge' }).waitFor({ state: 'detached' });
    const undo = page.getByRole('button', { name: 'Undo what was decided of Kafka and Orion' });
    await undo.click();
    const dialog = page.getByRole('dialog', { name: 'Undo this decision?' });
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('checkbox', { name: 'Choose Kafka for a merge' }).waitFor();
    await undo.waitFor({ state: 'detached' });
  });

  it('is a list alone, with the reason, where the browser has no WebGL', async () => {
    const { page, open, address, build } = await openGraph();
    await build();
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await open(address);
    await row(page, 'Ada Lenz').waitFor();
    await page.getByText(/This browser has no WebGL/).waitFor();
    expect(await page.locator('canvas').count()).toBe(0);
  });

  it.each([
    ['light', 'en-US'],
    ['dark', 'en-US'],
    ['light', 'zh-CN'],
    ['dark', 'zh-CN'],
  ] as const)('keeps nobody out, %s and in %s', async (colorScheme, locale) => {
    const { page, open, address, build } = await openGraph(WORLD, { browser: { colorScheme, locale } });
    await open(address);
    await page.getByRole('button', { name: /Build links and rules|构建链接与规则/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await build();
    await open(`${address}?kind=path&from=Orion&to=Port+Soller&node=kafka&around=orion`);
    await page.reload();
    await page.getByRole('list', { name: /^(Ways|路径)$/ }).waitFor();
    await page.getByRole('region', { name: 'Kafka' }).getByRole('article').first().waitFor();
    await page.locator('canvas').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
