/** Editing an agent on its page. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { conversation, example, say } from '../support/conversation.js';
import { hasChromium, named, type OpenedStudio, openStudio } from '../support/studio.js';

const node = (page: Page, name: string | RegExp) => page.getByRole('group', { name, exact: true });
const palette = (page: Page) => page.getByRole('region', { name: 'Components' });
const form = (page: Page, name: string) => page.getByRole('complementary', { name: `Form of ${name}` });
const saved = (page: Page) => page.getByText(/^Draft, saved/);
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

interface StoredEntry {
  readonly downstream: readonly string[];
  readonly obj: { readonly component_name: string; readonly params: JsonObject };
}

/** The draft that the server has. */
async function stored({ server }: OpenedStudio, id: string) {
  const { body } = await server.call('GET', `/api/v1/agents/${id}`);
  const dsl = body.data.dsl as { components: Record<string, StoredEntry> } & JsonObject;
  return {
    dsl,
    updateTime: body.data.update_time as number,
    types: Object.values(dsl.components).map(({ obj }) => obj.component_name),
  };
}

async function openEditor(name: string, options: Parameters<typeof openStudio>[0] = {}) {
  const studio = await openStudio(options);
  const dsl = await example(name);
  const id = await studio.agent(dsl);
  await studio.open(`/agents/${id}`);
  await node(studio.page, /^Begin, Begin/).waitFor();
  await paletteReady(studio.page);
  return { ...studio, id, dsl };
}

/** The palette has come with its types. */
async function paletteReady(page: Page): Promise<void> {
  await palette(page).getByRole('button', { name: 'LLM', exact: true }).waitFor();
}

const type = (page: Page, name: string) => palette(page).getByRole('button', { name, exact: true });

describe.skipIf(!hasChromium)(named('the editor'), () => {
  it('adds what the palette offers behind what is selected, saves it, and takes it back', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await node(page, 'Greet, Message').click();
    await palette(page).getByRole('searchbox').fill('string');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await node(page, /^StringTransform_0, StringTransform/).waitFor();
    await page.getByRole('group', { name: 'Greet → StringTransform_0' }).waitFor();
    await saved(page).waitFor();
    expect((await stored(studio, id)).types).toEqual(['Begin', 'Message', 'StringTransform']);
    await undo(page).click();
    await node(page, /^StringTransform_0/).waitFor({ state: 'detached' });
    await expect.poll(async () => (await stored(studio, id)).types).toEqual(['Begin', 'Message']);
    await page.getByRole('button', { name: 'Redo' }).click();
    await node(page, /^StringTransform_0, StringTransform/).waitFor();
  });

  it('changes no byte by looking', async () => {
    const { page, id, server } = await openEditor('branch');
    const before = await server.call('GET', `/api/v1/agents/${id}`);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.url());
    });
    await node(page, 'Topic, Switch').click();
    await form(page, 'Topic')
      .getByText('More')
      .or(form(page, 'Topic').getByText(/^\d+ more$/))
      .first()
      .click();
    await form(page, 'Topic').getByRole('button', { name: 'Parameters as JSON' }).click();
    await page.getByRole('button', { name: 'Close the form' }).click();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.goto(`${page.url().split('#')[0]}#/agents`);
    await page.getByRole('button', { name: 'New agent' }).waitFor();
    expect(sent).toEqual([]);
    const after = await server.call('GET', `/api/v1/agents/${id}`);
    expect(after.body.data).toEqual(before.body.data);
  });

  it('writes parameters by the form, a typed text as one step, and runs what was typed', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await node(page, 'Greet, Message').click();
    const content = form(page, 'Greet')
      .getByRole('textbox', { name: /^Content/ })
      .first();
    await content.fill('Good evening, ');
    await content.press('End');
    await form(page, 'Greet')
      .getByRole('button', { name: /^Insert a reference: Content/ })
      .or(form(page, 'Greet').getByRole('button', { name: /^Insert a reference/ }))
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'sys.query' }).click();
    await expect.poll(() => content.inputValue()).toContain('{sys.query}');
    await say(page, 'sailor');
    await conversation(page).getByText('Good evening, sailor').waitFor();
    while (await undo(page).isEnabled()) await undo(page).click();
    await expect.poll(async () => JSON.stringify((await stored(studio, id)).dsl)).not.toContain('Good evening');
  });
});
