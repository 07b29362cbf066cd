/** A runner over real sockets: turns as events, inputs, stops, answers, readers that leave and come back. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { Observable, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AgentHandlerOptions,
  agent,
  agentHandler,
  createRunner,
  nodeListener,
} from '../../../src/entries/agents.js';
import { defineTool } from '../../../src/index.js';
import { type Reply, replies } from '../loop/support.js';

/** An agent with a tool that waits, one that asks, and a server for it. */
async function serve(
  list: readonly Reply[],
  options: Partial<AgentHandlerOptions> = {},
  bounds: { readonly maxWaiting?: number } = {},
) {
  const entered$ = new Subject<void>();
  const open$ = new Subject<string>();
  let left = 0;
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
          left += 1;
          waiting.unsubscribe();
        };
      }),
  });
  const sure = defineTool({
    name: 'sure',
    description: 'Asks.',
    run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
  });
  const model = replies(...list);
  const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [wait, sure] }), ...bounds });
  const handler = agentHandler({ runner, ...options });
  const server = createServer(nodeListener(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${options.basePath ?? ''}`;
  /** With headers that `fetch` keeps for itself. */
  const send = async (path: string, headers: Record<string, string>) => {
    const asked = request(`${base}${path}`, { headers }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: await readJson(answer) };
  };
  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    fetch(`${base}/sessions/${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      ...init,
    });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${base}/sessions/${path}`, { headers });
  const entered = () => new Promise<void>((resolve) => entered$.subscribe(() => resolve()));
  return { post, get, send, entered, open: (text: string) => open$.next(text), model, handler, left: () => left };
}

interface Told {
  readonly id: number;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

function eventsIn(text: string): Told[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('data: '))
    .map((frame) => {
      const fields = new Map(
        frame.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      return {
        id: Number(fields.get('id')),
        type: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? '{}'),
      };
    });
}

const end = async (response: Response) => eventsIn(await response.text()).at(-1)?.data;
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
const WAIT: Reply = { calls: [{ name: 'wait' }] };

describe('agentHandler', () => {
  it('gives a turn as numbered events, and the session behind it', async () => {
    const { post, get } = await serve(['Hello.']);
    const response = await post('s1/turns', { input: 'Hi.' });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsIn(await response.text());
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    expect(events[0]).toMatchObject({ type: 'turn-started', data: { session: 's1' } });
    expect(events.at(-1)?.data).toMatchObject({ type: 'turn-ended', status: 'succeeded', text: 'Hello.' });
    expect(await (await get('s1')).json()).toMatchObject({ messages: [{ content: 'Hi.' }, { content: 'Hello.' }] });
  });

  it('stores an input before it says so, counts one id once, and delivers it', async () => {
    const { post, entered, open, model } = await serve([WAIT, 'Short.']);
    const inside = entered();
    const turn = post('s/turns', { input: 'Go.' });
    await inside;
    const said = await post('s/inputs', { id: 'i', content: 'Short!' });
    expect([said.status, await said.json()]).toEqual([202, { id: 'i', status: 'accepted' }]);
    const again = await post('s/inputs', { id: 'i', content: 'Short!' });
    expect([again.status, await again.json()]).toEqual([200, { id: 'i', status: 'known' }]);
    open('done');
    expect(await end(await turn)).toMatchObject({ status: 'succeeded', text: 'Short.' });
    expect(model.requests[1]?.messages.at(-1)?.content).toBe('Short!');
    expect((await post('s/inputs', { content: 'x' })).status).toBe(404);
  });

  it('refuses an input more than may wait, and delivers the others', async () => {
    const { post, entered, open, model } = await serve([WAIT, 'Done.'], {}, { maxWaiting: 3 });
    const inside = entered();
    const turn = post('s/turns', { input: 'Go.' });
    await inside;
    for (const content of ['one', 'two', 'three']) expect((await post('s/inputs', { content })).status).toBe(202);
    const refused = await post('s/inputs', { id: 'more', content: 'more' });
    expect([refused.status, await codeOf(refused)]).toEqual([409, 'INPUT_OVERFLOW']);
    open('done');
    expect(await end(await turn)).toMatchObject({ status: 'succeeded', text: 'Done.' });
    const told = model.requests[1]?.messages.map(({ content }) => content);
    expect(told?.slice(-3)).toEqual(['one', 'two', 'three']);
  });

  it('stops at a safe point, goes on, and refuses a second turn meanwhile', async () => {
    const { post, entered, open } = await serve([WAIT, 'Done.']);
    const inside = entered();
    const turn = post('s/turns', { input: 'Go.' });
    await inside;
    const second = await post('s/turns', { input: 'And?' });
    expect([second.status, await codeOf(second)]).toEqual([409, 'SESSION_BUSY']);
    expect((await post('s/cancel', { mode: 'after-tools' })).status).toBe(202);
    open('done');
    expect(await end(await turn)).toMatchObject({ status: 'cancelled', mode: 'after-tools' });
    expect(await end(await post('s/resume', {}))).toMatchObject({ status: 'succeeded', text: 'Done.' });
  });

  it('waits for answers, and leaves the question open for a wrong one', async () => {
    const { post } = await serve([{ calls: [{ name: 'sure', id: 'c' }] }, 'Done.']);
    expect(await end(await post('s/turns', { input: 'Go.' }))).toMatchObject({
      status: 'waiting',
      questions: [{ address: 'guide/tools#c', question: 'Sure?' }],
    });
    const wrong = await post('s/resume', { answers: { nowhere: 1 } });
    expect([wrong.status, eventsIn(await wrong.text()).at(-1)?.data]).toEqual([
      200,
      expect.objectContaining({ code: 'ANSWER_UNKNOWN' }),
    ]);
    expect(await end(await post('s/resume', { answers: { 'guide/tools#c': 'yes' } }))).toMatchObject({ text: 'Done.' });
  });

  it('goes on when its reader leaves, and lets readers come back from any event', async () => {
    const { post, get, entered, open, left } = await serve([WAIT, 'Done.']);
    const inside = entered();
    const leaving = new AbortController();
    const turn = await post('s/turns', { input: 'Go.' }, { signal: leaving.signal });
    const reader = turn.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('turn-started');
    await inside;
    leaving.abort();
    const [all, some] = await Promise.all([get('s/events'), get('s/events', { 'last-event-id': '3' })]);
    expect(left()).toBe(0);
    open('done');
    const [whole, rest] = [eventsIn(await all.text()), eventsIn(await some.text())];
    expect(whole.map(({ id }) => id)).toEqual(whole.map((_, at) => at + 1));
    expect(rest).toEqual(whole.slice(3));
    // Behind the end, for a page that was late.
    expect(eventsIn(await (await get(`s/events?after=${whole.length - 1}`)).text())).toEqual(whole.slice(-1));
    expect((await get('other/events')).status).toBe(204);
  });

  it('tells a reader what it missed, when the events are too many to keep', async () => {
    const { post, get } = await serve(['Done.'], { maxEvents: 8 });
    const kept = eventsIn(await (await post('s/turns', { input: 'Go.' })).text());
    const again = eventsIn(await (await get('s/events')).text());
    expect(again[0]?.type).toBe('gap');
    const missed = again[0] as Told;
    expect([missed.data.from, again[1]?.id]).toEqual([1, Number(missed.data.to) + 1]);
    expect(again.at(-1)).toEqual(kept.at(-1));
  });

  it('keeps the sessions of callers apart', async () => {
    const authorise = ({ headers }: Request) =>
      ({ 'key-a': 'ann', 'key-b': 'ann/x' })[headers.get('authorization') ?? ''];
    const { post } = await serve(['A.', 'B.'], { authorise, basePath: '/agents/guide' });
    const as = (key: string, path: string, body: unknown) =>
      post(path, body, { headers: { 'content-type': 'application/json', authorization: key } });
    const none = await post('s/turns', { input: 'Go.' });
    expect([none.status, await codeOf(none)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(await end(await as('key-a', 'x%2Fs/turns', { input: 'Secret.' }))).toMatchObject({
      text: 'A.',
      session: 'x/s',
    });
    const other = await as('key-b', 's/rollback', { turn: '' });
    expect(await other.json()).toMatchObject({ messages: [] });
    const own = await as('key-a', 'x%2Fs/rollback', { turn: '' });
    expect(own.status).toBe(200);
  });

  it.each([
    ['s/turns', '{', 400],
    ['s/turns', { input: '' }, 400],
    ['s/turns', { input: 'x', more: 1 }, 400],
    ['s/cancel', { mode: 'later' }, 400],
    ['s/cancel', {}, 404],
    ['s/rollback', { turn: 'none' }, 404],
    ['s/resume', {}, 404],
    ['%E0%A4%A/turns', { input: 'x' }, 400],
    ['s/nothing', {}, 404],
    [`${'s'.repeat(300)}/turns`, { input: 'x' }, 400],
    ['s/turns', { input: 'x'.repeat(2_000) }, 413],
  ])('refuses %s with %j', async (path, body, status) => {
    const { post } = await serve(['x'], { maxBodyBytes: 1_000 });
    expect((await post(path, body)).status).toBe(status);
  });

  it.each([
    [{ host: 'evil.example' }, 403],
    [{ host: 'evil.example:80', origin: 'http://evil.example:80' }, 403],
    [{ host: '127.0.0.1.evil.example' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{}, 200],
    [{ host: 'LOCALHOST:1' }, 200],
    [{ host: '[::1]:1', origin: 'http://[::1]:1' }, 200],
    [{ origin: 'https://shop.example' }, 200],
  ])('answers to its own names and pages without `authorise`: %j gets %i', async (headers, status) => {
    const { send } = await serve(['Hello.'], { origins: ['https://shop.example'] });
    const asked = await send('/sessions/s', headers);
    expect(asked.status).toBe(status);
    if (status === 403) expect(asked.body).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });

  it('answers to every name where `authorise` says who asks', async () => {
    const { send } = await serve(['Hello.'], { authorise: () => 'ann' });
    expect((await send('/sessions/s', { host: 'agents.example', origin: 'https://shop.example' })).status).toBe(200);
  });

  it('reads no form of another site, and bounds what is at work', async () => {
    const { post, entered, get, handler } = await serve([WAIT], { maxTurns: 1 });
    const form = await post('s/turns', '{"input":"x"}', { headers: { 'content-type': 'text/plain' } });
    expect([form.status, (await get('s/turns')).status]).toEqual([400, 405]);
    const inside = entered();
    const first = post('a/turns', { input: 'Go.' });
    await inside;
    const second = await post('b/turns', { input: 'Go.' });
    expect([second.status, await codeOf(second)]).toEqual([429, 'LIMIT_REACHED']);
    await handler.close();
    // What was at work was stopped, and goes on with resume.
    expect(await end(await first)).toMatchObject({ status: 'cancelled', mode: 'now' });
    expect((await post('c/turns', { input: 'Go.' })).status).toBe(429);
  });

  it('refuses options that it does not have', () => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('x') }) });
    for (const options of [{}, { runner, maxTurns: 0 }, { runner, authorise: 1 }, { runner, other: 1 }]) {
      expect(() => agentHandler(options as never)).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
    }
  });
});
