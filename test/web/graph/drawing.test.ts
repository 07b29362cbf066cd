/** The drawing of a graph: an entity alone stands in its middle, where it is chosen and dragged. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium, named } from '../support/studio.js';
import { openGraph } from './support/graph-studio.js';

async function openSolo() {
  const studio = await openGraph({});
  await studio.ask('PUT', studio.path, { nodes: [{ id: 'a', name: 'Solo' }], edges: [] });
  await studio.open(studio.address);
  await studio.page.locator('canvas').first().waitFor();
  return studio;
}

async function middleOf(page: Page) {
  const drawing = page.getByRole('img', { name: 'Drawing of 1 entities' });
  await drawing.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await drawing.boundingBox()) as NonNullable<
    Awaited<ReturnType<typeof drawing.boundingBox>>
  >;
  return { x: x + width / 2, y: y + height / 2 };
}

describe.skipIf(!hasChromium)(named('the drawing of a graph'), () => {
  it('chooses the entity that is clicked', async () => {
    const { page } = await openSolo();
    const { x, y } = await middleOf(page);
    await page.mouse.click(x, y);
    await page.getByRole('region', { name: 'Solo' }).waitFor();
    expect(page.url()).toContain('node=');
  });

  it('moves the entity that is dragged', async () => {
    const { page } = await openSolo();
    const { x, y } = await middleOf(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 40, { steps: 5 });
    await page.mouse.move(x + 120, y + 80, { steps: 5 });
    await page.mouse.up();
    expect(page.url()).not.toContain('node=');
    // A click soon after the end of the drag is the second of a double click.
    const isChosen = async () => {
      await page.mouse.click(x + 120, y + 80);
      return page.url().includes('node=');
    };
    await expect.poll(isChosen, { timeout: 30_000 }).toBe(true);
    await page.getByRole('region', { name: 'Solo' }).waitFor();
  });
});
