import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { EarlierTexts } from '../../web/api/earlier-texts.js';
import { ECHO, FORM, PROBE } from './support/documents.js';
import { connect, refused } from './support/live-client.js';
import { startServer } from './support/server.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
const events = (frames: any[]): any[] => frames.filter(({ type }) => type === 'event');

describe('a live connection', () => {
  it('runs, and carries the events that an event stream carries', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const client = await connect(server.url, agent);
    expect(client.socket.protocol).toBe('ragflow.agent.v1');
    expect(await client.next()).toEqual({
      type: 'ready',
      connection_id: expect.any(String),
      agent_id: agent,
      heartbeat_s: 20,
      window: 256,
      resume_ttl_s: 600,
    });
    client.send({ type: 'run', req: 'r1', query: 'hi' });
    const accepted = await client.next();
    expect(accepted).toMatchObject({ type: 'accepted', req: 'r1', run_id: expect.any(String) });
    const frames = await client.done();
    const { run_id, session_id, message_id } = accepted;
    expect(frames.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
    expect(frames.at(-1)).toEqual({ type: 'done', run_id, session_id, seq: 8, status: 'succeeded' });
    expect(frames[0].event).toMatchObject({ event: 'workflow_started', session_id, message_id });

    const replay = await fetch(`${server.url}/api/v1/agents/${agent}/runs/${run_id}/events`);
    const lines = (await replay.text()).split('\n').filter((line) => line.startsWith('data:{'));
    expect(events(frames).map(({ event }) => `data:${JSON.stringify(event)}`)).toEqual(lines);
  });

  it('sends a long text once to a client that fills it in', async () => {
    const LONG = 'A pump moves water uphill. '.repeat(60).trim();
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const { run_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: LONG })).body.data;
    const attached = async (form: object) => {
      const client = await connect(server.url, agent);
      await client.next();
      client.send({ type: 'attach', run_id, view: 'engine', batch: true, ...form });
      const frames = await client.done();
      return frames.flatMap(({ events = [] }) => events).map(({ event }) => event);
    };
    const [whole, lean] = [await attached({}), await attached({ lean: true })];
    const repeating = lean.filter(({ repeats }) => repeats !== undefined);
    expect(repeating.map(({ type }) => type)).toContain('run-settled');
    const texts = new EarlierTexts();
    expect(lean.map((event) => texts.whole(event))).toEqual(whole);
    expect(whole.every(({ repeats }) => repeats === undefined)).toBe(true);
  });

  it('asks for input and goes on with the answer as a new run', async () => {
    const server = await startServer();
    const agent = await server.agent(FORM);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', req: 1, query: 'go' });
    const { run_id: first, session_id } = await client.next();
    expect((await client.done()).at(-1)).toMatchObject({ status: 'waiting' });
    client.send({ type: 'user_input', req: 2, session_id, inputs: { city: { type: 'line', value: 'Oslo' } } });
    const accepted = await client.next();
    expect(accepted).toMatchObject({ type: 'accepted', req: 2, session_id });
    expect(accepted.run_id).not.toBe(first);
    const frames = await client.done();
    expect(frames[0].event.event).toBe('node_started');
    expect(frames.at(-1).status).toBe('succeeded');
    expect(frames.find(({ event }) => event?.event === 'message').event.data.content).toBe('to Oslo');

    client.send({ type: 'user_input', req: 3, session_id, inputs: {} });
    expect(await client.next()).toMatchObject({ type: 'error', req: 3, code: 102, fatal: false });
  });

  it('refuses a second run of a busy session and stays open', async () => {
    const server = await startServer();
    const client = await connect(server.url, await server.agent(PROBE));
    await client.next();
    client.send({ type: 'run', req: 'a', query: 'x' });
    const { session_id, run_id } = await client.next();
    const probe = await server.probes.next();
    client.send({ type: 'run', req: 'b', query: 'y', session_id });
    const [refusal] = (await client.until(({ type }) => type === 'error')).slice(-1);
    expect(refusal).toMatchObject({ req: 'b', code: 103, message: 'This agent session is already running.' });
    probe.settle();
    expect((await client.done()).at(-1)).toMatchObject({ run_id, status: 'succeeded' });
  });

  it('cancels once, whoever asks and however often', async () => {
    const server = await startServer();
    const client = await connect(server.url, await server.agent(PROBE));
    await client.next();
    client.send({ type: 'run', query: 'x' });
    const { run_id, session_id } = await client.next();
    const probe = await server.probes.next();
    client.send({ type: 'cancel', req: 'c', session_id });
    const frames = await client.done();
    expect(probe.isStopped).toBe(true);
    expect(frames.at(-2).event.data.outputs).toBe('Task has been canceled');
    expect(frames.at(-1)).toMatchObject({ run_id, status: 'cancelled' });
    client.send({ type: 'cancel', req: 'd', run_id });
    expect(await client.next()).toMatchObject({ type: 'done', run_id, status: 'cancelled' });
    client.send({ type: 'cancel', req: 'e', run_id: 'unknown' });
    expect(await client.next()).toMatchObject({ type: 'error', req: 'e', code: 102, message: 'Run not found.' });
  });

  it('survives a client that vanishes: another attaches and misses nothing', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const first = await connect(server.url, agent);
    await first.next();
    first.send({ type: 'run', query: 'x' });
    const { run_id } = await first.next();
    const probe = await server.probes.next();
    probe.say('one ');
    const seen = events(await first.until(({ event }) => event?.event === 'message'));
    first.socket.terminate();
    await first.closed;
    probe.say('two ');
    const second = await connect(server.url, agent);
    await second.next();
    second.send({ type: 'attach', req: 'again', run_id, last_event_id: seen.length });
    expect(await second.next()).toEqual({
      type: 'attached',
      req: 'again',
      run_id,
      from_seq: seen.length + 1,
      status: 'running',
    });
    const replayed = await second.until(({ event }) => event?.event === 'message');
    probe.say('three');
    probe.settle();
    const rest = await second.done();
    const all = [...seen, ...events([...replayed, ...rest])];
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.map(({ event }) => event.data.content ?? '').join('')).toBe('one two three');
    expect(rest.at(-1).status).toBe('succeeded');
  });

  it('ends a run that everybody has left for longer than the grace', async () => {
    const server = await startServer({ env: { RUNNEL_DETACH_GRACE_MS: '1' } });
    const agent = await server.agent(PROBE);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', query: 'x' });
    const { run_id } = await client.next();
    const probe = await server.probes.next();
    client.socket.terminate();
    await probe.stopped;
    const other = await connect(server.url, agent);
    await other.next();
    other.send({ type: 'attach', run_id, last_event_id: 0 });
    expect((await other.done()).at(-1).status).toBe('cancelled');
  });

  it('lets a detached run go on alone', async () => {
    const server = await startServer({ env: { RUNNEL_DETACH_GRACE_MS: '1' } });
    const agent = await server.agent(PROBE);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', query: 'x', detach: true });
    const { run_id } = await client.next();
    const probe = await server.probes.next();
    client.socket.terminate();
    // A run of its own, begun later and left to itself, is cancelled meanwhile: so the grace has passed.
    const other = await connect(server.url, agent);
    await other.next();
    other.send({ type: 'run', query: 'y' });
    await other.next();
    const abandonedProbe = await server.probes.next();
    other.socket.terminate();
    await abandonedProbe.stopped;
    expect(probe.isStopped).toBe(false);
    probe.settle();
    const third = await connect(server.url, agent);
    await third.next();
    third.send({ type: 'attach', run_id });
    expect((await third.done()).at(-1).status).toBe('succeeded');
  });

  it('bridges the gap when the events of a run are not kept any more', async () => {
    const server = await startServer({ stores: createMemoryStores({ log: { maxBytes: 3000, maxRunBytes: 3000 } }) });
    const agent = await server.agent(ECHO);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', query: 'first' });
    const { run_id } = await client.next();
    await client.done();
    client.send({ type: 'run', query: 'second' });
    await client.done();
    client.send({ type: 'attach', run_id, last_event_id: 2 });
    expect(await client.done()).toMatchObject([
      { type: 'attached', run_id, status: 'succeeded' },
      { type: 'gap', run_id, missing_from: 3, missing_to: 8 },
      { type: 'snapshot', run_id, content: 'you said first', reference: {}, pending_inputs: null, status: 'succeeded' },
      { type: 'done', run_id, seq: 8, status: 'succeeded' },
    ]);
    const events = await server.call('GET', `/api/v1/agents/${agent}/runs/${run_id}/events`);
    expect(events.body).toEqual({ code: 102, message: 'Run not found.' });
  });

  it('holds events back from a client that acknowledges none of a full window', async () => {
    const server = await startServer();
    const client = await connect(server.url, await server.agent(PROBE));
    await client.next();
    client.send({ type: 'run', query: 'x' });
    const { run_id } = await client.next();
    const probe = await server.probes.next();
    client.send({ type: 'ack', run_id, seq: 0 });
    client.send({ type: 'ping', t: 'acknowledged' });
    await client.until(({ type }) => type === 'pong');
    for (let piece = 0; piece < 1000; piece += 1) probe.say('x');
    probe.settle();
    client.send({ type: 'ping', t: 'full' });
    const held = await client.until(({ type }) => type === 'pong');
    expect(events(held).at(-1).seq).toBe(256);
    client.send({ type: 'ack', run_id, seq: 256 });
    const merged = await client.next();
    expect(merged).toMatchObject({ from_seq: 257, event: { event: 'message' } });
    expect(merged.event.data.content).toBe('x'.repeat(merged.seq - 256));
    client.send({ type: 'ack', run_id, seq: merged.seq });
    expect((await client.done()).at(-1).status).toBe('succeeded');
  });
});

describe('what a live connection refuses', () => {
  it.each([
    ['text that is no JSON', '{"type":', 4400],
    ['JSON that is no object', '[]', 4400],
    ['close', '{"type":"close"}', 1000],
  ])('closes after %s', async (_, text, code) => {
    const server = await startServer();
    const client = await connect(server.url, await server.agent(ECHO));
    await client.next();
    client.send(text);
    expect((await client.closed).code).toBe(code);
  });

  it('closes after a binary frame, and after one that is too large', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const binary = await connect(server.url, agent);
    binary.socket.send(Buffer.from('{}'));
    expect((await binary.closed).code).toBe(4400);
    const large = await connect(server.url, agent);
    large.send(`{"type":"ping","t":"${'x'.repeat(1024 * 1024)}"}`);
    expect((await large.closed).code).toBe(1009);
  });

  it.each([
    ['an unknown type', { type: 'dance', req: 1 }, 101],
    ['no type', { req: 1 }, 101],
    ['a cancel of nothing', { type: 'cancel', req: 1 }, 101],
    ['inputs of a wrong type', { type: 'run', req: 1, inputs: [] }, 101],
    ['an id with a line end', { type: 'attach', req: 1, run_id: 'a\nb' }, 101],
    ['an unknown session', { type: 'run', req: 1, session_id: 'nowhere' }, 102],
    ['an unknown run', { type: 'attach', req: 1, run_id: 'nowhere' }, 102],
  ])('answers %s with an error and stays open', async (_, frame, code) => {
    const server = await startServer();
    const client = await connect(server.url, await server.agent(ECHO));
    await client.next();
    client.send(frame);
    expect(await client.next()).toMatchObject({ type: 'error', req: 1, code, fatal: false });
    client.send({ type: 'ping', t: 7 });
    expect(await client.next()).toEqual({ type: 'pong', t: 7, server_time: expect.any(Number) });
  });

  it('refuses a run of another agent, and a fifth run at once', async () => {
    const server = await startServer();
    const [one, two] = [await server.agent(PROBE), await server.agent(ECHO)];
    const client = await connect(server.url, one);
    await client.next();
    for (let count = 0; count < 4; count += 1) client.send({ type: 'run', req: count, query: 'x' });
    client.send({ type: 'run', req: 'fifth', query: 'x' });
    const frames = await client.until(({ type }) => type === 'error');
    expect(frames.at(-1)).toMatchObject({ req: 'fifth', code: 103 });
    const { run_id } = frames.find(({ type }) => type === 'accepted');
    const other = await connect(server.url, two);
    await other.next();
    other.send({ type: 'attach', req: 1, run_id });
    expect(await other.next()).toMatchObject({ type: 'error', code: 103 });
  });

  it('refuses before the upgrade: unknown agents and paths, foreign names and pages', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const path = `/api/v1/agents/${agent}/live`;
    expect((await refused(server.url, '/api/v1/agents/nobody/live')).status).toBe(404);
    expect((await refused(server.url, '/api/v1/agents/%E0%A4%A/live')).status).toBe(404);
    expect((await refused(server.url, '/elsewhere')).body.message).toBe('Not Found: /elsewhere');
    expect((await refused(server.url, path, { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await refused(server.url, path, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });

  it('lets in with a key in the header, in a subprotocol, or in the first frame', async () => {
    const server = await startServer({ env: { RUNNEL_API_KEYS: 'acme=s3cret-of-acme-1,other=0ther-key-is-long' } });
    const authorization = { authorization: 'Bearer s3cret-of-acme-1' };
    const agent = await server.agent(ECHO, authorization);
    const protocols = ['ragflow.agent.v1', `bearer.${Buffer.from('s3cret-of-acme-1').toString('base64url')}`];
    expect(await (await connect(server.url, agent, { headers: authorization })).next()).toMatchObject({
      type: 'ready',
    });
    const byProtocol = await connect(server.url, agent, { protocols });
    expect(byProtocol.socket.protocol).toBe('ragflow.agent.v1');
    expect(await byProtocol.next()).toMatchObject({ type: 'ready' });
    const byFrame = await connect(server.url, agent);
    byFrame.send({ type: 'auth', token: 's3cret-of-acme-1' });
    expect(await byFrame.next()).toMatchObject({ type: 'ready' });

    const path = `/api/v1/agents/${agent}/live`;
    expect((await refused(server.url, path, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await refused(server.url, `${path}?token=s3cret-of-acme-1`)).status).toBe(401);
    expect((await refused(server.url, path, { headers: { authorization: 'Bearer 0ther-key-is-long' } })).status).toBe(
      404,
    );
    for (const [frame, code] of [
      [{ type: 'auth', token: 'wrong' }, 4401],
      [{ type: 'run', query: 'x' }, 4401],
      [{ type: 'auth', token: '0ther-key-is-long' }, 4404],
    ] as const) {
      const client = await connect(server.url, agent);
      client.send(frame);
      expect((await client.closed).code).toBe(code);
    }
  });

  it('limits how often clients with keys may send and run', async () => {
    const env = {
      RUNNEL_API_KEYS: 'k3y-of-local-test',
      RUNNEL_WS_RUNS_PER_MINUTE: '1',
      RUNNEL_WS_FRAMES_PER_SECOND: '5',
    };
    const server = await startServer({ env });
    const headers = { authorization: 'Bearer k3y-of-local-test' };
    const client = await connect(server.url, await server.agent(ECHO, headers), { headers });
    await client.next();
    client.send({ type: 'run', query: 'x' });
    await client.done();
    client.send({ type: 'run', req: 'second', query: 'x' });
    expect(await client.next()).toMatchObject({ type: 'error', req: 'second', code: 103 });
    for (let count = 0; count < 60; count += 1) client.send({ type: 'ping' });
    expect((await client.closed).code).toBe(4429);
  });
});
