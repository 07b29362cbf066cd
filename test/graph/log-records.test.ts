/** Events as a log holds them, and what becomes of those that were changed there. */
import { describe, expect, it } from 'vitest';
import { EventWriter } from '../../src/graph/event-json.js';
import type { RunEvent } from '../../src/graph/events.js';
import { foldState, transition } from '../../src/graph/fold.js';
import { readEvent } from '../../src/graph/log.js';
import { stateFromJson, stateToJson } from '../../src/graph/snapshot.js';
import { initialState } from './support/initial-state.js';
import { draw, planOfSpecs } from './support/specs.js';

type Fields = Readonly<Record<string, unknown>>;

/** An event of token 2, or another one. */
const event = (type: string, fields: Fields = {}): RunEvent =>
  ({ type, run: 'r', seq: 1, at: 0, node: 'n', token: 2, ...fields }) as unknown as RunEvent;

const refused = (message: RegExp | string = '') =>
  expect.objectContaining({ code: 'CHECKPOINT_INVALID', message: expect.stringMatching(message) });

const failed = { error: { code: 'NODE_FAILED', message: 'no' }, outputs: { _ERROR: 'no' }, elapsedMs: 1 };
const failure = (then: string, fields: Fields = {}) => event('node-failed', { ...failed, ...fields, then });

const EVENTS: readonly RunEvent[] = [
  event('node-settled', { outputs: {}, elapsedMs: 1 }),
  event('node-settled', {
    outputs: { a: [1, null, { b: 'c' }] },
    next: ['x'],
    writes: [
      { to: { kind: 'output', component: 'c', name: 'v', path: ['k', '0'] }, value: null },
      { to: { kind: 'variable', key: 'env.x' }, value: { deep: [1] } },
    ],
    exit: true,
    calls: [{ id: 1 }],
  }),
  failure('goto', { next: ['a'] }),
  failure('run'),
  failure('retry'),
  event('node-interrupted'),
  event('node-interrupted', { payload: { tips: 'name?' }, outputs: { v: 1 } }),
  event('node-progress'),
  event('node-progress', { outputs: { list: [] }, append: { list: { index: 0 } }, nodeState: null }),
  event('node-usage', { promptTokens: 1, completionTokens: 2, totalTokens: 3 }),
  event('node-streaming'),
  event('node-skipped', { missing: ['x'] }),
  event('body-opened', { round: { key: '0' } }),
  event('body-opened', { round: { key: '0', aliases: { item: 1 }, isolated: true, fresh: true, closing: false } }),
  event('body-resumed', { key: '0', answers: { name: 'x' } }),
  event('body-closed', { key: '0' }),
  event('node-delta', { port: 'content', text: 'hi' }),
  event('run-settled', { token: undefined, node: undefined, outputs: null }),
];

const text = (type: string, fields: string): string => `{"type":"${type}","seq":1,"token":1${fields}}`;

/** What is wrong, the text, and what the message names. */
const BROKEN: readonly (readonly [string, string, string])[] = [
  ['no JSON', '{"type":"node-settled",', 'not JSON'],
  ['nothing', '', 'not JSON'],
  ['null', 'null', ''],
  ['a list', '[]', ''],
  ['a number', '7', ''],
  ['no type', '{"seq":1,"token":1}', 'type'],
  ['an unknown type', '{"type":"moved","seq":1,"token":1}', 'type'],
  ['the type of an object', '{"type":"toString","seq":1,"token":1}', 'type'],
  ['no token', '{"type":"node-skipped","seq":1}', 'token'],
  ['no number', '{"type":"node-skipped","token":1}', 'seq'],
  ['token 0', '{"type":"node-skipped","seq":1,"token":0}', 'token'],
  ['half a token', '{"type":"node-skipped","seq":1,"token":1.5}', 'token'],
  ['a token in quotes', '{"type":"node-skipped","seq":1,"token":"1"}', 'token'],
  ['a token beyond counting', '{"type":"node-skipped","seq":1,"token":1e300}', 'token'],
  ['no outputs', text('node-settled', ''), 'outputs'],
  ['outputs that are a list', text('node-settled', ',"outputs":[]'), 'outputs'],
  ['outputs that are null', text('node-failed', ',"outputs":null,"then":"run"'), 'outputs'],
  ['a failure that nothing follows', text('node-failed', ',"outputs":{},"then":"stop"'), 'then'],
  ['successors that are no ids', text('node-settled', ',"outputs":{},"next":[1]'), 'next.0'],
  ['writes that are no list', text('node-settled', ',"outputs":{},"writes":{}'), 'writes'],
  ['a write to nothing', text('node-settled', ',"outputs":{},"writes":[{"value":1}]'), 'writes.0.to'],
  [
    'a write of nothing',
    text('node-settled', ',"outputs":{},"writes":[{"to":{"kind":"variable","key":"k"}}]'),
    'writes.0.value',
  ],
  [
    'a write to another kind',
    text('node-settled', ',"outputs":{},"writes":[{"to":{"kind":"file"},"value":1}]'),
    'kind',
  ],
  [
    'a write to no variable',
    text('node-settled', ',"outputs":{},"writes":[{"to":{"kind":"variable"},"value":1}]'),
    'writes.0.to',
  ],
  [
    'a write to no output',
    text('node-settled', ',"outputs":{},"writes":[{"to":{"kind":"output","name":"v"},"value":1}]'),
    'writes.0.to',
  ],
  ['an exit in words', text('node-settled', ',"outputs":{},"exit":"yes"'), 'exit'],
  ['items that are a list', text('node-progress', ',"append":[1]'), 'append'],
  ['a payload that is text', text('node-interrupted', ',"payload":"name?"'), 'payload'],
  ['no round', text('body-opened', ''), 'round'],
  ['a round without a key', text('body-opened', ',"round":{}'), 'round.key'],
  ['a round with a number as its key', text('body-opened', ',"round":{"key":0}'), 'round.key'],
  ['a pass without a key', text('body-closed', ''), 'key'],
];

describe('readEvent', () => {
  it.each(EVENTS.map((one) => [JSON.stringify(one), JSON.parse(JSON.stringify(one))] as const))(
    'gives back %s',
    (written, one) => {
      expect(readEvent(written)).toEqual(one);
    },
  );

  it.each([
    ...EVENTS,
    event('node-started', { attempt: 1 }),
    event('node-started', { attempt: 2, retractFrom: 3, within: 'loop/1' }),
    event('node-started', { attempt: 1, resumed: true }),
    ...[
      { recovered: { code: 'NODE_FAILED', message: 'no' } },
      { calls: [{ id: 1 }] },
      { callsOmitted: 3 },
      { toolCalls: [{ name: 'search' }] },
      { next: [] },
      { writes: [] },
      { exit: false },
    ].map((fields) => event('node-settled', { outputs: {}, elapsedMs: 1, ...fields })),
    event('node-settled', { outputs: {}, value: { a: 'x"' }, stored: { v: { a: 'x"' } }, elapsedMs: 1 }),
    event('node-settled', { outputs: {}, value: undefined, stored: { c: [1, '\u2028'] }, elapsedMs: 1 }),
    event('node-settled', { outputs: {}, value: () => 'no JSON', elapsedMs: 1 }),
    event('node-settled', { node: 'a"b\\\n', within: 'l"/\ud800', outputs: { '"': '\u0000' }, elapsedMs: 0.5 }),
  ])('writes %j as JSON.stringify would, but for the order of fields', (one) => {
    expect(JSON.parse(new EventWriter().json(one))).toEqual(JSON.parse(JSON.stringify(one)));
  });

  it('writes the events of several runs and moments with one writer', () => {
    const writer = new EventWriter();
    for (const [run, at] of [
      ['a"b', 1],
      ['a"b', 2],
      ['c', 2],
      ['a"b', 2],
      ['', 0.5],
    ] as const) {
      for (const one of [
        event('node-started', { run, at, attempt: 1 }),
        event('node-settled', { run, at, outputs: {}, stored: { v: 'x' }, elapsedMs: 0 }),
      ]) {
        expect(JSON.parse(writer.json(one))).toEqual(one);
      }
    }
  });

  it.each(BROKEN)('refuses %s', (_what, written, named) => {
    expect(() => readEvent(written)).toThrowError(refused(named));
  });
});

describe('foldState', () => {
  it('changes neither the state nor the events', () => {
    const plan = draw('a -> b');
    const state = initialState(plan);
    const before = JSON.stringify(stateToJson(plan, state));
    const one = Object.freeze(event('node-settled', { token: 1, outputs: Object.freeze({ v: 1 }) }));
    const after = foldState(plan, state, [one]);
    expect(JSON.stringify(stateToJson(plan, state))).toBe(before);
    expect(stateToJson(plan, after)).toMatchObject({ step: 1, cells: { a: { v: 1 } } });
  });

  const settled = (fields: Fields = {}) => event('node-settled', { token: 1, outputs: {}, ...fields });
  const goto = (next: readonly string[]) => failure('goto', { token: 1, next });
  it.each<readonly [string, readonly RunEvent[]]>([
    ['a token that was never given out', [settled({ token: 9 })]],
    ['a token that has settled', [settled(), settled()]],
    ['a token that was passed over', [1, 1].map((token) => event('node-skipped', { token, missing: [] }))],
    ['a successor that does not exist', [settled({ next: ['nothing'] })]],
    ['a successor in another body', [settled({ next: ['x'] })]],
    ['a node that does not exist instead of the successors', [goto(['nothing'])]],
    ['a node in another body instead of the successors', [goto(['x'])]],
    ['a pass of a node without a body', [event('body-opened', { token: 1, round: { key: '0' } })]],
    [
      'two passes under one key',
      [settled(), ...[2, 2].map((token) => event('body-opened', { token, round: { key: '0' } }))],
    ],
    [
      'a write to a node that does not exist',
      [settled({ writes: [{ to: { kind: 'output', component: 'nothing', name: 'v', path: [] }, value: 1 }] })],
    ],
  ])('refuses %s', (_what, events) => {
    const plan = planOfSpecs({ a: { downstream: ['box'] }, box: { isContainer: true }, x: { parent: 'box' } });
    const state = stateFromJson(plan, stateToJson(plan, initialState(plan)));
    expect(() => foldState(plan, state, events)).toThrowError(refused());
  });

  it('empties the body that a node leaves, as the live run and `transition` do', () => {
    const plan = planOfSpecs({ box: { isContainer: true }, x: { parent: 'box' }, y: { parent: 'box' } });
    const opened = event('body-opened', { token: 1, round: { key: '0' } });
    const left = event('node-settled', { token: 2, outputs: { v: 1 }, exit: true });
    const folded = foldState(plan, initialState(plan), [opened, left]);
    const [inside] = transition(plan, initialState(plan), 1, { type: 'body-opened', round: { key: '0' } });
    const [after, ready] = transition(plan, inside, 2, { type: 'settled', outputs: { v: 1 }, exit: true });
    expect(stateToJson(plan, after)).toEqual(stateToJson(plan, folded));
    expect(ready).toEqual([]);
    expect(folded.root.tokens[0]?.frames).toMatchObject([{ key: '0', tokens: [], isLeft: true }]);
  });
});
