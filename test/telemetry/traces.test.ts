import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Plan } from '../../src/graph/plan.js';
import type { JsonObject } from '../../src/json.js';
import { modelsFromEnvironment } from '../../src/models/configuration.js';
import { createModels } from '../../src/models/router.js';
import { createEgressClient } from '../../src/tools/http/egress-client.js';
import { ECHO, MODEL } from '../transport/support/documents.js';
import type { Received } from './support/collector.js';
import { startTracedServer } from './support/traced-server.js';

type Node = [type: string, downstream: string[], params?: JsonObject, container?: string];

function canvas(nodes: Readonly<Record<string, Node>>): JsonObject {
  const components = Object.fromEntries(
    Object.entries(nodes).map(([id, [component_name, downstream, params = {}, parent_id]]) => [
      id,
      { obj: { component_name, params }, downstream, upstream: [], ...(parent_id === undefined ? {} : { parent_id }) },
    ]),
  );
  return { components, graph: { nodes: [], edges: [] }, globals: { 'sys.query': '' } };
}

/** A server whose requests a test may look at. */
async function startUpstream(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    seen.push(request.headers);
    response.end('{"ok": true}');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}

const parentOf = (spans: readonly Received[], span: Received): string =>
  spans.find(({ spanId }) => spanId === span.parentId)?.name ?? 'nobody';

describe('traces', () => {
  it('a run is a trace, its nodes are spans, and a model call is a span of its node', async () => {
    const { agent, run, flush, collector } = await startTracedServer();
    const id = await agent(MODEL);
    const runId = await run(id, 'how are you');
    await flush();

    const { spans, span } = collector;
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([runId]));
    expect(Object.fromEntries(spans.map((one) => [one.name, parentOf(spans, one)]))).toEqual({
      [`invoke_agent ${id}`]: 'nobody',
      begin: `invoke_agent ${id}`,
      'LLM:M': `invoke_agent ${id}`,
      'chat m@Fake': 'LLM:M',
      'Message:A': `invoke_agent ${id}`,
    });
    expect(span(`invoke_agent ${id}`)).toMatchObject({
      resource: { 'service.name': 'ragflow-agent', 'service.namespace': 'ragflow', 'service.version': '1.2.3' },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': id,
        'runnel.run.id': runId,
        'runnel.tenant.id': 'local',
        'runnel.run.outcome': 'success',
      },
      status: { code: 0 },
    });
    expect(span('LLM:M').attributes).toMatchObject({ 'eino.component.name': 'LLM', 'eino.component.type': 'LLM' });
    expect(span('LLM:M').attributes['eino.output.size']).toBeGreaterThan(10);
    expect(span('Message:A').attributes['eino.input.size']).toBe(span('LLM:M').attributes['eino.output.size']);
    const chat = span('chat m@Fake');
    expect(chat).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'scripted',
        'gen_ai.request.model': 'm@Fake',
        'gen_ai.response.finish_reasons': ['stop'],
      },
    });
    expect(chat.attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
    expect(chat.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    expect(chat.events.map(({ name }) => name)).toEqual(['stream_started']);
    expect(JSON.stringify(spans)).not.toContain('how are you');
  });

  it('says where text streams begin and end', async () => {
    const { agent, run, flush, collector } = await startTracedServer();
    await run(await agent(ECHO), 'x');
    await flush();

    expect(collector.span('Message:A').events).toEqual([
      { name: 'eino.stream.output.start', attributes: {} },
      { name: 'eino.stream.output.end', attributes: { 'eino.stream.output.size': 'you said x'.length } },
    ]);
  });

  it('nodes of a body lie in their container, round after round, and a branch not taken has no span', async () => {
    const { agent, run, flush, collector } = await startTracedServer();
    const condition = (value: string, to: string) => ({
      logical_operator: 'and',
      items: [{ cpn_id: 'sys.query', operator: '=', value }],
      to: [to],
    });
    const id = await agent(
      canvas({
        begin: ['Begin', ['Switch:S']],
        'Switch:S': [
          'Switch',
          ['Iteration:I', 'Message:B'],
          { conditions: [condition('yes', 'Iteration:I')], end_cpn_ids: ['Message:B'] },
        ],
        'Iteration:I': ['Iteration', ['Message:A'], { items_ref: 'sys.history' }],
        'IterationItem:T': ['IterationItem', ['StringTransform:W'], {}, 'Iteration:I'],
        'StringTransform:W': [
          'StringTransform',
          [],
          { method: 'merge', script: '{IterationItem:T@item}' },
          'Iteration:I',
        ],
        'Message:A': ['Message', [], { content: ['done'] }],
        'Message:B': ['Message', [], { content: ['no'] }],
      }),
    );
    await run(id, 'yes');
    await flush();

    const { spans, span } = collector;
    expect(spans.map(({ name }) => name)).not.toContain('Message:B');
    const inside = spans.filter(({ name }) => name === 'StringTransform:W' || name === 'IterationItem:T');
    expect(inside.length).toBeGreaterThan(0);
    expect(new Set(inside.map((one) => parentOf(spans, one)))).toEqual(new Set(['Iteration:I']));
    expect(inside.map(({ attributes }) => attributes['runnel.node.within'])).toContain('Iteration:I/0');
    expect(parentOf(spans, span('Iteration:I'))).toBe(`invoke_agent ${id}`);
  });

  it('errors stand at the call, at the node and at the run', async () => {
    const script = { rules: [{ when: { user: 'break' }, error: 'out of order' }] };
    const models = createModels({ ...(await modelsFromEnvironment({}, async () => '')), script });
    const { agent, run, flush, collector } = await startTracedServer({ services: { models } });
    const id = await agent(MODEL);
    await run(id, 'break');
    await flush();

    const failed = { code: 2, message: expect.stringContaining('out of order') };
    const attributes = {
      'error.type': 'MODEL_UNAVAILABLE',
      'eino.error.message': expect.stringContaining('out of order'),
    };
    for (const name of ['chat m@Fake', 'LLM:M', `invoke_agent ${id}`]) {
      expect(collector.span(name), name).toMatchObject({ status: failed, attributes });
      expect(collector.span(name).events, name).toContainEqual({
        name: 'exception',
        attributes: { 'exception.type': 'MODEL_UNAVAILABLE', 'exception.message': expect.any(String) },
      });
    }
    expect(collector.span('LLM:M').attributes['runnel.node.then']).toBe('run');
    expect(collector.span(`invoke_agent ${id}`).attributes['runnel.run.outcome']).toBe('error');
  });

  it('a cancelled run ends the spans of what was at work', async () => {
    const { agent, call, probes, flush, collector } = await startTracedServer();
    const id = await agent(canvas({ begin: ['Begin', ['Probe:P']], 'Probe:P': ['Probe', []] }));
    const answer = call('POST', `/api/v1/agents/${id}/run`, { query: 'x', session_id: undefined });
    const probe = await probes.next();
    const runs = await call('GET', `/api/v1/agents/${id}/runs`);
    await call('POST', `/api/v1/agents/${id}/runs/${runs.body.data[0].run_id ?? runs.body.data[0].id}/cancel`);
    await probe.stopped;
    await answer;
    await flush();

    expect(collector.span('Probe:P').attributes['runnel.stopped']).toBe(true);
    expect(collector.span(`invoke_agent ${id}`).attributes['runnel.run.outcome']).toBe('cancelled');
  });

  describe('across processes', () => {
    const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
    const headers = {
      traceparent: `00-${CALLER.trace}-${CALLER.span}-01`,
      tracestate: 'vendor=1',
      baggage: 'shop=7,runnel.tenant.id=forged',
    };
    const invoking = (url: string) =>
      canvas({
        begin: ['Begin', ['Invoke:I']],
        'Invoke:I': ['Invoke', ['Message:A'], { url, method: 'GET' }],
        'Message:A': ['Message', [], { content: ['ok'] }],
      });
    const http = () => createEgressClient({ allowPrivateNetwork: true });

    it('a trace goes on from the caller through a node to the server that it asks', async () => {
      const upstream = await startUpstream();
      const { agent, run, flush, collector } = await startTracedServer({ services: { http: http() } });
      const id = await agent(invoking(upstream.url));
      await run(id, 'x', headers);
      await flush();

      const root = collector.span(`invoke_agent ${id}`);
      const node = collector.span('Invoke:I');
      expect(root).toMatchObject({ traceId: CALLER.trace, parentId: CALLER.span });
      expect(upstream.seen[0]).toMatchObject({
        traceparent: `00-${CALLER.trace}-${node.spanId}-01`,
        tracestate: 'vendor=1',
      });
      const baggage = String(upstream.seen[0]?.baggage).split(',');
      expect(baggage).toEqual(expect.arrayContaining(['shop=7', 'runnel.tenant.id=local']));
      expect(baggage.some((entry) => entry.startsWith('session.id='))).toBe(true);
      expect(baggage).not.toContain('runnel.tenant.id=forged');
    });

    it('tenant and session find room beside all the baggage of a caller, in a header of bounded size', async () => {
      const upstream = await startUpstream();
      const { agent, run } = await startTracedServer({ services: { http: http() } });
      const many = Array.from({ length: 180 }, (_, at) => `k${at}=${'v'.repeat(30)}`).join(',');
      await run(await agent(invoking(upstream.url)), 'x', { ...headers, baggage: many });

      const sent = String(upstream.seen[0]?.baggage);
      const entries = sent.split(',');
      expect(entries.slice(0, 2)).toEqual(['runnel.tenant.id=local', expect.stringMatching(/^session\.id=[\w-]+$/)]);
      expect(entries).toHaveLength(180);
      expect(sent.length).toBeLessThanOrEqual(8_192);
      expect(many.startsWith(entries.slice(2).join(','))).toBe(true);
    });

    it('names that are no text of a header are encoded in baggage, and a name that cannot be fails nothing', async () => {
      const { telemetry } = await startTracedServer();
      const plan = { nodes: [], byId: new Map(), byCanonicalId: new Map() } as unknown as Plan;
      const baggageOf = (id: string, tenant: string) => {
        telemetry.watch({ id, plan, tenant, sessionId: 's' });
        return telemetry.trace.contextOf(`${id}/1`).baggage;
      };
      expect(baggageOf('one', 'a,b=c;d\r\nx: é')).toBe(
        'runnel.tenant.id=a%2Cb%3Dc%3Bd%0D%0Ax%3A%20%C3%A9,session.id=s',
      );
      expect(baggageOf('two', 'long'.repeat(1_100))).toBe('session.id=s');
      expect(baggageOf('three', '\ud800')).toBeUndefined();
    });

    it.each([
      ['vendor=1,other@tenant=a:b~c', 'vendor=1,other@tenant=a:b~c'],
      [
        ` ${Array.from({ length: 32 }, (_, at) => `k${at}=v`).join(',')} `,
        Array.from({ length: 32 }, (_, at) => `k${at}=v`).join(','),
      ],
      ['x'.repeat(513), undefined],
    ])('the state of other tracers is passed on as it came, or not at all (%#)', async (tracestate, expected) => {
      const upstream = await startUpstream();
      const { agent, run } = await startTracedServer({ services: { http: http() } });
      await run(await agent(invoking(upstream.url)), 'x', { ...headers, tracestate });
      expect(upstream.seen[0]?.tracestate).toBe(expected);
    });

    it('a run that is not sampled says so to those it asks, and sends nothing', async () => {
      const upstream = await startUpstream();
      const { agent, run, flush, collector } = await startTracedServer({
        services: { http: http() },
        otel: { OTEL_TRACES_SAMPLER: 'always_off' },
      });
      await run(await agent(invoking(upstream.url)), 'x', headers);
      await flush();

      expect(collector.spans).toEqual([]);
      expect(upstream.seen[0]?.traceparent).toMatch(new RegExp(`^00-${CALLER.trace}-[0-9a-f]{16}-00$`));
    });

    it('without baggage among the propagators neither tenant nor session leave', async () => {
      const upstream = await startUpstream();
      const { agent, run } = await startTracedServer({
        services: { http: http() },
        otel: { OTEL_PROPAGATORS: 'tracecontext' },
      });
      await run(await agent(invoking(upstream.url)), 'x', headers);

      expect(upstream.seen[0]?.traceparent).toContain(CALLER.trace);
      expect(upstream.seen[0]?.baggage).toBeUndefined();
    });
  });

  it.each(['never', 'refuses'] as const)(
    'a collector that answers %s disturbs no run, and no end',
    async (behaviour) => {
      const { agent, run, call, flush, collector, warnings } = await startTracedServer({
        behaviour,
        closeMs: 50,
        otel: { OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_BSP_EXPORT_TIMEOUT: '100', OTEL_METRICS_EXPORTER: 'none' },
      });
      const id = await agent(ECHO);
      for (let count = 0; count < 20; count += 1) await run(id, String(count));
      const { body } = await call('POST', `/api/v1/agents/${id}/run`, { query: 'last' });
      expect(JSON.stringify(body)).toContain('you said last');
      await collector.asked;
      await flush();
      expect(warnings.length).toBeLessThanOrEqual(1);
    },
  );

  it('lines of the log about a run carry the ids of its trace', async () => {
    const { telemetry, agent, run } = await startTracedServer();
    const runId = await run(await agent(ECHO), 'x');
    expect(telemetry.idsOf(runId)).toEqual({ trace_id: runId, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(telemetry.idsOf('another')).toBeUndefined();
  });

  it('numbers are pushed to the same collector', async () => {
    const { agent, run, flush, collector } = await startTracedServer();
    await run(await agent(MODEL), 'x');
    await flush();
    const names = [
      'ragflow_canvas_runs_total',
      'runnel_node_duration_seconds',
      'runnel_runs_active',
      'runnel_model_tokens_total',
    ];
    for (const name of names) expect(collector.metrics).toContain(name);
  });
});
