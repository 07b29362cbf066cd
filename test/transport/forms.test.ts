/** Several forms that wait at once: each has an address and an answer of its own, in any order. */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/json.js';
import { documentOf } from './support/documents.js';
import { startServer, type TestServer } from './support/server.js';

const word = (tips: string): JsonObject => ({
  enable_tips: true,
  tips,
  inputs: { word: { name: 'Word', type: 'line', optional: false, options: [] } },
});

const SIDE_BY_SIDE = documentOf({
  begin: ['Begin', ['UserFillUp:A', 'UserFillUp:B', 'UserFillUp:C']],
  'UserFillUp:A': ['UserFillUp', ['Message:M'], word('a')],
  'UserFillUp:B': ['UserFillUp', ['Message:M'], word('b')],
  'UserFillUp:C': ['UserFillUp', ['Message:M'], word('c')],
  'Message:M': ['Message', [], { content: ['{UserFillUp:A@word} {UserFillUp:B@word} {UserFillUp:C@word}'] }],
});

/** A form for each of three items. */
const inBody = (container: string, params: JsonObject = {}): JsonObject =>
  documentOf({
    begin: ['Begin', ['Each:E']],
    'Each:E': [
      container,
      ['Message:M'],
      { items_ref: 'env.items', outputs: { words: { ref: 'UserFillUp:F@word' } }, ...params },
    ],
    'IterationItem:I': ['IterationItem', ['UserFillUp:F'], {}, 'Each:E'],
    'UserFillUp:F': ['UserFillUp', [], word('{item}'), 'Each:E'],
    'Message:M': ['Message', [], { content: ['{Each:E@words}'] }],
  });

/** Two forms for each of two items of two rows. */
const NESTED = documentOf({
  begin: ['Begin', ['Parallel:R']],
  'Parallel:R': [
    'Parallel',
    ['Message:M'],
    { items_ref: 'env.items', max_concurrency: 4, outputs: { rows: { ref: 'Iteration:C@cells' } } },
  ],
  'IterationItem:R': ['IterationItem', ['Iteration:C'], {}, 'Parallel:R'],
  'Iteration:C': [
    'Iteration',
    [],
    { items_ref: 'IterationItem:R@item', max_concurrency: 4, outputs: { cells: { ref: 'StringTransform:S@result' } } },
    'Parallel:R',
  ],
  'IterationItem:C': ['IterationItem', ['UserFillUp:F', 'UserFillUp:G'], {}, 'Iteration:C'],
  'UserFillUp:F': ['UserFillUp', ['StringTransform:S'], word('f {item}'), 'Iteration:C'],
  'UserFillUp:G': ['UserFillUp', ['StringTransform:S'], word('g {item}'), 'Iteration:C'],
  'StringTransform:S': [
    'StringTransform',
    [],
    { method: 'merge', script: '{UserFillUp:F@word}+{UserFillUp:G@word}', delimiters: [','] },
    'Iteration:C',
  ],
  'Message:M': ['Message', [], { content: ['{Parallel:R@rows}'] }],
});

/** A form in every round of a loop, beside one outside of it. */
const LOOP = documentOf({
  begin: ['Begin', ['Loop:L', 'UserFillUp:O']],
  'Loop:L': [
    'Loop',
    ['Message:M'],
    {
      loop_variables: [{ variable: 'seen', input_mode: 'constant', value: '', type: 'string' }],
      loop_termination_condition: [
        { variable: 'UserFillUp:F@word', operator: 'is', value: 'stop', input_mode: 'constant' },
      ],
      maximum_loop_count: 10,
    },
  ],
  'LoopItem:I': ['LoopItem', ['UserFillUp:F'], {}, 'Loop:L'],
  'UserFillUp:F': ['UserFillUp', [], word('again'), 'Loop:L'],
  'UserFillUp:O': ['UserFillUp', ['Message:M'], word('outside')],
  'Message:M': ['Message', [], { content: ['{UserFillUp:O@word}, {UserFillUp:F@word}'] }],
});

interface WaitingForm {
  readonly cpn_id: string;
  readonly form_id: string;
  readonly within?: string;
  readonly tips: string;
}

/** A document whose bodies run over `items`. */
const over = (dsl: JsonObject, items: Json): JsonObject => ({
  ...dsl,
  variables: { items: { type: 'array', value: items } },
});

/** Answers one form a turn, chosen by `pick`, until nothing waits; gives what was asked each time, and the answer of the run. */
async function answerAll(
  server: TestServer,
  dsl: JsonObject,
  items: Json,
  pick: (forms: readonly WaitingForm[]) => WaitingForm | undefined,
  wordFor: (form: WaitingForm, turn: number) => string = ({ tips }) => tips.toUpperCase(),
) {
  const id = await server.agent(over(dsl, items));
  const asked: (readonly WaitingForm[])[] = [];
  let body: JsonObject = { query: 'x' };
  for (let turn = 1; turn < 20; turn += 1) {
    const { data } = (await server.call('POST', `/api/v1/agents/${id}/run`, body)).body;
    if (data.status !== 'waiting')
      return { asked, status: data.status as string, content: data.data.content as string };
    const forms = data.data.forms as readonly WaitingForm[];
    asked.push(forms);
    const chosen = pick(forms);
    if (chosen === undefined) throw new Error('nothing waits');
    body = { session_id: data.session_id, inputs: { [chosen.form_id]: { word: wordFor(chosen, turn) } } };
  }
  throw new Error('it never ends');
}

const ORDERS: readonly (readonly [string, (forms: readonly WaitingForm[]) => WaitingForm | undefined])[] = [
  ['first', (forms) => forms[0]],
  ['last', (forms) => forms.at(-1)],
  ['middle', (forms) => forms[Math.floor(forms.length / 2)]],
];

describe('an answer that leaves required fields open', () => {
  it.each<[string, JsonObject, string]>([
    ['no inputs', {}, '  '],
    [
      'one field of one form',
      { inputs: { 'UserFillUp:A': { word: 'x' }, 'UserFillUp:B': {}, 'UserFillUp:C': {} } },
      'x  ',
    ],
    ['a field that no form has', { inputs: { other: 'x' } }, '  '],
  ])('resumes the run, and they read as empty texts: %s', async (_, answer, content) => {
    const server = await startServer();
    const id = await server.agent(SIDE_BY_SIDE);
    const first = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'q' })).body.data;
    expect(first.status).toBe('waiting');
    const body = { session_id: first.session_id, query: 'again', ...answer };
    const { data } = (await server.call('POST', `/api/v1/agents/${id}/run`, body)).body;
    expect(data.status).toBe('succeeded');
    expect(data.data.content).toBe(content);
  });
});

describe.each(ORDERS)('forms that wait at once, the %s one answered first', (_, pick) => {
  it.each([
    ['side by side', SIDE_BY_SIDE, 'x', 3, 'A B C'],
    ['in a Parallel', inBody('Parallel', { max_concurrency: 3 }), ['x', 'y', 'z'], 3, ['X', 'Y', 'Z']],
    ['in an Iteration side by side', inBody('Iteration', { max_concurrency: 3 }), ['x', 'y', 'z'], 3, ['X', 'Y', 'Z']],
    ['in an Iteration one by one', inBody('Iteration'), ['x', 'y', 'z'], 3, ['X', 'Y', 'Z']],
  ] as const)('each get their own answer: %s', async (_name, dsl, items, turns, expected) => {
    const server = await startServer();
    const { asked, status, content } = await answerAll(server, dsl, items, pick);
    expect(status).toBe('succeeded');
    expect(asked).toHaveLength(turns);
    expect(typeof expected === 'string' ? content : JSON.parse(content.replaceAll("'", '"'))).toEqual(expected);
    for (const forms of asked) expect(new Set(forms.map(({ form_id }) => form_id)).size).toBe(forms.length);
    expect(server.errors).toEqual([]);
  });

  it('keep their addresses while others are answered, in bodies of bodies', async () => {
    const server = await startServer();
    const { asked, status, content } = await answerAll(
      server,
      NESTED,
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      pick,
    );
    expect(status).toBe('succeeded');
    expect(asked.map(({ length }) => length)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    for (const [turn, forms] of asked.entries()) {
      if (turn === 0) continue;
      const before = new Set(asked[turn - 1]?.map(({ form_id, within, tips }) => `${form_id} ${within} ${tips}`));
      for (const { form_id, within, tips } of forms) expect(before).toContain(`${form_id} ${within} ${tips}`);
    }
    expect(asked[0]?.map(({ within }) => within)).toContain('Parallel:R/1/Iteration:C/0');
    for (const cell of ['F A+G A', 'F B+G B', 'F C+G C', 'F D+G D']) expect(content).toContain(cell);
  });

  it('are of a loop and of what is beside it', async () => {
    const server = await startServer();
    const wordFor = ({ tips }: WaitingForm, turn: number) => (tips === 'outside' ? 'out' : turn < 4 ? 'more' : 'stop');
    const { status, content } = await answerAll(server, LOOP, 'x', pick, wordFor);
    expect(status).toBe('succeeded');
    expect(content).toBe('out, stop');
  });
});

describe('forms that wait at once', () => {
  it('are answered together, some by address, some by id', async () => {
    const server = await startServer();
    const id = await server.agent(SIDE_BY_SIDE);
    const first = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    const forms = first.data.forms as readonly WaitingForm[];
    const addressOf = (id: string) => forms.find(({ cpn_id }) => cpn_id === id)?.form_id as string;
    const inputs = {
      [addressOf('UserFillUp:A')]: { word: 'one' },
      'UserFillUp:B': { word: { type: 'line', value: 'two' } },
      word: 'three',
    };
    const turn = { session_id: first.session_id, inputs };
    const { data } = (await server.call('POST', `/api/v1/agents/${id}/run`, turn)).body;
    expect([data.status, data.data.content]).toEqual(['succeeded', 'one two three']);
  });

  it('survive a fork: the others are answered there, and here too', async () => {
    const server = await startServer();
    const id = await server.agent(over(inBody('Parallel', { max_concurrency: 3 }), ['x', 'y', 'z']));
    const first = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    const forms = first.data.forms as readonly WaitingForm[];
    const inputs = Object.fromEntries(forms.map(({ form_id, tips }) => [form_id, { word: tips }]));
    const forked = await server.call('POST', `/api/v1/agents/${id}/runs/${first.run_id}/fork`, { inputs });
    expect(forked.body.data).toMatchObject({ status: 'succeeded' });
    expect(forked.body.data.session_id).not.toBe(first.session_id);
    const here = await server.call('POST', `/api/v1/agents/${id}/run`, { session_id: first.session_id, inputs });
    expect(here.body.data.data.content).toBe(forked.body.data.data.content);
    // One that is only looked at waits as the other does.
    const asking = await server.call('POST', `/api/v1/agents/${id}/runs/${first.run_id}/fork`, {});
    expect(asking.body.data).toMatchObject({ status: 'waiting' });
    expect(asking.body.data.data.forms).toEqual(forms);
  });
});
