/** `transition` as a table: a drawing, moves, and the tokens after each of them. */
import { describe, expect, it } from 'vitest';
import { parseReference, type Reference } from '../../src/dsl/reference.js';
import { transition } from '../../src/graph/fold.js';
import { type Settled, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { stateToJson } from '../../src/graph/snapshot.js';
import type { State } from '../../src/graph/state.js';
import { initialState } from './support/initial-state.js';
import { draw, planOfSpecs } from './support/specs.js';

/**
 * A move is `node` or `node > chosen successors`; behind it the live tokens it leads to, oldest first: `a` may run, `a?` is held.
 */
interface Row {
  readonly claim: string;
  readonly graph: string;
  readonly order?: string;
  readonly any?: string;
  readonly moves: readonly (readonly [move: string, tokens: string])[];
}

const ROWS: readonly Row[] = [
  {
    claim: 'a chain hands one token on',
    graph: 'a -> b -> c',
    moves: [
      ['a', 'b'],
      ['b', 'c'],
      ['c', ''],
    ],
  },
  {
    claim: 'a fork gives each branch a token, in the order of the edges',
    graph: 's -> b a c',
    moves: [['s', 'b a c']],
  },
  {
    claim: 'a choice gives a token to the chosen alone, in the order in which they are named',
    graph: 's -> a b c',
    moves: [['s > c a', 'c a']],
  },
  { claim: 'naming nobody ends the branch', graph: 's -> a b', moves: [['s > -', '']] },
  { claim: 'a successor named twice gets one token', graph: 's -> a b', moves: [['s > a a', 'a']] },
  {
    claim: 'a node may name one that it has no edge to',
    graph: 's -> a; b',
    order: 's a b',
    moves: [['s > b', 'b b']],
  },
  {
    claim: 'a join waits for both branches',
    graph: 's -> a b -> z',
    moves: [
      ['s', 'a b'],
      ['a', 'b z?'],
      ['b', 'z'],
      ['z', ''],
    ],
  },
  {
    claim: 'a branch that was not taken never blocks a join',
    graph: 's -> a b -> z',
    moves: [
      ['s > b', 'b'],
      ['b', 'z'],
    ],
  },
  {
    claim: 'a branch that ends on its way lets a join go',
    graph: 's -> a b; a -> z; b -> c -> z',
    moves: [
      ['s', 'a b'],
      ['a', 'b z?'],
      ['b > -', 'z'],
    ],
  },
  {
    claim: 'a join waits for a token that is still far away',
    graph: 's -> z a; a -> b -> c -> z',
    moves: [
      ['s', 'z? a'],
      ['a', 'z? b'],
      ['b', 'z? c'],
      ['c', 'z'],
    ],
  },
  {
    claim: 'a join behind a join waits for both',
    graph: 's -> a b c; a b -> y; y c -> z',
    moves: [
      ['s', 'a b c'],
      ['c', 'a b z?'],
      ['a', 'b z? y?'],
      ['b', 'z? y'],
      ['y', 'z'],
    ],
  },
  {
    claim: 'two joins that wait for one branch go together, the older one first',
    graph: 's -> y z a; a -> y z',
    moves: [
      ['s', 'y? z? a'],
      ['a', 'y z'],
    ],
  },
  {
    claim: 'a node that joins nothing runs once per token',
    graph: 's -> a b -> z',
    any: 'z',
    moves: [
      ['s', 'a b'],
      ['a', 'b z'],
      ['b', 'z z'],
      ['z', 'z'],
      ['z', ''],
    ],
  },
  {
    claim: 'tokens that come together at a join become one',
    graph: 's -> a b -> y -> z; s -> z',
    any: 'y',
    moves: [
      ['s', 'a b z?'],
      ['a', 'b z? y'],
      ['b', 'z? y y'],
      ['y', 'y z?'],
      ['y', 'z'],
    ],
  },
  {
    claim: 'a loop goes round, and its entry joins the way in and the way back',
    graph: 's -> a -> b; b -> a c',
    moves: [
      ['s', 'a'],
      ['a', 'b'],
      ['b > a', 'a'],
      ['a', 'b'],
      ['b > c', 'c'],
    ],
  },
  {
    claim: 'a node that leads to itself goes on',
    graph: 's -> a; a -> a z',
    moves: [
      ['s', 'a'],
      ['a > a', 'a'],
      ['a > z', 'z'],
    ],
  },
  {
    claim: 'the exit of a loop waits until nobody goes round any more',
    graph: 's -> a; a -> b c; b -> a; b c -> z',
    moves: [
      ['s', 'a'],
      ['a', 'b c'],
      ['c', 'b z?'],
      ['b > a', 'z? a'],
      ['a > b', 'z? b'],
      ['b > z', 'z'],
    ],
  },
  {
    claim: 'of joins that wait for each other the first of the plan goes',
    graph: 's -> a b; a -> b; b -> a',
    order: 's b a',
    moves: [
      ['s', 'a? b'],
      ['b > -', 'a'],
    ],
  },
  {
    claim: 'a join outside of their cycle waits for joins that wait for each other, wherever it stands in the plan',
    graph: 's -> z a b; a -> b z; b -> a z',
    order: 'z s a b',
    moves: [
      ['s', 'z? a b?'],
      ['a > z', 'b z?'],
      ['b > z', 'z'],
    ],
  },
];

describe('transition', () => {
  it.each(ROWS)('$claim', ({ graph, order = '', any, moves }) => {
    const plan = draw(graph, any === undefined ? {} : { [any]: { join: 'any' } }, words(order));
    let state = initialState(plan);
    for (const [move, tokens] of moves) {
      const before = JSON.stringify(stateToJson(plan, state));
      const [next, ready] = transition(plan, state, tokenOf(plan, state, move), outcomeOf(move));
      expect(boardOf(plan, next), move).toEqual(words(tokens));
      const wasReady = new Set(readyIn(state));
      expect(
        [...ready].sort((a, b) => a - b),
        move,
      ).toEqual(readyIn(next).filter((id) => !wasReady.has(id)));
      expect(JSON.stringify(stateToJson(plan, state)), 'the state before').toBe(before);
      state = next;
    }
    expect(state.step).toBe(moves.length);
  });

  it('writes outputs, variables and outputs of others, in that order', () => {
    const plan = draw('a -> b');
    const outcome = settled(
      { own: 1 },
      {
        writes: [
          { to: reference('env.x'), value: 1 },
          { to: reference('env.x'), value: 2 },
          { to: reference('a@own'), value: 3 },
          { to: reference('b@other.deep'), value: 4 },
        ],
      },
    );
    const [state] = transition(plan, initialState(plan), 1, outcome);
    expect(stateToJson(plan, state)).toMatchObject({
      cells: { a: { own: 3 }, b: { other: { deep: 4 } } },
      variables: { 'env.x': 2 },
      last: { token: 1, outputs: { own: 1 } },
    });
  });

  it('ends with what a join gave that was reached early and went last', () => {
    const plan = draw('s -> a b; a -> j; b -> c -> j');
    let state = initialState(plan);
    for (const node of ['s', 'a', 'b', 'c', 'j']) {
      [state] = transition(plan, state, tokenOf(plan, state, node), settled({ of: node }));
    }
    expect(state.last?.outputs).toEqual({ of: 'j' });
  });

  it('ends with what was named behind a join that went with it', () => {
    const plan = draw('s -> a j; a -> j z');
    let state = initialState(plan);
    for (const node of ['s', 'a', 'z', 'j']) {
      [state] = transition(plan, state, tokenOf(plan, state, node), settled({ of: node }));
    }
    expect(state.last?.outputs).toEqual({ of: 'z' });
  });

  it('remembers the outputs of the token that was made last', () => {
    const plan = draw('s -> a b');
    let [state] = transition(plan, initialState(plan), 1, settled({ of: 's' }));
    [state] = transition(plan, state, 3, settled({ of: 'b' }));
    [state] = transition(plan, state, 2, settled({ of: 'a' }));
    expect(state.last).toEqual({ token: 3, outputs: { of: 'b' } });
  });

  it.each([
    { what: 'a token that settled before', token: 9, outcome: settled({}), code: 'CHECKPOINT_INVALID', says: '9' },
    {
      what: 'a successor that does not exist',
      token: 1,
      outcome: settled({}, { next: ['nobody'] }),
      code: 'NODE_TARGET_UNKNOWN',
      says: '"nobody"',
    },
    {
      what: 'a successor in another body',
      token: 1,
      outcome: settled({}, { next: ['inner'] }),
      code: 'NODE_TARGET_UNKNOWN',
      says: 'another body',
    },
    {
      what: 'a write to an unknown node',
      token: 1,
      outcome: settled({}, { writes: [{ to: reference('nobody@x'), value: 1 }] }),
      code: 'REFERENCE_UNRESOLVED',
      says: 'nobody@x',
    },
    {
      what: 'a write to an alias',
      token: 1,
      outcome: settled({}, { writes: [{ to: reference('item'), value: 1 }] }),
      code: 'REFERENCE_READ_ONLY',
      says: 'item',
    },
  ])('refuses $what', ({ token, outcome, code, says }) => {
    const plan = planOfSpecs({ a: { downstream: ['box'] }, box: { isContainer: true }, inner: { parent: 'box' } });
    expect(() => transition(plan, initialState(plan), token, outcome)).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(says) }),
    );
  });
});

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

function outcomeOf(move: string): Settled {
  const [, chosen] = move.split(' > ');
  return settled({}, chosen === undefined ? {} : { next: words(chosen).filter((id) => id !== '-') });
}

/** The oldest token that may run on the node of a move. */
function tokenOf(plan: Plan, state: State, move: string): number {
  const node = plan.byId.get(move.split(' ')[0] as string);
  return state.root.tokens.find((token) => token.node === node && token.status === 'ready')?.id as number;
}

function boardOf(plan: Plan, state: State): string[] {
  return [...state.root.tokens]
    .sort((a, b) => a.id - b.id)
    .map(({ node, status }) => `${plan.nodes[node]?.id}${status === 'held' ? '?' : ''}`);
}

function readyIn(state: State): number[] {
  return state.root.tokens
    .filter(({ status }) => status === 'ready')
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

const reference = (text: string): Reference => parseReference(text) as Reference;
