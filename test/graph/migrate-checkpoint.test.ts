/** Taking where a run stands to another version of its graph. */
import { describe, expect, it } from 'vitest';
import { migrateCheckpoint } from '../../src/graph/fork.js';
import type { Activation } from '../../src/graph/node.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { passes } from './support/containers.js';
import { planOfSpecs, readValue } from './support/specs.js';
import { watchToEnd, written } from './support/watch.js';

const ask = (at: Activation) => (at.answer === undefined ? interrupt({ ask: at.node }) : settled({ value: at.answer }));
const show = (...names: string[]) => ({
  activate: (at: Activation) => settled({ value: names.map((name) => readValue(at, `${name}@value`)) }),
});

async function waiting(plan: Plan) {
  const { outcome } = await watchToEnd(plan);
  expect(outcome?.status).toBe('waiting');
  return written(plan, outcome?.state as never);
}

describe('migrateCheckpoint', () => {
  it('keeps outputs and positions by id, whatever the order, and runs what is new', async () => {
    const before = planOfSpecs({ a: { downstream: ['ask'] }, ask: { downstream: ['end'], activate: ask }, end: {} });
    const after = planOfSpecs({
      end: show('a', 'ask', 'extra'),
      extra: { downstream: ['end'] },
      ask: { downstream: ['extra'], activate: ask },
      a: { downstream: ['ask'], activate: () => Promise.reject(new Error('ran again')) },
    });
    const checkpoint = migrateCheckpoint(before, after, await waiting(before));
    const { outcome } = await watchToEnd(after, { checkpoint, answers: 1 });
    expect(outcome).toMatchObject({ status: 'succeeded', outputs: { value: ['a', 1, 'extra'] } });
  });

  it('forgets outputs of nodes that are gone or are of another type', async () => {
    const before = planOfSpecs({ a: { downstream: ['b'] }, b: { downstream: ['ask'] }, ask: { activate: ask } });
    const after = planOfSpecs({ b: { type: 'other', downstream: ['ask'] }, ask: { activate: ask } });
    const { state } = migrateCheckpoint(before, after, await waiting(before));
    expect(Object.keys(state.cells as object)).toEqual([]);
  });

  it.each([
    ['gone', { a: {} }, '"ask" is gone'],
    ['of another type', { a: { downstream: ['ask'] }, ask: { type: 'other' } }, '"ask" was a test and is a other'],
    [
      'in another body',
      { a: { downstream: ['box'] }, box: { isContainer: true }, ask: { parent: 'box' } },
      '"ask" lies in another body',
    ],
  ] as const)('refuses a position at a node that is %s', async (_, specs, why) => {
    const before = planOfSpecs({ a: { downstream: ['ask'] }, ask: { activate: ask } });
    const checkpoint = await waiting(before);
    expect(() => migrateCheckpoint(before, planOfSpecs(specs), checkpoint)).toThrow(
      expect.objectContaining({ code: 'PLAN_CHANGED', message: expect.stringContaining(why) }),
    );
  });

  it('keeps passes through bodies, and waits at what has become a join', async () => {
    const container = {
      rounds: 2,
      isParallel: true,
      isIsolated: true,
      result: ['f', 'value'],
      itemOf: () => null,
    } as const;
    const box = { isContainer: true, downstream: ['end'], activate: passes(container) };
    const before = planOfSpecs({
      s: { downstream: ['box'] },
      box,
      f: { parent: 'box', activate: ask },
      end: show('box'),
    });
    const after = planOfSpecs({
      s: { downstream: ['box', 'side'] },
      side: { downstream: ['end'] },
      box,
      f: { parent: 'box', activate: ask },
      end: show('box'),
    });
    const checkpoint = migrateCheckpoint(before, after, await waiting(before));
    const { outcome } = await watchToEnd(after, { checkpoint, answers: 5 });
    expect(outcome?.state.cells.get(4)).toEqual({ value: [[5, 5]] });
  });

  it('refuses a checkpoint of a third graph', async () => {
    const before = planOfSpecs({ a: { downstream: ['ask'] }, ask: { activate: ask } });
    const checkpoint = await waiting(before);
    const other = planOfSpecs({ x: {} });
    expect(() => migrateCheckpoint(other, before, checkpoint)).toThrow(
      expect.objectContaining({ code: 'PLAN_CHANGED' }),
    );
  });
});
