import { describe, expect, it } from 'vitest';
import { documentOf, PROBE } from './support/documents.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

const CANVAS = documentOf({
  begin: ['Begin', ['Switch:S'], { inputs: { city: { name: 'City', type: 'line', optional: true } } }],
  'Switch:S': [
    'Switch',
    [],
    {
      conditions: [
        {
          logical_operator: 'and',
          items: [{ cpn_id: 'begin@city', operator: '=', value: 'Rome' }],
          to: ['Message:A'],
        },
      ],
      end_cpn_ids: ['UserFillUp:F'],
    },
  ],
  'Message:A': ['Message', [], { content: ['{begin@city} {begin@place.name} {env.unit} {sys.query} {ghost@x}'] }],
  'LLM:M': ['LLM', ['Message:B'], { llm_id: 'scripted', prompts: [{ role: 'user', content: '{sys.query}!' }] }],
  'Message:B': ['Message', [], { content: ['{LLM:M@content}'] }],
  'UserFillUp:F': ['UserFillUp', ['LLM:M'], { inputs: { n: { name: 'N', type: 'integer', optional: false } } }],
  'VariableAssigner:V': [
    'VariableAssigner',
    [],
    { variables: [{ variable: 'env.unit', operator: 'set', parameter: 'x' }] },
  ],
});

describe('the input form of a component', () => {
  it.each([
    ['begin', { city: { name: 'City', type: 'line', optional: true } }],
    ['UserFillUp:F', { n: { name: 'N', type: 'integer', optional: false } }],
    ['userfillup_f', { n: { name: 'N', type: 'integer', optional: false } }],
    [
      'Message:A',
      {
        'begin@city': { type: 'line', name: 'Begin@city' },
        'begin@place.name': { type: 'line', name: 'Begin@place.name' },
        'env.unit': { type: 'line', name: 'env.unit' },
        'sys.query': { type: 'line', name: 'sys.query' },
      },
    ],
    ['Switch:S', { 'begin@city': { type: 'line', name: 'Begin@city' } }],
    ['LLM:M', { 'sys.query': { type: 'line', name: 'sys.query' } }],
  ])('of %s', async (component, form) => {
    const { call, agent } = await startServer();
    const id = await agent(CANVAS);
    const path = `${AGENTS}/${id}/components/${encodeURIComponent(component)}/input-form`;
    expect((await call('GET', path)).body.data).toEqual(form);
  });

  it('is refused for a component that is not there', async () => {
    const { call, agent } = await startServer();
    const id = await agent(CANVAS);
    expect((await call('GET', `${AGENTS}/${id}/components/nobody/input-form`)).body).toEqual({
      code: 102,
      message: 'component not found: nobody',
    });
  });
});

describe('a trial of a component', () => {
  const values = (given: Record<string, unknown>) => ({
    params: Object.fromEntries(Object.entries(given).map(([key, value]) => [key, { value }])),
  });

  it.each([
    ['begin', { city: 'Oslo' }, { city: 'Oslo' }],
    ['UserFillUp:F', { n: 3 }, { n: 3 }],
    [
      'Message:A',
      { 'begin@city': 'Oslo', 'begin@place.name': 'N', 'env.unit': 'km', 'sys.query': 'q' },
      { content: expect.stringContaining('Oslo N km q') },
    ],
    ['Switch:S', { 'begin@city': 'Rome' }, { _next: ['Message:A'] }],
    ['LLM:M', { 'sys.query': 'why' }, { content: expect.stringContaining('why!') }],
    ['Message:B', { 'LLM:M@content': 'given' }, { content: 'given' }],
    ['Message:B', { '{{llm_m@content}}': 'given' }, { content: 'given' }],
  ])('gives the outputs of %s', async (component, given, outputs) => {
    const { call, agent, stores } = await startServer();
    const noGhost = JSON.parse(JSON.stringify(CANVAS).replace(' {ghost@x}', ''));
    const id = await agent(noGhost);
    const path = `${AGENTS}/${id}/components/${encodeURIComponent(component)}/debug`;
    const answer = (await call('POST', path, values(given))).body;
    expect(answer).toMatchObject({ code: 0, data: outputs });
    // Nothing of it is kept.
    expect((await stores.runs.list('local', { agentId: id, offset: 0, limit: 1 })).total).toBe(0);
    expect((await call('GET', `${AGENTS}/${id}/sessions`)).body.total).toBe(0);
    expect((await call('GET', `${AGENTS}/${id}`)).body.data.dsl).toEqual(noGhost);
  });

  it.each([
    ['without params', 'Message:B', {}, 'required argument are missing: params; '],
    ['without a value', 'Message:B', { params: { 'LLM:M@content': {} } }, '`params.LLM:M@content.value` is required.'],
    ['without what it reads', 'Message:B', { params: {} }, 'required argument are missing: LLM:M; '],
    ['without what its form asks for', 'UserFillUp:F', { params: {} }, 'required argument are missing: n; '],
  ])('is refused %s', async (_, component, body, message) => {
    const { call, agent } = await startServer();
    const id = await agent(CANVAS);
    const path = `${AGENTS}/${id}/components/${encodeURIComponent(component)}/debug`;
    expect((await call('POST', path, body)).body).toMatchObject({ code: 101, message });
  });

  it('runs a container with its body', async () => {
    const { call, agent } = await startServer();
    const dsl = documentOf({
      begin: ['Begin', ['Iteration:I']],
      'Iteration:I': [
        'Iteration',
        [],
        { items_ref: 'begin@words', outputs: { all: { type: 'Array<string>', ref: 'Message:Each@content' } } },
      ],
      'IterationItem:X': ['IterationItem', ['Message:Each']],
      'Message:Each': ['Message', [], { content: ['<{IterationItem:X@item}>'] }],
    });
    const components = dsl.components as Record<string, object>;
    for (const name of ['IterationItem:X', 'Message:Each']) {
      components[name] = { ...components[name], parent_id: 'Iteration:I' };
    }
    const id = await agent(dsl);
    const path = `${AGENTS}/${id}/components/Iteration%3AI/debug`;
    const answer = await call('POST', path, values({ 'begin@words': ['a', 'b'] }));
    expect(answer.body).toMatchObject({ code: 0, data: { all: ['<a>', '<b>'] } });
  });

  it('fails as the component fails', async () => {
    const { call, agent, probes } = await startServer();
    const id = await agent(PROBE);
    const answer = call('POST', `${AGENTS}/${id}/components/Probe:P/debug`, { params: {} });
    (await probes.next()).fail(new Error('broken'));
    expect((await answer).body).toMatchObject({ code: 500, message: 'broken' });
  });

  it('stops when its caller goes away', async () => {
    const { url, agent, probes } = await startServer();
    const id = await agent(PROBE);
    const controller = new AbortController();
    const answer = fetch(`${url}${AGENTS}/${id}/components/Probe:P/debug`, {
      method: 'POST',
      signal: controller.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ params: {} }),
    }).catch(() => undefined);
    const probe = await probes.next();
    controller.abort();
    await answer;
    await probe.stopped;
    expect(probe.isStopped).toBe(true);
  });
});
