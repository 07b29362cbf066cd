import { expect, it } from 'vitest';
import { RagflowProjection } from '../../src/canvas/ragflow-events.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { createMemoryRunLog } from '../../src/stores/memory-run-log.js';
import { ComponentTraces, openTraces } from '../../src/transport/traces/component-traces.js';
import { ECHO, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

const projection = new RagflowProjection({ plan: undefined, messageId: 'm', sessionId: 's', startedAt: 0 });

it('a message knows what each component did, while it is made and afterwards', async () => {
  const { call, agent, url, probes } = await startServer();
  const id = await agent(PROBE);
  const stream = await openStream(`${url}${AGENTS}/${id}/stream`, { body: { query: 'x' } });
  const probe = await probes.next();
  const [first] = await stream.until(({ json }) => json.event === 'workflow_started');
  const { message_id } = first?.json ?? {};
  const logs = async () => (await call('GET', `${AGENTS}/${id}/logs/${message_id}`)).body.data;
  await stream.until(({ json }) => json.event === 'node_finished');
  expect(await logs()).toMatchObject([{ component_id: 'begin', trace: [{ component_type: 'Begin', error: null }] }]);
  probe.say('hi');
  probe.settle();
  await stream.rest();
  expect(await logs()).toMatchObject([
    { component_id: 'begin' },
    { component_id: 'Probe:P', trace: [{ error: null }] },
  ]);
});

it('what the tools of an Agent did stands before its end', async () => {
  const aide = { component_name: 'Agent', name: 'Aide', params: { llm_id: 'scripted', sys_prompt: 'AIDE' } };
  const boss = { llm_id: 'scripted', sys_prompt: 'BOSS', tools: [aide] };
  const args = { user_prompt: 'help', reasoning: '', context: '' };
  const script = {
    rules: [
      { when: { system: 'AIDE' }, reply: 'helped' },
      { when: { system: 'BOSS' }, times: 1, tool_calls: [{ name: 'Aide_0', arguments: args }] },
    ],
    default: { reply: 'done' },
  };
  const { call, agent } = await startServer({
    services: { models: createModels({ ...(await modelsFromEnvironment({}, async () => '')), script }) },
  });
  const id = await agent({
    components: {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Agent:A'] },
      'Agent:A': { obj: { component_name: 'Agent', params: boss }, downstream: ['Message:M'] },
      'Message:M': { obj: { component_name: 'Message', params: { content: ['{Agent:A@content}'] } }, downstream: [] },
    },
  });
  const { message_id } = (await call('POST', `${AGENTS}/${id}/run`, { query: 'x' })).body.data;
  const logs = (await call('GET', `${AGENTS}/${id}/logs/${message_id}`)).body.data;
  expect(logs.find(({ component_id }: { component_id: string }) => component_id === 'Agent:A').trace).toMatchObject([
    { path: 'Agent', tool_name: 'Aide', arguments: args, result: 'helped' },
    { component_type: 'Agent', outputs: { content: 'done' } },
  ]);
});

it('a message that nobody knows has no trace, nor has one of another agent', async () => {
  const { call, agent } = await startServer();
  const [one, two] = [await agent(ECHO), await agent(ECHO)];
  const { message_id } = (await call('POST', `${AGENTS}/${one}/run`, { query: 'x' })).body.data;
  expect((await call('GET', `${AGENTS}/${two}/logs/${message_id}`)).body.data).toEqual({});
  expect((await call('GET', `${AGENTS}/${one}/logs/none`)).body.data).toEqual({});
  expect((await call('GET', `${AGENTS}/nobody/logs/${message_id}`)).body.code).toBe(103);
});

it('a message of another process is found in the store', async () => {
  const { call, agent, stores } = await startServer();
  const id = await agent(ECHO);
  const { run_id } = (await call('POST', `${AGENTS}/${id}/run`, { query: 'x' })).body.data;
  const run = await stores.runs.find('local', run_id);
  const again = await startServer({ stores });
  const { data } = (await again.call('GET', `${AGENTS}/${id}/logs/${run?.messageId}`)).body;
  expect(data.map(({ component_id }: { component_id: string }) => component_id)).toEqual(['begin', 'Message:A']);
});

it('keeps the newest thousand entries, and reads each event once', async () => {
  const log = createMemoryRunLog();
  const reads: number[] = [];
  const counting: typeof log = {
    ...log,
    read: (tenant, run, after, bounds) => {
      reads.push(after);
      return log.read(tenant, run, after, bounds);
    },
  };
  const traces = openTraces(counting);
  const read = async (run: string) => (await traces.read('t', run, () => new ComponentTraces(projection)))?.list;
  expect(await read('r')).toBeUndefined();
  const events = Array.from({ length: 2500 }, (_, at) => ({
    seq: at + 1,
    event: at % 2 === 0 ? 'node-settled' : 'node-delta',
    json: JSON.stringify({ type: 'node-settled', node: 'c', token: 1, at: 0, outputs: { at }, elapsedMs: 0 }),
  }));
  await log.append('t', 'r', { events: events });
  const [trace] = (await read('r')) ?? [];
  expect(trace?.trace).toHaveLength(1000);
  expect(trace?.trace.at(-1)).toMatchObject({ outputs: { at: 2498 } });
  reads.length = 0;
  await read('r');
  expect(reads).toEqual([2500]);
});

it('remembers no more than 64 MiB of what was read', async () => {
  const log = createMemoryRunLog();
  const reads: string[] = [];
  const counting: typeof log = {
    ...log,
    read: (tenant, run, after, bounds) => {
      reads.push(`${run} ${after}`);
      return log.read(tenant, run, after, bounds);
    },
  };
  const traces = openTraces(counting);
  const read = async (run: string) => (await traces.read('t', run, () => new ComponentTraces(projection)))?.list;
  const outputs = { text: 'x'.repeat(30 * 1024 * 1024) };
  const json = JSON.stringify({ type: 'node-settled', node: 'c', token: 1, at: 0, outputs, elapsedMs: 0 });
  const runs = ['a', 'b', 'c'];
  for (const run of runs) await log.append('t', run, { events: [{ seq: 1, event: 'node-settled', json }] });
  for (const run of runs) await read(run);
  reads.length = 0;
  for (const run of runs.toReversed()) await read(run);
  expect(reads).toEqual(['c 1', 'b 1', 'a 0', 'a 1']);
});
