import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openStream } from '../support/event-stream.js';
import { answerIn, FREE, startChatServer, typesOf } from './chat-server.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=secret-key-of-ann,bob=secret-key-of-bob' };
const ANN = { authorization: 'Bearer secret-key-of-ann' };
const BOB = { authorization: 'Bearer secret-key-of-bob' };

const isToken = ({ json }: { json: { type?: string } | undefined }): boolean => json?.type === 'token';

describe('a chat over HTTP', () => {
  it('streams its stages and its answer, numbered, the type first, and ends with one final', async () => {
    const { ask, model } = await startChatServer();
    const client = await ask(FREE);
    const call = await model.next();
    call.say('A light ');
    call.say('in the dark.');
    call.finish();
    const frames = await client.rest();
    const types = typesOf(frames);
    expect(types[0]).toBe('session');
    expect(types.slice(-2)).toEqual(['final', '[DONE]']);
    expect(types.filter((type) => type === 'final' || type === 'error')).toHaveLength(1);
    const run = client.headers.get('x-run-id');
    const [{ json: session }] = frames as [(typeof frames)[number]];
    expect(session).toEqual({ type: 'session', session_id: expect.any(String), run_id: run, trace_id: run });
    const ended = frames.filter(({ json }) => json?.type === 'stage_end').map(({ json }) => json.stage);
    expect(ended.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const final = frames.at(-2)?.json;
    expect(final).toMatchObject({ trace_id: run, response: 'A light in the dark.', shortcut: null });
    expect(answerIn(frames)).toBe(final.response);
    for (const { id, text } of frames.slice(0, -1)) {
      expect(id).toBeGreaterThan(0);
      expect(text).toMatch(/^\{"type":"/);
    }
    const ids = frames.slice(0, -1).map(({ id }) => id as number);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('tells its run, the runs of its session, and every event as it is stored; not to another tenant', async () => {
    const { ask, model, follow, call: request } = await startChatServer({ env: KEYS });
    const client = await ask(FREE, ANN);
    const run = client.headers.get('x-run-id') as string;
    const call = await model.next();
    call.say('yes');
    call.finish();
    await client.rest();
    const { body } = await request('GET', `/api/v1/chat/runs/${run}`, undefined, ANN);
    expect(body.data).toMatchObject({ id: run, status: 'succeeded', parent_run_id: null });
    const list = `/api/v1/chat/runs?session_id=${body.data.session_id}`;
    expect((await request('GET', list, undefined, ANN)).body.data).toEqual([body.data]);
    const engine = await (await follow(run, ANN, '?view=engine')).rest();
    const events = engine.slice(0, -1).map(({ json }) => json);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events[0]).toMatchObject({ type: 'run-started' });
    expect((await request('GET', list, undefined, BOB)).body).toMatchObject({ code: 102 });
    expect((await request('GET', `/api/v1/chat/runs/${run}`, undefined, BOB)).body).toMatchObject({ code: 102 });
    expect((await request('GET', '/api/v1/chat/runs', undefined, ANN)).body).toMatchObject({ code: 101 });
    expect((await request('GET', `/api/v1/chat/runs/${run}/events?view=x`, undefined, ANN)).body.code).toBe(101);
  });

  it('goes on after the last event of a client, for a second client too, and replays the same bytes', async () => {
    const { ask, follow, model } = await startChatServer();
    const first = await ask(FREE);
    const run = first.headers.get('x-run-id') as string;
    const call = await model.next();
    call.say('one ');
    const seen = await first.until(isToken);
    await first.leave();
    const after = String(seen.at(-1)?.id);
    const second = await follow(run, { 'Last-Event-ID': after });
    const third = await follow(run, {}, `?after=${after}`);
    call.say('two');
    call.finish();
    const rest = await second.rest();
    expect(await third.rest()).toEqual(rest);
    expect(answerIn([...seen, ...rest])).toBe('one two');
    const whole = await follow(run);
    expect(await whole.rest()).toEqual([...seen, ...rest]);
    const again = await follow(run);
    await again.rest();
    expect(again.raw).toBe(whole.raw);
  });

  it('stops a chat: its model is left, and the last event says so', async () => {
    const { ask, call, model } = await startChatServer();
    const client = await ask(FREE);
    const answering = await model.next();
    answering.say('one ');
    await client.until(isToken);
    const run = client.headers.get('x-run-id');
    expect((await call('POST', `/api/v1/chat/runs/${run}/cancel`)).body).toMatchObject({ code: 0, data: true });
    await answering.closed;
    const frames = await client.rest();
    expect(frames.at(-2)?.json).toEqual({
      type: 'error',
      code: 'RUN_CANCELLED',
      message: expect.stringContaining('cancelled'),
    });
    expect((await call('POST', `/api/v1/chat/runs/${run}/cancel`)).body).toMatchObject({ code: 0, data: true });
  });

  it('ends a chat that its client has left for longer than the grace, unless it is detached', async () => {
    const { ask, follow, model } = await startChatServer({ env: { RUNNEL_DETACH_GRACE_MS: '50' } });
    const left = await ask(FREE);
    const cut = await model.next();
    cut.say('one ');
    await left.until(isToken);
    await left.leave();
    await cut.closed;
    const detached = await ask({ ...FREE, detach: true });
    const run = detached.headers.get('x-run-id') as string;
    const call = await model.next();
    call.say('one ');
    await detached.until(isToken);
    await detached.leave();
    // The other one was ended within that time.
    const other = await follow(left.headers.get('x-run-id') as string);
    expect(typesOf(await other.rest()).at(-2)).toBe('error');
    call.say('two');
    call.finish();
    expect(answerIn(await (await follow(run)).rest())).toBe('one two');
  });

  it('cuts a client that reads nothing, which goes on later without loss', async () => {
    const env = { RUNNEL_SLOW_CLIENT_MS: '1500' };
    const { url, follow, model } = await startChatServer({ env });
    const slow = request(`${url}/api/v1/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    slow.on('error', () => {});
    slow.end(JSON.stringify({ ...FREE, detach: true }));
    const [answer] = await once(slow, 'response');
    answer.on('error', () => {});
    answer.pause();
    const run = answer.headers['x-run-id'];
    const call = await model.next();
    const piece = 'a long piece of text '.repeat(2_000);
    for (let count = 0; count < 100; count += 1) call.say(piece);
    call.finish();
    const frames = await (await follow(run)).rest();
    expect(answerIn(frames)).toBe(piece.repeat(100));
    // The server counts its open streams.
    while (!/^runnel_open_sockets\{kind="sse"\} 0$/m.test(await (await fetch(`${url}/metrics`)).text()));
    const isCut = new Promise((resolve) => answer.once('close', resolve));
    answer.resume();
    await isCut;
    expect(answer.complete).toBe(false);
  });

  it('continues a session, and names the assistant only where one was asked for', async () => {
    const { ask, model, stores, call } = await startChatServer();
    const answer = async (body: object, text: string) => {
      const client = await ask({ ...FREE, ...body });
      const answering = await model.next();
      answering.say(text);
      answering.finish();
      return client.rest();
    };
    const [first] = await answer({}, 'one');
    const { session_id } = first?.json ?? {};
    const [second] = await answer({ session_id }, 'two');
    expect(second?.json.session_id).toBe(session_id);
    expect(second?.json).not.toHaveProperty('chat_id');
    const session = await stores.sessions.find('local', session_id);
    expect(session?.messages.map(({ content }) => content)).toEqual([FREE.message, 'one', FREE.message, 'two']);
    const [other] = await answer({ chat_id: session?.agentId }, 'three');
    expect(other?.json.session_id).not.toBe(session_id);
    // One assistant, which lists of agents leave out.
    expect((await call('GET', '/api/v1/agents')).body.data).toMatchObject({ total: 0 });
  });

  it('makes one assistant when the first questions come at once', async () => {
    const { ask, model, stores } = await startChatServer();
    const clients = await Promise.all(Array.from({ length: 8 }, () => ask(FREE)));
    for (const _ of clients) {
      const call = await model.next();
      call.say('yes');
      call.finish();
    }
    for (const client of clients) expect(answerIn(await client.rest())).toBe('yes');
    const query = { offset: 0, limit: 9, orderBy: 'createdAt', descending: false } as const;
    expect(await stores.agents.list('local', query)).toMatchObject({ total: 1, items: [{ title: 'default' }] });
  });

  it('tells what its stages, its model and its nodes did', async () => {
    const { ask, model, call } = await startChatServer();
    const client = await ask(FREE);
    const answering = await model.next();
    answering.say('yes');
    answering.finish();
    await client.rest();
    const { body } = await call('GET', `/api/v1/chat/runs/${client.headers.get('x-run-id')}/trace`);
    expect(body.data).toMatchObject({ status: 'succeeded', query: FREE.message, shortcut: null });
    expect(body.data.first_token_ms).toBeGreaterThanOrEqual(0);
    expect(body.data.stages.map(({ stage }: { stage: number }) => stage).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const node = body.data.activations.find(({ component_id }: { component_id: string }) => component_id === 'chat_0');
    expect(node.calls.length).toBeGreaterThan(0);
  });

  it.each([
    [{}, 101, /message/],
    [{ message: 7 }, 101, /message/],
    [{ message: ' \n' }, 101, /no question/],
    [{ message: '?'.repeat(500_001) }, 101, /500001 characters; 500000 are allowed/],
    [{ mesage: 'hi' }, 101, /message/],
    [{ message: 'hi', sesion_id: 'x' }, 101, /Did you mean `session_id`/],
    [{ message: 'hi', options: { mode: 'ALL' } }, 101, /options\.mode/],
    [{ message: 'hi', options: { top: 3 } }, 101, /options/],
    [{ message: 'hi', dataset_ids: 'x' }, 101, /dataset_ids/],
    [{ message: 'hi', chat_id: 'none' }, 102, /There is no chat "none"/],
    [{ message: 'hi', session_id: 'none' }, 102, /Session not found/],
    [{ message: 'hi', session_id: 'x'.repeat(300) }, 101, /session_id/],
  ])('refuses %#, before any event', async (body, code, message) => {
    const { call } = await startChatServer();
    const answer = await call('POST', '/api/v1/chat/stream', body);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('shows nothing of a chat to another tenant, without a hint', async () => {
    const { ask, call, model, url, stores } = await startChatServer({ env: KEYS });
    const client = await ask(FREE, ANN);
    const run = client.headers.get('x-run-id');
    const answering = await model.next();
    answering.say('yes');
    answering.finish();
    const session = (await client.rest())[0]?.json;
    const { agentId } = (await stores.sessions.find('ann', session.session_id)) ?? {};
    for (const [method, path] of [
      ['GET', 'events'],
      ['POST', 'cancel'],
      ['GET', 'trace'],
    ] as const) {
      const known = await call(method, `/api/v1/chat/runs/${run}/${path}`, undefined, BOB);
      const unknown = await call(method, `/api/v1/chat/runs/none/${path}`, undefined, BOB);
      expect(known.body).toEqual({ code: 102, message: 'Run not found.' });
      expect(unknown.body).toEqual(known.body);
      expect((await call(method, `/api/v1/chat/runs/${run}/${path}`)).status).toBe(401);
    }
    const foreign = await call('POST', '/api/v1/chat/stream', { ...FREE, session_id: session.session_id }, BOB);
    expect(foreign.body).toEqual({ code: 102, message: 'Session not found!' });
    const chat = await call('POST', '/api/v1/chat/stream', { ...FREE, chat_id: agentId }, BOB);
    expect(chat.body).toMatchObject({ code: 102, message: expect.stringContaining('There is no chat') });
    await expect(openStream(`${url}/api/v1/chat/stream`, { body: FREE })).rejects.toThrow('401');
  });

  it('does not show runs of agents as chats', async () => {
    const { call, agent, url } = await startChatServer();
    const id = await agent({
      components: { begin: { obj: { component_name: 'Begin', params: {} }, downstream: [], upstream: [] } },
    });
    const client = await openStream(`${url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
    await client.rest();
    const run = client.headers.get('x-run-id');
    expect((await call('GET', `/api/v1/chat/runs/${run}/trace`)).body).toMatchObject({ code: 102 });
    const chat = await call('POST', '/api/v1/chat/stream', { ...FREE, chat_id: id });
    expect(chat.body).toMatchObject({ code: 102 });
  });
});
