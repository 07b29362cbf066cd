import { describe, expect, it } from 'vitest';
import { createNode, type FakeOptions, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { iteration } from '../../src/components/iteration.js';
import type { NodeEvent, Settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';

const iterate = (
  params: JsonObject,
  options: FakeOptions,
): { events: readonly NodeEvent[]; rounds: readonly unknown[] } => {
  const activation = fakeActivation(options);
  const node = createNode(iteration, { items_ref: 'begin@list', ...params }, { body: ['item'] });
  return { events: performNow(node, activation), rounds: activation.rounds };
};

/** Outputs that an iteration over `list` settles with, when every round sets outputs of the node `a`. */
const collected = (
  list: readonly Json[],
  outputs: JsonObject,
  a: (item: Json, index: number) => JsonObject | undefined,
): unknown => {
  const { events } = iterate(
    { outputs },
    {
      outputs: { begin: { list }, a: {} },
      body: ({ aliases, closing }, fake) => {
        const made = closing === true ? undefined : a(aliases?.item ?? null, Number(aliases?.index));
        fake.write('a', made ?? {});
        return 'done';
      },
    },
  );
  const last = events.at(-1);
  return last?.type === 'settled' ? last.outputs : last;
};

describe('Iteration', () => {
  it('opens a fresh round for every item and one that only closes', () => {
    const { rounds } = iterate({}, { outputs: { begin: { list: ['x', { k: 1 }] } } });
    expect(rounds).toEqual([
      { key: '0', aliases: { item: 'x', index: 0, result: 'x' }, fresh: true },
      { key: '1', aliases: { item: { k: 1 }, index: 1, result: { k: 1 } }, fresh: true },
      { key: 'closing', closing: true, aliases: { item: { k: 1 }, index: 1, result: { k: 1 } } },
    ]);
  });

  it('only closes for an empty list', () => {
    const { events, rounds } = iterate({ outputs: { seen: { ref: 'a@v' } } }, { outputs: { begin: { list: [] } } });
    expect(rounds).toEqual([{ key: 'closing', closing: true, aliases: { item: null, index: null, result: null } }]);
    expect(events.at(-1)).toEqual({ type: 'settled', outputs: { seen: [] } });
  });

  it.each<readonly [string, JsonObject, (item: Json, index: number) => JsonObject | undefined, JsonObject]>([
    ['an output', { v: { ref: 'a@v', type: 'Array<string>' } }, (item) => ({ v: item }), { v: [1, 2] }],
    [
      'several outputs',
      { v: { ref: 'a@v' }, w: { ref: 'a@w' } },
      (item, index) => ({ v: item, w: index }),
      { v: [1, 2], w: [0, 1] },
    ],
    ['a part of an output', { v: { ref: 'a@o.list.-1' } }, (item) => ({ o: { list: [0, item] } }), { v: [1, 2] }],
    ['a part of JSON text', { v: { ref: 'a@o.k' } }, (item) => ({ o: `{"k":${item}}` }), { v: [1, 2] }],
    ['a reference in braces', { v: { ref: '{a@v}' } }, (item) => ({ v: item }), { v: [1, 2] }],
    ['the item and the index', { i: { ref: 'index' }, v: { ref: 'item' } }, () => ({}), { i: [0, 1], v: [1, 2] }],
    [
      'null for a node that did not run',
      { v: { ref: 'a@v' } },
      (item, index) => (index === 0 ? undefined : { v: item }),
      { v: [null, 2] },
    ],
    ['null for a node that does not exist', { v: { ref: 'ghost@v' } }, () => ({}), { v: [null, null] }],
    ['nothing for an output without a reference', { v: { type: 'string' }, w: null }, () => ({}), {}],
    [
      'an output with the name of a property of objects',
      { toString: { ref: 'a@v' } },
      (item) => ({ v: item }),
      { toString: [1, 2] },
    ],
  ])('collects %s', (_name, outputs, a, expected) => {
    expect(collected([1, 2], outputs, a)).toEqual(expected);
  });

  it('reads the list again before every round', () => {
    const { rounds } = iterate(
      {},
      {
        outputs: { begin: { list: [1] } },
        body: ({ key }, fake) => {
          if (key === '0') fake.write('begin', { list: [1, 2] });
          return 'done';
        },
      },
    );
    expect(rounds).toHaveLength(3);
  });

  it('lets its body read what was collected so far, unchanged by later rounds', () => {
    const seen: Json[] = [];
    iterate(
      { outputs: { v: { ref: 'item' } } },
      {
        outputs: { begin: { list: [1, 2, 3] } },
        body: (_round, fake) => {
          const soFar = fake.lookup('node@v');
          if (soFar.status === 'found') seen.push(soFar.value);
          return 'done';
        },
      },
    );
    expect(seen).toEqual([[], [1], [1, 2], [1, 2, 3]]);
  });

  it('says of each round what it gave and nothing of the rounds before', () => {
    const { events } = iterate({ outputs: { v: { ref: 'item' } } }, { outputs: { begin: { list: [1, 2] } } });
    expect(events.slice(0, -1)).toEqual([
      { type: 'progress', nodeState: { index: 0 }, outputs: { v: [] } },
      { type: 'progress', nodeState: { index: 1 }, append: { v: 1 } },
      { type: 'progress', nodeState: { index: 2, isClosing: true }, append: { v: 2 } },
    ]);
  });

  it('publishes outputs that can be stored', () => {
    const stored: string[] = [];
    iterate(
      { outputs: { v: { ref: 'item' } } },
      {
        outputs: { begin: { list: [1, 2] } },
        body: (_round, fake) => {
          stored.push(JSON.stringify(fake.outputs));
          return 'done';
        },
      },
    );
    expect(stored).toEqual(['{"v":[]}', '{"v":[1]}', '{"v":[1,2]}']);
  });

  it('settles with lists that are not copied at every look', () => {
    const { events } = iterate({ outputs: { v: { ref: 'item' } } }, { outputs: { begin: { list: [1, 2] } } });
    const { outputs } = events.at(-1) as Settled;
    expect(Object.getOwnPropertyDescriptor(outputs, 'v')).toMatchObject({ value: [1, 2] });
  });

  it.each<readonly [string, JsonObject, FakeOptions, string]>([
    ['text', {}, { outputs: { begin: { list: 'text' } } }, 'begin@list must be an array, but its kind is text.'],
    ['null', {}, { outputs: { begin: { list: null } } }, 'begin@list must be an array, but its kind is null.'],
    ['no such node', {}, {}, 'begin@list must be an array, but it has no value.'],
    ['no reference', { items_ref: '' }, {}, 'items_ref must be an array, but it has no value.'],
    [
      'text, side by side',
      { max_concurrency: 3 },
      { outputs: { begin: { list: 'text' } } },
      'begin@list must be an array, but its kind is text.',
    ],
  ])('fails over %s', (_name, params, options, message) => {
    expect(() => iterate(params, options)).toThrowError(expect.objectContaining({ code: 'NODE_FAILED', message }));
  });

  it('resumes with what was collected, and closes when it was about to', () => {
    const outputs = { begin: { list: [1, 2] }, node: { v: [1, 2] } };
    const { events, rounds } = iterate(
      { outputs: { v: { ref: 'item' } } },
      { outputs, nodeState: { index: 2, isClosing: true } },
    );
    expect(rounds).toEqual([{ key: 'closing', closing: true, aliases: { item: 2, index: 1, result: 2 } }]);
    expect(events.at(-1)).toEqual({ type: 'settled', outputs: { v: [1, 2] } });
  });

  it('takes up a round although the list has become shorter', () => {
    const { rounds } = iterate({}, { outputs: { begin: { list: [] } }, nodeState: { index: 1 } });
    expect(rounds).toMatchObject([{ key: '1' }, { key: 'closing' }]);
  });

  it('walks 100,000 synchronous rounds on a flat stack', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    const { events } = iterate({ outputs: { v: { ref: 'item' } } }, { outputs: { begin: { list } } });
    expect(events.at(-1)).toEqual({ type: 'settled', outputs: { v: list } });
  });

  it('is refused without a body', () => {
    const placement = {
      id: 'it',
      name: 'it',
      downstream: [],
      upstream: [],
      containers: [],
      containerTypes: [],
      body: [],
      isStreamed: false,
    };
    expect(iteration.check?.(iteration.params.parse({}), placement)).toHaveLength(1);
    expect(iteration.check?.(iteration.params.parse({}), { ...placement, body: ['item'] })).toEqual([]);
  });
});
