/** The published `useChat` in a real browser, on a page of its own: it sends, approves, is loaded again in the middle, and stops. */
import path from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { route } from '../../../src/transport/http/route.js';
import { PROBE } from '../../transport/support/documents.js';
import { startServer, type TestServerOptions } from '../../transport/support/server.js';
import { hasChromium, named } from '../support/chromium.js';
import { example, exampleModels } from '../support/conversation.js';
import { openPages } from '../support/studio.js';

let script = '';

beforeAll(async () => {
  if (!hasChromium) return;
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'page.tsx')],
    bundle: true,
    write: false,
    jsx: 'automatic',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  script = outputFiles[0]?.text ?? '';
});

/** A server that also has the page, and the page of an agent. */
async function openChat(dsl: JsonObject, options: TestServerOptions = {}) {
  const served = (address: 'GET /use-chat' | 'GET /use-chat.js', type: string, text: () => string) =>
    route(address, {
      summary: 'The page of a test',
      access: 'open',
      answers: 'text',
      handle: ({ exchange }) => {
        exchange.type = type;
        return text();
      },
    });
  const html =
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="root"></div><script src="use-chat.js"></script>';
  const routes = [
    {
      name: 'test',
      description: 'A page.',
      routes: [served('GET /use-chat', 'html', () => html), served('GET /use-chat.js', 'js', () => script)],
    },
  ];
  const server = await startServer({ ...options, routes });
  const agent = await server.agent(dsl);
  const { page } = await openPages(() => server.url);
  await page.goto(`${server.url}/api/v1/use-chat?agent=${agent}`);
  const runs = async () =>
    ((await server.call('GET', `/api/v1/agents/${agent}/runs`)).body.data as { status: string }[]).map(
      ({ status }) => status,
    );
  return { server, page, runs, press: (name: string) => page.getByRole('button', { name, exact: true }).click() };
}

describe.skipIf(!hasChromium)(named('useChat'), () => {
  it('sends, approves calls of an agent, and shows the answer in one message', async () => {
    const dsl = JSON.parse(JSON.stringify(await example('agent')));
    dsl.components['Agent:Guide'].obj.params.require_approval = ['*'];
    const { page, press, runs } = await openChat(dsl, { models: await exampleModels('agent') });
    await press('Ask');
    await press('Allow Historian_0');
    await press('Allow execute_code_1');
    await page.getByText('It was opened in 1937, so it is 89 years old.').waitFor();
    await page.getByText('Historian_0: output-available').waitFor();
    await page.getByRole('status').getByText('ready').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(2);
    expect(await runs()).toEqual(['succeeded', 'waiting']);
  });

  it('goes on when its page is loaded again in the middle', async () => {
    const { page, press, server, runs } = await openChat(PROBE);
    await press('Ask');
    const probe = await server.probes.next();
    probe.say('one ');
    await page.getByText('one').waitFor();
    await page.reload();
    await page.getByRole('status').getByText('streaming').waitFor();
    probe.say('two ');
    await page.getByText('one two').waitFor();
    await page.reload();
    await page.getByRole('status').getByText('streaming').waitFor();
    probe.say('three');
    probe.settle('one two three');
    await page.getByText('one two three').waitFor();
    await page.getByRole('status').getByText('ready').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(2);
    expect(await runs()).toEqual(['succeeded']);
  });

  it('stops the run for good', async () => {
    const { page, press, server, runs } = await openChat(PROBE);
    await press('Ask');
    const probe = await server.probes.next();
    probe.say('half');
    await page.getByText('half').waitFor();
    await press('Stop');
    await probe.stopped;
    await page.getByRole('status').getByText('ready').waitFor();
    await page.reload();
    await page.getByText('half').waitFor();
    await page.getByRole('status').getByText('ready').waitFor();
    expect(await runs()).toEqual(['cancelled']);
  });
});
