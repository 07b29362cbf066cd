import { describe, expect, it } from 'vitest';
import { categorize, chooseCategory } from '../../src/components/categorize.js';
import type { Json, JsonObject } from '../../src/json.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { chatServices, outputsOf, runAtOnce, type Surroundings, warningsOf } from './text-activation.js';

const CATEGORIES = {
  bills: { description: 'About money', examples: ['my\ninvoice', { value: 'a refund' }], to: ['b1', 'b2'] },
  faults: { description: '', examples: [], to: ['f'] },
  rest: { to: 'r' },
};

function sort(script: ScriptInput, params: JsonObject = {}, around: Surroundings = {}) {
  const { services, requests } = chatServices(script);
  const given = { llm_id: 'm', category_description: CATEGORIES, ...params };
  const events = runAtOnce(categorize, given, { variables: { 'sys.query': 'hello' }, ...around, services });
  const [system, user] = (requests[0]?.messages ?? []).map(({ content }) => String(content));
  return { events, system, user, last: events.at(-1) };
}

describe('the category', () => {
  it.each<[string, string, readonly string[], string]>([
    ['is named', 'b', ['a', 'b'], 'b'],
    ['is named in another case', 'BILLS', ['bills', 'rest'], 'bills'],
    ['is quoted and punctuated', ' "Bills". ', ['rest', 'bills'], 'bills'],
    ['stands behind its label', 'Category: bills', ['rest', 'bills'], 'bills'],
    ['stands in a sentence', 'I think these are FAULTS, clearly.', ['bills', 'faults'], 'faults'],
    ['occurs most often', 'rest? no: bills, bills', ['rest', 'bills'], 'bills'],
    ['is declared first of those that occur equally often', 'faults or bills', ['bills', 'faults'], 'bills'],
    [
      'is the longer name, not the one inside of it',
      'It is refund status here.',
      ['refund', 'refund status'],
      'refund status',
    ],
    ['is both a name and part of one', 'refund status, refund, refund', ['refund status', 'refund'], 'refund'],
    ['is a word and not a part of one', 'about nothing but b', ['a', 'b'], 'b'],
    ['is part of a word when no word fits', 'technicalities', ['bill', 'technical'], 'technical'],
    ['is in a script without blanks', '我认为是退款问题。', ['发票', '退款'], '退款'],
    ['is the last one when none is named', 'no idea', ['bills', 'rest'], 'rest'],
    ['is the last one for no answer', '', ['bills', 'rest'], 'rest'],
  ])('%s', (_, answer, names, name) => {
    expect(chooseCategory(answer, names)).toBe(name);
  });

  it('leads to all of its targets', () => {
    const { last, events } = sort({ default: { reply: '<think>faults</think>bills' } });
    const next = ['b1', 'b2'];
    expect(last).toEqual({ type: 'settled', outputs: { category_name: 'bills', _next: next }, next });
    expect(events.map(({ type }) => type)).toEqual(['usage', 'settled']);
  });

  it('may lead to one target, written as a text', () => {
    expect(sort({ default: { reply: 'hm' } }).last).toMatchObject({ next: ['r'] });
  });

  it('is missing when the model fails', () => {
    expect(() => sort({ default: { error: 'down' } })).toThrow(/down/);
  });
});

describe('the prompts', () => {
  it('tell the categories in order, what they mean and examples of them', () => {
    const { system = '' } = sort({});
    expect(system).toMatch(/- bills\n- faults\n- rest\n\nWhat they mean:\n- bills: About money\n\nExamples:\n/);
    expect(system).toContain('- "my invoice" is bills\n- "a refund" is bills\n');
  });

  it('leave out sections that would be empty', () => {
    const { system = '' } = sort({}, { category_description: { a: { to: ['x'] }, b: { to: ['y'] } } });
    expect(system).toContain('- a\n- b\n\nRules:');
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['the question alone', {}, {}, 'USER: "hello"'],
    [
      'the answer before it',
      {},
      {
        history: [
          ['user', 'first'],
          ['assistant', { content: 'then\nthis' }],
          ['user', 'hello'],
        ],
      },
      'ASSISTANT: "then this"\nUSER: "hello"',
    ],
    [
      'no history with a window of 0',
      { message_history_window_size: 0 },
      {
        history: [
          ['user', 'first'],
          ['user', 'hello'],
        ],
      },
      'USER: "hello"',
    ],
    ['another text in place of the question', { query: 'env.text' }, { 'env.text': ['a', 1] }, 'USER: "["a", 1]"'],
  ])('show %s', (_, params, variables, conversation) => {
    const { user } = sort({}, params, { variables: { 'sys.query': 'hello', ...variables } });
    expect(user).toBe(`Conversation:\n${conversation}\n\nCategory of the last message:`);
  });

  it('warn of a text that has no value', () => {
    expect(warningsOf(sort({}, { query: 'env.none' }).events)).toEqual([expect.stringContaining('"env.none"')]);
  });
});

describe('parameters', () => {
  it('may list items in place of categories', () => {
    const items = [
      { name: 'one', description: 'd', examples: [{ value: 'e' }], to: ['x'], uuid: 'u' },
      { name: 'two', to: ['y'] },
    ];
    const { last } = sort({ default: { reply: 'two' } }, { category_description: {}, items });
    expect(last).toMatchObject({ outputs: { category_name: 'two' }, next: ['y'] });
  });

  it('may hold all examples in one text, one on each line', () => {
    const category_description = { a: { examples: ' hello \r\n\ngood day\n', to: 'x' }, b: { examples: '', to: 'y' } };
    const { system = '' } = sort({}, { category_description });
    expect(system).toContain('Examples:\n- "hello" is a\n- "good day" is a\n\nRules:');
  });

  it.each<[string, JsonObject, string]>([
    ['none', { llm_id: undefined as never }, ''],
    ['an empty one', { llm_id: '', tenant_llm_id: 63 }, ''],
    ['null', { llm_id: null }, ''],
    ['one', { llm_id: ' m ' }, 'm'],
  ])('may name %s of the models', (_, params, id) => {
    expect(categorize.params.parse({ category_description: CATEGORIES, ...params }).llm_id).toBe(id);
  });

  it('declare targets and needs', () => {
    const params = categorize.params.parse({ llm_id: 'm', category_description: CATEGORIES, query: '{{n@text.0}}' });
    expect(categorize.targets?.(params)).toEqual(['b1', 'b2', 'f', 'r']);
    expect(categorize.needs?.(params)).toEqual(['n@text']);
  });

  it.each<[string, Json]>([
    ['no category', {}],
    ['a category without a target', { a: { to: [] } }],
    ['a category without a name', { ' ': { to: ['x'] } }],
    ['something else in place of categories', ['a']],
    ['examples that are no texts', { a: { examples: [1], to: ['x'] } }],
  ])('are refused with %s', (_, category_description) => {
    expect(categorize.params.safeParse({ llm_id: 'm', category_description }).success).toBe(false);
  });
});

it('settles once', () => {
  expect(outputsOf(sort({}).events)).toEqual({ category_name: 'rest', _next: ['r'] });
});
