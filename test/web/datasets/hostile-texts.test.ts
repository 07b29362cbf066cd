/** Names, texts and errors of datasets that would run if the page let them; and what keeps people out of its screens. */
import { describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { openDatasets, pdfOf } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';

const EVIL = '"><img src=x onerror=alert(1)><svg onload=alert(2)>';
const TEXT = `${EVIL} <script>alert(3)</script> [here](javascript:alert(4)) <em>lamp</em> {{constructor.constructor("alert(5)")()}} \u202Etxt`;

describe.skipIf(!hasChromium)(named('datasets with hostile texts'), () => {
  it('show names, chunks, keywords and hits as they were written', async () => {
    const { page, open, dataset, ingest, ask } = await openDatasets();
    const id = await dataset(`d ${EVIL}`, { description: TEXT });
    const document = await ingest(id, `${EVIL.replaceAll('/', '')}.txt`, `${TEXT} The lamp turns.`);
    const path = `/datasets/${id}/documents/${document}/chunks`;
    const { chunks } = await ask('GET', path);
    await ask('PATCH', `${path}/${chunks[0].id}`, { important_keywords: [EVIL], questions: [TEXT] });
    const made = () => page.locator('main').locator('img, script, svg[onload], iframe, a[href^=javascript]').count();
    await open('/datasets');
    await page.getByRole('link', { name: `d ${EVIL}` }).waitFor();
    expect(await made()).toBe(0);
    await open(`/datasets/${id}`);
    await page.getByRole('link', { name: EVIL }).waitFor();
    expect(await made()).toBe(0);
    await open(`/datasets/${id}/documents/${document}`);
    await page.getByText('<script>alert(3)</script>').first().waitFor();
    expect(await made()).toBe(0);
    await open(`/datasets/${id}/search?q=lamp`);
    const hit = page.getByRole('article', { name: 'Hit 1' });
    await hit.getByText('<script>alert(3)</script>').waitFor();
    // The text's own signs are no marks: the word in them is one, and so is the other.
    expect(await hit.locator('mark').allTextContents()).toEqual(['lamp', 'lamp']);
    expect(await made()).toBe(0);
  });

  it.each([
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const)('have nothing that keeps people out: %s, %s', async (colorScheme, locale) => {
    const { page, open, dataset, ingest } = await openDatasets({ browser: { colorScheme, locale } });
    const id = await dataset('lamps', { chunk_method: 'presentation' });
    const document = await ingest(id, 'lamps.pdf', await pdfOf('The lamp turns.', '灯塔建于一九一一年。'));
    await ingest(id, 'broken.pdf', '%PDF-1.4 nothing');
    const places = [
      ['/datasets', 'table'],
      [`/datasets/${id}`, 'table'],
      [`/datasets/${id}/documents/${document}`, 'article'],
      [`/datasets/${id}/search?q=lamp`, 'article'],
      [`/datasets/${id}/settings`, 'spinbutton'],
    ] as const;
    for (const [address, role] of places) {
      await open(address);
      await page.getByRole(role).first().waitFor();
      expect([address, await axeFindings(page)]).toEqual([address, []]);
    }
    await open('/datasets');
    await page.getByRole('button', { name: /^(New dataset|新建知识库)$/ }).click();
    await page.getByRole('dialog').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
