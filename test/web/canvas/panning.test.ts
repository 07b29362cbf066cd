/** Moving the canvas by pointer. */
import { describe, expect, it } from 'vitest';
import { ASKING } from '../support/conversation.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

/** The mouse, among the pointers of a page. */
const MOUSE = 1;

describe.skipIf(!hasChromium)(named('panning'), () => {
  it('leaves the pointer to the ground until the canvas is let go, and no node in the way is chosen', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(ASKING)}`);
    // The canvas that comes first is replaced by the editor's.
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    const node = page.locator('.react-flow__node').last();
    await node.waitFor();
    const ground = page.locator('.react-flow__pane');
    const hasPointer = () => ground.evaluate((element, mouse) => element.hasPointerCapture(mouse), MOUSE);
    const box = await ground.boundingBox();
    const before = await node.boundingBox();
    if (box === null || before === null) throw new Error('the canvas is not drawn');
    const from = { x: before.x + before.width / 2, y: box.y + 0.85 * box.height };
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 1, from.y);
    expect(await hasPointer()).toBe(false);
    await page.mouse.move(from.x + 20, from.y - 40);
    expect(await hasPointer()).toBe(true);
    await page.mouse.up();
    expect(await hasPointer()).toBe(false);
    const after = await node.boundingBox();
    expect(after && [after.x - before.x, after.y - before.y].map(Math.round)).toEqual([20, -40]);
    expect(await page.locator('.react-flow__node.selected').count()).toBe(0);
    await node.click();
    await page.locator('.react-flow__node.selected').waitFor();
  });
});
