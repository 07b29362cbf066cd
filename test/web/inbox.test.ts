/** The screen of what waits for a person. */
import { describe, expect, it } from 'vitest';
import { readFilter } from '../../web/inbox/inbox.js';
import { FORM } from '../transport/support/documents.js';
import type { TestServer } from '../transport/support/server.js';
import { example, exampleModels } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const HOUR_MS = 3_600_000;

const ask = async (server: TestServer, agent: string, more: object = {}): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x', ...more })).body.data.run_id;

/** Makes a run one that began and asked so long ago. */
async function age({ stores }: TestServer, id: string, beganMs: number, askedMs: number): Promise<void> {
  const run = (await stores.runs.find('local', id))!;
  await stores.runs.save('local', { ...run, startedAt: Date.now() - beganMs, finishedAt: Date.now() - askedMs });
}

async function openAsking() {
  const studio = await openStudio({ models: await exampleModels('agent') });
  const { agent, page, server } = studio;
  const guide = JSON.parse(JSON.stringify(await example('agent')));
  guide.components['Agent:Guide'].obj.params.require_approval = ['*'];
  const [form, other, approval] = [await agent(FORM), await agent(FORM), await agent(guide)];
  return {
    ...studio,
    ...{ form, other, approval },
    runs: [
      await ask(server, form, { user_id: 'me' }),
      await ask(server, other, { user_id: 'you' }),
      await ask(server, approval, { query: 'How old is the Golden Gate Bridge?' }),
    ] as const,
    listed: () => page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents(),
  };
}

describe.skipIf(!hasChromium)(named('the inbox'), () => {
  it('is narrowed down in the address by agent, kind, user and age', async () => {
    const { page, open, server, form, runs, listed } = await openAsking();
    await age(server, runs[0], 30 * HOUR_MS, 25 * HOUR_MS);
    await age(server, runs[1], 25 * HOUR_MS, 2 * HOUR_MS);
    const choose = (name: string, option: string) => page.getByRole('combobox', { name }).selectOption(option);
    const all = ['Agent 1', 'Agent 2', 'Agent 3'];
    await open('/inbox');
    await expect.poll(async () => (await listed()).toSorted()).toEqual(all);
    await choose('Agent', 'Agent 1');
    await expect.poll(listed).toEqual(['Agent 1']);
    expect(page.url()).toMatch(new RegExp(`#/inbox\\?agent=${form}$`));
    await page.getByRole('button', { name: 'Show all' }).click();
    await choose('Asks for a', 'approval');
    await expect.poll(listed).toEqual(['Agent 3']);
    await page.reload();
    await expect.poll(listed).toEqual(['Agent 3']);
    await choose('Asks for a', 'form');
    await expect.poll(async () => (await listed()).toSorted()).toEqual(['Agent 1', 'Agent 2']);
    await page.getByRole('searchbox', { name: 'User' }).fill('you');
    await expect.poll(listed).toEqual(['Agent 2']);
    await choose('Asks for a', 'something else');
    await page.getByText('Nothing like that waits.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => (await listed()).toSorted()).toEqual(all);
    await choose('Waits', 'for more than an hour');
    await expect.poll(async () => (await listed()).toSorted()).toEqual(['Agent 1', 'Agent 2']);
    // One that began two days ago may have asked today.
    await choose('Waits', 'for more than a day');
    await expect.poll(listed).toEqual(['Agent 1']);
    expect(page.url()).toMatch(/#\/inbox\?age=day$/);
    await page.getByRole('link', { name: 'Inbox (3 wait)' }).waitFor();
  });

  it('shows what comes while it is narrowed down, and only that', async () => {
    const { page, open, server, form, other, listed } = await openAsking();
    await open(`/inbox?agent=${form}&kind=form`);
    await expect.poll(listed).toEqual(['Agent 1']);
    await ask(server, other);
    await page.getByRole('link', { name: 'Inbox (4 wait)' }).waitFor();
    await ask(server, form);
    await expect.poll(listed).toEqual(['Agent 1', 'Agent 1']);
  });
});

describe('the filter of the inbox', () => {
  it.each(['kind=file', 'age=century', 'agent=', 'user=', 'page=2'])(
    'passes over what it does not know: %s',
    (query) => {
      expect(Object.values(readFilter(new URLSearchParams(query)))).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    },
  );
});
