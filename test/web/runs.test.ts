/** The screens of runs and of what waits, and going on from an event with another value. */
import { describe, expect, it } from 'vitest';
import { countingModels } from '../transport/support/counting-models.js';
import { documentOf, ECHO, FORM } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import type { TestServer } from '../transport/support/server.js';
import { conversation } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const asks = (prompt: string) => ({ llm_id: 'm', sys_prompt: 'Say.', prompts: [{ role: 'user', content: prompt }] });

const CHAIN = documentOf({
  begin: ['Begin', ['LLM:First']],
  'LLM:First': ['LLM', ['LLM:Second'], asks('first {sys.query}')],
  'LLM:Second': ['LLM', ['Message:A'], asks('second {LLM:First@content}')],
  'Message:A': ['Message', [], { content: ['{LLM:Second@content}'] }],
});

const ask = async (server: TestServer, agent: string): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' })).body.data.run_id;

describe.skipIf(!hasChromium)(named('the screens of runs'), () => {
  it('list them, narrow them down in the address, and delete one', async () => {
    const { page, open, agent, server } = await openStudio();
    const [echo, form] = [await agent(ECHO), await agent(FORM)];
    await ask(server, echo);
    await ask(server, form);
    await open('/runs');
    const lines = page.getByRole('rowheader');
    await lines.filter({ hasText: 'Agent 1' }).waitFor();
    expect(await lines.count()).toBe(2);
    await page.getByRole('combobox', { name: 'State' }).selectOption('waiting');
    await lines.filter({ hasText: 'Agent 1' }).waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/#\/runs\?status=waiting$/);
    await page.reload();
    await lines.filter({ hasText: 'Agent 2' }).waitFor();
    expect(await lines.count()).toBe(1);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No run is like that.').waitFor();
    expect((await server.call('GET', '/api/v1/runs')).body.total).toBe(1);
  });

  it('show what waits for a person, who answers it', async () => {
    const { page, open, agent, server } = await openStudio();
    await ask(server, await agent(FORM));
    await open('/inbox');
    await page.getByText('Where to?').waitFor();
    await page.getByRole('link', { name: /^Answer/ }).click();
    await page.getByRole('textbox', { name: 'City' }).fill('Oslo');
    await page.getByRole('form').getByRole('button', { name: 'Send' }).click();
    await conversation(page).getByText('to Oslo').waitFor();
    await open('/inbox');
    await page.getByText('Nothing waits for you.').waitFor();
  });

  it('go on from an event with another output, and ask no model again that had answered', async () => {
    const models = countingModels({ default: { reply: '<$user>' } });
    const { page, open, agent, server } = await openStudio({ services: models.services });
    const id = await agent(CHAIN);
    const run = await ask(server, id);
    const events = await (await openStream(`${server.url}/api/v1/agents/${id}/runs/${run}/events?view=engine`)).rest();
    const at = events.find(({ json }) => json?.type === 'node-settled' && json.node === 'LLM:First')?.id;
    await open(`/agents/${id}/runs/${run}?at=${at}`);
    await page.getByRole('tab', { name: 'State' }).click();
    await page.getByText(`After event ${at}`).waitFor();
    await page.getByRole('button', { name: 'Run on from here' }).click();
    const dialog = page.getByRole('dialog', { name: `Run on from event ${at}` });
    await dialog.getByRole('button', { name: 'Change LLM:First@content' }).click();
    await dialog.getByRole('textbox', { name: 'LLM:First@content' }).fill('CHANGED');
    await dialog.getByRole('button', { name: 'Run on' }).click();
    await page.getByText(`B goes on from event ${at} of A.`, { exact: false }).waitFor();
    await expect.poll(async () => (await server.call('GET', '/api/v1/runs?status=succeeded')).body.total).toBe(2);
    const [forked] = (await server.call('GET', '/api/v1/runs')).body.data;
    const { data } = (await server.call('GET', `/api/v1/agents/${id}/runs/${forked.id}/state`)).body;
    expect(data.outputs['Message:A'].content).toBe('<second CHANGED>');
    expect(models.calls.map(({ user }) => user)).toEqual(['first x', 'second <first x>', 'second CHANGED']);
  });
});
