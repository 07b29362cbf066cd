/** In which order nodes start and settle, how many work at once, and who is passed over. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Activation } from '../../src/graph/node.js';
import { settled } from '../../src/graph/node-events.js';
import { createRandom } from '../support/random.js';
import { passes } from './support/containers.js';
import { SlowNodes } from './support/slow-nodes.js';
import { draw, planOfSpecs, readValue } from './support/specs.js';
import { lines, nodesOf, watch, watchToEnd } from './support/watch.js';

describe('a wave', () => {
  it('starts all its nodes before the first of them settles', async () => {
    const { events } = await watchToEnd(draw('s -> a b c; a -> d; b -> e'));
    expect(lines(events)).toEqual([
      'run-started',
      'node-started s',
      'node-settled s',
      'node-started a',
      'node-started b',
      'node-started c',
      'node-settled a',
      'node-settled b',
      'node-settled c',
      'node-started d',
      'node-started e',
      'node-settled d',
      'node-settled e',
      'run-settled',
    ]);
  });

  it('lets a node see what an earlier node of the same wave left', async () => {
    const sees = (at: Activation) => ({ seen: readValue(at, 'a@value') });
    const { events } = await watchToEnd(draw('s -> a b', { b: { activate: sees } }));
    expect(events.find((event) => event.type === 'node-settled' && event.node === 'b')).toMatchObject({
      outputs: { seen: 'a' },
    });
  });

  it.each([
    { claim: 'five nodes by default', options: {}, most: 5 },
    { claim: 'as many nodes as it is told', options: { concurrency: 3 }, most: 3 },
  ])('has $claim at work at once, and starts the next when one settles', async ({ options, most }) => {
    const slow = new SlowNodes();
    const ids = Array.from({ length: 12 }, (_, at) => `n${at}`);
    const parts = { activate: slow.node(() => [settled({})]) };
    const watched = watch(
      draw(`s -> ${ids.join(' ')}`, Object.fromEntries(ids.map((id) => [id, parts]))),
      { input: null },
      options,
    );
    const random = createRandom(1);
    for (let done = 0; done <= ids.length; done += 1) {
      expect(slow.atWork).toBe(Math.min(most, ids.length - done));
      expect(nodesOf(watched.events, 'node-started')).toEqual(['s', ...ids.slice(0, done + most)]);
      slow.step(random);
    }
    expect(watched.isOver).toBe(true);
  });

  it('counts neither containers nor nodes that settle at once', async () => {
    const slow = new SlowNodes();
    const pass = passes({
      rounds: 1,
      isParallel: false,
      isIsolated: false,
      result: ['x', 'value'],
      itemOf: () => null,
    });
    const plan = planOfSpecs({
      box: { isContainer: true, activate: pass },
      inner: { parent: 'box', isContainer: true, activate: pass },
      x: { parent: 'inner', activate: slow.node(() => [settled({})]) },
      quick: { downstream: ['quicker'] },
      quicker: {},
    });
    const watched = watch(plan, { input: null }, { concurrency: 1 });
    expect(nodesOf(watched.events, 'node-settled')).toEqual(['quick', 'quicker']);
    expect(slow.atWork).toBe(1);
    await slow.finish(createRandom(1), () => watched.isOver);
    expect(watched.events.at(-1)?.type).toBe('run-settled');
  });

  it('takes a Promise as it takes a value', async () => {
    const plan = draw('s -> a b -> z', {
      a: { activate: () => setImmediate({ value: 1 }) },
      b: { activate: async () => settled({ value: 2 }) },
      z: { activate: (at) => ({ sum: (readValue(at, 'a@value') as number) + (readValue(at, 'b@value') as number) }) },
    });
    expect((await watchToEnd(plan)).outcome?.outputs).toEqual({ sum: 3 });
  });
});

describe('a node that needs values', () => {
  const settles = () => ({ value: 1 });
  it('is passed over when one of them is missing, and so is what follows from it alone', async () => {
    const watched = await watchToEnd(
      draw('s -> a never; a -> x -> y -> z; a -> z', {
        s: { activate: () => settled({}, { next: ['a'] }) },
        x: { needs: ['a', 'never'] },
      }),
    );
    expect(lines(watched.events).slice(3)).toEqual([
      'node-started a',
      'node-settled a',
      'node-skipped x',
      'node-started z',
      'node-settled z',
      'run-settled',
    ]);
    expect(watched.events.find(({ type }) => type === 'node-skipped')).toMatchObject({ missing: ['never'] });
  });

  it('runs when they come from a node beside it that was reached before it, and only then', async () => {
    const before = await watchToEnd(draw('s -> a x; x -> z', { s: { activate: settles }, x: { needs: ['a'] } }));
    expect(lines(before.events).slice(3)).toEqual([
      'node-started a',
      'node-started x',
      'node-settled a',
      'node-settled x',
      'node-started z',
      'node-settled z',
      'run-settled',
    ]);
    const behind = await watchToEnd(draw('s -> x a; x -> z', { s: { activate: settles }, x: { needs: ['a'] } }));
    expect(nodesOf(behind.events, 'node-settled')).toEqual(['s', 'a']);
  });

  it('is passed over when the node that it waited for fails and others go on', async () => {
    const failing = async () => {
      throw new Error('broken');
    };
    const onError = { method: 'continue-at', outputs: {}, targets: ['z'] } as const;
    const watched = await watchToEnd(
      draw('s -> a b x; a -> z', { a: { activate: failing, onError }, b: { needs: ['x'] }, x: { needs: ['a'] } }),
    );
    expect(nodesOf(watched.events, 'node-settled')).toEqual(['s', 'z', 'x']);
    expect(nodesOf(watched.events, 'node-skipped')).toEqual(['b']);
  });

  it('runs when they have values, from whatever node', async () => {
    const { events } = await watchToEnd(draw('s -> a -> x', { s: { activate: settles }, x: { needs: ['s', 'a'] } }));
    expect(nodesOf(events, 'node-settled')).toEqual(['s', 'a', 'x']);
  });

  it('fails when it reads a node that does not exist', async () => {
    const { events } = await watchToEnd(draw('x', { x: { needs: ['nobody'] } }));
    expect(events.at(-1)).toMatchObject({ type: 'run-failed', error: { code: 'REFERENCE_UNRESOLVED', node: 'x' } });
  });
});

describe('an exit', () => {
  it('ends its pass and what is at work in it', async () => {
    const slow = new SlowNodes();
    const pass = passes({
      rounds: 3,
      isParallel: false,
      isIsolated: false,
      result: ['out', 'value'],
      itemOf: (_, round) => round,
    });
    const plan = planOfSpecs({
      box: { isContainer: true, activate: pass },
      start: { parent: 'box', downstream: ['slow', 'out'] },
      slow: { parent: 'box', activate: slow.node(() => [settled({})]) },
      out: {
        parent: 'box',
        downstream: ['after'],
        activate: (at) => settled({ value: readValue(at, 'item') }, { exit: true }),
      },
      after: { parent: 'box' },
    });
    const { events, outcome } = await watchToEnd(plan);
    expect(nodesOf(events, 'node-settled')).toEqual(['start', 'out', 'start', 'out', 'start', 'out', 'box']);
    expect(events.at(-2)).toMatchObject({ node: 'box', outputs: { value: [0, 1, 2] } });
    expect(slow.atWork).toBe(0);
    expect(outcome?.state.step).toBe(7);
  });

  it('does nothing at the top level', async () => {
    const { events } = await watchToEnd(draw('a -> b', { a: { activate: () => settled({}, { exit: true }) } }));
    expect(nodesOf(events, 'node-settled')).toEqual(['a', 'b']);
  });
});
