/** The published `useChat` in a real browser against agents in code: it sends, approves, steers, is loaded again in the middle, and stops. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { build } from 'esbuild';
import { Observable, Subject } from 'rxjs';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { agent, agentHandler, approve, createRunner, nodeListener } from '../../../src/entries/agents.js';
import { defineTool } from '../../../src/index.js';
import { type Reply, replies } from '../../agents/loop/support.js';
import { hasChromium, named } from '../support/chromium.js';
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

const HTML =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="root"></div><script src="/use-chat.js"></script>';

/** An agent with a tool that waits and needs an approval, its server, and the page. */
async function openChat(...list: readonly Reply[]) {
  const entered$ = new Subject<void>();
  const open$ = new Subject<string>();
  let stops = 0;
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    run: () =>
      new Observable<string>((subscriber) => {
        const waiting = open$.subscribe((text) => {
          subscriber.next(text);
          subscriber.complete();
        });
        entered$.next();
        return () => {
          stops += 1;
          waiting.unsubscribe();
        };
      }),
  });
  const model = replies(...list);
  const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [wait], use: [approve(['wait'])] }) });
  const handler = agentHandler({ runner });
  const listener = nodeListener(handler);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/') response.setHeader('content-type', 'text/html').end(HTML);
    else if (pathname === '/use-chat.js') response.setHeader('content-type', 'text/javascript').end(script);
    else listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  const { page } = await openPages(() => url);
  await page.goto(`${url}/?at=/ui-messages`);
  return {
    page,
    runner,
    model,
    entered: () => new Promise<void>((resolve) => entered$.subscribe(() => resolve())),
    open: (text: string) => open$.next(text),
    stops: () => stops,
    press: (name: string) => page.getByRole('button', { name, exact: true }).click(),
  };
}

const WAIT: Reply = { text: 'Let me see.', calls: [{ name: 'wait' }] };

describe.skipIf(!hasChromium)(named('useChat with an agent in code'), () => {
  it('sends, approves, steers and is loaded again in the middle', async () => {
    const { page, press, entered, open, runner, model } = await openChat(WAIT, 'It is from 1937.');
    await press('Ask');
    await page.getByText('Let me see.').waitFor();
    const inside = entered();
    await press('Allow wait');
    await inside;
    const said = page.waitForResponse((response) => response.url().endsWith('/inputs'));
    await press('Say');
    expect((await said).status()).toBe(202);
    await page.reload();
    await page.getByRole('status').getByText('streaming').waitFor();
    open('found');
    await page.getByText('It is from 1937.').waitFor();
    await page.getByText('wait: output-available').waitFor();
    await page.getByRole('status').getByText('ready').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(2);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'In one line!' });
    expect((await runner.session('chat-1')).turns).toMatchObject([{ status: 'succeeded' }]);
  });

  it('stops the turn for good', async () => {
    const { page, press, entered, runner, stops } = await openChat(WAIT, 'never');
    await press('Ask');
    const inside = entered();
    await press('Allow wait');
    await inside;
    await press('Stop');
    await page.getByRole('status').getByText('ready').waitFor();
    await page.reload();
    await page.getByRole('status').getByText('ready').waitFor();
    expect((await runner.session('chat-1')).turns).toMatchObject([{ status: 'cancelled' }]);
    expect(stops()).toBe(1);
  });
});
