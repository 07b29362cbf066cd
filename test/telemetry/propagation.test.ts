import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import type { Plan } from '../../src/graph/plan.js';
import { canvas, startUpstream } from './support/canvases.js';
import { startTracedServer } from './support/traced-server.js';

describe('a trace across processes', () => {
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
    expect(baggageOf('one', 'a,b=c;d\r\nx: é')).toBe('runnel.tenant.id=a%2Cb%3Dc%3Bd%0D%0Ax%3A%20%C3%A9,session.id=s');
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
