/** Records as they are written, and what becomes of those that somebody has changed. */
import { describe, expect, it } from 'vitest';
import { type JournalRecord, readRecord } from '../../src/graph/journal.js';
import { replay } from '../../src/graph/replay.js';
import { stateFromJson, stateToJson } from '../../src/graph/state-json.js';
import { initialState } from './support/initial-state.js';
import { draw, planOf } from './support/specs.js';

const refused = (message: RegExp | string = '') =>
  expect.objectContaining({ code: 'CHECKPOINT_INVALID', message: expect.stringMatching(message) });

const RECORDS: readonly JournalRecord[] = [
  { type: 'settled', token: 1, outputs: {} },
  {
    type: 'settled',
    token: 1,
    outputs: { a: [1, null, { b: 'c' }] },
    next: ['x'],
    writes: [
      { to: { kind: 'output', component: 'c', name: 'v', path: ['k', '0'] }, value: null },
      { to: { kind: 'variable', key: 'env.x' }, value: { deep: [1] } },
    ],
    exit: true,
  },
  { type: 'rerouted', token: 2, outputs: { _ERROR: 'no' }, targets: [0, 3] },
  { type: 'failed', token: 2, outputs: { _ERROR: 'no' } },
  { type: 'waiting', token: 2 },
  { type: 'waiting', token: 2, payload: { tips: 'who?' }, outputs: { v: 1 } },
  { type: 'progress', token: 2 },
  { type: 'progress', token: 2, outputs: { list: [] }, append: { list: { index: 0 } }, nodeState: null },
  { type: 'streaming', token: 2 },
  { type: 'restarted', token: 2 },
  { type: 'skipped', token: 2 },
  { type: 'opened', token: 2, round: { key: '0' } },
  {
    type: 'opened',
    token: 2,
    round: { key: '0', aliases: { item: 1 }, isolated: true, fresh: true, closing: false },
  },
  { type: 'closed', token: 2, key: '0' },
];

/** What is wrong, the text, and what the message names. */
const BROKEN: readonly (readonly [string, string, string])[] = [
  ['no JSON', '{"type":"settled",', 'not JSON'],
  ['nothing', '', 'not JSON'],
  ['null', 'null', ''],
  ['a list', '[]', ''],
  ['a number', '7', ''],
  ['no type', '{"token":1}', 'type'],
  ['an unknown type', '{"type":"moved","token":1}', 'type'],
  ['the type of an object', '{"type":"toString","token":1}', 'type'],
  ['no token', '{"type":"skipped"}', 'token'],
  ['token 0', '{"type":"skipped","token":0}', 'token'],
  ['half a token', '{"type":"skipped","token":1.5}', 'token'],
  ['a token in quotes', '{"type":"skipped","token":"1"}', 'token'],
  ['a token beyond counting', '{"type":"skipped","token":1e300}', 'token'],
  ['a key too many', '{"type":"skipped","token":1,"by":"me"}', 'by'],
  ['no outputs', '{"type":"settled","token":1}', 'outputs'],
  ['outputs that are a list', '{"type":"settled","token":1,"outputs":[]}', 'outputs'],
  ['outputs that are null', '{"type":"failed","token":1,"outputs":null}', 'outputs'],
  ['successors that are no ids', '{"type":"settled","token":1,"outputs":{},"next":[1]}', 'next.0'],
  ['writes that are no list', '{"type":"settled","token":1,"outputs":{},"writes":{}}', 'writes'],
  ['a write to nothing', '{"type":"settled","token":1,"outputs":{},"writes":[{"value":1}]}', 'writes.0.to'],
  [
    'a write of nothing',
    '{"type":"settled","token":1,"outputs":{},"writes":[{"to":{"kind":"variable","key":"k"}}]}',
    'writes.0.value',
  ],
  [
    'a write to another kind',
    '{"type":"settled","token":1,"outputs":{},"writes":[{"to":{"kind":"file"},"value":1}]}',
    'kind',
  ],
  [
    'a write to no variable',
    '{"type":"settled","token":1,"outputs":{},"writes":[{"to":{"kind":"variable"},"value":1}]}',
    'writes.0.to',
  ],
  [
    'a write to no output',
    '{"type":"settled","token":1,"outputs":{},"writes":[{"to":{"kind":"output","name":"v"},"value":1}]}',
    'writes.0.to',
  ],
  ['an exit in words', '{"type":"settled","token":1,"outputs":{},"exit":"yes"}', 'exit'],
  ['targets that are ids', '{"type":"rerouted","token":1,"outputs":{},"targets":["a"]}', 'targets.0'],
  ['no targets', '{"type":"rerouted","token":1,"outputs":{}}', 'targets'],
  ['items that are a list', '{"type":"progress","token":1,"append":[1]}', 'append'],
  ['a payload that is text', '{"type":"waiting","token":1,"payload":"who?"}', 'payload'],
  ['no round', '{"type":"opened","token":1}', 'round'],
  ['a round without a key', '{"type":"opened","token":1,"round":{}}', 'round.key'],
  ['a round with a number as its key', '{"type":"opened","token":1,"round":{"key":0}}', 'round.key'],
  ['a pass without a key', '{"type":"closed","token":1}', 'key'],
];

describe('readRecord', () => {
  it.each(RECORDS.map((record) => [JSON.stringify(record), record] as const))('gives back %s', (text, record) => {
    expect(readRecord(text)).toEqual(record);
  });

  it.each(BROKEN)('refuses %s', (_what, text, named) => {
    expect(() => readRecord(text)).toThrowError(refused(named));
  });
});

describe('replay', () => {
  it('changes neither the state nor the records', () => {
    const plan = draw('a -> b');
    const state = initialState(plan);
    const before = JSON.stringify(stateToJson(plan, state));
    const record: JournalRecord = Object.freeze({ type: 'settled', token: 1, outputs: Object.freeze({ v: 1 }) });
    const after = replay(plan, state, [record]);
    expect(JSON.stringify(stateToJson(plan, state))).toBe(before);
    expect(stateToJson(plan, after)).toMatchObject({ step: 1, cells: { a: { v: 1 } } });
  });

  it.each<readonly [string, readonly JournalRecord[]]>([
    ['a token that was never given out', [{ type: 'settled', token: 9, outputs: {} }]],
    ['a token that has settled', [1, 1].map((token) => ({ type: 'settled', token, outputs: {} }))],
    ['a token that was passed over', [1, 1].map((token) => ({ type: 'skipped', token }))],
    ['a successor that does not exist', [{ type: 'settled', token: 1, outputs: {}, next: ['nobody'] }]],
    ['a successor in another body', [{ type: 'settled', token: 1, outputs: {}, next: ['x'] }]],
    ['a target beyond the plan', [{ type: 'rerouted', token: 1, outputs: {}, targets: [99] }]],
    ['a target in another body', [{ type: 'rerouted', token: 1, outputs: {}, targets: [2] }]],
    ['a target before the plan', [{ type: 'rerouted', token: 1, outputs: {}, targets: [-1] }]],
    ['a pass of a node without a body', [{ type: 'opened', token: 1, round: { key: '0' } }]],
    [
      'two passes under one key',
      [
        { type: 'settled', token: 1, outputs: {} },
        ...[2, 2].map((token) => ({ type: 'opened', token, round: { key: '0' } }) as const),
      ],
    ],
    [
      'a write to a node that does not exist',
      [
        {
          type: 'settled',
          token: 1,
          outputs: {},
          writes: [{ to: { kind: 'output', component: 'nobody', name: 'v', path: [] }, value: 1 }],
        },
      ],
    ],
  ])('refuses %s', (_what, records) => {
    const plan = planOf({ a: { downstream: ['box'] }, box: { isContainer: true }, x: { parent: 'box' } });
    const state = stateFromJson(plan, stateToJson(plan, initialState(plan)));
    expect(() => replay(plan, state, records)).toThrowError(refused());
  });
});
