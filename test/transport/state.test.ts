/** Where a run stood after each of its events. */
import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf, FORM } from './support/documents.js';
import { engineEvents, openStream } from './support/event-stream.js';
import { startServer, type TestServer } from './support/server.js';

/** A message before a Probe, and one behind it. */
const CHAIN = documentOf({
  begin: ['Begin', ['Message:A'], { inputs: { city: { name: 'City', type: 'line', optional: true } } }],
  'Message:A': ['Message', ['Probe:P'], { content: ['before {sys.query}'] }],
  'Probe:P': ['Probe', ['Message:B']],
  'Message:B': ['Message', [], { content: ['after'] }],
});

const LOOP = documentOf({
  begin: ['Begin', ['Iteration:I'], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
  'Iteration:I': ['Iteration', [], { items_ref: 'begin@words' }],
  'IterationItem:S': ['IterationItem', ['Probe:P'], {}, 'Iteration:I'],
  'Probe:P': ['Probe', [], {}, 'Iteration:I'],
});

const stateOf = async (server: TestServer, agent: string, run: string, at?: number) =>
  (await server.call('GET', `/api/v1/agents/${agent}/runs/${run}/state${at === undefined ? '' : `?at=${at}`}`)).body;

describe('the state of a run', () => {
  it('after each event has what nodes had given by then, and where the run was', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const [answer] = await Promise.all([
      server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x', inputs: { city: 'Rome' } }),
      server.probes.next().then((probe) => probe.settle('seven')),
    ]);
    const { run_id: run } = answer.body.data;
    const events = await engineEvents(server.url, id, run);
    const given = new Map<string, unknown>();
    for (const { seq, type, node, outputs } of events) {
      const { code, data } = await stateOf(server, id, run, seq as number);
      if (type === 'node-settled') given.set(node as string, outputs);
      expect([code, data.run_id, data.event_id, data.omitted]).toEqual([0, run, seq, []]);
      for (const [name, value] of given) expect(data.outputs[name]).toMatchObject(value as object);
      expect(Object.keys(data.outputs).filter((name) => !given.has(name) && name !== node)).toEqual([]);
      expect(data.variables).toMatchObject({ 'sys.query': 'x', 'sys.conversation_turns': 1 });
    }
    expect([...given.keys()]).toEqual(['begin', 'Message:A', 'Probe:P', 'Message:B']);
    const before = events.find(({ type, node }) => type === 'node-started' && node === 'Probe:P');
    expect((await stateOf(server, id, run, before?.seq as number)).data.tokens).toEqual([
      { component_id: 'Probe:P', token: expect.any(Number), within: null, status: 'ready' },
    ]);
    const end = (await stateOf(server, id, run)).data;
    expect(end).toMatchObject({ event_id: events.length, tokens: [], bodies: [] });
    expect(end.outputs['Probe:P']).toMatchObject({ content: 'seven' });
    expect(server.errors).toEqual([]);
  });

  it('of a run that waits has its question', async () => {
    const server = await startServer();
    const id = await server.agent(FORM);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    const { data } = await stateOf(server, id, run);
    expect(data.tokens).toEqual([
      {
        ...{ component_id: 'UserFillUp:B', token: expect.any(Number), within: null, status: 'waiting' },
        question: expect.objectContaining({ tips: 'Where to?', inputs: { city: expect.anything() } }),
      },
    ]);
  });

  it('has the passes of containers, while the run goes on and in another process', async () => {
    const stores = createMemoryStores();
    const server = await startServer({ stores });
    const id = await server.agent(LOOP);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, {
      body: { query: 'x', inputs: { words: ['one', 'two'] } },
    });
    (await server.probes.next()).settle('one');
    const second = await server.probes.next();
    const run = stream.headers.get('x-run-id') as string;
    await stream.until(({ json }) => json.event === 'node_started' && json.data.component_id === 'Probe:P');
    await expect
      .poll(async () => (await stateOf(server, id, run)).data.bodies)
      .toMatchObject([{ within: 'Iteration:I/1', aliases: { item: 'two', index: 1 } }]);
    const { data } = await stateOf(server, id, run);
    expect(data.tokens).toMatchObject([
      { component_id: 'Iteration:I', within: null },
      { component_id: 'Probe:P', within: 'Iteration:I/1' },
    ]);
    const other = await startServer({ stores });
    expect((await stateOf(other, id, run, data.event_id)).data).toEqual(data);
    second.settle();
    await stream.rest();
  });

  it('of a run that failed has what the node failed with', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
    (await server.probes.next()).fail(new Error('Lost.'));
    await stream.rest();
    const { data } = await stateOf(server, id, stream.headers.get('x-run-id') as string);
    expect(data.outputs).toMatchObject({ begin: {}, 'Message:A': {}, 'Probe:P': { _ERROR: 'Lost.' } });
  });

  it('leaves out the largest values where not everything has room, and names them', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const large = 'x'.repeat(3 * 1024 ** 2);
    const inputs = { city: `${large}, larger` };
    const [answer] = await Promise.all([
      server.call('POST', `/api/v1/agents/${id}/run`, { query: 'q', inputs }),
      server.probes.next().then((probe) => probe.settle(large)),
    ]);
    const { data } = await stateOf(server, id, answer.body.data.run_id);
    expect(data.outputs['Probe:P'].content === large).toBe(true);
    expect(data.outputs.begin).not.toHaveProperty('city');
    expect(data.omitted).toEqual([{ path: ['outputs', 'begin', 'city'], bytes: large.length + 14 }]);
  });

  it.each([
    ['x', 101, /`at` must be the number of an event/],
    ['999', 101, /which has \d+; received 999/],
  ])('at %s is refused', async (at, code, message) => {
    const server = await startServer();
    const id = await server.agent(FORM);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    const { body } = await server.call('GET', `/api/v1/agents/${id}/runs/${run}/state?at=${at}`);
    expect(body).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('is refused where nothing is kept of the run', async () => {
    const server = await startServer({ env: { RUNNEL_DURABILITY: 'exit' } });
    const id = await server.agent(FORM);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    expect(await stateOf(server, id, run)).toMatchObject({ message: expect.stringContaining('is not stored') });
  });
});
