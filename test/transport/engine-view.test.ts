/** The engine's own events: `view=engine`. */
import { describe, expect, it } from 'vitest';
import { ECHO, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { connect } from './support/live-client.js';
import { startServer } from './support/server.js';

const TYPES = [
  ...['run-started', 'node-started', 'node-settled', 'node-started', 'node-delta', 'node-notice', 'node-settled'],
  'run-settled',
];

/** The events of frames that have several. */
const batched = (frames: readonly { readonly type: string; readonly events?: readonly BatchedEvent[] }[]) =>
  frames.flatMap(({ type, events = [] }) => (type === 'events' ? events : []));

interface BatchedEvent {
  readonly seq: number;
  readonly event: { readonly type: string; readonly seq: number };
}

describe('the engine’s events of a run', () => {
  it('come over an event stream, numbered without gaps, also after a given one', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const { run_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'hi' })).body.data;
    const url = `${server.url}/api/v1/agents/${agent}/runs/${run_id}/events?view=engine`;
    const frames = (await (await openStream(url)).rest()).slice(0, -1);
    expect(frames.map(({ json }) => json.type)).toEqual(TYPES);
    expect(frames.map(({ id, json }) => [id, json.seq])).toEqual(TYPES.map((_, at) => [at + 1, at + 1]));
    expect(frames.every(({ json }) => json.run === run_id)).toBe(true);
    const rest = (await (await openStream(`${url}&after=5`)).rest()).slice(0, -1);
    expect(rest).toEqual(frames.slice(5));
    const ragflow = (await (await openStream(url.replace('engine', 'ragflow'))).rest()).slice(0, -1);
    expect(ragflow[0]?.json).toMatchObject({ event: 'workflow_started' });
  });

  it('come over a WebSocket, live and when a client comes back', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', view: 'engine', query: 'x' });
    const { run_id } = await client.next();
    const probe = await server.probes.next();
    probe.think('hm');
    probe.say('yes');
    probe.settle();
    const live = (await client.done()).filter(({ type }) => type === 'event');
    expect(live.map(({ seq }) => seq)).toEqual(live.map((_, at) => at + 1));
    expect(live.map(({ event }) => event.type)).toEqual([
      ...['run-started', 'node-started', 'node-settled', 'node-started'],
      ...['node-thinking', 'node-delta', 'node-thinking', 'node-delta', 'node-settled', 'run-settled'],
    ]);
    client.send({ type: 'attach', view: 'engine', run_id, last_event_id: 4 });
    const again = (await client.done()).filter(({ type }) => type === 'event');
    expect(again).toEqual(live.slice(4));
  });

  it('come together to a client that takes them so, up to a window that it has acknowledged', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const client = await connect(server.url, agent);
    await client.next();
    client.send({ type: 'run', view: 'engine', query: 'x' });
    const { run_id } = await client.next();
    const probe = await server.probes.next();
    client.send({ type: 'attach', view: 'engine', run_id, batch: true });
    client.send({ type: 'ack', run_id, seq: 0 });
    client.send({ type: 'ping', t: 'attached' });
    const first = batched(await client.until(({ type }) => type === 'pong'));
    for (let piece = 0; piece < 10_000; piece += 1) probe.say('x');
    probe.settle();
    client.send({ type: 'ping', t: 'full' });
    const held = await client.until(({ type }) => type === 'pong');
    expect(held.length).toBeLessThan(200);
    expect([...first, ...batched(held)].map(({ seq }) => seq)).toEqual(
      Array.from({ length: 8_192 }, (_, at) => at + 1),
    );
    client.send({ type: 'ack', run_id, seq: 8_192 });
    const rest = batched(await client.done());
    expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, at) => 8_193 + at));
    expect(rest.at(-1)?.event).toMatchObject({ type: 'run-settled', seq: rest.at(-1)?.seq });
  });

  it('are refused in a view that does not exist', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const { run_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'hi' })).body.data;
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/runs/${run_id}/events?view=x`);
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining('`view` must be "ragflow" or "engine"') });
  });
});
