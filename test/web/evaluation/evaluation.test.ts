/** Evaluations on their page: files are read, compared, refused; nothing in them runs. */
import { describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { chooseFiles, openDatasets } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';

const EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>';

const golden = (passes: readonly boolean[]) =>
  JSON.stringify({
    file: EVIL,
    rates: { keyword_pass: passes.filter(Boolean).length / passes.length },
    questions: passes.map((keywordPass, at) => ({ id: `q${at}`, keywordPass, response: EVIL, sources: ['a.pdf'] })),
  });

describe.skipIf(!hasChromium)(named('the evaluation'), () => {
  it.each([
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const)('compares two results question by question: %s, %s', async (colorScheme, locale) => {
    const { page, open } = await openDatasets({ browser: { colorScheme, locale } });
    const isEnglish = locale === 'en-US';
    await open('/evaluations');
    const choose = (slot: string, name: string, content: string) =>
      chooseFiles(page, isEnglish ? `Choose a file for ${slot}` : `为${slot}选择文件`, [{ name, content }]);
    const [a, b] = isEnglish ? ['Result A', 'Result B, to compare with'] : ['结果 A', '结果 B（用于对比）'];
    await choose(a, 'x.json', '{"a":1}');
    await page
      .getByRole('alert')
      .getByText(/x\.json/)
      .waitFor();
    await choose(a, 'a.json', golden([false, false, false, false, true]));
    await choose(b, 'b.json', golden([true, true, true, true, true]));
    const line = page.getByRole('row', { name: /^keyword_pass/ });
    await line.getByText(isEnglish ? 'B is better' : 'B 更好').waitFor();
    await line.getByText('+0.8000', { exact: true }).waitFor();
    await page.getByText(isEnglish ? /seed 1/ : /种子 1/).waitFor();
    await page.getByText('q0', { exact: true }).click();
    await page.getByText('<script>alert(2)</script>').first().waitFor();
    expect(await page.locator('main').locator('img, script').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await line.getByText('+0.8000', { exact: true }).waitFor();
  });

  it('keeps results that were seen before, in this browser alone, and shows them again', async () => {
    const { page, open, tab } = await openDatasets();
    await open('/evaluations');
    const choose = (name: string, content: string) =>
      chooseFiles(page, 'Choose a file for Result A', [{ name, content }]);
    await choose('monday.json', golden([false, true]));
    await page.getByRole('row', { name: /^keyword_pass 0\.5000/ }).waitFor();
    await page.getByRole('button', { name: 'Remove Result A', exact: true }).click();
    await choose('tuesday.json', golden([true, true]));
    const earlier = page.getByRole('region', { name: 'Earlier results' }).getByRole('listitem');
    await expect.poll(() => earlier.count()).toBe(2);
    // The same result is there once, and the newest comes first.
    await page.getByRole('button', { name: 'Remove Result A', exact: true }).click();
    await choose('monday.json', golden([false, true]));
    await expect.poll(() => earlier.first().textContent()).toMatch(/^monday\.json.*2 questions.*keyword_pass 0\.5000/);
    expect(await earlier.count()).toBe(2);
    // Another tab has them, too.
    const second = await tab();
    await second.open('/evaluations');
    await second.page.getByText('No result yet.').waitFor();
    await second.page.getByRole('button', { name: 'Show tuesday.json as Result A', exact: true }).click();
    await second.page.getByRole('button', { name: 'Show monday.json as Result B, to compare with' }).click();
    await second.page.getByRole('row', { name: /^keyword_pass 1\.0000 0\.5000 -0\.5000/ }).waitFor();
    expect(await second.page.locator('main').locator('img, script').count()).toBe(0);
    await second.page.getByRole('button', { name: 'Forget monday.json' }).click();
    await second.page
      .getByRole('button', { name: 'Show monday.json as Result A', exact: true })
      .waitFor({ state: 'detached' });
    await page.reload();
    await expect.poll(() => earlier.count()).toBe(1);
  });

  it('measures the search of datasets with golden questions, twice to compare', async () => {
    const { page, open, dataset, ingest } = await openDatasets();
    const station = await dataset('Station');
    await ingest(station, 'lamps.txt', 'The lamp was lit in 1911.');
    const lines = ['1911', '1912'].map((year, at) =>
      JSON.stringify({ id: `q${at}`, category: 'x', question: EVIL, expected_keywords: [year] }),
    );
    await open('/evaluations');
    const choose = (content: string) =>
      chooseFiles(page, 'Choose golden questions (.jsonl)', [{ name: 'golden.jsonl', content }]);
    await choose('no question');
    await page.getByText(/golden\.jsonl has no golden questions/).waitFor();
    await choose(lines.join('\n').replaceAll(JSON.stringify(EVIL), '"When was the lamp lit?"'));
    await page.getByRole('checkbox', { name: 'Station' }).check();
    await page.getByRole('button', { name: 'Measure: Result A' }).click();
    await page.getByRole('row', { name: /^keyword@k 0\.5000/ }).waitFor();
    await page.getByRole('button', { name: 'Measure: Result B' }).click();
    await page.getByRole('row', { name: /^keyword@k 0\.5000 0\.5000 \+0\.0000/ }).waitFor();
    await page.getByText('search of Station, 8 passages').first().waitFor();
    await choose(JSON.stringify({ id: 'q', category: 'x', question: 'lamp', expected_keywords: 7 }));
    await page.getByRole('button', { name: 'Measure: Result B' }).click();
    await page
      .getByRole('alert')
      .getByText(/expected_keywords/)
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('measures the answers of a chat, by the routes that they took, twice to compare', async () => {
    const { page, open, dataset, ingest } = await openDatasets();
    await ingest(await dataset('Station'), 'lamps.txt', 'The lamp was lit in 1911.');
    const lines = [
      { id: 'lamp', question: 'When was the lamp lit?', expected_keywords: ['1911'] },
      { id: 'hello', question: 'hello', answerable: false },
      { id: EVIL, question: 'Who won the cup?', answerable: false },
    ].map((one) => JSON.stringify({ category: 'x', ...one }));
    await open('/evaluations');
    const section = page.getByRole('region', { name: 'Measure with golden questions' });
    await section.getByRole('combobox', { name: 'Of' }).selectOption('the answers of a chat');
    await chooseFiles(page, 'Choose golden questions (.jsonl)', [{ name: 'golden.jsonl', content: lines.join('\n') }]);
    await section.getByRole('button', { name: 'Measure: Result A' }).click();
    const routes = page.getByRole('region', { name: 'Answers by route' });
    await routes.getByRole('row', { name: /^documents 1 \(33 %\) 1\.0000/ }).waitFor();
    await routes.getByRole('row', { name: /^short circuit B: answered at once 1 \(33 %\)/ }).waitFor();
    await page.getByRole('row', { name: /^right_route 1\.0000/ }).waitFor();
    // Without documents the first question takes another route.
    await section.getByRole('combobox', { name: 'Answers from' }).selectOption('the model alone');
    await section.getByRole('button', { name: 'Measure: Result B' }).click();
    await routes.getByRole('row', { name: /^the model alone B/ }).waitFor();
    await routes.getByText(/^\d questions? took another route in B|^One question took/).waitFor();
    await page.getByText('lamp documents → the model alone').waitFor();
    await page.getByText('answers of All datasets, the model alone').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.locator('main').locator('img, script').count()).toBe(0);
    // No conversation comes of it.
    await open('/chat');
    await page.getByText('Ask your documents something.').waitFor();
    expect(await page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').count()).toBe(0);
  });

  it('has the width of a phone, where the places are a line that is moved', async () => {
    const { page, open } = await openDatasets({ browser: { viewport: { width: 390, height: 780 } } });
    await open('/evaluations');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    // Also when it is opened by its address, the place is in sight.
    await open('/settings');
    await page.reload();
    const seen = () =>
      page.evaluate(() => {
        const place = document.querySelector('nav [aria-current]')?.getBoundingClientRect();
        return place !== undefined && place.left >= 0 && place.right <= innerWidth;
      });
    await expect.poll(seen).toBe(true);
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('main')?.getBoundingClientRect().width,
    ]);
    expect(widths).toEqual([390, 390]);
  });
});
