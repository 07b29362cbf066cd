import { isObservable, NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { EgressClient, EgressRequest } from '../../src/adapters/egress/egress-client.js';
import { agent } from '../../src/components/agent.js';
import { EngineError } from '../../src/errors.js';
import type { Activation } from '../../src/graph/node.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { activationOf, chatServices, nodeOf, outputsOf, type Surroundings } from './text-activation.js';

const FOUND = [
  { url: 'https://a.example/', title: 'A', content: 'alpha', score: 1 },
  { url: 'https://b.example/', title: 'B', content: 'beta', score: 0.5 },
];
const TAVILY = { component_name: 'TavilySearch', name: 'Search', params: { api_key: 'k', max_results: 2 } };
const HELPER = {
  component_name: 'Agent',
  id: 'Agent:Helper',
  name: 'Fact Finder',
  params: { llm_id: 'm', sys_prompt: 'HELPER', description: 'finds facts', tools: [TAVILY] },
};

interface Asked {
  readonly events: readonly NodeEvent[];
  readonly outputs: JsonObject;
  readonly requests: ReturnType<typeof chatServices>['requests'];
  readonly http: readonly EgressRequest[];
}

interface Around extends Surroundings {
  readonly isStreamed?: boolean;
  readonly nodeState?: Json;
  readonly answer?: Json;
  readonly fails?: boolean;
}

function start(
  params: JsonObject,
  script: ScriptInput,
  { isStreamed = false, fails = false, ...around }: Around = {},
): Asked {
  const { services, requests } = chatServices(script);
  const http: EgressRequest[] = [];
  const client: EgressClient = {
    fetch(request) {
      http.push(request);
      if (fails) return throwError(() => new EngineError('EGRESS_FAILED', 'the network is down'));
      const body = JSON.stringify({ results: FOUND });
      const rest = { status: 200, headers: {}, contentType: 'application/json', url: request.url };
      return of({ ...rest, bytes: Buffer.from(body), text: () => body });
    },
    connect: () => NEVER,
    close: () => {},
  };
  const variables = { 'sys.query': 'who?', retrieval: [{ chunks: {}, doc_aggs: {} }], ...around.variables };
  const plain = activationOf({ ...around, variables, services: { ...services, http: client } });
  const activation: Activation = { ...plain, nodeState: around.nodeState, answer: around.answer };
  const node = nodeOf(agent, { llm_id: 'm', sys_prompt: 'BOSS', ...params }, { isStreamed });
  const events: NodeEvent[] = [];
  const said = node(activation);
  if (!isObservable(said)) throw new Error('an agent with tools is a stream');
  said.subscribe((event) => events.push(event));
  return {
    events,
    get outputs() {
      return outputsOf(events);
    },
    requests,
    http,
  };
}

const noticesOf = ({ events }: Asked, name: string): JsonObject[] =>
  events.flatMap((event) => (event.type === 'notice' && event.name === name ? [event.data] : []));

const callsOf = ({ events }: Asked) =>
  events.flatMap((event) => (event.type === 'call' && event.call.type === 'started' ? [event.call] : []));

const writesOf = ({ events }: Asked) =>
  events.flatMap((event) => (event.type === 'settled' ? (event.writes ?? []) : []));

const search = (query: string) => ({ name: 'tavily_search_0', arguments: { query } });

describe('tools', () => {
  it('are offered by name and place, with what they take', () => {
    const { requests } = start({ tools: [TAVILY, TAVILY, HELPER] }, { default: { reply: 'x' } });
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual([
      'tavily_search_0',
      'tavily_search_1',
      'Fact_Finder_2',
    ]);
    expect(requests[0]?.tools?.[0]).toMatchObject({
      description: expect.stringContaining('Searches the web'),
      parameters: {
        type: 'object',
        required: ['query'],
        properties: { query: { type: 'string' }, include_domains: { type: 'array', items: { type: 'string' } } },
      },
    });
    expect(requests[0]?.tools?.[2]).toMatchObject({
      description: 'finds facts',
      parameters: { required: ['user_prompt', 'reasoning', 'context'] },
    });
  });

  it('may be named and described by the document', () => {
    const params = { ...TAVILY.params, function_name: 'look it up!', description: 'only for news' };
    const { requests } = start({ tools: [{ ...TAVILY, params }] }, { default: { reply: 'x' } });
    expect(requests[0]?.tools).toMatchObject([{ name: 'look_it_up_0', description: 'only for news' }]);
  });

  it('have the arguments that the document sets, unless the model passes others', () => {
    const params = {
      ...TAVILY.params,
      query: 'stored',
      topic: 'news',
      include_domains: ['{sys.site}'],
      exclude_domains: '',
    };
    const calls = [search('a'), { name: 'tavily_search_0', arguments: { query: 'b', topic: 'general' } }];
    const script = { rules: [{ times: 1, tool_calls: calls }], default: { reply: 'x' } };
    const variables = { 'sys.site': 'a.example' };
    const { requests, http } = start({ tools: [{ ...TAVILY, params }] }, script, { variables });
    expect(requests[0]?.tools?.[0]?.parameters).toMatchObject({
      required: ['query'],
      properties: { topic: { default: 'news' }, include_domains: { default: ['a.example'] } },
    });
    expect(http.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
      { query: 'a', topic: 'news', include_domains: ['a.example'], exclude_domains: [] },
      { query: 'b', topic: 'general', include_domains: ['a.example'] },
    ]);
  });

  it('are called, and what they found is shown, logged and kept for citations', () => {
    const world = start(
      { tools: [TAVILY] },
      { rules: [{ times: 1, tool_calls: [search('rag')] }], default: { reply: 'It is alpha [ID:80].' } },
    );
    expect(world.http).toMatchObject([{ url: 'https://api.tavily.com/search', method: 'POST' }]);
    expect(world.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('ID: 80\n├── Title: A'),
    });
    expect(world.outputs).toEqual({ content: 'It is alpha [ID:80].' });
    expect(noticesOf(world, 'tool-called')).toMatchObject([
      { path: 'X', tool_name: 'tavily_search', arguments: { query: 'rag' }, elapsed_time: 0 },
    ]);
    expect(writesOf(world)).toMatchObject([
      { to: { key: 'retrieval' }, value: [{ chunks: { 80: { content: 'alpha' }, 475: { content: 'beta' } } }] },
    ]);
    expect(callsOf(world).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'model m',
      'tool tavily_search',
      'model m',
    ]);
  });

  it('make the model cite, from the first round on', () => {
    const cites = (params: JsonObject) =>
      start(params, { default: { reply: 'x' } }).requests[0]?.messages.some(({ content }) =>
        String(content).includes('[ID:'),
      );
    expect(cites({ tools: [TAVILY] })).toBe(true);
    expect(cites({ tools: [HELPER] })).toBe(true);
    expect(cites({ tools: [TAVILY], cite: false })).toBe(false);
    expect(cites({ tools: ['ExeSQL', 'CodeExec'] })).toBe(false);
  });

  it('that fail are told to the model under their name', () => {
    const script = { rules: [{ times: 1, tool_calls: [search('x')] }], default: { reply: '$user' } };
    const { outputs } = start({ tools: [TAVILY] }, script, { fails: true });
    expect(outputs.content).toBe('TavilySearch error: the network is down');
  });

  it('read references in their parameters, when they are called', () => {
    const params = { ...TAVILY.params, api_key: '{env.key}' };
    const { http } = start(
      { tools: [{ ...TAVILY, params }] },
      { rules: [{ times: 1, tool_calls: [search('x')] }] },
      { variables: { 'env.key': 'from-env' } },
    );
    expect(http[0]?.headers).toMatchObject({ authorization: 'Bearer from-env' });
  });
});

describe('inner agents', () => {
  const script: ScriptInput = {
    rules: [
      {
        when: { system: 'BOSS' },
        times: 1,
        tool_calls: [{ name: 'Fact_Finder_0', arguments: { user_prompt: 'find', reasoning: 'why', context: 'so' } }],
      },
      { when: { system: 'HELPER' }, times: 1, tool_calls: [search('deep')] },
      { when: { system: 'HELPER' }, reply: 'it is beta' },
    ],
    default: { reply: 'told: $user' },
  };

  it('work on their own task with their own tools', () => {
    const world = start({ tools: [HELPER] }, script);
    expect(world.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: 'REASONING:\nwhy\n\nCONTEXT:\nso\n\nQUERY:\nfind',
    });
    expect(world.outputs).toEqual({ content: 'told: it is beta' });
    expect(noticesOf(world, 'tool-called').map(({ path, tool_name }) => `${path}: ${tool_name}`)).toEqual([
      'X-->Fact Finder: tavily_search',
      'X: Fact Finder',
    ]);
    expect(writesOf(world)).toHaveLength(1);
  });

  it('ask with their own prompts when they are given no task', () => {
    const asking = {
      rules: [{ when: { system: 'BOSS' }, times: 1, tool_calls: [{ name: 'Fact_Finder_0', arguments: {} }] }],
    };
    const inner = { ...HELPER, params: { ...HELPER.params, prompts: [{ role: 'user', content: 'own {sys.query}' }] } };
    const world = start({ tools: [inner] }, { ...asking, default: { reply: 'ok' } });
    expect(world.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'own who?' });
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'their default value',
      { exception_method: 'comment', exception_default_value: 'nobody knows' },
      /^told: nobody knows$/,
    ],
    ['what went wrong without one', {}, /^told: .*no line/],
  ])('that fail give %s', (_, handling, answer) => {
    const inner = { ...HELPER, params: { ...HELPER.params, ...handling } };
    const failing = { ...script, rules: [script.rules?.[0], { when: { system: 'HELPER' }, error: 'no line' }] };
    expect(start({ tools: [inner] }, failing as ScriptInput).outputs.content).toMatch(answer);
  });

  it('are seen as calls inside of calls', () => {
    const calls = callsOf(start({ tools: [HELPER] }, script));
    expect(calls.map(({ id, kind, parent }) => [id, kind, parent])).toEqual([
      ['0.m', 'model', undefined],
      ['0.0', 'agent', undefined],
      ['0.0/0.m', 'model', '0.0'],
      ['0.0/0.0', 'tool', '0.0'],
      ['0.0/1.m', 'model', '0.0'],
      ['1.m', 'model', undefined],
    ]);
  });

  it('offer the same key when a call is made again, and another one for every other call', () => {
    const twice = () => start({ tools: [HELPER] }, script).http.map(({ headers }) => headers);
    expect(twice()).toEqual(twice());
  });
});

describe('answers', () => {
  it('that are streamed hold what was said between calls, others only the last word', () => {
    const script: ScriptInput = {
      rules: [{ times: 1, reply_stream: ['<think>hm</think>Let me see. '], tool_calls: [search('x')] }],
      default: { reply: 'Done.' },
    };
    expect(start({ tools: [TAVILY] }, script, { isStreamed: true }).outputs).toEqual({
      content: '<think>hm</think>Let me see. Done.',
    });
    expect(start({ tools: [TAVILY] }, script).outputs).toEqual({ content: 'Done.' });
  });

  it('become an object of the schema, asked for again without tools when it is none', () => {
    const { outputs, requests } = start(
      { tools: [TAVILY], outputs: { structured: { properties: { city: { type: 'string' } } } } },
      { rules: [{ times: 1, reply: 'Oslo, I think' }], default: { reply: '{"city": "Oslo"}' } },
    );
    expect(outputs).toEqual({ structured: { city: 'Oslo' } });
    expect(requests.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 0]);
  });

  it('to a rewritten question, where the document asks for it', () => {
    const history = [
      ['user', 'Tell me of Oslo'],
      ['assistant', { content: 'A city.' }],
      ['user', 'Where is it?'],
    ];
    const { requests, outputs } = start(
      { tools: [TAVILY], optimize_multi_turn: true },
      {
        rules: [{ when: { user: 'Rewrite the last question' }, reply: 'Where is Oslo?' }],
        default: { reply: '$user' },
      },
      { variables: { 'sys.query': 'Where is it?', history } },
    );
    expect(requests).toHaveLength(2);
    expect(outputs).toEqual({ content: 'Where is Oslo?' });
  });
});

describe('approval', () => {
  const script: ScriptInput = { rules: [{ times: 1, tool_calls: [search('rag')] }], default: { reply: 'then: $user' } };
  const params = { tools: [TAVILY], require_approval: 'Search' };
  const pausedBy = (events: readonly NodeEvent[]) => {
    const progress = events.find((event) => event.type === 'progress');
    return JSON.parse(JSON.stringify(progress?.nodeState ?? null)) as Json;
  };

  it('is asked for before the call, as a form', () => {
    const { events, http } = start(params, script);
    expect(http).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: 'interrupt',
      payload: {
        kind: 'approval',
        tips: 'X would like to call tavily_search_0.',
        inputs: {
          call_1: { type: 'options', options: ['allow', 'decline'], name: 'tavily_search_0({"query":"rag"})' },
        },
      },
    });
  });

  it.each<[string, Json, number, RegExp]>([
    ['allows', { inputs: { call_1: { type: 'options', value: 'allow' } } }, 1, /^then: \nID: 80/],
    ['allows, in short', { inputs: { call_1: true } }, 1, /ID: 80/],
    ['allows, under the id of the node', { inputs: { x: { call_1: 'yes' } } }, 1, /ID: 80/],
    ['declines', { inputs: { call_1: 'decline' } }, 0, /^then: The user declined this call\.$/],
    ['declines with a reason', { inputs: { call_1: 'too dear' } }, 0, /declined this call: too dear/],
  ])('%s', (_, answer, calls, content) => {
    const nodeState = pausedBy(start(params, script).events);
    const { outputs, http, requests } = start(params, { default: { reply: 'then: $user' } }, { nodeState, answer });
    expect(outputs.content).toMatch(content);
    expect(http).toHaveLength(calls);
    expect(requests).toHaveLength(1);
  });

  it('is asked for again when the answer leaves it open', () => {
    const nodeState = pausedBy(start(params, script).events);
    const { events, requests } = start(params, script, { nodeState, answer: { inputs: {} } });
    expect(events.map(({ type }) => type)).toEqual(['interrupt']);
    expect(requests).toEqual([]);
  });
});

describe('after a crash', () => {
  it('goes on behind its last round, without asking the model for it again', () => {
    const script: ScriptInput = { rules: [{ times: 1, tool_calls: [search('rag')] }], default: { reply: 'done' } };
    const first = start({ tools: [TAVILY] }, script);
    const kept = first.events.find((event) => event.type === 'progress');
    const second = start({ tools: [TAVILY] }, { default: { reply: 'done' } }, { nodeState: kept?.nodeState as Json });
    expect(second.http).toEqual([]);
    expect(second.requests).toHaveLength(1);
    expect(second.outputs).toEqual(first.outputs);
    expect(writesOf(second)).toEqual(writesOf(first));
  });

  describe('of an agent whose inner agents are at work', () => {
    const call = (name: string, task: string) => ({
      name,
      arguments: { user_prompt: task, reasoning: '', context: '' },
    });
    const boss = { system: 'BOSS' };
    const helper = { system: 'HELPER' };
    const marksOf = ({ events }: Asked): Json[] =>
      events.flatMap((event) =>
        event.type === 'progress' ? [JSON.parse(JSON.stringify(event.nodeState)) as Json] : [],
      );
    const script: ScriptInput = {
      rules: [
        { when: boss, times: 1, tool_calls: [call('Fact_Finder_0', 'one'), call('Fact_Finder_0', 'two')] },
        { when: { ...helper, user: 'one' }, times: 1, tool_calls: [search('first')] },
        { when: { ...helper, user: 'two' }, times: 1, tool_calls: [search('second')] },
        { when: helper, reply: 'a fact' },
      ],
      default: { reply: 'done' },
    };
    const rest: ScriptInput = { rules: [{ when: helper, reply: 'a fact' }], default: { reply: 'done' } };

    it('goes on where each of them stood: neither asks again, and no tool is called again', () => {
      const whole = start({ tools: [HELPER] }, script);
      const marks = marksOf(whole);
      // One behind the round of each inner agent, and one behind that of the outer one.
      expect(marks).toHaveLength(3);
      const second = start({ tools: [HELPER] }, rest, { nodeState: marks[1] as Json });
      expect(second.http).toEqual([]);
      expect(second.requests.map(({ messages }) => messages[0]?.content)).toEqual([
        expect.stringContaining('HELPER'),
        expect.stringContaining('HELPER'),
        expect.stringContaining('BOSS'),
      ]);
      expect(second.outputs).toEqual(whole.outputs);
      expect(writesOf(second)).toEqual(writesOf(whole));
      expect(marksOf(second).at(-1)).toMatchObject({ state: { round: 1 } });
      expect(marksOf(second).at(-1)).not.toHaveProperty('state.inner');
      expect(marksOf(second).at(-1)).not.toHaveProperty('state.pending');
    });

    it('makes only the calls of those again that had not been stored', () => {
      const whole = start({ tools: [HELPER] }, script);
      const second = start({ tools: [HELPER] }, script, { nodeState: marksOf(whole)[0] as Json });
      expect(second.http.map(({ body }) => String(body))).toEqual([String(whole.http[1]?.body)]);
      expect(String(second.http[0]?.body)).toContain('second');
      expect(second.outputs).toEqual(whole.outputs);
    });

    it('goes on in agents of agents', () => {
      const middle = {
        component_name: 'Agent',
        id: 'Agent:Middle',
        name: 'Middle',
        params: { llm_id: 'm', sys_prompt: 'MIDDLE', description: 'asks the finder', tools: [HELPER] },
      };
      const nested: ScriptInput = {
        rules: [
          { when: boss, times: 1, tool_calls: [call('Middle_0', 'one')] },
          { when: { system: 'MIDDLE' }, times: 1, tool_calls: [call('Fact_Finder_0', 'one')] },
          { when: helper, times: 1, tool_calls: [search('first')] },
        ],
        default: { reply: 'done' },
      };
      const whole = start({ tools: [middle] }, nested);
      const second = start(
        { tools: [middle] },
        { default: { reply: 'done' } },
        { nodeState: marksOf(whole)[0] as Json },
      );
      expect([second.http, second.requests.length]).toEqual([[], 3]);
      expect(second.outputs).toEqual(whole.outputs);
    });
  });

  it('begins anew when what was kept cannot be read', () => {
    const { requests } = start(
      { tools: [TAVILY] },
      { default: { reply: 'x' } },
      { nodeState: { state: { version: 9 } } },
    );
    expect(requests).toHaveLength(1);
  });
});

describe('what is wrong with a document', () => {
  const place = {
    id: 'x',
    name: 'X',
    downstream: [],
    upstream: [],
    containers: [],
    containerTypes: [],
    body: [],
    isStreamed: false,
  };
  const read = (params: JsonObject) => agent.params.parse({ llm_id: 'm', ...params });
  const problems = (params: JsonObject) => agent.check?.(read(params), place);

  it('a tool that nobody knows, which the agent does without', () => {
    expect(problems({ tools: ['Bing', TAVILY] })).toEqual([]);
    expect(agent.advise?.(read({ tools: ['Bing', TAVILY] }), place)).toEqual([
      expect.stringMatching(
        /^tool "Bing" of agent "X" does not exist and is not offered; there are Agent, .*TavilySearch/,
      ),
    ]);
    const { requests } = start({ tools: ['Bing', TAVILY] }, { default: { reply: 'x' } });
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(['tavily_search_0']);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a setting of a tool', { tools: [{ ...TAVILY, params: { max_results: -1 } }] }, /X-->TavilySearch: max_results/],
    [
      'a setting of an inner agent',
      { tools: [{ ...HELPER, params: { max_rounds: -1 } }] },
      /X-->Fact Finder: max_rounds/,
    ],
    [
      'an inner agent that asks for approval',
      { tools: [{ ...HELPER, params: { ...HELPER.params, require_approval: ['*'] } }] },
      /only the outermost/,
    ],
  ])('%s', (_, params, message) => {
    expect(problems(params)).toEqual([expect.stringMatching(message)]);
  });

  it('agents that are nested without end', () => {
    let params: JsonObject = { llm_id: 'm' };
    for (let depth = 0; depth < 9; depth += 1) params = { llm_id: 'm', tools: [{ ...HELPER, params }] };
    expect(problems(params)).toEqual([expect.stringMatching(/inside of more than 7 others/)]);
  });

  it('nothing, with names of tools in any case and as plain texts', () => {
    expect(problems({ tools: ['tavily_search', 'TAVILYSEARCH', { ...TAVILY, component_name: 'tavily' }] })).toEqual([]);
  });
});
