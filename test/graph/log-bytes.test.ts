/** What a log costs: a bounded number of bytes a step to write. */
import { describe, expect, it } from 'vitest';
import { createNode } from '../../marble-tests/support/activation.js';
import { iteration } from '../../src/components/iteration.js';
import { parallel } from '../../src/components/parallel.js';
import { link } from '../../src/graph/link.js';
import { settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { execute } from '../../src/graph/run.js';
import type { JsonObject } from '../../src/json.js';
import { MemoryLog } from './support/memory-log.js';
import { planOf, readValue, spec } from './support/specs.js';
import { written } from './support/watch.js';

const DURABILITIES = ['sync', 'async'] as const;

/** Runs a plan to its end; gives the bytes that its log has written: of all, of its snapshots, and of the last state. */
async function measure(plan: Plan, durability: (typeof DURABILITIES)[number]) {
  const log = new MemoryLog();
  const { status, state } = await execute(plan, { input: null }, { run: 'r', log: log.open(), durability });
  expect(status).toBe('succeeded');
  const final = written(plan, state);
  expect(log.rebuild(plan)?.state).toEqual(final.state);
  const snapshots = log.snapshots.map((snapshot) => JSON.stringify(snapshot).length);
  const [first = 0] = snapshots;
  const events = log.bytesWritten - snapshots.reduce((sum, bytes) => sum + bytes, 0);
  return { events, snapshots, first, final: JSON.stringify(final).length };
}

describe.each(DURABILITIES)('a log with durability %s', (durability) => {
  it('takes no second snapshot of 1 MB for 1,000 small settlements', async () => {
    const { snapshots } = await measure(chain(1_000, 10), durability);
    expect(snapshots).toHaveLength(1);
  });

  it.each([
    { what: 'a chain of nodes', planOf: (steps: number) => chain(steps, 500) },
    { what: 'a loop that leaves the state as large as it was', planOf: (steps: number) => circle(steps, 500) },
    { what: 'an Iteration', planOf: (steps: number) => container('Iteration', steps, {}) },
    { what: 'a Parallel', planOf: (steps: number) => container('Parallel', steps, { max_concurrency: 4 }) },
  ])('writes as many bytes a step for $what, however many there are', async ({ planOf }) => {
    const few = await measure(planOf(2_000), durability);
    const many = await measure(planOf(8_000), durability);
    // Numbers have a digit more among the many.
    expect(many.events / few.events).toBeLessThanOrEqual(4 * 1.05);
    // A snapshot is taken when the events since the last one outgrow that, and holds no more than those and it.
    for (const { events, snapshots, first } of [few, many]) {
      const total = snapshots.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).toBeLessThanOrEqual(2 * first + 3 * events);
    }
  });
});

const STATIC = 'x'.repeat(1_000_000);

function chain(steps: number, bytes: number): Plan {
  const value = 'y'.repeat(bytes);
  const specs = Array.from({ length: steps }, (_, at) =>
    spec(`n${at}`, { downstream: at + 1 < steps ? [`n${at + 1}`] : [], activate: () => ({ value }) }),
  );
  return link(specs, { variables: { 'env.static': STATIC } });
}

function circle(steps: number, bytes: number): Plan {
  const value = 'y'.repeat(bytes);
  const activate = (at: Parameters<typeof readValue>[0]) => {
    const round = ((readValue(at, 'n@round') as number | null) ?? 0) + 1;
    return settled({ round, value }, { next: round < steps ? ['n'] : [] });
  };
  return link([spec('n', { downstream: ['n'], join: 'any', isEntry: true, activate })], {
    variables: { 'env.static': STATIC },
  });
}

function container(type: 'Iteration' | 'Parallel', items: number, params: JsonObject): Plan {
  const list = Array.from({ length: items }, (_, at) => at);
  const given = { items_ref: 'begin@list', outputs: { all: { ref: 'x@value' } }, ...params };
  const activate = createNode<never>((type === 'Iteration' ? iteration : parallel) as never, given, { body: ['x'] });
  return planOf({
    begin: { downstream: ['each'], activate: () => ({ list }) },
    each: { isContainer: true, activate },
    x: { parent: 'each', activate: (at) => ({ value: `item ${readValue(at, 'item')}` }) },
  });
}
