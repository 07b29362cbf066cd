/** Forks in which a variable or an output is another one: what had finished is not run again, and no model is called twice. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { countingModels } from './support/counting-models.js';
import { documentOf, FORM } from './support/documents.js';
import { durableStores } from './support/durable-stores.js';
import { openStream } from './support/event-stream.js';
import { connect } from './support/live-client.js';
import { startServer, type TestServer } from './support/server.js';

const asks = (prompt: string) => ({
  llm_id: 'm',
  sys_prompt: 'Be brief.',
  prompts: [{ role: 'user', content: prompt }],
});

/** A model, a Probe, and a model that reads what the first one said. */
const CHAIN: JsonObject = {
  ...documentOf({
    begin: ['Begin', ['LLM:First']],
    'LLM:First': ['LLM', ['Probe:P'], asks('first {sys.query}')],
    'Probe:P': ['Probe', ['LLM:Second']],
    'LLM:Second': ['LLM', ['Message:A'], asks('second {LLM:First@content} in {env.tone}')],
    'Message:A': ['Message', [], { content: ['{LLM:Second@content}'] }],
  }),
  variables: { tone: { type: 'string', value: 'earnest' } },
};

const ECHO_SCRIPT = { default: { reply: '<$user>' } };

const run = (agent: string, rest: string) => `/api/v1/agents/${agent}/runs/${rest}`;

/** A run of the chain that is over, and the event with which its first model had finished. */
async function chainRun(server: TestServer, agent: string) {
  const [answer] = await Promise.all([
    server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' }),
    server.probes.next().then((probe) => probe.settle()),
  ]);
  const id = answer.body.data.run_id as string;
  expect(answer.body.data.data.content).toBe('<second <first x> in earnest>');
  const events = await (await openStream(`${server.url}${run(agent, `${id}/events?view=engine`)}`)).rest();
  const settled = events.find(({ json }) => json?.type === 'node-settled' && json.node === 'LLM:First');
  return { id, at: settled?.id as number };
}

describe('a fork with changes', () => {
  it('goes on with other outputs and variables, and asks no model again that had answered', async () => {
    const models = countingModels(ECHO_SCRIPT);
    const server = await startServer({ services: models.services });
    const agent = await server.agent(CHAIN);
    const { id, at } = await chainRun(server, agent);
    expect(models.calls.map(({ user }) => user)).toEqual(['first x', 'second <first x> in earnest']);
    const change = { outputs: { 'LLM:First': { content: 'CHANGED' } }, variables: { 'env.tone': 'jest' } };
    const [answer] = await Promise.all([
      server.call('POST', run(agent, `${id}/fork?at=${at}`), change),
      server.probes.next().then((probe) => probe.settle()),
    ]);
    const { data } = answer.body;
    expect(data).toMatchObject({ status: 'succeeded', data: { content: '<second CHANGED in jest>' } });
    expect(models.calls.map(({ user }) => user).slice(2)).toEqual(['second CHANGED in jest']);
    const events = await (await openStream(`${server.url}${run(agent, `${data.run_id}/events?view=engine`)}`)).rest();
    const started = events.flatMap(({ json }) => (json?.type === 'node-started' ? [json.node] : []));
    expect(started).toEqual(['Probe:P', 'LLM:Second', 'Message:A']);
    // The other run is left alone.
    const before = (await server.call('GET', run(agent, `${id}/state`))).body.data;
    expect(before).toMatchObject({
      outputs: { 'LLM:First': { content: '<first x>' } },
      variables: { 'env.tone': 'earnest' },
    });
    expect((await server.call('GET', run(agent, `${data.run_id}/state`))).body.data).toMatchObject({
      outputs: { 'LLM:First': { content: 'CHANGED' } },
      variables: { 'env.tone': 'jest' },
    });
  });

  it('keeps its changes when its process is lost, whatever is stored by then', async () => {
    const stores = durableStores({ areKilled: true });
    const models = countingModels(ECHO_SCRIPT);
    const options = { stores, services: models.services, env: { RUNNEL_LEASE_MS: '400' } };
    const first = await startServer({ ...options, outlivesTest: true });
    const agent = await first.agent(CHAIN);
    const { id, at } = await chainRun(first, agent);
    const stream = await openStream(`${first.url}${run(agent, `${id}/fork?at=${at}`)}`, {
      body: { outputs: { 'LLM:First': { content: 'CHANGED' } }, variables: { 'env.tone': 'jest' }, stream: true },
    });
    await first.probes.next();
    const forked = stream.headers.get('x-run-id') as string;
    await first.stop();
    const second = await startServer(options);
    (await second.probes.next()).settle();
    await (await openStream(`${second.url}${run(agent, `${forked}/events`)}`)).rest();
    const { data } = (await second.call('GET', run(agent, `${forked}/state`))).body;
    expect(data.outputs['Message:A'].content).toBe('<second CHANGED in jest>');
    expect(models.calls.map(({ user }) => user).slice(2)).toEqual(['second CHANGED in jest']);
    expect(second.errors).toEqual([]);
  });

  it('works over a WebSocket, and together with another question', async () => {
    const models = countingModels(ECHO_SCRIPT);
    const server = await startServer({ services: models.services });
    const agent = await server.agent(CHAIN);
    const { id, at } = await chainRun(server, agent);
    const live = await connect(server.url, agent);
    live.send({ type: 'fork', req: 1, run_id: id, at, query: 'y', variables: { 'env.tone': 'jest {sys.query}' } });
    (await server.probes.next()).settle();
    expect((await live.done()).at(-1)).toMatchObject({ status: 'succeeded' });
    // The value stays as it was given, and nothing in it is read as a reference.
    expect(models.calls.at(-1)?.user).toBe('second <first x> in jest {sys.query}');
    live.send({ type: 'fork', req: 2, run_id: id, at, outputs: 'x' });
    expect((await live.until(({ type }) => type === 'error')).at(-1)).toMatchObject({ req: 2, code: 101 });
  });

  it.each<[string, JsonObject, RegExp]>([
    ['an unknown variable', { variables: { 'env.tune': 1 } }, /has no variable "env.tune".* Did you mean "env.tone"\?/],
    [
      'an unknown component',
      { outputs: { 'LLM:Fist': {} } },
      /"LLM:Fist".*no such component.* Did you mean "LLM:First"\?/,
    ],
    [
      'a component that has not begun',
      { outputs: { 'LLM:Second': { content: 'x' } } },
      /"LLM:Second".*has not finished/,
    ],
    ['a component at work', { outputs: { 'Probe:P': { content: 'x' } } }, /"Probe:P".*has not finished/],
    ['an unknown output', { outputs: { 'LLM:First': { contents: 'x' } } }, /"LLM:First" has no output "contents"/],
    ['a name of all objects', { outputs: { 'LLM:First': { constructor: 'x' } } }, /has no output "constructor"/],
    ['variables that are a list', { variables: [1] }, /`variables`/],
    ['outputs that are a text', { outputs: { 'LLM:First': 'x' } }, /`outputs.LLM:First`/],
    ['a misspelt field', { output: {} }, /Did you mean `outputs`\?/],
  ])('is refused with %s', async (_, change, message) => {
    const server = await startServer({ services: countingModels(ECHO_SCRIPT).services });
    const agent = await server.agent(CHAIN);
    const { id, at } = await chainRun(server, agent);
    const { body } = await server.call('POST', run(agent, `${id}/fork?at=${at + 1}`), change);
    expect(body).toMatchObject({ code: 101, message: expect.stringMatching(message) });
    expect((await server.call('GET', `/api/v1/agents/${agent}/runs`)).body.total).toBe(1);
  });

  it('is refused for a form that waits, whose answer would replace it', async () => {
    const server = await startServer({ stores: createMemoryStores() });
    const agent = await server.agent(FORM);
    const { run_id: id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' })).body.data;
    const change = { outputs: { 'UserFillUp:B': { city: 'Oslo' } } };
    const { body } = await server.call('POST', run(agent, `${id}/fork`), change);
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining('has not finished') });
    const answered = { variables: { 'sys.query': 'y' }, inputs: { city: { value: 'Oslo' } } };
    expect((await server.call('POST', run(agent, `${id}/fork`), answered)).body.data.data.content).toBe('to Oslo');
  });
});
