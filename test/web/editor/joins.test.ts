/** How several ways to a component come together, in its form. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { documentOf } from '../../transport/support/documents.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const says = (next: readonly string[]): ['Message', string[], JsonObject] => ['Message', [...next], { content: ['x'] }];

/** Two ways lead from the begin to one component. */
const DIAMOND: JsonObject = {
  ...documentOf({
    begin: ['Begin', ['Message:Left', 'Message:Right']],
    'Message:Left': says(['Message:Both']),
    'Message:Right': says(['Message:Both']),
    'Message:Both': says([]),
  }),
  graph: {
    edges: [],
    nodes: [
      ['begin', 'Begin', 0, 0],
      ['Message:Left', 'Left', 300, -100],
      ['Message:Right', 'Right', 300, 100],
      ['Message:Both', 'Both', 600, 0],
    ].map(([id, name, x, y]) => ({ id, position: { x, y }, data: { name, label: 'Message', form: {} } }) as JsonObject),
  },
};

async function openDiamond(locale = 'en-US') {
  const studio = await openStudio({ browser: { locale } });
  const { page, server, agent, open } = studio;
  const id = await agent(DIAMOND);
  await open(`/agents/${id}`);
  const modeOf = async (component: string): Promise<unknown> => {
    const { dsl } = (await server.call('GET', `/api/v1/agents/${id}`)).body.data;
    return dsl.components[component].obj.params.join_mode;
  };
  return { page, modeOf };
}

/** Opens the form of a component. */
const choose = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('group', { name: new RegExp(`^${name}, `) }).focus();
  await page.keyboard.press('Enter');
};

describe.skipIf(!hasChromium)(named('the section "Reached from"'), () => {
  it('lists what leads to a component, and lets its ways come together otherwise, by keyboard, until that is undone', async () => {
    const { page, modeOf } = await openDiamond();
    await choose(page, 'Both');
    const section = page.getByRole('region', { name: 'Reached from' });
    await section.getByRole('listitem').first().waitFor();
    expect(await section.getByRole('listitem').allTextContents()).toEqual(['Left', 'Right']);
    await section.getByText(/"any" runs it for each way that comes/).waitFor();
    const mode = section.getByRole('combobox', { name: 'Several ways' });
    await mode.focus();
    // Not by its letters: a browser that is slow to hear them takes each for the first one of a word.
    for (let step = 0; step < 2; step += 1) await page.keyboard.press('ArrowDown');
    await expect.poll(() => modeOf('Message:Both')).toBe('any');
    expect(await modeOf('Message:Left')).toBeUndefined();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => modeOf('Message:Both')).toBeUndefined();
    await expect.poll(() => mode.inputValue()).toBe('');
    await mode.selectOption('all');
    await expect.poll(() => modeOf('Message:Both')).toBe('all');
    await section.getByRole('button', { name: 'Right' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Form of Right' }).waitFor();
    await expect.poll(() => section.getByRole('listitem').allTextContents()).toEqual(['Begin']);
  });

  it('is said in Chinese, too, also where nothing leads to a component', async () => {
    const { page, modeOf } = await openDiamond('zh-CN');
    await choose(page, 'Both');
    const section = page.getByRole('region', { name: '来自' });
    await section.getByRole('combobox', { name: '多条路径' }).selectOption('any');
    await expect.poll(() => modeOf('Message:Both')).toBe('any');
    for (const name of ['Left', 'Right']) {
      await choose(page, name);
      await page.getByRole('button', { name: '断开 Both' }).click();
    }
    await choose(page, 'Both');
    await section.getByText('还没有任何组件通向这里。').waitFor();
  });
});
