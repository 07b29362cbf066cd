/** A runner over real WebSockets: turns, inputs, stops, answers, readers that come back, and those that do not read. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { concat, Observable, of, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import {
  type AgentHandlerOptions,
  agent,
  agentHandler,
  createRunner,
  nodeListener,
  nodeUpgrade,
} from '../../../src/entries/agents.js';
import { type ChatDelta, defineTool } from '../../../src/index.js';
import { type Reply, replies } from '../loop/support.js';

interface Frame {
  readonly type: string;
  readonly req?: string | number;
  readonly id?: number | string;
  readonly event?: { readonly type: string; readonly [name: string]: unknown };
  readonly [name: string]: unknown;
}

/** A socket that keeps what it was sent. */
class Client {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  readonly #came$ = new Subject<Frame>();

  constructor(url: string, options: ConstructorParameters<typeof WebSocket>[2] = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      this.frames.push(frame);
      this.#came$.next(frame);
    });
    // A socket that is refused ends with an error, of which the tests are told otherwise.
    this.socket.on('error', () => {});
    onTestFinished(() => this.socket.terminate());
  }

  async open(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** The first frame, also of those before, that is asked for. */
  next(is: (frame: Frame) => boolean): Promise<Frame> {
    const before = this.frames.find(is);
    if (before !== undefined) return Promise.resolve(before);
    return new Promise((resolve) => {
      const waiting = this.#came$.subscribe((frame) => {
        if (!is(frame)) return;
        waiting.unsubscribe();
        resolve(frame);
      });
    });
  }

  /** The answer to a frame. */
  ask(frame: { readonly req: string | number; readonly [name: string]: unknown }): Promise<Frame> {
    this.send(frame);
    return this.next(({ req }) => req === frame.req);
  }

  end(): Promise<Frame> {
    return this.next(({ type }) => type === 'end');
  }

  get events(): Frame[] {
    return this.frames.filter(({ type }) => type === 'event');
  }
}

async function serve(list: readonly Reply[], options: Partial<AgentHandlerOptions> = {}) {
  const entered$ = new Subject<void>();
  const open$ = new Subject<string>();
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
        return waiting;
      }),
  });
  const sure = defineTool({
    name: 'sure',
    description: 'Asks.',
    run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
  });
  const model = replies(...list);
  const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [wait, sure] }) });
  const handler = agentHandler({ runner, ...options });
  const server = createServer(nodeListener(handler)).on('upgrade', nodeUpgrade(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = (path = '/sessions/s/live', more = {}) => new Client(`ws://127.0.0.1:${port}${path}`, more);
  const entered = () => new Promise<void>((resolve) => entered$.subscribe(() => resolve()));
  return { client, entered, open: (text: string) => open$.next(text), model, server, port, handler };
}

const WAIT: Reply = { calls: [{ name: 'wait' }] };
const refused = async ({ socket }: Client) => {
  const [, response] = await once(socket, 'unexpected-response');
  return response.statusCode as number;
};

describe('a WebSocket of a session', () => {
  it('gives the events of a turn, numbered, and says when it is over', async () => {
    const { client } = await serve(['Hello.']);
    const one = await client().open();
    expect(await one.ask({ type: 'turn', req: 1, input: 'Hi.' })).toEqual({ type: 'ok', req: 1 });
    await one.end();
    expect(one.events.map(({ id }) => id)).toEqual(one.events.map((_, at) => at + 1));
    expect(one.events[0]?.event).toMatchObject({ type: 'turn-started', session: 's' });
    expect(one.events.at(-1)?.event).toMatchObject({ type: 'turn-ended', status: 'succeeded', text: 'Hello.' });
  });

  it('takes inputs with their time, counts one id once, and delivers them', async () => {
    const { client, entered, open, model } = await serve([WAIT, 'Short.', 'Later.']);
    const one = await client().open();
    const inside = entered();
    one.send({ type: 'turn', input: 'Go.' });
    await inside;
    const said = { type: 'input', id: 'i', content: 'Short!' };
    expect(await one.ask({ ...said, req: 'a' })).toEqual({ type: 'ok', req: 'a', id: 'i', status: 'accepted' });
    expect(await one.ask({ ...said, req: 'b' })).toEqual({ type: 'ok', req: 'b', id: 'i', status: 'known' });
    expect(await one.ask({ type: 'input', req: 'c', content: 'Then.', when: 'next-turn' })).toMatchObject({
      status: 'accepted',
    });
    open('done');
    await one.end();
    expect(one.events.filter(({ event }) => event?.type === 'turn-ended').map(({ event }) => event?.text)).toEqual([
      'Short.',
      'Later.',
    ]);
    expect(model.requests[1]?.messages.at(-1)?.content).toBe('Short!');
  });

  it('stops at a safe point, and goes on; with answers, too', async () => {
    const { client, entered, open } = await serve([WAIT, { calls: [{ name: 'sure', id: 'c' }] }, 'Done.']);
    const one = await client().open();
    const inside = entered();
    one.send({ type: 'turn', input: 'Go.' });
    await inside;
    expect(await one.ask({ type: 'cancel', req: 1, mode: 'after-tools' })).toEqual({ type: 'ok', req: 1 });
    open('done');
    await one.end();
    expect(one.events.at(-1)?.event).toMatchObject({ status: 'cancelled', mode: 'after-tools' });
    one.frames.length = 0;
    await one.ask({ type: 'resume', req: 2 });
    await one.end();
    expect(one.events.at(-1)?.event).toMatchObject({ status: 'waiting', questions: [{ address: 'guide/tools#c' }] });
    one.frames.length = 0;
    await one.ask({ type: 'resume', req: 3, answers: { 'guide/tools#c': 'yes' } });
    await one.end();
    expect(one.events.at(-1)?.event).toMatchObject({ status: 'succeeded', text: 'Done.' });
  });

  it('that closes detaches; another one attaches behind any event', async () => {
    const { client, entered, open } = await serve([WAIT, 'Done.']);
    const one = await client().open();
    const inside = entered();
    one.send({ type: 'turn', input: 'Go.' });
    await inside;
    one.socket.close();
    await once(one.socket, 'close');
    const [whole, rest] = [await client().open(), await client().open()];
    expect(await rest.ask({ type: 'attach', req: 1, after: 3 })).toEqual({ type: 'ok', req: 1 });
    expect(await whole.ask({ type: 'attach', req: 1 })).toEqual({ type: 'ok', req: 1 });
    open('done');
    await Promise.all([whole.end(), rest.end()]);
    expect(whole.events.map(({ id }) => id)).toEqual(whole.events.map((_, at) => at + 1));
    expect(rest.events).toEqual(whole.events.slice(3));
    const other = await client('/sessions/other/live').open();
    await other.ask({ type: 'attach', req: 1 });
    expect((await other.end()).type).toBe('end');
    expect(other.events).toEqual([]);
  });

  it('is read on only as fast as its client reads, which then is told what it missed', async () => {
    const piece = 'x'.repeat(10_000);
    const many = concat(
      of<ChatDelta[]>(...Array.from({ length: 3_000 }, (): ChatDelta => ({ type: 'text', text: piece }))),
      of<ChatDelta>({ type: 'finish', reason: 'stop' }),
    );
    const { client, entered, open } = await serve([WAIT, many], { maxEvents: 50 });
    const [slow, beside] = [await client().open(), await client().open()];
    const inside = entered();
    beside.send({ type: 'turn', input: 'Go.' });
    await inside;
    await slow.ask({ type: 'attach', req: 1 });
    slow.socket.pause();
    open('done');
    await beside.end();
    slow.socket.resume();
    await slow.end();
    expect(slow.frames.some(({ type }) => type === 'gap')).toBe(true);
    const told = slow.frames.flatMap(({ type, id, from, to }) =>
      type === 'event' ? [[id, id]] : type === 'gap' ? [[from, to]] : [],
    );
    expect(told.slice(1).every(([from], at) => Number(from) === Number(told[at]?.[1]) + 1)).toBe(true);
    expect(slow.events.at(-1)?.event?.type).toBe('turn-ended');
    expect(slow.events.length).toBeLessThan(2_500);
  });

  it.each([
    ['{', undefined],
    ['[]', undefined],
    ['{"type":"nothing","req":1}', 'BAD_REQUEST'],
    ['{"type":"turn","input":"","req":1}', 'BAD_REQUEST'],
    ['{"type":"turn","input":"x","more":1,"req":1}', 'BAD_REQUEST'],
    ['{"type":"cancel","mode":"later","req":1}', 'BAD_REQUEST'],
    ['{"type":"attach","after":-1,"req":1}', 'BAD_REQUEST'],
    ['{"type":"cancel","req":1}', 'NOT_FOUND'],
    ['{"type":"input","content":"x","req":1}', 'NOT_FOUND'],
    ['{"type":"resume","req":1}', 'NOT_FOUND'],
  ])('refuses %s', async (text, code) => {
    const { client } = await serve(['x']);
    const one = await client().open();
    one.socket.send(text);
    if (code === undefined) expect((await once(one.socket, 'close'))[0]).toBe(1003);
    else expect(await one.next(({ req }) => req === 1)).toMatchObject({ type: 'error', error: { code } });
  });

  it('takes no binary frames, none that are too large, and not too many at once', async () => {
    const { client } = await serve([WAIT]);
    const [binary, large, many] = [await client().open(), await client().open(), await client().open()];
    binary.socket.send(Buffer.from('{}'), { binary: true });
    large.socket.send('x'.repeat(2 * 1024 ** 2));
    for (let at = 0; at < 100; at += 1) many.send({ type: 'attach' });
    const codes = await Promise.all([binary, large, many].map(async ({ socket }) => (await once(socket, 'close'))[0]));
    expect(codes).toEqual([1003, 1009, 1008]);
  });

  it('is closed with the server, behind the end of its turn', async () => {
    const { client, entered, handler } = await serve([WAIT]);
    const [one, idle] = [await client().open(), await client('/sessions/other/live').open()];
    const inside = entered();
    one.send({ type: 'turn', input: 'Go.' });
    await inside;
    const closed = Promise.all([one, idle].map(async ({ socket }) => (await once(socket, 'close'))[0]));
    await handler.close();
    expect(await closed).toEqual([1001, 1001]);
    expect(one.events.at(-1)?.event).toMatchObject({ type: 'turn-ended', status: 'cancelled' });
    expect(one.frames.at(-1)?.type).toBe('end');
  });

  it('is for callers that are known, whose sessions never meet, and for pages of its own host', async () => {
    const authorise = ({ url }: Request) => new URL(url).searchParams.get('key')?.replace('key-', '') ?? undefined;
    const { client, port } = await serve(['A.', 'B.'], { authorise, origins: ['https://shop.example'] });
    expect(await refused(client())).toBe(401);
    expect(await refused(client('/nothing?key=key-ann'))).toBe(404);
    expect(await refused(client('/sessions/s/live?key=key-ann', { origin: 'https://evil.example' }))).toBe(403);
    const ann = await client('/sessions/s/live?key=key-ann', { origin: `http://127.0.0.1:${port}` }).open();
    ann.send({ type: 'turn', input: 'Hi.' });
    await ann.end();
    const bob = await client('/sessions/s/live?key=key-bob', { origin: 'https://shop.example' }).open();
    bob.send({ type: 'attach' });
    await bob.end();
    expect([ann.events.length > 0, bob.events.length]).toEqual([true, 0]);
  });

  it('without `authorise` answers to its own names alone', async () => {
    const { client } = await serve(['A.']);
    expect(await refused(client('/sessions/s/live', { headers: { host: 'evil.example' } }))).toBe(403);
    const rebound = { headers: { host: 'evil.example' }, origin: 'http://evil.example' };
    expect(await refused(client('/sessions/s/live', rebound))).toBe(403);
  });

  it('leaves other paths to other listeners, and lives on after requests that are none', async () => {
    const { client, server, port } = await serve(['Hello.']);
    const broken = connect(port, '127.0.0.1');
    broken.write('GET // HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(broken, 'close');
    const taken = new Promise<string>((resolve) =>
      server.on('upgrade', ({ url }, socket) => {
        if (url === '/own') socket.end('HTTP/1.1 418 Teapot\r\n\r\n', () => resolve(url));
      }),
    );
    expect(await refused(client('/own'))).toBe(418);
    expect(await taken).toBe('/own');
    const one = await client().open();
    one.send({ type: 'turn', input: 'Hi.' });
    expect((await one.end()).type).toBe('end');
  });
});
