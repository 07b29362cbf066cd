import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createNode, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import type { WireEvent } from '../../src/canvas/ragflow-events.js';
import { toWireEvents } from '../../src/canvas/ragflow-events.js';
import { runTurn, type Session, type Turn } from '../../src/canvas/turn.js';
import { answer } from '../../src/components/answer.js';
import type { NodeEvent, Settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { chatServices } from './text-activation.js';

const reply = (text: string): JsonObject => ({ reply: { turn: 'run/2', text }, 'sys.conversation_turns': 2 });
const asked: JsonObject = { query: { name: 'Your message', type: 'paragraph', value: null } };

interface Reached {
  readonly variables?: JsonObject;
  readonly input?: Json;
  readonly answer?: Json;
  readonly nodeState?: Json;
  readonly outputs?: Readonly<Record<string, JsonObject | null>>;
  /** Nodes that lead to the Answer. */
  readonly upstream?: readonly string[];
}

/** What an Answer says when it is reached; nothing follows one that `isLast`. */
function reach(around: Reached, isLast = false): readonly NodeEvent[] {
  const { upstream = [] } = around;
  const node = createNode(answer, {}, { id: 'Answer:A', downstream: isLast ? [] : ['next'], upstream });
  return performNow(node, fakeActivation({ node: 'Answer:A', ...around }));
}

const typesOf = (events: readonly NodeEvent[]): string[] => events.map(({ type }) => type);

describe('an Answer that is reached', () => {
  it.each<[string, Reached, Json]>([
    ['the text of the turn', { input: { query: 'hi' } }, 'hi'],
    ['a question that is no text', { input: { query: { a: 1 } } }, { a: 1 }],
    [
      'the text, when a reply of an earlier turn is left',
      { input: { query: 'hi' }, variables: { ...reply('old'), 'sys.conversation_turns': 3 } },
      'hi',
    ],
    [
      'the text, when an earlier turn was answered',
      { input: { query: 'hi' }, variables: { taken_turn: 'run/1', 'sys.conversation_turns': 2 } },
      'hi',
    ],
  ])('goes on with %s', (_, around, query) => {
    expect(reach(around)).toMatchObject([{ type: 'settled', outputs: { query } }]);
  });

  it.each<[string, Reached]>([
    ['without a text', { input: { query: ' ' } }],
    ['without any input', {}],
    [
      'after another Answer took the text',
      { input: { query: 'hi' }, variables: { taken_turn: 'run/2', 'sys.conversation_turns': 2 } },
    ],
  ])('waits %s', (_, around) => {
    expect(reach(around)).toEqual([
      { type: 'interrupt', payload: { kind: 'form', inputs: asked, tips: '' }, outputs: { content: '' } },
    ]);
  });

  it('says a reply before it waits, with what it was made from', () => {
    const variables = { ...reply('yes'), retrieval: [{ chunks: { 7: { content: 'c' } }, doc_aggs: {} }] };
    const events = reach({ input: { query: 'hi' }, variables });
    expect(typesOf(events)).toEqual(['delta', 'notice', 'progress', 'interrupt']);
    expect(events[1]).toMatchObject({
      name: 'message-ended',
      data: { reference: { chunks: { 7: { content: 'c' } } } },
    });
  });

  it('ends instead of waiting when nothing follows', () => {
    expect(typesOf(reach({ input: { query: 'hi' }, variables: reply('bye') }, true)).at(-1)).toBe('settled');
    expect(reach({}, true)).toMatchObject([{ type: 'settled', outputs: { content: '' } }]);
    expect(reach({ input: { query: 'hi' } }, true)).toMatchObject([{ type: 'settled', outputs: { query: 'hi' } }]);
  });
});

describe('an Answer behind other nodes', () => {
  const outputs = {
    sql: { formalized_content: '| 1 |', json: [] },
    code: { result: 5 },
    draft: { content: '<think>hm</think>a draft' },
    message: { content: 'said', downloads: [] },
    choice: { category_name: 'x' },
    late: null,
  };
  const said = (around: Reached): string => {
    const [event] = reach({ input: { query: 'hi' }, outputs, ...around }, true);
    return event?.type === 'delta' ? event.text : '';
  };

  it.each<[string, readonly string[], JsonObject, string]>([
    ['the text of the only one', ['sql'], {}, '| 1 |'],
    ['a value as text', ['code'], {}, '5'],
    ['the text of the first that has one', ['late', 'choice', 'gone', 'code', 'sql'], {}, '5'],
    ['a text without what was thought', ['draft'], {}, 'a draft'],
    ['the rows, not the query that a Generate wrote', ['sql'], reply('SELECT 1'), '| 1 |'],
    ['the reply, when it comes through a node without a text', ['choice'], reply('yes'), 'yes'],
    ['nothing that a node has said itself', ['message'], {}, ''],
    [
      'nothing of a Generate that a Message has said',
      ['draft', 'message'],
      { reply: { turn: 'run/2', text: '', node: 'draft' }, 'sys.conversation_turns': 2 },
      '',
    ],
  ])('says %s', (_, upstream, variables, text) => {
    expect(said({ upstream, variables })).toBe(text);
  });

  it('says of several only what is new since it was answered', () => {
    const upstream = ['sql', 'code', 'message'];
    const [heard] = reach({ upstream, outputs, answer: 'more', nodeState: '| 1 |' });
    const seen = (heard as Settled).writes?.find(({ to }) => to.kind === 'variable' && to.key === 'texts_before');
    const variables = { texts_before: seen?.value ?? null };

    expect(said({ upstream, variables })).toBe('');
    expect(said({ upstream, variables, outputs: { ...outputs, code: { result: 6 } } })).toBe('6');
    expect(said({ upstream: ['sql'], variables })).toBe('| 1 |');
  });
});

describe('an Answer that has waited', () => {
  it.each<[string, Json, Json]>([
    ['the query of a turn', { query: 'more', inputs: {} }, 'more'],
    ['its field', { query: '', inputs: { query: { type: 'paragraph', value: 'more' } } }, 'more'],
    ['the plain value of its field', { inputs: { query: 'more' } }, 'more'],
    ['its field under its id', { inputs: { answer_a: { query: 'more' } } }, 'more'],
    ['a text alone', 'more', 'more'],
  ])('goes on with %s', (_, given, query) => {
    const [event] = reach({ answer: given, nodeState: 'yes' });
    expect(event).toMatchObject({ type: 'settled', outputs: { query } });
    expect((event as Settled).writes).toContainEqual({ to: { kind: 'variable', key: 'sys.query' }, value: query });
  });

  it.each<[string, Json]>([
    ['nothing', {}],
    ['a blank text', { query: ' \n', inputs: {} }],
    ['other fields', { inputs: { color: 'red' } }],
    ['an empty field', { inputs: { query: { value: '' } } }],
    ['null', null],
  ])('waits again for %s, and says nothing twice', (_, given) => {
    expect(reach({ answer: given, nodeState: 'yes', variables: reply('yes') })).toMatchObject([
      { type: 'interrupt', outputs: { content: 'yes' } },
    ]);
  });

  it('puts what was said into the history before the message', () => {
    const variables = {
      history: [
        ['user', 'hi'],
        ['user', ''],
      ],
      'sys.history': ['user: hi', 'user: '],
    };
    const [event] = reach({ answer: { inputs: { query: 'more' } }, nodeState: 'yes', variables });
    const written = (event as Settled).writes?.map(({ to, value }) => [to.kind === 'variable' ? to.key : '', value]);
    expect(Object.fromEntries(written ?? [])).toMatchObject({
      history: [
        ['user', 'hi'],
        ['assistant', { content: 'yes' }],
        ['user', 'more'],
      ],
      'sys.history': ['user: hi', 'assistant: yes', 'user: more'],
    });
  });
});

const node = (type: string, params: JsonObject, downstream: string[]): JsonObject => ({
  obj: { component_name: type, params },
  downstream,
  upstream: [],
});

/** A document of the oldest kind: a welcome, then one circle a turn, on one of two ways. */
const shop: JsonObject = {
  components: {
    begin: node('Begin', { prologue: 'Hello!' }, ['answer:0']),
    'answer:0': node('Answer', {}, ['sort:0']),
    'sort:0': node(
      'Categorize',
      {
        llm_id: 'm',
        category_description: {
          order: { description: 'Wants something.', examples: 'I want\nGive me', to: 'generate:0' },
          leave: { description: 'Says good-bye.', examples: 'bye', to: 'message:0' },
        },
      },
      ['generate:0', 'message:0'],
    ),
    'generate:0': node('Generate', { llm_id: 'm', prompt: 'Sell apples.' }, ['answer:1']),
    'message:0': node('Message', { messages: ['Come again.'] }, ['answer:1']),
    'answer:1': node('Answer', {}, ['sort:0']),
  },
  history: [],
  messages: [],
  path: [],
  reference: [],
  answer: [],
};

/** A shop assistant that sells until it hears "bye", and the requests that it made. */
function assistant() {
  const { services, requests } = chatServices({
    rules: [
      { when: { user: 'USER: "bye"\\n\\nCategory' }, reply: 'leave' },
      { when: { user: 'Category of the last message' }, reply: 'order' },
      { when: { user: '^two' }, reply: 'Two apples.' },
    ],
    default: { reply: 'Which?' },
  });
  return { services, requests };
}

/** Plays turns of one conversation, each with the session of the one before as it comes back from JSON. */
async function converse(dsl: JsonObject, turns: readonly Turn[], services: object): Promise<WireEvent[][]> {
  const canvas = loadCanvas(dsl);
  let stored: string | undefined;
  const played: WireEvent[][] = [];
  for (const turn of turns) {
    const session = stored === undefined ? {} : { session: JSON.parse(stored) as Session };
    const onSession = (next: Session) => {
      stored = JSON.stringify(next);
    };
    const events$ = runTurn(canvas, turn, { ...session, onSession, services, run: 'run', maxSteps: 20 });
    const wire$ = events$.pipe(toWireEvents({ plan: canvas.plan, messageId: 'm', sessionId: 's' }), toArray());
    played.push(await lastValueFrom(wire$));
  }
  return played;
}

const saidIn = (events: readonly WireEvent[]) =>
  events.flatMap(({ event, data }) => (event === 'message' ? [data.content] : [])).join('');
const finishedIn = (events: readonly WireEvent[]) =>
  events.flatMap(({ event, data }) => (event === 'node_finished' ? [data.component_id] : []));

describe('a document that leads back to its Answer', () => {
  it('answers turn after turn', async () => {
    const { services, requests } = assistant();
    const turns = [
      { query: 'apples' },
      { inputs: { query: { value: 'two' } } },
      { query: '' },
      { query: 'bye' },
      { query: 'apples' },
    ];

    const played = await converse(shop, turns, services);

    expect(played.map(saidIn)).toEqual(['Which?', 'Two apples.', '', 'Come again.', 'Which?']);
    expect(played.map((events) => events.at(-1)?.event)).toEqual(Array(5).fill('user_inputs'));
    expect(played.map(finishedIn)).toEqual([
      ['begin', 'answer:0', 'sort:0', 'generate:0'],
      ['answer:1', 'sort:0', 'generate:0'],
      [],
      ['answer:1', 'sort:0', 'message:0'],
      ['answer:1', 'sort:0', 'generate:0'],
    ]);
    expect(requests[3]?.messages).toEqual([
      { role: 'system', content: 'Sell apples.' },
      { role: 'user', content: 'apples' },
      { role: 'assistant', content: 'Which?' },
      { role: 'user', content: 'two' },
    ]);
  });

  it('waits where it is when the first turn brings no text', async () => {
    const played = await converse(shop, [{}, { query: 'two' }], assistant().services);

    expect(played[0]?.at(-1)).toMatchObject({ event: 'user_inputs', data: { cpn_id: 'answer:0', inputs: asked } });
    expect(saidIn(played[1] ?? [])).toBe('Two apples.');
  });

  it('is stopped when it leads back to itself without an Answer', async () => {
    const dsl: JsonObject = {
      components: {
        begin: node('Begin', {}, ['a']),
        a: node('Message', { messages: ['x'] }, ['b']),
        b: node('Message', { messages: ['y'] }, ['a']),
      },
      path: [],
    };
    const [events] = await converse(dsl, [{ query: 'q' }], {});
    expect(events?.at(-1)).toMatchObject({ event: 'error', data: { code: 'RUN_STEPS_EXCEEDED' } });
  });

  it('ends its run at an Answer that nothing follows', async () => {
    const dsl: JsonObject = {
      components: {
        begin: node('Begin', {}, ['in']),
        in: node('Answer', {}, ['write']),
        write: node('Generate', { llm_id: 'm', prompt: 'Sell.' }, ['out']),
        out: node('Answer', {}, []),
      },
      path: [],
    };
    const { services, requests } = assistant();

    const played = await converse(dsl, [{ query: 'apples' }, { query: 'two' }], services);

    expect(played.map(saidIn)).toEqual(['Which?', 'Two apples.']);
    expect(played.map((events) => events.at(-1)?.data.outputs)).toEqual([
      { content: 'Which?' },
      { content: 'Two apples.' },
    ]);
    expect(requests[1]?.messages.map(({ content }) => content)).toEqual(['Sell.', 'apples', 'Which?', 'two']);
  });

  it('says what any node behind it makes, turn after turn', async () => {
    const dsl: JsonObject = {
      components: {
        begin: node('Begin', {}, ['talk']),
        talk: node('Answer', {}, ['which']),
        which: node(
          'Switch',
          {
            conditions: [
              {
                logical_operator: 'and',
                items: [{ cpn_id: 'sys.query', operator: 'contains', value: 'split' }],
                to: ['list'],
              },
            ],
            end_cpn_ids: ['text'],
          },
          ['list', 'text'],
        ),
        list: node('StringTransform', { method: 'split', split_ref: 'sys.query', delimiters: [' '] }, ['talk']),
        text: node('StringTransform', { method: 'merge', script: 'You said {sys.query}.', delimiters: [','] }, [
          'talk',
        ]),
      },
      path: [],
      history: [],
    };

    const played = await converse(
      dsl,
      ['hi', 'split this', 'and', 'split that'].map((query) => ({ query })),
      {},
    );

    expect(played.map(saidIn)).toEqual(['You said hi.', '["split", "this"]', 'You said and.', '["split", "that"]']);
  });
});
