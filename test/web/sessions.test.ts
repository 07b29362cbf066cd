/** The screen of the conversations with all agents. */
import { describe, expect, it } from 'vitest';
import { ECHO, FORM, PROBE } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import type { TestServer } from '../transport/support/server.js';
import { conversation } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const HOSTILE = '"><img src=x onerror=alert(1)> {{constructor.constructor(1)()}}';

const ask = async (server: TestServer, agent: string, query: string, more: object = {}): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, { query, ...more })).body.data.session_id;

describe.skipIf(!hasChromium)(named('the screen of sessions'), () => {
  it('lists them with their last runs, narrows them down in the address, and leads to what was said', async () => {
    const { page, open, agent, server } = await openStudio();
    const [echo, form] = [await agent(ECHO), await agent(FORM)];
    await ask(server, echo, 'how old is the bridge?', { user_id: 'me' });
    await ask(server, form, 'where to?');
    await open('/sessions');
    const lines = page.getByRole('rowheader');
    await lines.filter({ hasText: 'how old is the bridge?' }).waitFor();
    expect(await lines.allTextContents()).toEqual(['where to?', 'how old is the bridge?']);
    const waits = page.getByRole('row').filter({ hasText: 'where to?' });
    expect((await waits.getByRole('cell').allTextContents()).slice(0, 2)).toEqual(['Agent 2', 'waiting']);
    await page.getByRole('searchbox', { name: 'Search in what was said' }).fill('OLD IS');
    await expect.poll(() => lines.allTextContents()).toEqual(['how old is the bridge?']);
    expect(page.url()).toMatch(/#\/sessions\?search=OLD\+IS$/);
    await page.getByRole('searchbox', { name: 'Search in what was said' }).fill('');
    await page.getByRole('combobox', { name: 'Last run' }).selectOption('waiting');
    await expect.poll(() => lines.allTextContents()).toEqual(['where to?']);
    expect(page.url()).toMatch(/#\/sessions\?status=waiting$/);
    await page.reload();
    await expect.poll(() => lines.allTextContents()).toEqual(['where to?']);
    await page.getByRole('combobox', { name: 'Last run' }).selectOption('all');
    await page.getByRole('searchbox', { name: 'User' }).fill('me');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(form);
    await page.getByText('No session is like that.').waitFor();
    await page.reload();
    await page.getByText('No session is like that.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'how old is the bridge?' }).click();
    await conversation(page).getByText('you said how old is the bridge?').waitFor();
  });

  it('shows one as soon as its run stands so, and no longer', async () => {
    const { page, open, agent, server } = await openStudio();
    const probe = await agent(PROBE);
    await open('/sessions?status=running');
    await page.getByText('No session is like that.').waitFor();
    const stream = await openStream(`${server.url}/api/v1/agents/${probe}/stream`, { body: { query: 'work' } });
    await page.getByRole('rowheader', { name: 'work' }).waitFor();
    (await server.probes.next()).settle();
    await stream.rest();
    await page.getByText('No session is like that.').waitFor();
  });

  it('shows what begins elsewhere, and deletes one', async () => {
    const { page, open, agent, server } = await openStudio();
    const echo = await agent(ECHO);
    await open('/sessions');
    await page.getByText('Nothing has been said yet.').waitFor();
    // What people ask is the name of their session, and stays text.
    const session = await ask(server, echo, HOSTILE);
    const line = page.getByRole('row').filter({ hasText: HOSTILE });
    await line.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing has been said yet.').waitFor();
    const { body } = await server.call('GET', `/api/v1/agents/${echo}/sessions/${session}`);
    expect(body.code).not.toBe(0);
  });
});
