import { describe, expect, it } from 'vitest';
import { generate } from '../../src/components/generate.js';
import type { Settled } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { activationOf, chatServices, eventsOf, nodeOf, runAtOnce, type Surroundings } from './text-activation.js';

/** The messages that a model gets for a prompt, as `role: content`; `upstream` names the nodes that lead to the node. */
function messagesFor(
  prompt: string,
  around: Surroundings,
  params: JsonObject = {},
  upstream: readonly string[] = [],
): string[] {
  const { services, requests } = chatServices({ default: { reply: 'ok' } });
  const node = nodeOf(generate, { llm_id: 'm', prompt, ...params }, { upstream });
  eventsOf(node(activationOf({ ...around, services })));
  return (requests[0]?.messages ?? []).map(({ role, content }) => `${role}: ${String(content)}`);
}

const variables = { 'sys.query': 'Hi?' };
const passages = { chunks: { 7: { content: 'first' }, 9: { content: '{sys.query}' } }, doc_aggs: {} };

describe('the prompt', () => {
  it.each<[string, string, JsonObject, string[]]>([
    ['comes before the question', 'Be kind.', variables, ['system: Be kind.', 'user: Hi?']],
    ['is the question when it holds it', 'Answer {{sys.query}} now', variables, ['user: Answer Hi? now']],
    ['is the question when there is none', 'Say a joke.', { 'sys.query': ' ' }, ['user: Say a joke.']],
    [
      'stands before the history',
      'Be kind.',
      {
        ...variables,
        history: [
          ['user', 'a'],
          ['assistant', { content: 'b' }],
          ['user', 'Hi?'],
        ],
      },
      ['system: Be kind.', 'user: a', 'assistant: b', 'user: Hi?'],
    ],
  ])('%s', (_, prompt, given, messages) => {
    expect(messagesFor(prompt, { variables: given })).toEqual(messages);
  });

  it('may be written as an LLM writes its prompts', () => {
    const params = { sys_prompt: 'Be kind.', user_prompt: 'Now {sys.query}' };
    expect(messagesFor('', { variables }, params)).toEqual(['system: Be kind.', 'user: Now Hi?']);
  });
});

describe('{input}', () => {
  const reply = { turn: 'run/', text: 'a draft with {input}' };

  it.each<[string, JsonObject, string]>([
    ['the reply that nobody has said', { ...variables, reply, retrieval: [passages] }, 'a draft with {input}'],
    ['the passages of this turn', { ...variables, retrieval: [{}, passages] }, '- first\n- {sys.query}'],
    ['passages in a list', { ...variables, retrieval: [{ chunks: ['one', { content: 'two' }] }] }, '- one\n- two'],
    ['the question', { ...variables, reply: { ...reply, turn: 'run/8' }, retrieval: [passages, {}] }, 'Hi?'],
  ])('is %s', (_, given, text) => {
    const [system] = messagesFor('Look: {{input}}!', { variables: given }, { cite: false });
    expect(system).toBe(`system: Look: ${text}!`);
  });
});

describe('{input} behind other nodes', () => {
  const outputs = {
    sql: { formalized_content: '| 1 |', json: [] },
    code: { result: 'five' },
    draft: { content: '<think>hm</think>a draft' },
    form: { query: 'x' },
    late: null,
  };
  const reply = { turn: 'run/', text: 'unsaid', node: 'other' };

  it.each<[string, string[], string]>([
    ['the text of the only one', ['sql'], '| 1 |'],
    ['the text of the first that has one', ['late', 'form', 'code', 'sql'], 'five'],
    ['a text without what was thought', ['draft'], 'a draft'],
    ['the reply when none has a text', ['form', 'late', 'gone'], 'unsaid'],
  ])('is %s', (_, upstream, text) => {
    const [system] = messagesFor('<{input}>', { outputs, variables: { ...variables, reply } }, {}, upstream);
    expect(system).toBe(`system: <${text}>`);
  });

  it('is not a text that it has seen before, unless only one node leads here', () => {
    const { services } = chatServices({ default: { reply: 'ok' } });
    const settledBy = (upstream: string[]) => {
      const node = nodeOf(generate, { llm_id: 'm', prompt: 'p' }, { upstream });
      return eventsOf(node(activationOf({ services, variables, outputs }))).at(-1) as Settled;
    };
    const seen = settledBy(['sql', 'form']).writes?.at(-1)?.value ?? null;
    const later = { ...variables, texts_before: seen };

    expect(messagesFor('<{input}>', { outputs, variables: later }, {}, ['sql', 'form'])[0]).toBe('system: <Hi?>');
    expect(messagesFor('<{input}>', { outputs, variables: later }, {}, ['sql'])[0]).toBe('system: <| 1 |>');
    expect(settledBy(['sql']).writes).toHaveLength(1);
  });
});

describe('a component by its id alone', () => {
  it.each<[string, JsonObject | null, string]>([
    ['content', { content: 'c', result: 'r' }, 'c'],
    ['what was retrieved', { formalized_content: 'f', json: [] }, 'f'],
    ['a result', { result: ['r'] }, '["r"]'],
    ['nothing before it ran', null, ''],
    ['nothing when it has no text', { other: 1 }, ''],
  ])('is its %s', (_, outputs, text) => {
    const around = { variables, outputs: { 'Node:A-1': outputs } };
    expect(messagesFor('{sys.query}<{Node:A-1}>', around)).toEqual([`user: Hi?<${text}>`]);
  });

  it('is a text in braces when there is no such component', () => {
    expect(messagesFor('Give {key:value} and {input', { variables })[0]).toBe('system: Give {key:value} and {input');
  });
});

it('leaves a reply without what was thought', () => {
  const { services } = chatServices({ default: { reply: '<think>hm</think>yes' } });
  const events = runAtOnce(generate, { llm_id: 'm', prompt: 'p' }, { variables, services });
  expect(events.at(-1)).toMatchObject({
    outputs: { content: 'yes' },
    writes: [{ to: { key: 'reply' }, value: { turn: 'run/', text: 'yes', node: 'x' } }],
  });
});

it('declares what it reads and what it streams', () => {
  const params = generate.params.parse({ llm_id: 'm', prompt: '{a@b} {input} {Node:A}' });
  expect(generate.needs?.(params)).toEqual(['a@b']);
  expect(generate.streams?.(params)).toEqual(['content']);
});

it.each<[string, JsonObject]>([
  ['no model', { prompt: 'p' }],
  ['a prompt that is no text', { llm_id: 'm', prompt: 1 }],
])('is refused with %s', (_, params) => {
  expect(generate.params.safeParse(params).success).toBe(false);
});
