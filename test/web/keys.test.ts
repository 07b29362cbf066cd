/** The page of a server that wants keys. */
import { describe, expect, it } from 'vitest';
import { conversation, example, messageField, say } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const KEY = 'key-of-the-tenant-acme';
const HEADERS = { authorization: `Bearer ${KEY}` };

const open = () => openStudio({ env: { RUNNEL_API_KEYS: `acme=${KEY}` } });

describe.skipIf(!hasChromium)(named('a server with keys'), () => {
  it('asks for one, refuses a wrong one, and lets in', async () => {
    const { page, server, open: go } = await open();
    const agent = await server.agent(await example('hello'), HEADERS);
    await go(`/agents/${agent}`);
    const login = page.getByRole('dialog', { name: 'This server needs a key' });
    await login.getByLabel('Key', { exact: true }).fill('not a key');
    await login.getByRole('button', { name: 'Enter' }).click();
    await login.getByRole('alert').getByText('The server does not take this key.').waitFor();
    await login.getByLabel('Key', { exact: true }).fill(KEY);
    await login.getByRole('button', { name: 'Enter' }).click();
    await say(page, 'hi');
    await conversation(page).getByText('You said "hi"').waitFor();
    expect(page.url()).not.toContain(KEY);
    expect(await page.context().cookies()).toEqual([]);
    // The tab keeps it; another one is asked again.
    await page.reload();
    await conversation(page).getByText('You said "hi"').waitFor();
    expect(await login.count()).toBe(0);
  });

  it('loses nothing that was typed when a key is not taken any more', async () => {
    const { page, server, open: go } = await open();
    const agent = await server.agent(await example('hello'), HEADERS);
    await go(`/agents/${agent}`);
    const login = page.getByRole('dialog', { name: 'This server needs a key' });
    await login.getByLabel('Key', { exact: true }).fill(KEY);
    await login.getByRole('button', { name: 'Enter' }).click();
    await messageField(page).waitFor();
    await page.route('**/stream', async (route) => {
      const headers = { ...route.request().headers(), authorization: 'Bearer gone' };
      await route.continue({ headers });
    });
    await say(page, 'precious words');
    await login.waitFor();
    expect(await messageField(page).inputValue()).toBe('precious words');
    await page.unroute('**/stream');
    await login.getByLabel('Key', { exact: true }).fill(KEY);
    await login.getByRole('button', { name: 'Enter' }).click();
    await conversation(page).getByText('You said "precious words"').waitFor();
  });
});
