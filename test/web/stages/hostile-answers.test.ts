/** Documents, models and questions that would run if the chat let them; and what keeps people out of it. */
import { describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { answering, conversation, say } from '../support/conversation.js';
import { openDatasets } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';

const EVIL = '"><img src=x onerror=alert(1)><svg onload=alert(2)>';
const TEXT = `The lamp turns. ${EVIL} <script>alert(3)</script> [here](javascript:alert(4)) <style>*{display:none}</style>`;

async function withEvil(options: Parameters<typeof openDatasets>[0] = {}) {
  const studio = await openDatasets({
    models: answering([
      'The lamp turns [1]. <scr',
      'ipt>alert(5)</script> <iframe srcdoc="x">',
      ' ![](https://elsewhere.example/?s=1)',
    ]),
    ...options,
  });
  const dataset = await studio.dataset(`d ${EVIL}`);
  await studio.ingest(dataset, `${EVIL.replaceAll('/', '')}.txt`, TEXT);
  return studio;
}

describe.skipIf(!hasChromium)(named('the chat with hostile texts'), () => {
  it('shows answers, evidence, questions and names as they were written', async () => {
    const { page, open } = await withEvil();
    await open('/chat');
    await say(page, `Does the lamp turn? ${EVIL}`);
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
    await conversation(page).getByText('<script>alert(5)</script>').waitFor();
    await page.getByText('Evidence (1)').click();
    await page.getByRole('listitem', { name: 'Evidence 1' }).getByText('<script>alert(3)</script>').waitFor();
    await conversation(page).getByRole('button', { name: 'Evidence 1' }).first().click();
    await page.getByRole('dialog', { name: 'Evidence 1' }).getByText('<script>alert(3)</script>').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Datasets: those of the assistant').click();
    await page.getByLabel(`d ${EVIL}`).waitFor();
    const made = page.locator('body').locator('img, iframe, svg[onload], style, a[href^=javascript], main script');
    expect(await made.count()).toBe(0);
  });

  it.each([
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const)('has nothing that keeps people out: %s, %s', async (colorScheme, locale) => {
    const { page, open } = await withEvil({ browser: { colorScheme, locale } });
    await open('/chat');
    await page.getByRole('log').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const field = page.getByRole('textbox').last();
    await field.fill('Does the lamp turn?');
    await field.press('Enter');
    await page.getByText(/^(took|用时) /).waitFor();
    await field.fill('hello');
    await field.press('Enter');
    await page.getByText(/^(Short circuit|短路) B/).waitFor();
    await page.getByText(/^(Evidence \(1\)|证据（1）)$/).click();
    expect(await axeFindings(page)).toEqual([]);
  });
});
