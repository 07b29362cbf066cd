/** Running an agent on its page. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const example = async (name: string): Promise<JsonObject> =>
  JSON.parse(await readFile(new URL(`../../examples/${name}/canvas.json`, import.meta.url), 'utf8'));

describe.skipIf(!hasChromium)(named('the page of an agent'), () => {
  it('runs an example and shows its answer', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(await example('hello'))}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Good day');
    await page.keyboard.press('Enter');
    const log = page.getByRole('log', { name: 'Conversation' });
    await log.getByText('Hello! You said "Good day", and this is turn 1.').waitFor();
    expect(page.url()).toMatch(/runs\/[0-9a-f]{32}$/);
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
  });
});
