/** What tools, models and files give that is too large, too deep or named to do harm: it stays text, and the page stays usable. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../transport/support/documents.js';
import { ASKING, conversation, example, say } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const EVIL = '<img src=x onerror=alert(1)>';
const DEPTH = 10_000;
const nested = (inside: string) => `${'{"__proto__":'.repeat(DEPTH)}${JSON.stringify(inside)}${'}'.repeat(DEPTH)}`;

/** An agent whose tool answers with a text: a sub-agent, as any tool's result goes the same way. */
async function withResult(result: string) {
  const call = { name: 'Historian_0', arguments: { user_prompt: EVIL, reasoning: '', context: '' } };
  const models = {
    rules: [
      { when: { system: 'historian' }, reply: result },
      { when: { system: 'example: agent', user: 'ask the tool' }, times: 1, tool_calls: [call] },
    ],
    default: { reply: 'That is all.' },
  };
  const studio = await openStudio({ models: JSON.stringify({ scripted: models }) });
  const { page, open, agent } = studio;
  await open(`/agents/${await agent(await example('agent'))}`);
  await say(page, 'ask the tool');
  await conversation(page).getByText('That is all.').waitFor();
  await conversation(page).getByText('Guide › Historian').click();
  return studio;
}

/** Another question is answered, and other panels open. */
async function expectUsable(page: Page): Promise<void> {
  await say(page, 'still there?');
  await conversation(page).getByText('That is all.').nth(1).waitFor();
  await page.getByRole('tab', { name: 'Trace' }).click();
  await page.getByRole('row').last().waitFor();
  await page.getByRole('tab', { name: 'State' }).click();
  await page.getByRole('treeitem').first().waitFor();
  expect(await page.locator('main').locator('img, script, iframe').count()).toBe(0);
}

describe.skipIf(!hasChromium)(named('the page'), () => {
  it(`shows a tool's result of objects ${DEPTH} deep`, async () => {
    const { page } = await withResult(nested(EVIL));
    await conversation(page).getByText('__proto__').first().waitFor();
    await expectUsable(page);
  });

  it("shows the beginning of a tool's result of one text of 20 MB", async () => {
    const { page } = await withResult(`${EVIL} ${'x'.repeat(20_000_000)}`);
    await conversation(page).getByText(EVIL).nth(1).waitFor();
    await expectUsable(page);
  });

  it.each([
    ['that it does not know', (deep: string) => `${JSON.stringify(ASKING).slice(0, -1)},"unknown":${deep}}`],
    ['in place of a document', (deep: string) => deep],
  ])('says why a file cannot be imported with values 10,000 deep %s', async (_, fileWith) => {
    const { page, open, server } = await openStudio();
    await open('/agents');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const buffer = Buffer.from(fileWith(nested(EVIL)));
    await page.getByLabel('Choose files').setInputFiles([{ name: 'deep.json', mimeType: 'application/json', buffer }]);
    const preview = page.getByRole('region', { name: 'deep.json' });
    await preview.getByRole('alert').or(preview.getByText('This is no canvas that can be read.')).first().waitFor();
    expect(
      await page
        .getByRole('button', { name: /^Import/ })
        .last()
        .isDisabled(),
    ).toBe(true);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect((await server.call('GET', '/api/v1/agents')).body.data.canvas).toEqual([]);
  });

  it('shows names of files in a conversation as they are, also after a reload', async () => {
    const dsl = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', [], { content: ['That is all.'] }],
    });
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(dsl)}`);
    const names = [
      `"><img src=x onerror=alert(1)><svg onload=alert(2)>.txt`,
      '{{constructor.constructor("alert(3)")()}}.txt',
      'txt.\u202Egpj.exe',
      '__proto__.txt',
      'javascript:alert(4).txt',
      `${'n'.repeat(200)}.txt`,
    ];
    const choice = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await choice).setFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('a') })));
    await page.getByText('onerror=alert(1)', { exact: false }).first().waitFor();
    await say(page, 'read them');
    await conversation(page).getByText('That is all.').waitFor();
    for (const reload of [false, true]) {
      if (reload) await page.reload();
      await conversation(page).getByText('onerror=alert(1)', { exact: false }).first().waitFor();
      await conversation(page).getByText('constructor.constructor', { exact: false }).first().waitFor();
      expect(await conversation(page).locator('img, script, svg[onload], a[href^="javascript"]').count()).toBe(0);
    }
    // In place of Stop: a page that was loaded again takes no message before it has read that the run is over.
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await say(page, 'still there?');
    await conversation(page).getByText('That is all.').nth(1).waitFor();
  });
});
