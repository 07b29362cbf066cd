/** Error exits, variables and the focus in the editor. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { axeFindings } from '../support/axe.js';
import { example } from '../support/conversation.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const node = (page: Page, name: string | RegExp) => page.getByRole('group', { name, exact: true });

async function openEditor(dsl: JsonObject) {
  const studio = await openStudio();
  const { page, server } = studio;
  const id = await studio.agent(dsl);
  await studio.open(`/agents/${id}`);
  await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
  await page.getByRole('button', { name: 'LLM', exact: true }).waitFor();
  const stored = async () => (await server.call('GET', `/api/v1/agents/${id}`)).body.data.dsl as JsonObject;
  const paramsOf = async (component: string) => {
    const entries = (await stored()).components as Record<string, { readonly obj: JsonObject }>;
    return entries[component]?.obj.params;
  };
  return { ...studio, id, stored, paramsOf };
}

describe.skipIf(!hasChromium)(named('what the editor gives a canvas'), () => {
  it('gives a component an error exit, and leads it by dragging', async () => {
    const { page, paramsOf } = await openEditor(await example('branch'));
    // The tools of the editor are there before its canvas.
    await page
      .getByRole('group', { name: /, Message$/ })
      .nth(1)
      .waitFor();
    const target = page.getByRole('group', { name: /, Message$/ }).last();
    const source = page.getByRole('group', { name: /, Message$/ }).first();
    const ids = await Promise.all([source, target].map((one) => one.getAttribute('data-id')));
    await source.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add an error exit' }).click();
    await source.getByText('on error').waitFor();
    await page.getByText('until then the run fails').waitFor();
    await page.getByRole('button', { name: 'Close the form' }).click();
    const [exit, entry] = [
      (await source.locator('.react-flow__handle.source').last().boundingBox())!,
      (await target.locator('.react-flow__handle.target').boundingBox())!,
    ];
    await page.mouse.move(exit.x + exit.width / 2, exit.y + exit.height / 2);
    await page.mouse.down();
    await page.mouse.move(entry.x - 40, entry.y + 20, { steps: 6 });
    await page.mouse.move(entry.x + entry.width / 2, entry.y + entry.height / 2, { steps: 6 });
    await page.mouse.up();
    await expect
      .poll(() => paramsOf(ids[0] as string))
      .toMatchObject({ exception_method: 'goto', exception_goto: [ids[1]] });
  });

  it('gives a component a value in place of an error, retries, and takes them away, by the form', async () => {
    const { page, paramsOf } = await openEditor(await example('loop'));
    await node(page, /^Write, LLM/).focus();
    await page.keyboard.press('Enter');
    const section = page.getByRole('region', { name: 'When it fails' });
    await section.getByRole('combobox', { name: 'Then' }).selectOption('Give a value');
    await section.getByRole('textbox', { name: 'Value when it fails' }).fill('nothing');
    await section.getByRole('spinbutton', { name: 'Retries' }).fill('2');
    await expect
      .poll(() => paramsOf('LLM:Write'))
      .toMatchObject({ exception_method: 'comment', exception_default_value: 'nothing', max_retries: 2 });
    await section.getByRole('combobox', { name: 'Then' }).selectOption('The run fails');
    await expect.poll(() => paramsOf('LLM:Write')).not.toHaveProperty('exception_method');
    expect(await axeFindings(page)).toEqual([]);
  });

  it('adds and renames variables with what refers to them, and warns before one goes that is used', async () => {
    const dsl = JSON.parse(JSON.stringify(await example('hello')));
    dsl.components['Message:Greet'].obj.params.content = ['{env.tone} hello'];
    dsl.variables = { tone: { name: 'tone', type: 'string', value: 'soft', description: '' } };
    const { page, stored, paramsOf } = await openEditor(dsl);
    await page.getByRole('button', { name: 'Variables of the canvas' }).click();
    const dialog = page.getByRole('dialog', { name: 'Variables of the canvas' });
    await dialog.getByText('Used by Greet').waitFor();
    const name = dialog.getByRole('textbox', { name: 'Name of tone' });
    await name.fill('voice');
    await name.press('Enter');
    await expect.poll(() => paramsOf('Message:Greet')).toEqual({ content: ['{env.voice} hello'] });
    await dialog.getByRole('textbox', { name: 'Name of the new entry' }).fill('mood');
    await dialog.getByRole('button', { name: 'Add to Variables' }).click();
    await dialog.getByRole('button', { name: 'Remove voice' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/^It is used by Greet\./)
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove it still' }).click();
    await dialog.getByRole('button', { name: 'Remove mood' }).waitFor();
    await expect.poll(async () => Object.keys((await stored()).variables as JsonObject)).toEqual(['mood']);
    expect(await paramsOf('Message:Greet')).toEqual({ content: ['{env.voice} hello'] });
  });

  it('keeps the focus when it takes the place of the first drawing, and an Enter that is typed meanwhile', async () => {
    const studio = await openStudio();
    const { page } = studio;
    const id = await studio.agent(await example('hello'));
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route(/\/studio\/editor-[^/]*\.js/, async (route) => {
      await held;
      await route.continue();
    });
    await studio.open(`/agents/${id}`);
    const greet = node(page, 'Greet, Message');
    await greet.focus();
    // Typed as soon as the first drawing is gone, when nothing has the focus yet.
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        if (document.activeElement !== document.body) return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
    goOn();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    await expect.poll(() => greet.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole('complementary', { name: 'Form of Greet' }).waitFor();
  });
});
