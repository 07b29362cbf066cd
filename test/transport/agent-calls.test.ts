import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import type { JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { call as runnel } from '../cli/fake-terminal.js';
import { openStream } from './support/event-stream.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

/** A search that answers at once, but for the question `wait`. */
async function startSearch() {
  let whenHeld = (_: ServerResponse): void => {};
  const held = new Promise<ServerResponse>((resolve) => {
    whenHeld = resolve;
  });
  const http = createServer((request, response) => {
    if (request.url?.includes('q=wait')) whenHeld(response);
    else response.setHeader('content-type', 'application/json').end('{"results": []}');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, held };
}

/** An agent that searches, then asks an agent below it, whose search waits; beside it a node that a test may fail. */
async function startAgent(beside: 'Probe' | 'nothing' = 'nothing') {
  const search = await startSearch();
  const tool = { component_name: 'SearXNG', params: { searxng_url: search.url } };
  const aide = {
    component_name: 'Agent',
    name: 'Aide',
    params: { llm_id: 'small', sys_prompt: 'AIDE', tools: [tool] },
  };
  const boss = { llm_id: 'large', sys_prompt: 'BOSS', tools: [tool, aide] };
  const asks = (name: string, args: Record<string, string>) => ({ times: 1, tool_calls: [{ name, arguments: args }] });
  const task = { user_prompt: 'help', reasoning: '', context: '' };
  const script = {
    rules: [
      { when: { system: 'AIDE' }, ...asks('searxng_search_0', { query: 'wait' }) },
      { when: { system: 'AIDE' }, reply: 'helped' },
      { when: { system: 'BOSS' }, ...asks('searxng_search_0', { query: 'quick' }) },
      { when: { system: 'BOSS' }, ...asks('Aide_1', task) },
    ],
    default: { reply: 'done' },
  };
  const models = createModels({ ...(await modelsFromEnvironment({}, async () => '')), script });
  const server = await startServer({ services: { models, http: createEgressClient({ allowPrivateNetwork: true }) } });
  const node = (component_name: string, params: object, downstream: string[]) => ({
    obj: { component_name, params },
    downstream,
  });
  const id = await server.agent({
    components: {
      begin: node('Begin', {}, beside === 'Probe' ? ['Agent:A', 'Probe:P'] : ['Agent:A']),
      'Agent:A': node('Agent', boss, []),
      ...(beside === 'Probe' && { 'Probe:P': node('Probe', {}, []) }),
    },
  } as unknown as JsonObject);
  const stream = await openStream(`${server.url}${AGENTS}/${id}/stream`, { body: { query: 'x' } });
  const [first] = await stream.until(({ json }) => json.event === 'workflow_started');
  const { items } = await server.stores.runs.list('local', { agentId: id, offset: 0, limit: 1 });
  const run = items[0]?.id ?? '';
  const read = async (path: string) => (await server.call('GET', `${AGENTS}/${id}${path}`)).body.data;
  const agentOf = async () =>
    (await read(`/runs/${run}/trace`)).activations.find((one: JsonObject) => one.component_id === 'Agent:A');
  const logs = () => read(`/logs/${first?.json.message_id}`);
  return { ...server, id, run, stream, held: search.held, agentOf, logs };
}

/** Calls as `kind name status`, those of an inner agent behind its id. */
const drawn = (calls: readonly JsonObject[]): string[] =>
  calls.map(({ kind, name, status, parent }) => `${parent === undefined ? '' : `${parent}>`}${kind} ${name} ${status}`);

const DONE = ['model large done', 'tool searxng_search done', 'model large done'];

describe('the calls of an Agent', () => {
  it('are shown with their times while it works, and afterwards from the log', async () => {
    const { url, run, stream, held, agentOf, logs, call, id } = await startAgent();
    const response = await held;
    const working = await agentOf();
    expect(working.status).toBe('open');
    expect(drawn(working.calls)).toEqual([
      ...DONE,
      'agent Aide open',
      '4>model small done',
      '4>tool searxng_search open',
    ]);
    for (const { started_at, ended_at, status } of working.calls) {
      expect(started_at).toBeGreaterThanOrEqual(working.started_at);
      if (status === 'done') expect(ended_at).toBeGreaterThanOrEqual(started_at);
      else expect(ended_at).toBeUndefined();
    }
    expect((await logs()).at(-1)).toMatchObject({ component_id: 'Agent:A', trace: [{ tool_name: 'searxng_search' }] });
    const { out } = await runnel(['trace', run, '--url', url]);
    expect(out).toMatch(/^running/);
    expect(out).toMatch(/^ {2}agent Aide .*>/m);
    expect(out).toMatch(/^ {4}tool searxng_search .*>/m);

    response.setHeader('content-type', 'application/json').end('{"results": []}');
    const events = await stream.rest();
    const all = [...DONE, 'agent Aide done', '4>model small done', '4>tool searxng_search done', '4>model small done'];
    const ended = await agentOf();
    expect(drawn(ended.calls)).toEqual([...all, 'model large done']);
    expect(ended.calls[0]).toMatchObject({ usage: { total_tokens: expect.any(Number) } });
    const finished = events.find(({ json }) => json.data?.component_id === 'Agent:A' && json.event === 'node_finished');
    expect(finished?.json.data.calls).toEqual(ended.calls);
    expect(finished?.json.data.tool_calls).toHaveLength(3);
    // RAGFlow's clients are told nothing in between.
    expect(events.map(({ json }) => json?.event)).toEqual([
      'node_started',
      'node_finished',
      'node_started',
      'node_finished',
      'workflow_finished',
      undefined,
    ]);
    expect((await logs()).at(-1).trace).toHaveLength(4);
    expect((await call('GET', `${AGENTS}/${id}/runs/${run}/trace`)).body.data.status).toBe('succeeded');
  });

  it('are in the trace of a run that was cancelled while it worked', async () => {
    const { id, run, stream, held, agentOf, call } = await startAgent();
    await held;
    await call('POST', `${AGENTS}/${id}/runs/${run}/cancel`);
    await stream.rest();
    const stopped = await agentOf();
    expect(stopped.status).toBe('open');
    expect(drawn(stopped.calls)).toEqual([
      ...DONE,
      'agent Aide stopped',
      '4>model small done',
      '4>tool searxng_search stopped',
    ]);
  });

  it('are in the trace of a run that failed elsewhere while it worked', async () => {
    const { stream, held, agentOf, probes } = await startAgent('Probe');
    const probe = await probes.next();
    await held;
    probe.fail(new Error('enough'));
    await stream.rest();
    expect(drawn((await agentOf()).calls).slice(3)).toEqual([
      'agent Aide stopped',
      '4>model small done',
      '4>tool searxng_search stopped',
    ]);
  });
});
