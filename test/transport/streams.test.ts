import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MODEL, PROBE } from './support/documents.js';
import { namesOf, openStream } from './support/event-stream.js';
import { startFakeModel } from './support/fake-model.js';
import { connect } from './support/live-client.js';
import { startServer } from './support/server.js';

describe('an event stream', () => {
  it('goes on after the last event that a client had, without loss or doubles', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const first = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const run = first.headers.get('x-run-id');
    const probe = await server.probes.next();
    probe.say('one ');
    const seen = await first.until(({ json }) => json?.event === 'message');
    await first.leave();
    probe.say('two ');
    const url = `${server.url}/api/v1/agents/${agent}/runs/${run}/events`;
    const second = await openStream(url, { headers: { 'Last-Event-ID': String(seen.at(-1)?.id) } });
    const third = await openStream(`${url}?after=${seen.at(-1)?.id}`);
    const replayed = await second.until(({ json }) => json?.event === 'message');
    probe.say('three');
    probe.settle();
    const live = await second.rest();
    const frames = [...seen, ...replayed, ...live];
    expect(frames.slice(0, -1).map(({ id }) => id)).toEqual(frames.slice(0, -1).map((_, index) => index + 1));
    const texts = frames.filter(({ json }) => json?.event === 'message').map(({ json }) => json.data.content);
    expect(texts.join('')).toBe('one two three');
    expect(await third.rest()).toEqual([...replayed, ...live]);
    // The run is over: the same again, from the log alone.
    expect(await (await openStream(url)).rest()).toEqual(frames);
    expect(namesOf(await (await openStream(`${url}?after=99`)).rest())).toEqual(['[DONE]']);
  });

  it('replays a long run to a late client, page by page', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const first = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const probe = await server.probes.next();
    for (let piece = 0; piece < 5000; piece += 1) probe.say(`${piece} `);
    const url = `${server.url}/api/v1/agents/${agent}/runs/${first.headers.get('x-run-id')}/events`;
    const late = await openStream(url);
    await late.until(({ json }) => json?.data?.content === '4999 ');
    for (let piece = 5000; piece < 6000; piece += 1) probe.say(`${piece} `);
    probe.settle();
    const rest = await late.rest();
    const text = rest
      .filter(({ json }) => json?.event === 'message')
      .map(({ json }) => json.data.content)
      .join('');
    expect(text).toBe(Array.from({ length: 1000 }, (_, index) => `${index + 5000} `).join(''));
  });

  it('cancels a run by closing the socket to its model; one event says so', async () => {
    const model = await startFakeModel();
    const server = await startServer({ env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k' } });
    const agent = await server.agent(MODEL);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const call = await model.next();
    call.say('Hel');
    await stream.until(({ json }) => json?.event === 'message');
    const run = stream.headers.get('x-run-id');
    const cancelled = await server.call('POST', `/api/v1/agents/${agent}/runs/${run}/cancel`);
    expect(cancelled.body).toEqual({ code: 0, message: 'success', data: true });
    await call.closed;
    expect(call.isWritable).toBe(false);
    const names = namesOf(await stream.rest());
    expect(names.filter((name) => name === 'workflow_finished' || name === '500')).toEqual(['workflow_finished']);
    expect(names.slice(-2)).toEqual(['workflow_finished', '[DONE]']);
  });

  it('never lets a client that does not read slow down the others', async () => {
    const server = await startServer({ env: { RUNNEL_CLIENT_QUEUE_BYTES: '65536' } });
    const agent = await server.agent(PROBE);
    const fast = await connect(server.url, agent);
    await fast.next();
    fast.send({ type: 'run', query: 'x' });
    const { run_id } = await fast.next();
    const probe = await server.probes.next();
    const slow = await connect(server.url, agent);
    await slow.next();
    slow.send({ type: 'attach', run_id });
    await slow.until(({ event }) => event?.event === 'node_started' && event.data.component_id === 'Probe:P');
    slow.socket.pause();
    const stuck = await getPaused(`${server.url}/api/v1/agents/${agent}/runs/${run_id}/events`);

    const piece = 'x'.repeat(256 * 1024);
    // More than the buffers of two sockets hold.
    for (let count = 0; count < 100; count += 1) {
      probe.say(piece);
      await fast.until(({ event }) => event?.event === 'message');
    }
    probe.say('end');
    probe.settle();
    expect((await fast.done()).at(-1).status).toBe('succeeded');

    slow.socket.resume();
    const { code, reason } = await slow.closed;
    expect(code).toBe(4429);
    const after = Number(/resume from seq (\d+)/.exec(reason)?.[1]);
    const again = await connect(server.url, agent);
    await again.next();
    again.send({ type: 'attach', run_id, last_event_id: after });
    const rest = (await again.done()).filter(({ type }) => type === 'event');
    expect(rest[0].seq).toBe(after + 1);
    expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => after + 1 + index));

    const isCut = new Promise((resolve) => stuck.once('close', resolve));
    stuck.resume();
    await isCut;
    expect(stuck.complete).toBe(false);
  });

  it('stops a run whose log is full, and says why', async () => {
    const server = await startServer({ env: { RUNNEL_RUN_LOG_BYTES: '4096' } });
    const agent = await server.agent(PROBE);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const probe = await server.probes.next();
    for (let piece = 0; piece < 100 && !probe.isStopped; piece += 1) probe.say('some text');
    await probe.stopped;
    const frames = await stream.rest();
    expect(namesOf(frames).slice(-2)).toEqual(['500', '[DONE]']);
    expect(frames.at(-2)?.json).toMatchObject({
      error: 'RUN_LOG_FULL',
      message: expect.stringContaining('4096 bytes'),
    });
    const run = stream.headers.get('x-run-id');
    const record = await server.call('GET', `/api/v1/agents/${agent}/runs/${run}`);
    expect(record.body.data).toMatchObject({ status: 'failed', error: { code: 'RUN_LOG_FULL' } });
  });

  it('fails a run that takes too long', async () => {
    const server = await startServer({ env: { RUNNEL_RUN_TIMEOUT_MS: '1' } });
    const agent = await server.agent(PROBE);
    const answer = await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' });
    expect(answer.body).toMatchObject({ code: 500, data: { status: 'failed', session_id: expect.any(String) } });
    expect(answer.headers.get('x-run-id')).toBe(answer.body.data.run_id);
  });
});

/** A client that opens a stream and reads nothing of it. */
async function getPaused(url: string): Promise<IncomingMessage> {
  const outgoing = request(url);
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response.pause();
}
