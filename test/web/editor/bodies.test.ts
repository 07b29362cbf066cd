/** Bodies of containers in the editor: what comes into them and out of them, and how large they are. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { example } from '../support/conversation.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const node = (page: Page, name: string | RegExp) => page.getByRole('group', { name, exact: true });
const form = (page: Page, name: string) => page.getByRole('complementary', { name: `Form of ${name}` });
const loopOf = (page: Page) => page.getByRole('group', { name: /, Loop$/ });

const [LOOP, INSIDE, REPLY] = ['Loop:Review', 'VariableAssigner:Keep', 'Message:Result'];

async function openLoop() {
  const studio = await openStudio();
  const id = await studio.agent(await example('loop'));
  const { page, server } = studio;
  await studio.open(`/agents/${id}`);
  await loopOf(page).waitFor();
  await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
  const stored = async () => (await server.call('GET', `/api/v1/agents/${id}`)).body.data.dsl as JsonObject;
  const entries = async () => (await stored()).components as Record<string, JsonObject>;
  const parentOf = async (component: string) => (await entries())[component]?.parent_id ?? null;
  return { ...studio, id, stored, parentOf };
}

/** Drags by the head to where `to` says. */
async function drag(page: Page, what: Locator, to: { readonly x: number; readonly y: number }): Promise<void> {
  const box = (await what.boundingBox())!;
  await page.mouse.move(box.x + 60, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(box.x + 90, box.y + 30, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 8 });
  await page.mouse.up();
}

describe.skipIf(!hasChromium)(named('bodies of containers'), () => {
  it('take what is dropped in them and give away what is dropped outside, with the edges cut and an undo', async () => {
    const { page, parentOf } = await openLoop();
    const [reply, loop] = [node(page, /, Message$/).last(), loopOf(page)];
    await page.getByRole('button', { name: 'Show all' }).click();
    const before = (await loop.boundingBox())!;
    await drag(page, reply, { x: before.x + before.width / 2, y: before.y + before.height - 14 });
    const note = page.getByRole('status').getByText(/^No connection crosses the border of a body\. Cut: .* → /);
    await note.waitFor();
    await expect.poll(() => parentOf(REPLY)).toBe(LOOP);
    await page.getByRole('button', { name: 'Undo the move' }).click();
    await note.waitFor({ state: 'detached' });
    await expect.poll(() => parentOf(REPLY)).toBe(null);
    await page.getByRole('button', { name: 'Close the form' }).click();
    await page.getByRole('button', { name: 'Show all' }).click();
    const inside = node(page, /, VariableAssigner$/);
    const now = (await loop.boundingBox())!;
    await drag(page, inside, { x: now.x + now.width / 2, y: now.y + now.height + 90 });
    await expect.poll(() => parentOf(INSIDE)).toBe(null);
  });

  it('take and give by menu, without a pointer', async () => {
    const { page, parentOf } = await openLoop();
    const reply = node(page, /, Message$/).last();
    await reply.focus();
    await page.keyboard.press('Enter');
    const move = page.getByRole('button', { name: 'Move into or out of a container' });
    await move.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /^Move into / }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => parentOf(REPLY)).toBe(LOOP);
    await move.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /^Move out of / }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => parentOf(REPLY)).toBe(null);
  });

  it('are resized by their corner and by the form, never below what lies in them, and stay so over a reload', async () => {
    const { page, stored } = await openLoop();
    const loop = loopOf(page);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await loop.focus();
    await page.keyboard.press('Enter');
    const fields = form(page, 'Review').or(page.getByRole('complementary')).first();
    const width = fields.getByRole('spinbutton', { name: 'Width (px)' });
    const least = Number(await width.inputValue());
    const corner = page.locator('.react-flow__resize-control.handle');
    const box = (await corner.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 40, box.y + 60, { steps: 6 });
    await page.mouse.up();
    await expect.poll(async () => Number(await width.inputValue())).toBeGreaterThan(least);
    const height = Number(await fields.getByRole('spinbutton', { name: 'Height (px)' }).inputValue());
    await width.fill(String(least + 300));
    await width.press('Enter');
    const sizeOf = async () => {
      const nodes = ((await stored()).graph as JsonObject).nodes as readonly JsonObject[];
      const { width, height } = nodes.find((one) => one.id === LOOP) ?? {};
      return { width, height };
    };
    await expect.poll(sizeOf).toEqual({ width: least + 300, height });
    await page.reload();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    await loop.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => width.inputValue()).toBe(String(least + 300));
    await width.fill('10');
    await width.press('Enter');
    await expect.poll(() => width.inputValue()).toBe(String(least));
  });
});
