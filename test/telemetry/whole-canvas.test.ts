import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import type { JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import type { Received } from './support/collector.js';
import { startTracedServer } from './support/traced-server.js';

/** A request that the world outside was sent. */
interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** A search that fails for `bad`, and a page. */
async function startWorld() {
  const seen: Seen[] = [];
  const http = createServer(({ url = '', headers }, response) => {
    seen.push({ url, headers });
    response.statusCode = url.includes('q=bad') ? 500 : 200;
    response.setHeader('content-type', 'application/json').end('{"results": []}');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}

const SCRIPT = {
  rules: [
    { when: { system: 'DRAFT' }, reply_stream: ['one ', 'two'] },
    { when: { system: 'AIDE' }, times: 1, tool_calls: [{ name: 'searxng_search_0', arguments: { query: 'good' } }] },
    { when: { system: 'AIDE' }, reply: 'helped' },
    {
      when: { system: 'BOSS' },
      times: 1,
      tool_calls: [
        { name: 'searxng_search_0', arguments: { query: 'bad' } },
        { name: 'Aide_1', arguments: { user_prompt: 'secret task', reasoning: '', context: '' } },
      ],
    },
  ],
  default: { reply: 'done' },
};

/** A branch, a loop of two rounds, an agent with a failing tool and an agent below it, and a request to the world. */
function canvasAt(url: string): JsonObject {
  const node = (component_name: string, params: object, downstream: string[], parent_id?: string) => ({
    obj: { component_name, params },
    downstream,
    upstream: [],
    ...(parent_id !== undefined && { parent_id }),
  });
  const search = { component_name: 'SearXNG', params: { searxng_url: url } };
  const aide = {
    component_name: 'Agent',
    name: 'Aide',
    params: { llm_id: 'small', sys_prompt: 'AIDE', tools: [search] },
  };
  const condition = {
    logical_operator: 'and',
    items: [{ cpn_id: 'sys.query', operator: '=', value: 'yes' }],
    to: ['Loop:L'],
  };
  return {
    components: {
      begin: node('Begin', {}, ['Switch:S']),
      'Switch:S': node('Switch', { conditions: [condition], end_cpn_ids: ['Message:No'] }, ['Loop:L', 'Message:No']),
      'Loop:L': node('Loop', { loop_variables: [], loop_termination_condition: [], maximum_loop_count: 2 }, [
        'Agent:A',
      ]),
      'LoopItem:I': node('LoopItem', {}, ['LLM:D'], 'Loop:L'),
      'LLM:D': node('LLM', { llm_id: 'writer', sys_prompt: 'DRAFT' }, [], 'Loop:L'),
      'Agent:A': node('Agent', { llm_id: 'large', sys_prompt: 'BOSS', tools: [search, aide] }, ['Invoke:I']),
      'Invoke:I': node('Invoke', { url: `${url}/page`, method: 'GET' }, ['Message:M']),
      'Message:M': node('Message', { content: ['{Agent:A@content}'] }, []),
      'Message:No': node('Message', { content: ['no'] }, []),
    },
    graph: { nodes: [], edges: [] },
    globals: { 'sys.query': '' },
  } as unknown as JsonObject;
}

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };

async function runIt() {
  const world = await startWorld();
  const models = createModels({ ...(await modelsFromEnvironment({}, async () => '')), script: SCRIPT });
  const http = createEgressClient({ allowPrivateNetwork: true });
  const { agent, run, flush, collector } = await startTracedServer({ services: { models, http } });
  const id = await agent(canvasAt(world.url));
  await run(id, 'yes', { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` });
  await flush();
  const { spans } = collector;
  const nameOf = (spanId: string) => spans.find((span) => span.spanId === spanId)?.name ?? 'the caller';
  /** `name < parent < … `, outermost last. */
  const pathOf = (span: Received): string => {
    const parent = spans.find(({ spanId }) => spanId === span.parentId);
    return `${span.name} < ${parent === undefined ? nameOf(span.parentId) : pathOf(parent)}`;
  };
  const all = (name: string) => spans.filter((span) => span.name === name);
  return { ...collector, id, all, pathOf, seen: world.seen };
}

describe('the trace of a canvas with a branch, a loop, a failing tool and an agent below an agent', () => {
  it('has a span for everything that was done, each in what did it, in the trace of the caller', async () => {
    const { spans, span, id, pathOf } = await runIt();
    const root = `invoke_agent ${id} < the caller`;
    const agent = `Agent:A < ${root}`;
    const aide = `invoke_agent Aide < ${agent}`;
    expect(spans.map(pathOf).sort()).toEqual(
      [
        root,
        `begin < ${root}`,
        `Switch:S < ${root}`,
        `Loop:L < ${root}`,
        ...[0, 1, 2].map(() => `LoopItem:I < Loop:L < ${root}`),
        ...[0, 1].map(() => `LLM:D < Loop:L < ${root}`),
        ...[0, 1].map(() => `chat writer < LLM:D < Loop:L < ${root}`),
        agent,
        ...[0, 1].map(() => `chat large < ${agent}`),
        `execute_tool searxng_search < ${agent}`,
        aide,
        ...[0, 1].map(() => `chat small < ${aide}`),
        `execute_tool searxng_search < ${aide}`,
        `Invoke:I < ${root}`,
        `Message:M < ${root}`,
      ].sort(),
    );
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.trace]));
    expect(span(`invoke_agent ${id}`).parentId).toBe(CALLER.span);
  });

  it('says in the words of the conventions what models, tools and agents did', async () => {
    const { span, all, pathOf } = await runIt();
    for (const chat of [...all('chat writer'), ...all('chat large'), ...all('chat small')]) {
      expect(chat).toMatchObject({
        kind: 3,
        status: { code: 0 },
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'scripted',
          'gen_ai.request.model': chat.name.slice('chat '.length),
          'gen_ai.response.finish_reasons': [expect.stringMatching(/^(?:stop|tool_calls)$/)],
          'gen_ai.conversation.id': expect.stringMatching(/^[\w-]{8,}$/),
          'gen_ai.usage.input_tokens': expect.any(Number),
          'gen_ai.usage.output_tokens': expect.any(Number),
        },
      });
      expect(chat.events.map(({ name }) => name)).toEqual(['stream_started']);
      expect(chat.attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
    }
    const tools = all('execute_tool searxng_search');
    for (const tool of tools) {
      expect(tool).toMatchObject({
        kind: 1,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'searxng_search',
          'gen_ai.tool.call.id': expect.stringMatching(/./),
        },
      });
    }
    expect(tools.filter((tool) => pathOf(tool).includes('Aide'))).toHaveLength(1);
    expect(span('invoke_agent Aide')).toMatchObject({
      kind: 1,
      status: { code: 0 },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'Aide',
        'gen_ai.tool.call.id': expect.stringMatching(/./),
      },
    });
  });

  it('marks the call that failed, and it alone', async () => {
    const { spans, all, pathOf } = await runIt();
    const failed = all('execute_tool searxng_search').filter((tool) => !pathOf(tool).includes('Aide'));
    expect(failed).toMatchObject([
      {
        status: { code: 2, message: expect.stringContaining('status 500') },
        attributes: { 'error.type': 'TOOL_FAILED', 'eino.error.message': expect.stringContaining('status 500') },
        events: [
          {
            name: 'exception',
            attributes: {
              'exception.type': 'TOOL_FAILED',
              'exception.message': expect.stringContaining('status 500'),
            },
          },
        ],
      },
    ]);
    for (const one of spans) {
      if (failed.includes(one)) continue;
      expect(one.status, one.name).toEqual({ code: 0, message: '' });
      expect(one.attributes['error.type'], one.name).toBeUndefined();
      expect(
        one.events.map(({ name }) => name),
        one.name,
      ).not.toContain('exception');
    }
  });

  it('says of nodes what they are, in which round they were, and where text began and ended', async () => {
    const { spans, span, all, id } = await runIt();
    const nodes = spans.filter(({ name }) => !/^(?:chat|execute_tool|invoke_agent) /.test(name));
    for (const node of nodes) {
      const type = node.name === 'begin' ? 'Begin' : node.name.slice(0, node.name.indexOf(':'));
      expect(node.kind).toBe(1);
      expect(node.attributes['eino.component.type']).toBe(type);
      expect(node.attributes['eino.component.name']).toBe(type);
      expect(node.attributes['eino.input.size']).toBeGreaterThanOrEqual(0);
      expect(node.attributes['eino.output.size']).toBeGreaterThanOrEqual(0);
    }
    expect(all('LLM:D').map(({ attributes }) => attributes['runnel.node.within'])).toEqual(['Loop:L/0', 'Loop:L/1']);
    for (const [name, size] of [
      ['LLM:D', 'one two'.length],
      ['Agent:A', 'done'.length],
      ['Message:M', 'done'.length],
    ] as const) {
      for (const one of all(name)) {
        expect(one.events).toEqual([
          { name: 'eino.stream.output.start', attributes: {} },
          { name: 'eino.stream.output.end', attributes: { 'eino.stream.output.size': size } },
        ]);
      }
    }
    expect(span(`invoke_agent ${id}`)).toMatchObject({ kind: 1, attributes: { 'runnel.run.outcome': 'success' } });
    expect(JSON.stringify(spans)).not.toMatch(/secret task|helped|DRAFT|BOSS|one two/);
  });

  it('goes on in everything that is asked', async () => {
    const { span, all, pathOf, seen } = await runIt();
    const [outer, inner] = [false, true].map((isInner) =>
      all('execute_tool searxng_search').find((tool) => pathOf(tool).includes('Aide') === isInner),
    );
    const asked = seen.map(({ url, headers }) => [/q=\w+|page/.exec(url)?.[0], headers.traceparent]).sort();
    expect(asked).toEqual([
      ['page', `00-${CALLER.trace}-${span('Invoke:I').spanId}-01`],
      ['q=bad', `00-${CALLER.trace}-${outer?.spanId}-01`],
      ['q=good', `00-${CALLER.trace}-${inner?.spanId}-01`],
    ]);
    for (const { headers } of seen) expect(headers.baggage).toMatch(/^runnel\.tenant\.id=local,session\.id=/);
  });
});
