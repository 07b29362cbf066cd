import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { callEvent, callFinished, callStarted } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { MetricRegistry, renderMetrics } from '../../src/telemetry/metric-registry.js';
import { createRunMeters } from '../../src/telemetry/run-meters.js';
import { createTelemetry } from '../../src/telemetry/telemetry.js';
import { ECHO, MODEL } from '../transport/support/documents.js';
import { startServer } from '../transport/support/server.js';

const ADMIN_KEY = 'a-key-for-the-administrator';

/** Lines of the text format that are values. */
const valuesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('a registry of numbers', () => {
  it('writes what was counted in Prometheus’ text format', async () => {
    const registry = new MetricRegistry();
    const runs = registry.counter('runs_total', 'Runs.', ['outcome']);
    const times = registry.histogram('time_seconds', 'Time.', [], [1, 2]);
    registry.gauge('open', 'Open.', () => [{ labels: { kind: 'a' }, value: 4 }]);
    runs.add(1, 'good');
    runs.add(2, 'ba"d\n');
    for (const value of [0.5, 1, 1.5, 9]) times.observe(value);
    expect((await renderMetrics(registry)).split('\n')).toEqual([
      '# HELP runs_total Runs.',
      '# TYPE runs_total counter',
      'runs_total{outcome="good"} 1',
      'runs_total{outcome="ba\\"d\\n"} 2',
      '# HELP time_seconds Time.',
      '# TYPE time_seconds histogram',
      'time_seconds_count 4',
      'time_seconds_sum 12',
      'time_seconds_bucket{le="1"} 2',
      'time_seconds_bucket{le="2"} 3',
      'time_seconds_bucket{le="+Inf"} 4',
      '# HELP open Open.',
      '# TYPE open gauge',
      'open{kind="a"} 4',
      '',
    ]);
  });

  it('refuses a name that is taken', () => {
    const registry = new MetricRegistry();
    registry.counter('a_total', '');
    expect(() => registry.counter('a_total', '')).toThrow('a_total');
  });

  it('does not grow with names that others choose', async () => {
    const registry = new MetricRegistry();
    const meters = createRunMeters(registry);
    for (let count = 0; count < 10_000; count += 1) {
      const name = `evil\u0000"}\n${count}${'x'.repeat(count % 300)}`;
      meters.tokens.add(1, name, 'input');
      meters.models.observe(1, name, name);
      meters.nodes.observe(1, name, 'success');
      meters.ended({ status: name, startedAt: 0, finishedAt: 1 });
    }
    const lines = valuesOf(await renderMetrics(registry));
    expect(lines.length).toBeLessThan(25_000);
    expect(lines.filter((line) => line.startsWith('runnel_model_tokens_total'))).toHaveLength(101);
    expect(lines.filter((line) => line.startsWith('runnel_node_duration_seconds_count'))).toHaveLength(101);
    expect(lines).toContain('runnel_model_tokens_total{model="other",kind="input"} 9900');
    expect(lines).toContain('ragflow_canvas_runs_total{runtime="runnel",outcome="error"} 10000');
  });
});

it('neither nodes, models, tools nor tenants of documents fill the memory', async () => {
  const telemetry = createTelemetry();
  const say = (count: number) => {
    const name = `<b>${count}</b>{"}`;
    const plan = { nodes: [{ type: 'LLM' }], byId: new Map([[name, 0]]), byCanonicalId: new Map() } as unknown as Plan;
    const watch = telemetry.watch({ id: name, plan, tenant: name, agentId: name, sessionId: name });
    const header = { run: name, seq: 1, at: 1, node: name, token: 1 };
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    for (const { call } of [
      callStarted({ id: 'm', kind: 'model', name }),
      callEvent({ id: 'm', name: 'stream_started' }),
      callFinished({ id: 'm', usage }),
      callStarted({ id: 't', kind: 'tool', name }),
      callFinished({ id: 't', error: { code: 'TOOL_FAILED', message: name } }),
      callStarted({ id: 'open', kind: 'agent', name }),
    ])
      watch.event({ ...header, type: 'node-call', call });
    watch.event({ ...header, type: 'node-settled', outputs: {}, elapsedMs: 1 });
    watch.close();
  };
  for (let count = 0; count < 10_000; count += 1) say(count);
  const lines = valuesOf(await renderMetrics(telemetry.registry));
  const series = (name: string) => lines.filter((line) => line.startsWith(`${name}{`));
  expect(series('runnel_node_duration_seconds_count')).toEqual([
    'runnel_node_duration_seconds_count{type="LLM",outcome="success"} 10000',
  ]);
  for (const [name, label] of [
    ['runnel_model_call_duration_seconds_count', 'model="other",outcome="success"'],
    ['runnel_model_first_token_seconds_count', 'model="other"'],
    ['runnel_tool_call_duration_seconds_count', 'tool="other",outcome="error"'],
  ] as const) {
    expect(series(name), name).toHaveLength(101);
    expect(series(name)).toContain(`${name}{${label}} 9900`);
  }
  expect(series('runnel_model_tokens_total')).toHaveLength(202);
  expect(lines.length).toBeLessThan(7_000);
  for (const line of lines) expect(line).toMatch(/^[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})? [\d.e+-]+$/);
});

describe('numbers of runs', () => {
  const header = { run: 'r', seq: 1, node: 'a', token: 1 };
  const watched = (events: readonly RunEvent[]) => {
    const registry = new MetricRegistry();
    const plan = { nodes: [{ type: 'LLM' }], byId: new Map([['a', 0]]), byCanonicalId: new Map() } as unknown as Plan;
    const watch = createRunMeters(registry).watch(plan);
    for (const event of events) watch.event(event);
    watch.close();
    return renderMetrics(registry).then(valuesOf);
  };

  it('say what calls took', async () => {
    const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
    const calls = [
      [0, callStarted({ id: '1', kind: 'model', name: 'm' })],
      [0, callStarted({ id: '2', kind: 'tool', name: 't', parent: '1' })],
      [500, callEvent({ id: '1', name: 'stream_started' })],
      [700, callEvent({ id: '1', name: 'stream_started' })],
      [2_000, callFinished({ id: '2', error: { code: 'NODE_FAILED', message: 'no' } })],
      [3_000, callFinished({ id: '1', usage })],
      [9_000, callFinished({ id: '1', usage })],
    ] as const;
    const lines = await watched(calls.map(([at, { call }]) => ({ ...header, at, type: 'node-call', call })));
    expect(lines).toEqual(
      expect.arrayContaining([
        'runnel_model_call_duration_seconds_sum{model="m",outcome="success"} 3',
        'runnel_model_first_token_seconds_sum{model="m"} 0.5',
        'runnel_model_first_token_seconds_count{model="m"} 1',
        'runnel_tool_call_duration_seconds_sum{tool="t",outcome="error"} 2',
        'runnel_model_tokens_total{model="m",kind="input"} 3',
        'runnel_model_tokens_total{model="m",kind="output"} 4',
      ]),
    );
  });

  it('say what nodes took, by type and outcome', async () => {
    const then = 'run' as const;
    const lines = await watched([
      { ...header, at: 0, type: 'node-settled', outputs: {}, elapsedMs: 250 },
      {
        ...header,
        at: 0,
        type: 'node-failed',
        outputs: {},
        elapsedMs: 750,
        then,
        error: { code: 'NODE_FAILED', message: '' },
      },
    ]);
    expect(lines).toContain('runnel_node_duration_seconds_sum{type="LLM",outcome="success"} 0.25');
    expect(lines).toContain('runnel_node_duration_seconds_sum{type="LLM",outcome="error"} 0.75');
  });

  it.each([
    ['succeeded', 'success'],
    ['failed', 'error'],
    ['cancelled', 'cancelled'],
    ['', 'error'],
  ])('a run that %s counts as %s', async (status, outcome) => {
    const registry = new MetricRegistry();
    createRunMeters(registry).ended({ status, startedAt: 5, finishedAt: 5 });
    const lines = valuesOf(await renderMetrics(registry));
    expect(lines).toEqual([`ragflow_canvas_runs_total{runtime="runnel",outcome="${outcome}"} 1`]);
  });
});

describe('GET /metrics', () => {
  it('shows what happened and what is open', async () => {
    const { url, agent, call, probes } = await startServer();
    await call('POST', `/api/v1/agents/${await agent(MODEL)}/run`, { query: 'x' });
    const probing = await agent({
      ...ECHO,
      components: {
        begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Probe:P'], upstream: [] },
        'Probe:P': { obj: { component_name: 'Probe', params: {} }, downstream: [], upstream: [] },
      },
    });
    const stream = await fetch(`${url}/api/v1/agents/${probing}/stream`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const probe = await probes.next();
    const open = await fetch(`${url}/metrics`);
    expect(open.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = valuesOf(await open.text());
    expect(lines).toEqual(
      expect.arrayContaining([
        'ragflow_canvas_runs_total{runtime="runnel",outcome="success"} 1',
        'runnel_runs_active 1',
        'runnel_open_sockets{kind="sse"} 1',
        'runnel_open_sockets{kind="websocket"} 0',
        'runnel_run_subscriptions 1',
        'runnel_model_calls{state="waiting"} 0',
        'runnel_queue_depth{queue="log"} 0',
        'runnel_queue_depth{queue="clients"} 0',
        'runnel_queue_depth{queue="models"} 0',
      ]),
    );
    expect(
      lines.some((line) => line.startsWith('runnel_node_duration_seconds_count{type="LLM",outcome="success"} 1')),
    ).toBe(true);
    expect(lines.some((line) => line.startsWith('runnel_event_loop_delay_seconds{quantile="0.99"}'))).toBe(true);
    probe.settle();
    await stream.text();
    const after = valuesOf(await (await fetch(`${url}/metrics`)).text());
    expect(after).toContain('runnel_open_sockets{kind="sse"} 0');
  });

  it('shows what waits for a log that is slow', async () => {
    const stores = createMemoryStores();
    let whenAsked = (): void => {};
    const asked = new Promise<void>((resolve) => {
      whenAsked = resolve;
    });
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { log } = stores;
    const slow: typeof log = {
      ...log,
      append: async (tenant, run, batch) => {
        whenAsked();
        await released;
        await log.append(tenant, run, batch);
      },
    };
    const { url, agent, call } = await startServer({ stores: { ...stores, log: slow } });
    const run = call('POST', `/api/v1/agents/${await agent(ECHO)}/run`, { query: 'x' });
    await asked;
    const waiting = valuesOf(await (await fetch(`${url}/metrics`)).text()).find((line) => line.includes('queue="log"'));
    expect(Number(waiting?.split(' ')[1])).toBeGreaterThan(0);
    release();
    await run;
    const after = valuesOf(await (await fetch(`${url}/metrics`)).text());
    expect(after).toContain('runnel_queue_depth{queue="log"} 0');
  });

  const get = (url: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      request(`${url}/metrics`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  const key = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const elsewhere = { 'x-forwarded-for': '203.0.113.9' };

  it.each([
    ['a caller on this machine', {}, 200, 200],
    ['a page that rebinds a name', { host: 'evil.example' }, 401, 403],
    ['a page of another origin', { origin: 'https://evil.example' }, 401, 403],
    ['somebody behind a proxy', elsewhere, 401, 403],
    ['a client behind a proxy that gives its own name only', { via: '1.1 proxy' }, 401, 403],
    ['a client behind a proxy that gives the standard header', { forwarded: 'for=203.0.113.9' }, 401, 403],
    ['a client behind a proxy that gives the first name', { 'x-forwarded-host': 'example.org' }, 401, 403],
    ['a picture in a page of another site', { 'sec-fetch-site': 'cross-site' }, 401, 403],
    ['somebody behind a proxy with a wrong key', { ...elsewhere, ...key('wrong') }, 401, 403],
    ['the key of a tenant', key('one-of-acme-long-key'), 401, 403],
    ['the administrator behind a proxy', { ...elsewhere, ...key(ADMIN_KEY) }, 200, 403],
  ])('is for this machine and the administrator: %s', async (_, headers, withKey, without) => {
    const env = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key' };
    const guarded = await startServer({ env: { ...env, RUNNEL_ADMIN_KEY: ADMIN_KEY } });
    const open = await startServer({ env });
    expect([await get(guarded.url, headers), await get(open.url, headers)]).toEqual([withKey, without]);
  });
});
