/** The screens of runs and of what waits, and going on from an event with another value. */
import { describe, expect, it } from 'vitest';
import { countingModels } from '../transport/support/counting-models.js';
import { documentOf, ECHO, FORM, PROBE } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import type { TestServer } from '../transport/support/server.js';
import { conversation } from './support/conversation.js';
import { startProxy } from './support/proxy.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const asks = (prompt: string) => ({ llm_id: 'm', sys_prompt: 'Say.', prompts: [{ role: 'user', content: prompt }] });

const CHAIN = documentOf({
  begin: ['Begin', ['LLM:First']],
  'LLM:First': ['LLM', ['LLM:Second'], asks('first {sys.query}')],
  'LLM:Second': ['LLM', ['Message:A'], asks('second {LLM:First@content}')],
  'Message:A': ['Message', [], { content: ['{LLM:Second@content}'] }],
});

const ask = async (server: TestServer, agent: string, more: object = {}): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x', ...more })).body.data.run_id;

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

  it('have a field for each filter, and pages that runs which begin meanwhile do not move', async () => {
    const { page, open, agent, server } = await openStudio();
    const echo = await agent(ECHO);
    const mine = await ask(server, echo, { user_id: 'me' });
    for (let at = 0; at < 50; at += 1) await ask(server, echo);
    await open('/runs');
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await ask(server, echo);
    await page.reload();
    const lines = page.getByRole('rowheader');
    await page.getByRole('cell', { name: 'me', exact: true }).waitFor();
    expect(await lines.count()).toBe(1);
    expect(await lines.getByRole('link').getAttribute('href')).toContain(mine);
    await page.getByRole('button', { name: 'Newer' }).click();
    await page.waitForURL(/#\/runs$/);
    await page.getByRole('searchbox', { name: 'User' }).fill('me');
    await page.getByRole('spinbutton', { name: 'At least, seconds' }).fill('0');
    await page.getByRole('spinbutton', { name: 'At most, seconds' }).fill('86400.5');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(echo);
    await page.getByRole('combobox', { name: 'Version' }).selectOption('draft');
    await page.getByLabel('From', { exact: true }).fill('2000-01-01');
    await expect.poll(() => lines.count()).toBe(1);
    const query = new URLSearchParams(page.url().split('?')[1]);
    expect(Object.fromEntries(query)).toEqual({
      ...{ user: 'me', min: '0', max: '86400.5', agent: echo, version: 'draft', from: '2000-01-01' },
    });
    await page.getByLabel('To', { exact: true }).fill('2000-01-02');
    await page.getByText('No run is like that.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => lines.count()).toBe(50);
    expect(page.url()).toMatch(/#\/runs$/);
  });

  it('show what begins, waits and ends while they are open, and count what waits in the bar', async () => {
    const { page, open, agent, server } = await openStudio();
    const [probe, form] = [await agent(PROBE), await agent(FORM)];
    // Once the connection stands the page asks by itself once a minute, which is later than this test waits.
    const ready = page.waitForEvent('websocket', { predicate: (socket) => socket.url().endsWith('/runs/live') });
    await open('/runs');
    const socket = await ready;
    await socket.waitForEvent('framereceived', { predicate: ({ payload }) => String(payload).includes('"runs"') });
    await page.getByText('Nothing has run yet.').waitFor();
    const stream = await openStream(`${server.url}/api/v1/agents/${probe}/stream`, { body: {} });
    const line = page.getByRole('row').filter({ hasText: 'Agent 1' });
    await line.getByText('running').waitFor();
    (await server.probes.next()).settle();
    await stream.rest();
    await line.getByText('succeeded').waitFor();
    await ask(server, form);
    await page.getByRole('link', { name: 'Inbox (1 waits)' }).waitFor();
    await page.getByRole('link', { name: 'Inbox (1 waits)' }).click();
    await page.getByText('Where to?').waitFor();
    await ask(server, form);
    await page.getByRole('link', { name: 'Inbox (2 wait)' }).waitFor();
    await expect.poll(() => page.getByText('Where to?').count()).toBe(2);
  });

  it('show what begins also where WebSockets do not come through', async () => {
    const { page, open, agent, server } = await openStudio({
      address: async (server) => (await startProxy({ target: () => server.url, hasSockets: () => false })).url,
    });
    const echo = await agent(ECHO);
    await open('/runs');
    await page.getByText('Nothing has run yet.').waitFor();
    await ask(server, echo);
    await page.getByRole('rowheader', { name: 'Agent 1' }).waitFor();
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
