/** What happens when nodes fail: tried again, replaced by a default value, handed to other nodes, or the end of the run. */
import { NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { parseReference, type Reference } from '../../src/dsl/reference.js';
import { EngineError } from '../../src/errors.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { Activation, NodeFunction } from '../../src/graph/node.js';
import { delta, type NodeEvent, settled } from '../../src/graph/node-events.js';
import { passes } from './support/containers.js';
import { draw, planOfSpecs, readValue, type SpecParts } from './support/specs.js';
import { lines, watchToEnd } from './support/watch.js';

const failing: NodeFunction = () => {
  throw new Error('Out of luck.');
};
const busy = () => new EngineError('MODEL_UNAVAILABLE', 'Busy.', { retryable: true });

/** Fails with a retryable error until its `succeedsAt`th attempt. */
const flaky =
  (succeedsAt: number): NodeFunction =>
  ({ attempt }) => {
    if (attempt < succeedsAt) throw busy();
    return { attempt };
  };

describe('a node that fails', () => {
  it('ends the run after the nodes that were announced with it, and before any behind them', async () => {
    const worse = () => {
      throw new Error('Even worse.');
    };
    const parts = { bad: { activate: failing }, worse: { activate: worse } };
    const { events, outcome } = await watchToEnd(draw('s -> bad worse good; good -> z', parts));
    expect(lines(events).slice(-4)).toEqual([
      'node-failed bad',
      'node-failed worse',
      'node-settled good',
      'run-failed',
    ]);
    expect(lines(events)).not.toContain('node-started z');
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'Out of luck.' } });
  });

  it.each<{ how: string; node: NodeFunction; code: string; message: string }>([
    { how: 'by throwing', node: failing, code: 'NODE_FAILED', message: 'Out of luck.' },
    {
      how: 'by throwing no error',
      node: () => {
        throw 'text';
      },
      code: 'NODE_FAILED',
      message: 'text',
    },
    {
      how: 'with a code',
      node: () => {
        throw busy();
      },
      code: 'MODEL_UNAVAILABLE',
      message: 'Busy.',
    },
    { how: 'by rejecting', node: () => Promise.reject(new Error('Later.')), code: 'NODE_FAILED', message: 'Later.' },
    {
      how: 'by an error of its stream',
      node: () => throwError(() => new Error('Amid.')),
      code: 'NODE_FAILED',
      message: 'Amid.',
    },
    {
      how: 'by never settling',
      node: () => of(delta('content', 'x')),
      code: 'NODE_PROTOCOL',
      message: 'without settling',
    },
    {
      how: 'by choosing nobody that exists',
      node: () => settled({}, { next: ['nobody'] }),
      code: 'NODE_TARGET_UNKNOWN',
      message: '"nobody"',
    },
    {
      how: 'by writing to nobody',
      node: () => settled({}, { writes: [{ to: parseReference('nobody@x') as Reference, value: 1 }] }),
      code: 'REFERENCE_UNRESOLVED',
      message: 'nobody@x',
    },
  ])('$how ends the run, and those at work with it', async ({ node, code, message }) => {
    let stopped = 0;
    const slow = () =>
      new Observable<NodeEvent>(() => () => {
        stopped += 1;
      });
    const { events, outcome } = await watchToEnd(
      draw('s -> slow bad -> z', { slow: { activate: slow }, bad: { activate: node } }),
    );
    expect(lines(events).slice(-2)).toEqual(['node-failed bad', 'run-failed']);
    const error = { code, message: expect.stringContaining(message), node: 'bad' };
    expect(handlingIn(events)).toEqual(['run']);
    expect(events.at(-2)).toMatchObject({ error, outputs: { _ERROR: expect.stringContaining(message) } });
    expect(events.at(-1)).toMatchObject({ error: { code } });
    expect(outcome).toMatchObject({ status: 'failed', outputs: null, error: { code } });
    expect(stopped).toBe(1);
  });

  it('is replaced by its default value', async () => {
    const onError = { method: 'default', outputs: { text: 'sorry' }, targets: [] } as const;
    const reads = (at: Activation) => ({ read: readValue(at, 'bad@text') });
    const { events } = await watchToEnd(
      draw('bad -> z', { bad: { activate: failing, onError }, z: { activate: reads } }),
    );
    expect(lines(events)).toEqual([
      'run-started',
      'node-started bad',
      'node-settled bad',
      'node-started z',
      'node-settled z',
      'run-settled',
    ]);
    expect(events[2]).toMatchObject({
      outputs: { text: 'sorry' },
      recovered: { code: 'NODE_FAILED', message: 'Out of luck.', node: 'bad' },
    });
    expect(events[4]).toMatchObject({ outputs: { read: 'sorry' } });
  });

  it('hands over to other nodes, which read its error', async () => {
    const onError = { method: 'continue-at', outputs: {}, targets: ['rescue'] } as const;
    const reads = (at: Activation) => ({ read: readValue(at, 'bad@_ERROR') });
    const plan = draw('bad -> z; rescue', { bad: { activate: failing, onError }, rescue: { activate: reads } });
    const { events } = await watchToEnd(plan);
    expect(lines(events)).toEqual([
      'run-started',
      'node-started bad',
      'node-failed bad',
      'node-started rescue',
      'node-settled rescue',
      'run-settled',
    ]);
    expect(handlingIn(events)).toEqual(['goto']);
    expect(events[4]).toMatchObject({ outputs: { read: 'Out of luck.' } });
  });
});

describe('a node that may try again', () => {
  const retry = { attempts: 3, delayMs: 0 };
  it.each<{ claim: string; parts: SpecParts; attempts: number; end: string }>([
    { claim: 'goes on when it succeeds', parts: { activate: flaky(3) }, attempts: 3, end: 'run-settled' },
    { claim: 'gives up after its attempts', parts: { activate: flaky(4) }, attempts: 3, end: 'run-failed' },
    {
      claim: 'is not tried again for an error that would repeat itself',
      parts: { activate: failing },
      attempts: 1,
      end: 'run-failed',
    },
    {
      claim: 'gets its default value at last',
      parts: { activate: flaky(4), onError: { method: 'default', outputs: { text: '' }, targets: [] } },
      attempts: 3,
      end: 'run-settled',
    },
  ])('$claim', async ({ parts, attempts, end }) => {
    const { events } = await watchToEnd(draw('s -> a -> z', { a: { ...parts, retry } }));
    const starts = events.filter((event) => event.type === 'node-started' && event.node === 'a');
    expect(starts).toMatchObject(Array.from({ length: attempts }, (_, at) => ({ attempt: at + 1, token: 2 })));
    expect(handlingIn(events).filter((handling) => handling === 'retry').length).toBe(attempts - 1);
    expect(events.at(-1)?.type).toBe(end);
  });
});

describe('an error in a body', () => {
  const nested = (parts: Readonly<Record<string, SpecParts>>) => {
    const pass = (node: string, isParallel = false) =>
      passes({ rounds: 2, isParallel, isIsolated: false, result: [node, 'value'], itemOf: (_, round) => round });
    return planOfSpecs({
      outer: { isContainer: true, activate: pass('inner'), downstream: ['z'], ...parts.outer },
      inner: { parent: 'outer', isContainer: true, activate: pass('bad', true), ...parts.inner },
      bad: { parent: 'inner', activate: failing, ...parts.bad },
      z: {},
    });
  };

  it('fails every body around and the run, and is told once as an error of its node', async () => {
    const { events } = await watchToEnd(nested({}));
    expect(lines(events)).toEqual([
      'run-started',
      'node-started outer',
      'body-opened outer',
      'node-started inner',
      'body-opened inner',
      'body-opened inner',
      'node-started bad',
      'node-started bad',
      'node-failed bad',
      'node-failed bad',
      'body-closed inner',
      'body-closed inner',
      'body-closed outer',
      'run-failed',
    ]);
    expect(events.slice(-6, -4)).toMatchObject([{ within: 'outer/0/inner/0' }, { within: 'outer/0/inner/1' }]);
    expect(handlingIn(events)).toEqual(['body', 'body']);
    expect(events.at(-1)).toMatchObject({ error: { code: 'NODE_FAILED', message: 'Out of luck.', node: 'bad' } });
  });

  it('leaves their turn to the nodes that were announced with it, whether they fail, settle or leave the body', async () => {
    const box = passes({ rounds: 2, isParallel: false, isIsolated: false, result: ['good', 'value'], itemOf: () => 0 });
    const { events } = await watchToEnd(
      planOfSpecs({
        box: { isContainer: true, activate: box },
        bad: { parent: 'box', activate: failing },
        worse: { parent: 'box', activate: failing },
        good: { parent: 'box', downstream: ['behind'] },
        behind: { parent: 'box' },
        leave: { parent: 'box', activate: () => settled({}, { exit: true }) },
      }),
    );
    expect(lines(events).slice(-6)).toEqual([
      'node-failed bad',
      'node-failed worse',
      'node-settled good',
      'node-settled leave',
      'body-closed box',
      'run-failed',
    ]);
  });

  it('is replaced by the default value of a container around', async () => {
    const onError = { method: 'default', outputs: { value: 'none' }, targets: [] } as const;
    const { events } = await watchToEnd(nested({ inner: { onError } }));
    expect(events.filter((event) => event.type === 'node-settled').map(({ node, outputs }) => [node, outputs])).toEqual(
      [
        ['inner', { value: 'none' }],
        ['inner', { value: 'none' }],
        ['outer', { value: ['none', 'none'] }],
        ['z', { value: 'z' }],
      ],
    );
  });

  it('stops the other passes of its container', async () => {
    const stopped: unknown[] = [];
    const bad = (at: Activation) => {
      const item = readValue(at, 'item');
      if (item === 1) throw new Error('Out of luck.');
      return new Observable<NodeEvent>(() => () => stopped.push(item));
    };
    await watchToEnd(nested({ bad: { activate: bad } }));
    expect(stopped).toEqual([0]);
  });

  it('lets a container try again, also the passes that were cut short', async () => {
    let calls = 0;
    const bad = (at: Activation) => {
      calls += 1;
      const item = readValue(at, 'item') as number;
      if (calls === 1) return NEVER;
      if (calls === 2) throw busy();
      return { value: item };
    };
    const { events, outcome } = await watchToEnd(
      nested({ bad: { activate: bad }, inner: { retry: { attempts: 2, delayMs: 0 } } }),
    );
    expect(events.at(-1)?.type).toBe('run-settled');
    expect(events.filter((event) => event.type === 'node-settled' && event.node === 'outer')).toMatchObject([
      {
        outputs: {
          value: [
            [0, 1],
            [0, 1],
          ],
        },
      },
    ]);
    expect(outcome?.state.root.tokens).toEqual([]);
  });
});

/** What was done about each failure. */
function handlingIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'node-failed' ? [event.then] : []));
}
