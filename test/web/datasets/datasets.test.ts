/** Datasets on their pages: made, filled, read, tried, changed and deleted. */
import { describe, expect, it } from 'vitest';
import { chooseFiles, openDatasets, pdfOf } from '../support/dataset-studio.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const row = (name: string) => ({ name: new RegExp(name) });

describe.skipIf(!hasChromium)(named('datasets'), () => {
  it('are not offered by a server that has none', async () => {
    const { page, open } = await openStudio();
    await open('/agents');
    await page.getByRole('link', { name: 'Settings' }).waitFor();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect(await page.getByRole('link', { name: 'Datasets' }).count()).toBe(0);
  });

  it('are made and filled; documents become searchable before the eyes of the user', async () => {
    const { page, open } = await openDatasets();
    await open('/agents');
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.getByText('There is no dataset yet.').waitFor();
    await page.getByRole('button', { name: 'New dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'New dataset' });
    await dialog.getByLabel('Name').fill('plant');
    await dialog.getByRole('button', { name: 'New dataset' }).click();
    await page.getByRole('heading', { name: 'plant' }).waitFor();
    await chooseFiles(page, 'Add files', [
      { name: 'pumps.md', content: '# Pumps\n\nA pump moves water uphill.' },
      { name: 'lamps.pdf', content: await pdfOf('The lamp turns once in ten seconds.', 'It was lit in 1911.') },
    ]);
    await page.getByRole('row', row('pumps.md')).getByText('searchable').waitFor();
    await page.getByRole('row', row('lamps.pdf')).getByText('searchable').waitFor();
    await page.getByRole('link', { name: 'All datasets' }).click();
    await page.getByRole('row', row('plant')).getByText('searchable').waitFor();
  });

  it('refuse a file of an unknown type, and say so beside the others', async () => {
    const { page, open, dataset } = await openDatasets();
    await open(`/datasets/${await dataset('d')}`);
    await chooseFiles(page, 'Add files', [
      { name: 'a.exe', content: 'MZ' },
      { name: 'good.txt', content: 'Good words.' },
    ]);
    await page.getByRole('row', row('good.txt')).getByText('searchable').waitFor();
    await page.getByRole('alert').getByText('This type of file has not been supported yet!').waitFor();
    await page.getByRole('button', { name: 'Remove a.exe' }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  it('say why a document failed, what to do, and try again', async () => {
    const { page, open, dataset, ingest } = await openDatasets();
    const id = await dataset('d');
    await ingest(id, 'broken.pdf', '%PDF-1.4 nothing');
    await open(`/datasets/${id}?run=FAIL`);
    const line = page.getByRole('row', row('broken.pdf'));
    await line.getByText('failed', { exact: true }).waitFor();
    await line
      .getByText(/it is no usable PDF/)
      .first()
      .click();
    await line.getByText(/A damaged or locked file has to be saved anew/).waitFor();
    await page.getByRole('link', { name: 'Documents' }).waitFor();
    await line.getByRole('button', { name: 'Parse broken.pdf again' }).click();
    await line.getByText('failed', { exact: true }).waitFor();
  });

  it('stop a document that waits, keep it from being searched, and delete it', async () => {
    const { page, open, dataset, ask } = await openDatasets({ parses: false });
    const id = await dataset('d');
    await open(`/datasets/${id}`);
    await chooseFiles(page, 'Add files', [{ name: 'slow.txt', content: 'Slow words.' }]);
    const line = page.getByRole('row', row('slow.txt'));
    await line.getByText('waits for its turn').waitFor();
    await line.getByRole('button', { name: 'Stop parsing slow.txt' }).click();
    await line.getByText('stopped').waitFor();
    const { docs } = await ask('GET', `/datasets/${id}/documents`);
    const isSearched = line.getByRole('switch', { name: 'Search slow.txt' });
    await isSearched.click();
    await page.waitForFunction(() => document.querySelector('[role=switch]')?.getAttribute('aria-checked') === 'false');
    expect((await ask('GET', `/datasets/${id}/documents?id=${docs[0].id}`)).docs[0].status).toBe('0');
    await line.getByRole('button', { name: 'Delete slow.txt' }).click();
    await page.getByRole('dialog', { name: 'Delete this document?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no document yet.').waitFor();
  });

  it('show the chunks of a document with their pages; a chunk is changed, switched off, added, deleted', async () => {
    const { page, open, dataset, ingest } = await openDatasets();
    const id = await dataset('d', { chunk_method: 'presentation' });
    const document = await ingest(id, 'lamps.pdf', await pdfOf('The lamp turns.', 'It was lit in 1911.'));
    await open(`/datasets/${id}`);
    await page.getByRole('link', { name: 'lamps.pdf' }).click();
    await page.waitForURL(`**/#/datasets/${id}/documents/${document}`);
    const second = page.getByRole('article', { name: 'Chunk 2' });
    await second.getByText('It was lit in 1911.').waitFor();
    await second.getByText('page 2').waitFor();
    await second.getByRole('button', { name: 'Edit chunk 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the chunk' });
    await dialog.getByLabel('Text', { exact: true }).fill('It was lit in 1912.');
    await page.keyboard.press('Escape');
    // What was typed is still there.
    await second.getByRole('button', { name: 'Edit chunk 2' }).click();
    expect(await dialog.getByLabel('Text', { exact: true }).inputValue()).toBe('It was lit in 1912.');
    await dialog.getByLabel('Keywords, separated by commas').fill('lamp, 1912');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It was lit in 1912.').waitFor();
    await page.getByText('written by a user').waitFor();
    await page.getByRole('article', { name: 'Chunk 1' }).getByRole('switch').click();
    await page.getByRole('button', { name: 'Add a chunk' }).click();
    const added = page.getByRole('dialog', { name: 'A new chunk' });
    await added.getByLabel('Text', { exact: true }).fill('A third thing.');
    await added.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A third thing.').waitFor();
    await page.getByLabel('Searched').selectOption('only those that are not');
    // The chunks of before are shown until the answer comes.
    await page.getByText('A third thing.').waitFor({ state: 'detached' });
    await page.getByText('The lamp turns.').waitFor();
    expect(await page.getByRole('article').count()).toBe(1);
    await page.getByRole('button', { name: 'Delete chunk 1' }).click();
    await page.getByRole('dialog', { name: 'Delete this chunk?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No chunk is like that.').waitFor();
  });

  it('are tried with a question: scores by channel, marked words, the place of a hit', async () => {
    const { page, open, dataset, ingest } = await openDatasets();
    const id = await dataset('d', { chunk_method: 'presentation' });
    await ingest(id, 'lamps.pdf', await pdfOf('The lamp turns once in ten seconds.', 'It was lit in 1911.'));
    await open(`/datasets/${id}/search`);
    await page.getByLabel('Question').fill('how often does the lamp turn?');
    await page.keyboard.press('Enter');
    const hit = page.getByRole('article', { name: 'Hit 1' });
    await hit.getByText('page 1').waitFor();
    expect(await hit.locator('mark').allTextContents()).toContain('lamp');
    await hit.getByText('Words', { exact: true }).waitFor();
    expect(page.url()).toContain('q=how+often');
    await hit.getByRole('link', { name: 'lamps.pdf' }).click();
    await page.getByText('Only the cited chunk is shown.').waitFor();
    await page.getByRole('button', { name: 'Show all chunks' }).click();
    await page.getByText('It was lit in 1911.').waitFor();
  });

  it('are cut in another way, with the documents that are there', async () => {
    const { page, open, dataset, ingest, ask } = await openDatasets();
    const id = await dataset('d');
    await ingest(id, 'lines.txt', 'One line.\nAnother line.\nA third line.');
    await open(`/datasets/${id}/settings`);
    await page.getByLabel('Tokens of a chunk at most').fill('3');
    await page.getByLabel('Also cut the document that is here anew').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('row', row('lines.txt')).getByRole('cell', { name: '5', exact: true }).waitFor();
    await page.getByRole('row', row('lines.txt')).getByText('searchable').waitFor();
    expect((await ask('GET', `/datasets/${id}`)).parser_config.chunk_token_num).toBe(3);
  });

  it('are deleted after a question', async () => {
    const { page, open, dataset } = await openDatasets();
    await dataset('doomed');
    await open('/datasets?search=doom');
    await page.getByRole('button', { name: 'Delete the dataset doomed' }).click();
    await page.getByRole('dialog', { name: 'Delete this dataset?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No dataset has this in its name.').waitFor();
  });
});
