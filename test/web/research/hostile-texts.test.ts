/** Questions, documents, plans and reports that would run if the screen let them; and what keeps people out of it. */
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { startUpstream } from '../../tools/support/upstream.js';
import { axeFindings } from '../support/axe.js';
import { openDatasets } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';
import { answeringSome, formAddress, modelsOf, openResearch, part, QUESTION } from './support/research-studio.js';

const EVIL = '"><img src=x onerror=alert(1)><svg onload=alert(2)>';
const TEXT = `The lamp turns. ${EVIL} <script>alert(3)</script> [here](javascript:alert(4)) ![](https://elsewhere.example/?s=1)`;

const REPORT = `The lamp turns ${EVIL} <style>*{display:none}</style> [1]. <iframe srcdoc="x"> ![](https://elsewhere.example/?s=2)`;

/** A model whose every text would run, and which finds what it says in the first text that it reads. */
const evilModel = () =>
  answeringSome((name, { evidence }) => {
    switch (name) {
      case 'research_decompose': {
        const question = `Does it turn? ${EVIL}`;
        return { question_type: 'factual', sub_questions: [{ id: 'q1', question, depends_on: [] }] };
      }
      case 'research_read':
        return { answer: 'The lamp turns', supported_by: evidence.slice(0, 1), confidence: 0.9 };
      case 'research_verify':
        return { verdict: 'supported', evidence };
      case 'research_validate':
        return { sufficient: true, missing: [], contradictions: [{ a: 'q1', b: 'q1', why: EVIL }] };
      case 'plan_review':
        return { status: 'ready', issues: [EVIL] };
      default:
        return name === undefined ? REPORT : undefined;
    }
  });

describe.skipIf(!hasChromium)(named('a research with hostile texts'), () => {
  it.each(['', 'plan=yes'])('shows them as they were written: %s', async (query) => {
    const { page, open, dataset, ingest } = await openDatasets({ services: { models: await modelsOf(evilModel()) } });
    await ingest(await dataset(`d ${EVIL}`), `${EVIL.replaceAll('/', '')}.txt`, TEXT);
    await open(formAddress(query));
    await page.getByRole('checkbox', { name: `d ${EVIL}` }).waitFor();
    const asked = `Does the lamp turn? ${EVIL}`;
    await page.getByRole('textbox', { name: 'What is to be found out?' }).fill(asked);
    await page.getByRole('button', { name: 'Start the research' }).click();
    await page.getByRole('heading', { level: 1, name: asked }).waitFor();
    if (query !== '') {
      await page.getByRole('button', { name: 'Change the plan' }).click();
      await page.getByRole('button', { name: 'Leave it as it was' }).click();
      await page.getByRole('button', { name: 'Approve the plan' }).click();
    }
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    const steps = part(page, 'Steps');
    await steps.getByText(EVIL).first().waitFor();
    await steps
      .getByText(/^Evidence \(\d+\)$/)
      .first()
      .click();
    await steps.getByText('<script>alert(3)</script>').first().waitFor();
    await part(page, 'Report').getByText('<style>*{display:none}</style>').waitFor();
    await part(page, 'Report').getByRole('button', { name: 'Evidence 1' }).first().click();
    await page.getByRole('dialog', { name: 'Evidence 1' }).getByText('<script>alert(3)</script>').waitFor();
    await page.keyboard.press('Escape');
    await open('/research');
    await part(page, 'Researches').getByRole('link', { name: asked }).waitFor();
    const made = page.locator('body').locator('img, iframe, svg[onload], style, a[href^=javascript], main script');
    expect(await made.count()).toBe(0);
  });

  it.each([
    ['light', 'en-US'],
    ['dark', 'en-US'],
    ['light', 'zh-CN'],
    ['dark', 'zh-CN'],
  ] as const)('has nothing that keeps people out: %s, %s', async (colorScheme, locale) => {
    const { page, open, ask } = await openResearch({ browser: { colorScheme, locale } });
    await open(formAddress('plan=yes&tokens=50000'));
    await page.getByRole('textbox').first().fill(QUESTION);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: /^(Start the research|开始研究)$/ }).click();
    await page.getByRole('button', { name: /^(Change the plan|修改计划)$/ }).click();
    await page.getByRole('button', { name: /^(Add a task|添加任务)$/ }).click();
    await page.getByRole('button', { name: /^(Save the plan|保存计划)$/ }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: /^(Leave it as it was|保持原样)$/ }).click();
    await page.getByRole('button', { name: /^(Add a question|添加问题)$/ }).click();
    await page.getByRole('button', { name: /^(Approve the plan|批准计划)$/ }).click();
    await page.getByRole('button', { name: /md$/ }).waitFor();
    for (const fold of await page.getByText(/^(Evidence \(\d+\)|证据（\d+）)$/).all()) await fold.click();
    expect(await axeFindings(page)).toEqual([]);
    await open('/research');
    await page.getByRole('row', { name: QUESTION }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await ask('GET', '/research')).toHaveLength(1);
  });

  it('leads to pages of the web by safe links alone, and fetches nothing of them', async () => {
    const said = { content: 'Corwin Hale wrote The Salt Atlas.', score: 1 };
    const results = [
      { ...said, url: 'https://a.example/x', title: 'Good page' },
      { ...said, content: 'Corwin Hale wrote the book The Salt Atlas.', url: 'javascript:alert(7)', title: 'Bad page' },
    ];
    const { origin } = await startUpstream({ 'GET /search': { json: { query: 'q', results, suggestions: [] } } });
    const { page, open } = await openResearch({
      services: {
        http: createEgressClient({ allowPrivateNetwork: true }),
        tools: { baseUrls: { SearXNG: `${origin}/` } },
      },
    });
    await open('/research?web=yes&depth=quick');
    await page.getByRole('textbox', { name: 'What is to be found out?' }).fill('Who wrote The Salt Atlas?');
    await page.getByRole('button', { name: 'Start the research' }).click();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    const steps = part(page, 'Steps');
    await steps
      .getByText(/web: \d+ found in/)
      .first()
      .waitFor();
    await steps
      .getByText(/^Evidence \(\d+\)$/)
      .first()
      .click();
    const link = steps.getByRole('link', { name: 'Good page' }).first();
    expect(await link.getAttribute('href')).toBe('https://a.example/x');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });

  it('is worked off without a pointer', async () => {
    const { page, open } = await openResearch();
    await open(formAddress('plan=yes'));
    await page.getByRole('textbox', { name: 'What is to be found out?' }).fill(QUESTION);
    await page.getByRole('button', { name: 'Start the research' }).press('Enter');
    const approve = page.getByRole('button', { name: 'Approve the plan' });
    await page.getByRole('button', { name: 'Add a question' }).press('Enter');
    await page.keyboard.type('x');
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'A further question' }).waitFor({ state: 'detached' });
    await approve.press('Enter');
    const cited = part(page, 'Report').getByRole('button', { name: 'Evidence 1' });
    await cited.press('Enter');
    await page.getByRole('dialog', { name: 'Evidence 1' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Evidence 1' }).waitFor({ state: 'detached' });
    await part(page, 'Steps')
      .getByText(/^Evidence \(\d+\)$/)
      .first()
      .press('Enter');
    await part(page, 'Steps').getByText('The answer stands on it').first().waitFor();
  });

  it('has the width of a phone', async () => {
    const { page, open } = await openResearch({ browser: { viewport: { width: 390, height: 780 } } });
    await open(formAddress());
    await page.getByRole('textbox', { name: 'What is to be found out?' }).fill(QUESTION);
    await page.getByRole('button', { name: 'Start the research' }).click();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
