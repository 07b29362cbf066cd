import { describe, expect, it } from 'vitest';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { ECHO, MODEL } from '../transport/support/documents.js';
import { canvas } from './support/canvases.js';
import type { Behaviour, Received } from './support/collector.js';
import { startTracedServer } from './support/traced-server.js';

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

  describe('a collector holds up no run, and no end', () => {
    const start = async (behaviour: Behaviour) => {
      const traced = await startTracedServer({
        behaviour,
        closeMs: 50,
        otel: { OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_BSP_EXPORT_TIMEOUT: '100', OTEL_METRICS_EXPORTER: 'none' },
      });
      const id = await traced.agent(ECHO);
      /** Resolves with the end of a run, which is the only thing that it waits for. */
      const answer = async (query: string): Promise<string> => {
        const { body } = await traced.call('POST', `/api/v1/agents/${id}/run`, { query });
        return JSON.stringify(body);
      };
      return { ...traced, answer };
    };

    it('that never answers: runs end while it is being asked', async () => {
      const { answer, flush, collector, warnings } = await start('never');
      await answer('first');
      await collector.asked;
      for (let count = 0; count < 20; count += 1) expect(await answer(`${count}`)).toContain(`you said ${count}`);
      expect(collector.answers).toEqual([]);
      await flush();
      expect(collector.answers).toEqual([]);
      expect(warnings.length).toBeLessThanOrEqual(1);
    });

    it('that answers 500: runs end before and after', async () => {
      const { answer, flush, collector, warnings } = await start('refuses');
      await answer('first');
      await collector.asked;
      for (let count = 0; count < 20; count += 1) expect(await answer(`${count}`)).toContain(`you said ${count}`);
      await flush();
      expect(new Set(collector.answers)).toEqual(new Set([500]));
      expect(collector.spans).toEqual([]);
      expect(warnings.length).toBeLessThanOrEqual(1);
    });

    it('that is down: runs end, and the log says so once', async () => {
      const { answer, flush, collector, warnings } = await start('down');
      for (let count = 0; count < 20; count += 1) expect(await answer(`${count}`)).toContain(`you said ${count}`);
      await flush();
      expect(await answer('last')).toContain('you said last');
      expect(collector.answers).toEqual([]);
      expect(warnings.length).toBeLessThanOrEqual(1);
    });
  });

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
