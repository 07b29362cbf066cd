import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { connectTo } from '../support/live-client.js';
import { startChatServer } from './chat-server.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=secret-key-of-ann,bob=secret-key-of-bob' };
const ANN = { authorization: 'Bearer secret-key-of-ann' };
const BOB = { authorization: 'Bearer secret-key-of-bob' };
/** A question that rules answer without a model. */
const HELLO = { message: 'hello', llm_id: 'm' };

const headersOf = (headers: Headers) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) => headers.get(name));

describe('the rate of chats', () => {
  it('is told with each answer, and refused before any event when it is exceeded', async () => {
    const env = { ...KEYS, RUNNEL_CHATS_PER_USER: '2', RUNNEL_CHATS_WAITING: '0' };
    const { ask, call } = await startChatServer({ env, now: () => 1_000_000 });
    const body = { ...HELLO, user_id: 'u' };
    const first = await ask(body, ANN);
    expect(headersOf(first.headers)).toEqual(['2', '1', '1', null]);
    expect((await first.rest()).at(-2)?.json.type).toBe('final');
    const second = await ask(body, ANN);
    expect(headersOf(second.headers)).toEqual(['2', '0', '1', null]);
    await second.rest();
    const third = await call('POST', '/api/v1/chat/stream', body, ANN);
    expect(third.status).toBe(429);
    expect(third.body).toMatchObject({ code: 103, message: expect.stringContaining('for one user') });
    expect(headersOf(third.headers)).toEqual(['2', '0', '1', '1']);
    // Another user, and a user of that name of another tenant, have their own.
    for (const [other, headers] of [
      [{ ...HELLO, user_id: 'v' }, ANN],
      [body, BOB],
    ] as const) {
      expect((await (await ask(other, headers)).rest()).at(-2)?.json.type).toBe('final');
    }
  });

  it('lets a question wait in line for a moment', async () => {
    const env = { ...KEYS, RUNNEL_CHATS_PER_USER: '1' };
    const { ask } = await startChatServer({ env });
    const body = { ...HELLO, user_id: 'u' };
    const both = await Promise.all([ask(body, ANN), ask(body, ANN)]);
    for (const client of both) expect((await client.rest()).at(-2)?.json.type).toBe('final');
  });

  it('asks the counter of all servers where there is one', async () => {
    const keys: string[] = [];
    const counter = {
      take: async (rates: readonly { key: string }[]) => {
        keys.push(...rates.map(({ key }) => key));
        return { isTaken: true as const, left: rates.map(() => 7) };
      },
    };
    const { ask } = await startChatServer({ env: KEYS, stores: { ...createMemoryStores(), rates: counter } });
    const client = await ask({ ...HELLO, user_id: 'u' }, ANN);
    expect(client.headers.get('x-ratelimit-remaining')).toBe('7');
    await client.rest();
    expect(keys.map((key) => key.split(':', 1)[0])).toEqual(['user', 'tenant']);
  });

  it('holds over WebSockets, too', async () => {
    const env = { ...KEYS, RUNNEL_CHATS_PER_USER: '1', RUNNEL_CHATS_WAITING: '0' };
    const { url } = await startChatServer({ env, now: () => 1_000_000 });
    const client = await connectTo(url, '/api/v1/chat/live', { headers: ANN });
    await client.next();
    client.send({ type: 'ask', ...HELLO, user_id: 'u' });
    await client.done();
    client.send({ type: 'ask', req: 2, ...HELLO, user_id: 'u' });
    expect(await client.next()).toMatchObject({ type: 'error', req: 2, code: 103 });
  });

  it('has no bound on a server without keys', async () => {
    const { ask } = await startChatServer({ env: { RUNNEL_CHATS_PER_USER: '1', RUNNEL_CHATS_WAITING: '0' } });
    const all = await Promise.all([1, 2, 3].map(() => ask({ ...HELLO, user_id: 'u' })));
    for (const client of all) {
      expect(client.headers.get('x-ratelimit-limit')).toBeNull();
      expect((await client.rest()).at(-2)?.json).toMatchObject({ type: 'final', shortcut: 'B' });
    }
  });
});
