/** Running on from an event with a change, and the list of what ran. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { axeFindings } from './support/axe.js';
import { hasChromium, named, openStudio, type StudioOptions } from './support/studio.js';

const file = (name: string) => readFile(new URL(`../../examples/${name}`, import.meta.url), 'utf8');

/** For examples that call no model. */
const NO_MODELS = '{"scripted": {}}';

async function openExample(example: string, options: StudioOptions = {}) {
  const studio = await openStudio({ ...options, models: await file(`${example}/models.json`).catch(() => NO_MODELS) });
  const agentId = await studio.agent(JSON.parse(await file(`${example}/canvas.json`)) as JsonObject);
  const run = async (query: string): Promise<string> => {
    const { headers } = await studio.server.call('POST', `/api/v1/agents/${agentId}/run`, { query });
    return String(headers.get('x-run-id'));
  };
  return { ...studio, agentId, run };
}

describe.skipIf(!hasChromium)(named('running on from an event'), () => {
  it('calls no model again for what had finished, and shows both runs side by side', async () => {
    const { page, open, server, agentId, run } = await openExample('parallel');
    const first = await run('trains');
    await open(`/agents/${agentId}/runs/${first}?tab=trace`);
    await page.getByRole('row', { name: /Both sides/ }).click();
    await page.getByRole('slider', { name: 'Moment of the run' }).focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'Run on from here' }).click();
    const dialog = page.getByRole('dialog', { name: /Run on from event/ });
    await dialog.getByRole('region', { name: 'Done, and not repeated' }).getByText('Against').waitFor();
    await dialog.getByText('2 model calls').waitFor();
    await dialog.getByRole('button', { name: 'Run on', exact: true }).click();
    await page.getByText(/B goes on from event \d+ of A/).waitFor();
    await page.getByRole('row', { name: /^Against .*taken over/ }).waitFor();
    const second = new URL(page.url().replace('#', '')).searchParams.get('b');
    await expect
      .poll(async () => {
        const { body } = await server.call('GET', `/api/v1/agents/${agentId}/runs/${second}`);
        return [body.data.status, body.data.usage.calls, body.data.parent_run_id];
      })
      .toEqual(['succeeded', 0, first]);
  });

  it('takes changed outputs, and says which words are others', async () => {
    const { page, open, server, agentId, run } = await openExample('loop');
    const first = await run('bridges');
    await open(`/agents/${agentId}/runs/${first}?tab=trace`);
    // Behind the loop, before its result is told.
    await page.getByRole('row', { name: /^done Result|Result/ }).click();
    await page.getByRole('button', { name: 'Run again from this step' }).click();
    const dialog = page.getByRole('dialog', { name: /Run on from event/ });
    await dialog.getByRole('button', { name: 'Change Loop:Review@draft' }).click();
    await dialog.getByRole('textbox', { name: 'Loop:Review@draft' }).fill('A very short draft.');
    await dialog.getByRole('button', { name: 'Run on', exact: true }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('only in B: very short').waitFor();
    const second = new URL(page.url().replace('#', '')).searchParams.get('b');
    const { body } = await server.call('GET', `/api/v1/agents/${agentId}/runs/${second}`);
    expect(body.data.usage.calls).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe.skipIf(!hasChromium)(named('the list of runs'), () => {
  it('is filtered by what the address says, and by its fields', async () => {
    const { page, open, agent, agentId, run, server } = await openExample('loop');
    await run('bridges');
    const form = await agent(JSON.parse(await file('form/canvas.json')) as JsonObject);
    await server.call('POST', `/api/v1/agents/${form}/run`, { query: 'hello' });
    await open('/runs');
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(agentId);
    await expect.poll(() => rows.count()).toBe(2);
    expect(page.url()).toContain(`agent=${agentId}`);
    await open('/runs?status=waiting');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.getByRole('link', { name: 'Agent 2' }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => rows.count()).toBe(3);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('shows a new run by itself, and deletes one when asked twice', async () => {
    const { page, open, run } = await openExample('hello');
    await open('/runs');
    await page.getByText('Nothing has run yet.').waitFor();
    await run('one');
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(2);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing has run yet.').waitFor();
  });
});

describe.skipIf(!hasChromium)(named('the inbox'), () => {
  it('has what waits with its question, counts it in the bar, and loses it with its answer', async () => {
    const { page, open, server, agent } = await openExample('loop');
    const form = await agent(JSON.parse(await file('form/canvas.json')) as JsonObject);
    const { body } = await server.call('POST', `/api/v1/agents/${form}/run`, { query: 'hello' });
    expect(body.data.status ?? body.status).toBe('waiting');
    await open('/inbox');
    await page.getByRole('heading', { name: 'Agent 2' }).waitFor();
    await page
      .getByRole('link', { name: /^Inbox/ })
      .getByText('1', { exact: true })
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Answer Agent 2' }).click();
    await expect.poll(() => page.url()).toContain(`/agents/${form}/runs/`);
  });
});
