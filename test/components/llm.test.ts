import { describe, expect, it } from 'vitest';
import { llm } from '../../src/components/llm.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import type { ChatMessage } from '../../src/models/chat-model.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import {
  activationOf,
  chatServices,
  eventsOf,
  nodeOf,
  outputsOf,
  type Surroundings,
  warningsOf,
} from './text-activation.js';

const PNG = 'data:image/png;base64,AAAA';
const JPG = 'data:image/jpeg;base64,BBBB';
const SCHEMA = { structured: { type: 'object', properties: { name: { type: 'string' } } } };

interface Asked {
  readonly events: readonly NodeEvent[];
  readonly outputs: JsonObject;
  readonly calls: readonly (readonly ChatMessage[])[];
  readonly requests: ReturnType<typeof chatServices>['requests'];
}

function ask(
  params: JsonObject,
  around: Surroundings = {},
  script: ScriptInput = {},
  options: { readonly isStreamed?: boolean } & Parameters<typeof chatServices>[1] = {},
): Asked {
  const { services, requests } = chatServices(script, options);
  const node = nodeOf(llm, { llm_id: 'm', ...params }, { isStreamed: options.isStreamed ?? false });
  const events = eventsOf(node(activationOf({ ...around, services: { ...services, ...around.services } })));
  return { events, outputs: outputsOf(events), calls: requests.map(({ messages }) => messages), requests };
}

const query = (text: Json, more: JsonObject = {}) => ({ variables: { 'sys.query': text, ...more } });
const history = (...entries: Json[]) => query('now', { history: entries });

describe('template_engine', () => {
  const prompts = '{{#each {n@l}}}{{this}};{{/each}}{% if {n@l} %}!{% endif %}';
  const around = { outputs: { n: { l: ['a', 'b'] } } };

  it.each<[string, JsonObject, string]>([
    [
      'replaces references alone by default',
      {},
      '{{#each ["a", "b"]}}{{this}};{{/each}}{% if ["a", "b"] %}!{% endif %}',
    ],
    ['renders Handlebars', { template_engine: 'handlebars' }, 'a;b;{% if ["a", "b"] %}!{% endif %}'],
  ])('%s', (_, params, content) => {
    expect(ask({ prompts, ...params }, around).calls).toEqual([[{ role: 'user', content }]]);
  });

  it('renders Jinja, also in the system prompt', () => {
    const params = { template_engine: 'jinja', sys_prompt: '{% if true %}Be kind.{% endif %}', prompts: '{{ 1 + 1 }}' };
    expect(ask(params, around).calls).toEqual([
      [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: '2' },
      ],
    ]);
  });
});

describe('messages', () => {
  it.each<[string, JsonObject, Surroundings, readonly ChatMessage[]]>([
    ['the question by default', {}, query('hi'), [{ role: 'user', content: 'hi' }]],
    [
      'system and user prompt with values',
      { sys_prompt: 'Be {n@how}.', prompts: [{ role: 'user', content: 'Say {{n@what}}' }] },
      { outputs: { n: { how: 'kind', what: ['a', 1] } } },
      [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Say ["a", 1]' },
      ],
    ],
    ['one text as prompt', { prompts: 'only {sys.query}' }, query('this'), [{ role: 'user', content: 'only this' }]],
    [
      'several prompts in order',
      {
        prompts: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          { role: 'user', content: 'three' },
        ],
      },
      {},
      [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    ],
    [
      'earlier turns without the newest entry',
      {},
      history(['user', 'a'], ['assistant', { content: 'b', downloads: [] }], ['user', 'now']),
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'now' },
      ],
    ],
    [
      'two entries a window, the newest one counted',
      { message_history_window_size: 1 },
      history(['user', 'a'], ['assistant', { content: 'b' }], ['user', 'now']),
      [
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'now' },
      ],
    ],
    [
      'no history with a window of 0',
      { message_history_window_size: 0 },
      history(['user', 'a'], ['assistant', 'b'], ['user', 'now']),
      [{ role: 'user', content: 'now' }],
    ],
    [
      'a prompt in place of the last turn of its role',
      {},
      history(['user', 'unanswered'], ['user', 'now']),
      [{ role: 'user', content: 'now' }],
    ],
    [
      'files behind the last user message',
      { prompts: [{ role: 'user', content: 'sum up' }] },
      query('x', { 'sys.files': ['first', PNG, 'second'] }),
      [{ role: 'user', content: 'sum up\n\nfirst\n\nsecond' }],
    ],
    [
      'files once, when a prompt shows them',
      { prompts: [{ role: 'user', content: 'Files: {sys.files}' }] },
      query('x', { 'sys.files': ['first'] }),
      [{ role: 'user', content: 'Files: ["first"]' }],
    ],
    [
      'files once, when the system prompt shows them',
      { sys_prompt: 'Files: {sys.files}' },
      query('x', { 'sys.files': ['first'] }),
      [
        { role: 'system', content: 'Files: ["first"]' },
        { role: 'user', content: 'x' },
      ],
    ],
    [
      'names of another version of the same parameters',
      { system_prompt: 'S', user_prompt: 'U' },
      {},
      [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'U' },
      ],
    ],
  ])('hold %s', (_, params, around, messages) => {
    expect(ask(params, around).calls).toEqual([messages]);
  });

  it('show images to a model that sees, each once, and never as text', () => {
    const around = {
      outputs: { n: { v: [PNG, 'note'], more: { content: [JPG] } } },
      ...query('x', { 'sys.files': [PNG] }),
    };
    const params = { prompts: 'Look: {n@v}', visual_files_var: 'n@more' };
    const text = { type: 'text', text: 'Look: ["note"]' };
    const shown = [JPG, PNG].map((url) => ({ type: 'image_url', url }));
    expect(ask(params, around, {}, { supportsImages: true }).calls).toEqual([
      [{ role: 'user', content: [text, ...shown] }],
    ]);

    const blind = ask(params, around);
    expect(blind.calls).toEqual([[{ role: 'user', content: 'Look: ["note"]' }]]);
    expect(warningsOf(blind.events)).toEqual([expect.stringMatching(/^2 images were not shown to "m"/)]);
  });

  it('fit into the context of the model', () => {
    const around = history(['user', 'a'.repeat(400)], ['assistant', 'short'], ['user', 'now']);
    expect(ask({}, around, {}, { contextLength: 60 }).calls).toEqual([
      [
        { role: 'assistant', content: 'short' },
        { role: 'user', content: 'now' },
      ],
    ]);
  });

  it.each<[string, JsonObject]>([
    ['an empty question', {}],
    ['an answer as the last prompt', { prompts: [{ role: 'assistant', content: 'so?' }] }],
  ])('are refused when they ask nothing: %s', (_, params) => {
    expect(() => ask(params, query(' '))).toThrow(/Node "x" has nothing to ask/);
  });

  it('warn of names without a value and fail for nodes that do not exist', () => {
    const asked = ask({ sys_prompt: '{n@none}' }, { outputs: { n: {} }, ...query('q') });
    expect(warningsOf(asked.events)).toEqual([expect.stringContaining('"n@none"')]);
    expect(() => ask({ sys_prompt: '{ghost@v}' }, query('q'))).toThrow(/no node "ghost"/);
  });
});

describe('citations', () => {
  const found = (retrieval: Json, params: JsonObject = {}) =>
    ask({ sys_prompt: 'S', ...params }, query('q', { retrieval })).calls[0]?.[0]?.content;

  it('are asked for when passages were found', () => {
    expect(found([{ chunks: { 7: { content: 'c' } }, doc_aggs: {} }])).toMatch(/^S\n\n[\s\S]*\[ID:17\]/);
  });

  it.each<[string, Json, JsonObject]>([
    ['nothing was found', [{ chunks: {}, doc_aggs: {} }], {}],
    ['only an earlier run found something', [{ chunks: { 7: {} } }, { chunks: {} }], {}],
    ['they are switched off', [{ chunks: { 7: {} } }], { cite: false }],
  ])('are not asked for when %s', (_, retrieval, params) => {
    expect(found(retrieval, params)).toBe('S');
  });

  it('follow the guidelines of the author, which are no part of the prompt otherwise', () => {
    const params = { sys_prompt: 'S<CITATION_GUIDELINES>Name {sys.query}.</citation_guidelines>' };
    expect(found([{ chunks: { 7: {} } }], params)).toBe('S\n\nName q.');
    expect(found([], params)).toBe('S');
  });
});

describe('settings', () => {
  const settings = (params: JsonObject, around: Surroundings = query('q')) => {
    const { messages: _, ...rest } = ask(params, around).requests[0] ?? { messages: [] };
    return JSON.parse(JSON.stringify(rest)) as JsonObject;
  };

  it.each<[string, JsonObject, JsonObject]>([
    ['nothing by default', {}, { sampling: {}, retries: {} }],
    [
      'what is set',
      { temperature: '0.4', top_p: 0.5, max_tokens: 20, presence_penalty: 0.1, frequency_penalty: 0.2 },
      {
        sampling: { temperature: 0.4, topP: 0.5, maxTokens: 20, presencePenalty: 0.1, frequencyPenalty: 0.2 },
        retries: {},
      },
    ],
    [
      'a temperature of 0, but no other zeros',
      { temperature: 0, top_p: 0, max_tokens: 0 },
      { sampling: { temperature: 0 }, retries: {} },
    ],
    [
      'nothing that is switched off',
      {
        temperature: 0.4,
        temperatureEnabled: false,
        top_p: 0.5,
        topPEnabled: true,
        max_tokens: 5,
        maxTokensEnabled: false,
      },
      { sampling: { topP: 0.5 }, retries: {} },
    ],
    [
      'retries in milliseconds',
      { max_retries: 2, delay_after_error: 1.5 },
      { sampling: {}, retries: { maxRetries: 2, delayMs: 1500 } },
    ],
    ['whether to reason', { thinking: 'disabled' }, { sampling: {}, retries: {}, thinking: 'disabled' }],
    ['no other word for it', { thinking: 'default' }, { sampling: {}, retries: {} }],
  ])('send %s', (_, params, sent) => {
    expect(settings(params)).toEqual({ model: 'm', ...sent });
  });

  it('send the session as the user, and what the template of a server wants to know', () => {
    const around = (kwargs: Json) => ({
      ...query('q', { 'sys.chat_template_kwargs': kwargs }),
      services: { session: { id: 's1' } },
    });
    expect(settings({}, around({ a: 1 }))).toMatchObject({ user: 's1', chatTemplateKwargs: { a: 1 } });
    expect(settings({}, around('{"a": 1}'))).toMatchObject({ chatTemplateKwargs: { a: 1 } });
    expect(warningsOf(ask({}, around('[1]')).events)).toEqual([expect.stringContaining('chat_template_kwargs')]);
  });

  it.each<[string, JsonObject]>([
    ['no model', {}],
    ['an empty model', { llm_id: '' }],
    ['a temperature that is too high', { llm_id: 'm', temperature: 3 }],
    ['no prompt', { llm_id: 'm', prompts: [] }],
    ['a negative number of retries', { llm_id: 'm', max_retries: -1 }],
  ])('are refused with %s', (_, params) => {
    expect(llm.params.safeParse(params).success).toBe(false);
  });

  it('name the model of the tenant when none is chosen', () => {
    expect(llm.params.parse({ llm_id: '', tenant_llm_id: 't' }).llm_id).toBe('t');
  });

  it.each<[string, JsonObject]>([
    ['is empty', { llm_id: '' }],
    ['is empty beside the number of a row', { llm_id: ' ', tenant_llm_id: 63 }],
  ])('say what is wrong when the model %s', (_, params) => {
    const issues = llm.params.safeParse(params).error?.issues;
    expect(issues).toMatchObject([{ path: ['llm_id'], message: expect.stringContaining('a model must be named') }]);
  });
});

describe('answers', () => {
  const thinking = { default: { reply_stream: ['<think>', 'hm', '</think>', 'yes ', 'sir'] } };

  it('come as deltas, usage and outputs', () => {
    expect(ask({}, query('q'), { default: { reply_stream: ['yes ', 'sir'] } }).events).toEqual([
      { type: 'delta', port: 'content', text: 'yes ' },
      { type: 'delta', port: 'content', text: 'sir' },
      { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      { type: 'settled', outputs: { content: 'yes sir' } },
    ]);
  });

  it('keep what was thought between marks only when somebody reads them live', () => {
    expect(ask({}, query('q'), thinking).outputs).toEqual({ content: 'yes sir' });
    expect(ask({}, query('q'), thinking, { isStreamed: true }).outputs).toEqual({
      content: '<think>hm</think>yes sir',
    });
    const ports = ask({}, query('q'), thinking).events.flatMap((event) => (event.type === 'delta' ? [event.port] : []));
    expect(ports).toEqual(['thinking', 'content', 'content']);
  });

  it('are what stands behind the last thought when nobody reads them live', () => {
    const script = { default: { reply: 'Well. <think>hm</think>No: <think>ah</think>yes' } };
    expect(ask({}, query('q'), script).outputs).toEqual({ content: 'yes' });
  });

  it.each<[string, JsonObject]>([
    ['temperature above 1', { temperature: 1.1 }],
    ['presence_penalty below 0', { presence_penalty: -0.5 }],
    ['frequency_penalty above 1', { frequency_penalty: 2 }],
    ['max_retries as text', { max_retries: '2' }],
    ['prompts without a word', { prompts: '' }],
  ])('are not asked for with %s', (_, params) => {
    expect(llm.params.safeParse({ llm_id: 'm', ...params }).success).toBe(false);
  });

  it('fail with the words of the model', () => {
    expect(() => ask({}, query('q'), { default: { error: 'quota' } })).toThrow(/quota/);
  });
});

describe('answers as objects', () => {
  const structured = (script: ScriptInput, params: JsonObject = {}) =>
    ask({ outputs: SCHEMA, ...params }, query('q'), script);

  it('are settled without content, and their schema stands in the prompt', () => {
    const asked = structured({ default: { reply: 'Sure:\n```json\n{"name": "Ann"}\n```' } }, { sys_prompt: 'S' });
    expect(asked.outputs).toEqual({ structured: { name: 'Ann' } });
    expect(asked.calls[0]?.[0]?.content).toMatch(/^S\n\n[\s\S]*"properties": \{/);
  });

  it('are asked for again with what was wrong', () => {
    const asked = structured({ rules: [{ when: {}, times: 1, reply: 'Ann!' }], default: { reply: '{"name": "Ann"}' } });
    expect(asked.outputs).toEqual({ structured: { name: 'Ann' } });
    expect(asked.calls[1]?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(asked.events.filter(({ type }) => type === 'usage')).toHaveLength(2);
  });

  it.each([
    [0, 2],
    [3, 4],
    [1000, 10],
  ])('with %i retries are given up after %i attempts', (maxRetries, attempts) => {
    const { services, requests } = chatServices({ default: { reply: 'no' } });
    const node = nodeOf(llm, { llm_id: 'm', outputs: SCHEMA, max_retries: maxRetries });
    expect(() => eventsOf(node(activationOf({ ...query('q'), services })))).toThrow(
      `gave no JSON object in ${attempts} attempts; the last answer was: no`,
    );
    expect(requests).toHaveLength(attempts);
  });
});

it('declares what it reads and what it streams', () => {
  const params = llm.params.parse({ llm_id: 'm', sys_prompt: '{a@b}', prompts: '{a@b.c}{c@d}{item}{env.x}' });
  expect(llm.needs?.(params)).toEqual(['a@b', 'c@d']);
  expect(llm.streams?.(params)).toEqual(['content']);
  expect(llm.streams?.({ ...params, outputs: SCHEMA })).toEqual([]);
  expect(llm.streams?.({ ...params, outputs: { structured: { type: 'object', properties: {} } } })).toEqual([
    'content',
  ]);
});
