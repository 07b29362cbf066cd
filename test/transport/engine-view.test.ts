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

  it('are refused in a view that does not exist', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const { run_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'hi' })).body.data;
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/runs/${run_id}/events?view=x`);
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining('`view` must be "ragflow" or "engine"') });
  });
});
