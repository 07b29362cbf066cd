/** Runs that outlive their page, their connection and their server. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, environment, startProcess } from '../durable/support/server-process.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { freePort } from '../support/server-process.js';
import { startServer } from '../transport/support/server.js';
import { readPage } from './support/build-page.js';
import { ASKING, answering, conversation, countedWords, say } from './support/conversation.js';
import { startProxy } from './support/proxy.js';
import { hasChromium, named, openPages, openStudio } from './support/studio.js';

const WORDS = countedWords(60);
const WHOLE = WORDS.join('').trim();

/** The answer as the page shows it. */
const shown = (page: Parameters<typeof conversation>[0]) => conversation(page).getByText(WHOLE, { exact: true });

describe.skipIf(!hasChromium)(named('a run and its pages'), () => {
  it('comes whole to a page that is loaded four times meanwhile, and to a second tab', async () => {
    const { page, open, agent, server, tab } = await openStudio({ models: answering(WORDS, 150) });
    const id = await agent(ASKING);
    await open(`/agents/${id}`);
    await say(page, 'count');
    await conversation(page).getByText('w2.').waitFor();
    const second = await tab();
    await second.open(new URL(page.url()).hash.slice(1));
    for (const word of ['w5.', 'w9.', 'w14.', 'w20.']) {
      await conversation(page).getByText(word).waitFor();
      await page.reload();
    }
    await shown(page).waitFor();
    await shown(second.page).waitFor();
    expect([await shown(page).count(), await shown(second.page).count()]).toEqual([1, 1]);
    expect(await conversation(page).getByText('count', { exact: true }).count()).toBe(1);
    const { body } = await server.call('GET', `/api/v1/agents/${id}/runs`);
    expect(body.data.map(({ usage, status }: Record<string, { calls: number }>) => [status, usage?.calls])).toEqual([
      ['succeeded', 1],
    ]);
  });

  it('leaves room for a ninth tab when eight follow a run', async () => {
    // A word a second: what nine pages draw meanwhile is not to take the time that the next one needs.
    const { page, open, agent, tab } = await openStudio({ models: answering(countedWords(5_000), 1_000) });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'count');
    await conversation(page).getByText('w2.').waitFor();
    const address = new URL(page.url()).hash.slice(1);
    for (let count = 2; count <= 9; count += 1) {
      const another = await tab();
      const held = heldStreams(another.page);
      await another.open(address);
      await conversation(another.page).getByText('w2.').waitFor();
      // Browsers keep six connections to a server: one that a tab holds is one that the ninth lacks.
      expect([...held]).toEqual([]);
    }
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await conversation(page)
      .getByText(/^Stopped after/)
      .waitFor();
  });

  it('goes on when its connection is lost, which the page says, and catches up', async () => {
    let cut = (): void => {};
    let mend = (): void => {};
    const { page, open, agent } = await openStudio({
      models: answering(WORDS, 60),
      address: async (server) => {
        const proxy = await startProxy({ target: () => server.url });
        ({ cut, mend } = proxy);
        return proxy.url;
      },
    });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'count');
    await conversation(page).getByText('w2.').waitFor();
    cut();
    await page
      .getByRole('status')
      .getByText(/^The connection to the server is lost/)
      .waitFor();
    mend();
    await shown(page).waitFor();
    await page.getByRole('status').getByText('Connected again, and caught up.').waitFor();
    expect(await shown(page).count()).toBe(1);
  });

  it('comes as an event stream where WebSockets do not come through', async () => {
    const { page, open, agent } = await openStudio({
      models: answering(WORDS, 20),
      address: async (server) => (await startProxy({ target: () => server.url, hasSockets: () => false })).url,
    });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'count');
    await shown(page).waitFor();
    expect(await shown(page).count()).toBe(1);
  });

  it('leaves an event stream when WebSockets come through again, so that other tabs have its connection', async () => {
    let hasSockets = false;
    const { page, open, agent } = await openStudio({
      models: answering(countedWords(5_000), 100),
      address: async (server) => (await startProxy({ target: () => server.url, hasSockets: () => hasSockets })).url,
    });
    const held = heldStreams(page);
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'count');
    await conversation(page).getByText('w2.').waitFor();
    expect(held.size).toBe(1);
    const left = page.waitForEvent('requestfailed', (request) => request.url().includes('/events'));
    hasSockets = true;
    await left;
    expect([...held]).toEqual([]);
    const then = wordsOf(await page.getByRole('article').textContent());
    await conversation(page)
      .getByText(`w${then.length + 3}.`)
      .waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await conversation(page)
      .getByText(/^Stopped after/)
      .waitFor();
    const words = wordsOf(await page.getByRole('article').textContent());
    expect(words).toEqual(countedWords(words.length).map((word) => word.trim()));
  });

  it('is there behind a path prefix, and nothing is asked for beside it', async () => {
    let strays: readonly string[] = [];
    const { page, open, agent } = await openStudio({
      models: answering(['Hello ', 'there.']),
      address: async (server) => {
        const proxy = await startProxy({ prefix: '/tools/runnel', target: () => server.url });
        ({ strays } = proxy);
        return proxy.url;
      },
    });
    const id = await agent(ASKING);
    await open('/agents');
    await page.locator(`a[href$="/agents/${id}"]`).first().click();
    await say(page, 'hi');
    await conversation(page).getByText('Hello there.').waitFor();
    await page.reload();
    await conversation(page).getByText('Hello there.').waitFor();
    expect(strays).toEqual([]);
  });

  it('survives that its server is killed and started again, with every word once', async () => {
    const script = answering(WORDS, 100);
    const { page, agent, url, kill, restart } = await openKillable(script);
    await page.goto(`${url}#/agents/${agent}`);
    await say(page, 'count');
    await conversation(page).getByText('w10.').waitFor();
    await kill();
    await page
      .getByRole('status')
      .getByText(/^The connection to the server is lost/)
      .waitFor();
    const server = await restart();
    await shown(page).waitFor({ timeout: 60_000 });
    expect(await shown(page).count()).toBe(1);
    const { data } = await call(`${server}/api/v1/agents/${agent}/runs`);
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['succeeded']);
    await page.reload();
    await shown(page).waitFor();
    expect(await shown(page).count()).toBe(1);
  });
});

/** Addresses of event streams that a page holds at this moment. */
function heldStreams(page: Parameters<typeof conversation>[0]): ReadonlySet<string> {
  const held = new Set<string>();
  const isStream = (address: string): boolean => new URL(address).pathname.endsWith('/events');
  page.on('request', (request) => isStream(request.url()) && held.add(request.url()));
  page.on('requestfinished', (request) => held.delete(request.url()));
  page.on('requestfailed', (request) => held.delete(request.url()));
  return held;
}

const wordsOf = (text: string | null): readonly string[] => text?.match(/w\d+\./g) ?? [];

/** A server as a process of its own behind an address that stays, with the page of this code. */
async function openKillable(script: string) {
  const models = path.join(await temporaryFolder(), 'models.json');
  await writeFile(models, script);
  const env = await environment({ RUNNEL_MODELS: models, RUNNEL_PORT: String(await freePort()) });
  let server = await startProcess(env);
  const pages = await startServer({ studio: await readPage() });
  const proxy = await startProxy({ target: (at) => (at.startsWith('/api/') ? server.url : pages.url) });
  const { page } = await openPages(() => proxy.url);
  const { data } = await call(`${server.url}/api/v1/agents`, { title: 'Counting', dsl: ASKING });
  return {
    page,
    agent: data.id as string,
    url: proxy.url,
    kill: () => server.kill(),
    restart: async () => {
      server = await startProcess(env);
      return server.url;
    },
  };
}
