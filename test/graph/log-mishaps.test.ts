/** Processes that are lost at the worst moment, each time the smallest graph in which it matters. */
import { setImmediate } from 'node:timers/promises';
import { concat, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/graph/node.js';
import { interrupt, type Settled, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { RunOptions, Start } from '../../src/graph/run-options.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { Json } from '../../src/json.js';
import { passes } from './support/containers.js';
import { MemoryLog } from './support/memory-log.js';
import { draw, planOfSpecs } from './support/specs.js';
import { nodesOf, watch, watchToEnd, written } from './support/watch.js';

const onePass = passes({ rounds: 1, isParallel: false, isIsolated: false, result: ['x', 'value'], itemOf: () => null });

/** Writes `value` to `env.x`, at once. */
const writes = (value: Json): Settled =>
  settled({ value }, { writes: [{ to: { kind: 'variable', key: 'env.x' }, value }] });

/** Runs until the process dies after `count` writes; gives what it kept. */
async function lose(plan: Plan, start: Start, count: number, options: RunOptions = {}): Promise<Checkpoint> {
  const log = new MemoryLog();
  const writer = log.open(count);
  const watched = watch(plan, start, { log: writer, durability: 'sync', ...options });
  for (let turns = 0; turns < 50; turns += 1) await setImmediate();
  writer.kill();
  watched.unsubscribe();
  return log.rebuild(plan) as Checkpoint;
}

describe('a process that is lost', () => {
  it.each([1, 2, 3, 4, 5])('after %i writes does not leave a body twice', async (count) => {
    const runs: string[] = [];
    const leave: NodeFunction = ({ token }) => {
      runs.push(token);
      return settled({ value: 'left' }, { exit: true });
    };
    const plan = planOfSpecs({
      box: { isContainer: true, downstream: ['end'], activate: onePass },
      x: { parent: 'box', activate: leave },
      end: {},
    });
    const kept = await lose(plan, { input: null }, count);
    const knewIt = JSON.stringify(kept.state.cells).includes('left');
    const before = runs.length;
    const { events } = await watchToEnd(plan, { checkpoint: kept, recovery: { starts: new Map() } });
    expect(runs.slice(before)).toEqual(knewIt ? [] : before === 0 ? runs : [runs[0]]);
    expect(events.at(-1)?.type).toBe('run-settled');
  });

  it('does not lose the answer that a form in a body was given', async () => {
    const answers: (Json | undefined)[] = [];
    const form: NodeFunction = ({ answer }) => {
      answers.push(answer);
      if (answer === undefined) return interrupt({ question: 'name' });
      return answers.length === 2 ? NEVER : { value: answer };
    };
    const plan = planOfSpecs({ box: { isContainer: true, activate: onePass }, x: { parent: 'box', activate: form } });
    const asked = await watchToEnd(plan);
    const checkpoint = written(plan, asked.outcome!.state);
    const kept = await lose(plan, { checkpoint, answers: 'Ada' }, Number.POSITIVE_INFINITY);
    const { events } = await watchToEnd(plan, { checkpoint: kept, recovery: { starts: new Map() } });
    expect(events.at(-1)?.type).toBe('run-settled');
    expect(answers).toEqual([undefined, 'Ada', 'Ada']);
  });

  it.each(['sync', 'async'] as const)(
    'keeps what a node wants kept while it is still at work (%s)',
    async (durability) => {
      const memos: (Json | undefined)[] = [];
      const work: NodeFunction = ({ nodeState }) => {
        memos.push(nodeState);
        return nodeState === undefined ? concat(of({ type: 'progress', nodeState: 'round 1' } as const), NEVER) : {};
      };
      const plan = planOfSpecs({ a: { activate: work } });
      const kept = await lose(plan, { input: null }, Number.POSITIVE_INFINITY, { durability });
      await watchToEnd(plan, { checkpoint: kept, recovery: { starts: new Map() } });
      expect(memos).toEqual([undefined, 'round 1']);
    },
  );

  it('never gives the token of a node to another node', async () => {
    const used = new Map<string, Set<string>>();
    const use: NodeFunction = ({ token, node }) => {
      used.set(token, (used.get(token) ?? new Set()).add(node));
      return node === 'y' ? {} : NEVER;
    };
    let isFirst = true;
    const plan = planOfSpecs({
      slow: { downstream: ['y'], activate: async () => (isFirst ? new Promise(() => {}) : {}) },
      y: { activate: use },
      box: {
        isContainer: true,
        // The second time it thinks for a while before it opens its body.
        activate: (at) => (isFirst ? onePass(at) : NEVER),
      },
      x: { parent: 'box', activate: use },
    });
    const kept = await lose(plan, { input: null }, 1);
    isFirst = false;
    await lose(plan, { checkpoint: kept, recovery: { starts: new Map() } }, Number.POSITIVE_INFINITY);
    expect([...used.values()].filter(({ size }) => size > 1)).toEqual([]);
  });
});

describe('a node that fails in the middle of its writes', () => {
  it('has written nothing', async () => {
    const half: NodeFunction = () => ({
      ...writes('half'),
      writes: [...(writes('half').writes ?? []), { to: { kind: 'alias', name: 'item', path: [] }, value: 1 }],
    });
    const onError = { method: 'continue-at', outputs: {}, targets: ['b'] } as const;
    const plan = draw('a -> b', { a: { activate: half, onError } });
    const log = new MemoryLog();
    const options = { log: log.open(), durability: 'sync' } as const;
    const { outcome } = await watchToEnd(plan, { input: null }, options);
    expect(log.rebuild(plan)?.state).toEqual(written(plan, outcome!.state).state);
    expect(outcome?.state.variables).toEqual({});
  });
});

describe('a slot that becomes free', () => {
  /** One node may be at work: `b` starts when `a` is done, within the same step. */
  const one = { concurrency: 1 } as const;

  it('lets nobody write before the one that gave it up has written', async () => {
    const a: NodeFunction = async () => writes('a');
    const b: NodeFunction = () => writes('b');
    const plan = draw('s -> a b', { a: { activate: a }, b: { activate: b } });
    const log = new MemoryLog();
    const options = { ...one, log: log.open(), durability: 'async' } as const;
    const { outcome } = await watchToEnd(plan, { input: null }, options);
    expect(outcome?.state.variables).toEqual({ 'env.x': 'b' });
    expect(log.rebuild(plan)?.state).toEqual(written(plan, outcome!.state).state);
  });

  it.each<{ what: string; x: NodeFunction; onError?: 'continue-at'; ended: string; end: string }>([
    { what: 'asks', x: async () => interrupt({ question: 1 }), ended: 'node-interrupted', end: 'run-settled' },
    { what: 'fails', x: async () => Promise.reject(new Error('no')), ended: 'node-failed', end: 'run-failed' },
    {
      what: 'fails and is followed by another node',
      x: async () => Promise.reject(new Error('no')),
      onError: 'continue-at',
      ended: 'node-failed',
      end: 'run-settled',
    },
  ])(
    'goes to a node that leaves the body once it is reported that another one $what',
    async ({ x, onError, ended, end }) => {
      const handler = onError === undefined ? {} : { onError: { method: onError, outputs: {}, targets: ['after'] } };
      const plan = planOfSpecs({
        box: { isContainer: true, downstream: ['end'], activate: onePass },
        end: { activate: async () => ({}) },
        x: { parent: 'box', activate: x, ...handler },
        leave: { parent: 'box', activate: () => settled({}, { exit: true }) },
        after: { parent: 'box' },
        before: { parent: 'box', downstream: ['after'], activate: () => settled({}, { next: [] }) },
      });
      const log = new MemoryLog();
      const { events, outcome } = await watchToEnd(
        plan,
        { input: null },
        { ...one, log: log.open(), durability: 'async' },
      );
      expect(events.flatMap((event) => (event.type === ended && 'node' in event ? [event.node] : []))).toEqual(['x']);
      expect(nodesOf(events, 'node-started')).not.toContain('after');
      expect(events.at(-1)?.type).toBe(end);
      if (end === 'run-settled') expect(log.rebuild(plan)?.state).toEqual(written(plan, outcome!.state).state);
    },
  );
});
