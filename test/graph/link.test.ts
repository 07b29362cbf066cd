/** From specs to a plan: scopes, edges, joins, stream edges, and what is refused. */
import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/graph/build.js';
import { link } from '../../src/graph/link.js';
import type { Node, Plan } from '../../src/graph/plan.js';
import { draw, planOfSpecs, settleAtOnce, spec } from './support/specs.js';

describe('link', () => {
  it.each([
    {
      what: 'two nodes of one id',
      specs: [spec('a'), spec('b'), spec('a')],
      says: 'Two nodes have the id "a"',
    },
    {
      what: 'a parent that does not exist',
      specs: [spec('a', { parent: 'box' })],
      says: '"box", which does not exist',
    },
    { what: 'a node in its own body', specs: [spec('a', { parent: 'a' })], says: '"a" lies in its own body' },
    {
      what: 'bodies in a circle',
      specs: [spec('a', { parent: 'b' }), spec('b', { parent: 'a' })],
      says: 'lies in its own body',
    },
  ])('refuses $what', ({ specs, says }) => {
    expect(() => link(specs)).toThrowError(
      expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringContaining(says) }),
    );
  });

  it('cuts edges that leave their body, and keeps the others', () => {
    const plan = planOfSpecs({
      a: { downstream: ['box', 'inner', 'nobody'] },
      box: { isContainer: true, downstream: ['z'] },
      inner: { parent: 'box', downstream: ['z', 'other'], targets: ['a'] },
      other: { parent: 'box' },
      z: {},
    });
    expect(successorsIn(plan)).toEqual({ a: ['box'], box: ['z'], inner: ['other'], other: [], z: [] });
    expect(plan.scopes.map(({ owner, entries, members }) => ({ owner, entries, members }))).toEqual([
      { owner: -1, entries: [0], members: [0, 1, 4] },
      { owner: 1, entries: [2], members: [2, 3] },
    ]);
    expect(node(plan, 'box').body).toBe(1);
  });

  it('finds successors however their ids are spelled', () => {
    const plan = planOfSpecs({ 'Begin:A': { downstream: ['llm_b'] }, 'LLM:B': {} });
    expect(successorsIn(plan)['Begin:A']).toEqual(['LLM:B']);
  });

  it.each([
    { claim: 'two edges in make a join', drawing: 's -> a b -> z', joins: ['z'] },
    { claim: 'a way back makes a join of the entry of a loop', drawing: 's -> a -> b -> a', joins: ['a'] },
    { claim: 'one edge drawn twice makes none', drawing: 's -> a a', joins: [] },
    { claim: 'a node that asks for every token is none', drawing: 's -> a b -> z', joins: [], any: 'z' },
  ])('$claim', ({ drawing, joins, any }) => {
    const plan = draw(drawing, any === undefined ? {} : { [any]: { join: 'any' } });
    expect(plan.nodes.filter(({ isJoin }) => isJoin).map(({ id }) => id)).toEqual(joins);
  });

  it('counts gotos and error handling as ways in', () => {
    const onError = { method: 'continue-at', outputs: {}, targets: ['z'] } as const;
    const plan = draw('s -> a b; a -> z; c', { b: { targets: ['c'], onError } });
    expect(plan.nodes.filter(({ isJoin }) => isJoin).map(({ id }) => id)).toEqual(['z']);
    expect(plan.scopes[0]?.entries).toEqual([0]);
  });

  it.each([
    { claim: 'the nodes without a way in', plan: draw('a b -> z'), entries: ['a', 'b'] },
    { claim: 'the declared entry alone', plan: draw('a b -> z', { b: { isEntry: true } }), entries: ['b'] },
    { claim: 'the first node of a circle', plan: draw('a -> b -> a'), entries: ['a'] },
  ])('starts a scope at $claim', ({ plan, entries }) => {
    expect(plan.scopes[0]?.entries.map((at) => plan.nodes[at]?.id)).toEqual(entries);
  });

  it('needs neither itself nor a container around, and keeps the names of unknown ones', () => {
    const plan = planOfSpecs({
      box: { isContainer: true },
      inner: { parent: 'box', needs: ['inner', 'box', 'other', 'nobody', 'other'] },
      other: { parent: 'box' },
    });
    expect(node(plan, 'inner').needs).toEqual([2]);
    expect(node(plan, 'inner').unknownNeeds).toEqual(['nobody']);
  });

  it('gives a container no clock', () => {
    const plan = planOfSpecs({ box: { isContainer: true, timeoutMs: 5 }, inner: { parent: 'box', timeoutMs: 5 } });
    expect(plan.nodes.map(({ timeoutMs }) => timeoutMs)).toEqual([undefined, 5]);
  });

  it('freezes the plan', () => {
    const plan = draw('a -> b');
    for (const part of [plan, plan.nodes, plan.scopes, plan.nodes[0], plan.nodes[0]?.successors, plan.scopes[0]]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  describe('hash', () => {
    const plan = draw('a -> b; c');
    it.each([
      { change: 'another edge', other: draw('a -> b; c -> b'), isSame: false },
      { change: 'another id', other: draw('a -> b; d'), isSame: false },
      { change: 'another type', other: draw('a -> b; c', { c: { type: 'other' } }), isSame: false },
      { change: 'another name', other: draw('a -> b; c', { c: { name: 'other' } }), isSame: true },
      { change: 'another function', other: draw('a -> b; c', { c: { activate: () => ({}) } }), isSame: true },
    ])('$change: same is $isSame', ({ other, isSame }) => {
      expect(other.hash === plan.hash).toBe(isSame);
    });
  });
});

describe('stream edges', () => {
  const writes = { streams: ['text'] };
  const reads = (id: string) => ({ consumes: [id] });
  it.each([
    { claim: 'lead to a successor that reads', plan: draw('p -> c', { p: writes, c: reads('p') }), edges: ['c'] },
    { claim: 'may be several', plan: draw('p -> c d', { p: writes, c: reads('p'), d: reads('p') }), edges: ['c', 'd'] },
    { claim: 'lead to a join', plan: draw('p x -> c', { p: writes, c: reads('p') }), edges: ['c'] },
    { claim: 'know both spellings', plan: draw('p_ -> c', { p_: writes, c: reads('P') }), edges: ['c'] },
    { claim: 'need a writer that streams', plan: draw('p -> c', { c: reads('p') }), edges: [] },
    { claim: 'need a reader', plan: draw('p -> c', { p: writes }), edges: [] },
    { claim: 'need an edge', plan: draw('p; c', { p: writes, c: reads('p') }), edges: [] },
    { claim: 'do not exist over a detour', plan: draw('p -> x c; x -> c', { p: writes, c: reads('p') }), edges: [] },
    { claim: 'do not exist in a loop', plan: draw('s -> p -> c -> p', { p: writes, c: reads('p') }), edges: [] },
    {
      claim: 'do not exist when the writer may go elsewhere on errors',
      plan: draw('p -> c; x', {
        p: { ...writes, onError: { method: 'continue-at', outputs: {}, targets: ['x'] } },
        c: reads('p'),
      }),
      edges: [],
    },
  ])('$claim', ({ plan, edges }) => {
    expect(plan.nodes.flatMap(({ streamsTo }) => streamsTo.map((to) => plan.nodes[to]?.id))).toEqual(edges);
  });

  it('tell the writer that it is read', () => {
    const told: [string, boolean][] = [];
    const create = (id: string) => (isStreamed: boolean) => {
      told.push([id, isStreamed]);
      return settleAtOnce;
    };
    link([
      { ...spec('p', { ...writes, downstream: ['c'] }), create: create('p') },
      { ...spec('c', reads('p')), create: create('c') },
    ]);
    expect(told).toEqual([
      ['p', true],
      ['c', false],
    ]);
  });
});

describe('planOf', () => {
  it.each([
    { what: 'no node', make: () => planOf({}, []), says: 'at least one node' },
    { what: 'an edge from nowhere', make: () => planOf({ a: settleAtOnce }, [['x', 'a']]), says: 'names "x"' },
    { what: 'an edge to nowhere', make: () => planOf({ a: settleAtOnce }, [['a', 'x']]), says: 'names "x"' },
  ])('refuses $what', ({ make, says }) => {
    expect(make).toThrowError(
      expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringContaining(says) }),
    );
  });

  it('leads from node to node in the order in which they are written when no edges are given', () => {
    expect(
      successorsIn(planOf({ c: settleAtOnce, a: { activate: settleAtOnce, timeoutMs: 7 }, b: settleAtOnce })),
    ).toEqual({
      c: ['a'],
      a: ['b'],
      b: [],
    });
  });
});

function node(plan: Plan, id: string): Node {
  return plan.nodes[plan.byId.get(id) as number] as Node;
}

function successorsIn(plan: Plan): Record<string, string[]> {
  return Object.fromEntries(
    plan.nodes.map(({ id, successors }) => [id, successors.map((to) => plan.nodes[to]?.id as string)]),
  );
}
