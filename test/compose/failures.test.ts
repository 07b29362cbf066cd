/** What goes wrong in a program says where, and what to do about it. */
import { concat, EMPTY, firstValueFrom, NEVER, of, Subject, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { branch } from '../../src/compose/branch.js';
import { chain } from '../../src/compose/chain.js';
import { graph } from '../../src/compose/graph.js';
import { loop } from '../../src/compose/loop.js';
import { map } from '../../src/compose/map.js';
import { collect, invoke, run } from '../../src/compose/run.js';
import { defineState, type StateToken } from '../../src/compose/state.js';
import type { StepActivation, StepLike } from '../../src/compose/step.js';
import { ask, pick, step } from '../../src/compose/steps.js';
import { workflow } from '../../src/compose/workflow.js';
import { EngineError } from '../../src/errors.js';

// biome-ignore lint/suspicious/noExplicitAny: calls that the types refuse
const untyped = <T>(value: T): any => value;

async function failureOf(work: () => unknown): Promise<EngineError> {
  try {
    await work();
  } catch (error) {
    return error as EngineError;
  }
  throw new Error('It did not fail.');
}

/** A graph of one node that owns a state. */
const withState = <S>(state: StateToken<S>, work: (at: StepActivation) => unknown) =>
  graph<number, unknown>(
    'owner',
    (g) => {
      const node = g.node('node', (_: number, at) => work(at));
      g.edge(g.start, node);
      g.edge(node, g.end);
    },
    { state },
  );

describe('an error of a step', () => {
  it('has the path of the step also when the step threw an EngineError without one', async () => {
    const thrown = new EngineError('FILE_UNKNOWN', 'There is no file.', { details: { file: 'a' }, retryable: true });
    const read = step('read', (): number => {
      throw thrown;
    });
    const error = await failureOf(() =>
      invoke(
        chain((n: number) => [n], map(read)),
        1,
      ),
    );
    expect(error).toMatchObject({ code: 'FILE_UNKNOWN', message: 'There is no file.', node: 'map[0]/read' });
    expect(error).toMatchObject({ details: { file: 'a' }, retryable: true, stack: thrown.stack });
    expect(thrown.node).toBeUndefined();
  });

  const bad = step('send', (n: number): number => {
    if (n > 2) throw new Error('gone');
    return n;
  });
  const empty = step(
    'send',
    branch((n: number) => (n > 2 ? [] : 'a'), { a: (n: number) => n }),
  );
  const each = (inner: StepLike<number, number>) =>
    graph<number[], number[]>('review', (g) => {
      const node = g.node('each', map(inner));
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
  const inside = step('outer', (n: number, at: StepActivation) =>
    invoke(
      chain((m: number) => m, bad),
      n,
      { within: at },
    ),
  );
  it.each([
    ['of a map', chain(each(bad), (all) => all), [1, 2, 3, 4], 'review/each[2]/send'],
    ['of a map in a graph', chain((n: number[]) => n, step('review', each(bad))), [1, 3], 'review/each[1]/send'],
    ['of a map in a map', map(each(bad)), [[1], [1, 2, 3]], 'map[1]/each[2]/send'],
    ['that has no result', map(each(empty)), [[1], [1, 2, 3]], 'map[1]/each[2]'],
    ['of a loop in a map', map(loop(bad, { until: (n) => n < 0, maxRounds: 3 })), [3], 'map[0]/loop[1]/send'],
    [
      'of a loop in a map that does not end',
      map(loop(bad, { until: () => false, maxRounds: 3 })),
      [0, 1],
      'map[0]/loop',
    ],
    ['that takes too long', map(step('slow', () => NEVER, { timeoutMs: 1 })), [1], 'map[0]/slow'],
    ['inside a step', inside, 3, 'outer/chain/send'],
    ['inside a step of a map', map(map(inside)), [[1], [1, 3]], 'map[1]/map[1]/outer/chain/send'],
  ])('has the whole path of a step %s, with rounds', async (_, program, input, path) => {
    const events = await firstValueFrom(run(untyped(program), { input }).pipe(toArray()));
    expect(events.at(-1)).toMatchObject({ type: 'run-failed', error: { node: path } });
    expect(await failureOf(() => invoke(untyped(program), input))).toMatchObject({ node: path });
  });

  it('keeps the path that it has', async () => {
    const read = step('read', (): number => {
      throw new EngineError('FILE_UNKNOWN', 'There is no file.', { node: 'elsewhere' });
    });
    expect(await failureOf(() => invoke(read, 1))).toMatchObject({ node: 'elsewhere' });
  });

  it('keeps an error of a class of its own as the cause', async () => {
    class Refused extends EngineError {}
    const thrown = new Refused('FILE_UNKNOWN', 'No.');
    const error = await failureOf(() =>
      invoke(
        step('read', () => Promise.reject(thrown)),
        1,
      ),
    );
    expect(error).toMatchObject({ code: 'FILE_UNKNOWN', node: 'read', cause: thrown });
  });

  it.each([
    ['text', 'gone', 'gone'],
    ['nothing', undefined, 'undefined was thrown; throw an Error that says what failed.'],
    ['an object with a message', { message: 'gone' }, 'gone'],
    ['an object', { status: 404 }, 'An object was thrown that is no Error (with the keys status); throw an Error.'],
    ['an object without a prototype', Object.create(null), 'An object was thrown that is no Error; throw an Error.'],
    [
      'an object that cannot be read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('sealed');
          },
        },
      ),
      'Something was thrown that cannot be read; throw an Error.',
    ],
  ])('names its node when %s was thrown', async (_, thrown, message) => {
    const bad = step('bad', () => {
      throw thrown;
    });
    const error = await failureOf(() => invoke(bad, 1));
    expect([error.code, error.node, error.message]).toEqual(['NODE_FAILED', 'bad', message]);
    expect(error.cause === thrown).toBe(true);
  });

  it('names the step whose chunks a rule could not join', async () => {
    const bad = step('bad', () => of(1, 2), {
      chunks: () => {
        throw new Error('no sum');
      },
    });
    expect(await failureOf(() => invoke(bad, 1))).toMatchObject({
      code: 'NODE_FAILED',
      node: 'bad',
      message: 'no sum',
    });
    const items = step('items', () => of(Symbol('a'), Symbol('b')));
    const read = step('read', (value: unknown) => value);
    expect(await failureOf(() => invoke(chain(items, read), 1))).toMatchObject({
      code: 'CHUNKS_INVALID',
      node: 'items',
    });
    expect(await failureOf(() => invoke(map(chain(items, read)), [1]))).toMatchObject({ node: 'map[0]/items' });
    expect(await failureOf(() => collect(read, of(Symbol('a'), Symbol('b'))))).toMatchObject({ node: 'read' });
    const symbols = step('symbols', () => of(Symbol('a'), Symbol('b')));
    expect(await failureOf(() => invoke(symbols, 1))).toMatchObject({ code: 'CHUNKS_INVALID', node: 'symbols' });
  });

  it('says of a key that was not there to be picked that it may be that', async () => {
    const program = chain((n: number) => ({ n }), untyped(pick)('m'));
    expect(await failureOf(() => invoke(program, 1))).toMatchObject({
      code: 'STREAM_EMPTY',
      message: expect.stringContaining('"pick" gives none for a key that is not there'),
    });
    expect(await failureOf(() => collect((n: number) => n, EMPTY))).toMatchObject({ code: 'STREAM_EMPTY' });
  });
});

describe('a question that is asked in the wrong way', () => {
  it('fails when it is thrown, and says to return it', async () => {
    const thrown = step('send', (_: number, at): number => {
      throw at.interrupt('Sure?');
    });
    const rejected = step('send', async (_: number, at): Promise<number> => {
      throw at.interrupt('Sure?');
    });
    const message = 'Step "send" threw a question, which asks nothing; return what at.interrupt(…) gives.';
    for (const bad of [thrown, rejected]) {
      expect(await failureOf(() => invoke(bad, 1))).toMatchObject({ code: 'NODE_PROTOCOL', node: 'send', message });
    }
  });

  it('fails when a step that waits was run without "within", and does not pass for a run that waits', async () => {
    const outer = step('outer', (name: string) => invoke(ask(z.boolean(), 'Sure?'), name));
    const error = await failureOf(() => invoke(outer, 'a'));
    expect(error).toMatchObject({ code: 'NODE_PROTOCOL', node: 'outer', cause: { code: 'RUN_INTERRUPTED' } });
    expect(error.message).toContain('invoke(inner, input, { within: at })');
  });
});

describe('a state', () => {
  it('needs a name and a function', async () => {
    const wrong = [
      () => untyped(defineState)(),
      () => defineState('', () => 1),
      () => untyped(defineState)('tries', { n: 0 }),
    ];
    for (const declare of wrong) {
      expect(await failureOf(declare)).toMatchObject({
        code: 'PLAN_INVALID',
        message: expect.stringContaining("Write defineState('name', () => ({ … }))."),
      });
    }
  });

  it('says which one cannot begin', async () => {
    const broken = defineState('tries', (): { n: number } => {
      throw new Error('no file');
    });
    const error = await failureOf(() =>
      invoke(
        withState(broken, () => 1),
        1,
      ),
    );
    expect(error).toMatchObject({
      code: 'NODE_FAILED',
      message: 'The state "tries" cannot begin: its "initial" failed: no file',
    });
  });

  it('refuses items behind something that is no list, and stays as it was', async () => {
    const tries = defineState('tries', () => ({ n: 0 }));
    const program = withState(tries, (at) => {
      const state = untyped(at.state(tries));
      expect(() => state.append('n', 1)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
      return state.value;
    });
    expect(await invoke(program, 1)).toEqual({ n: 0 });
  });
});

describe('what the types refuse', () => {
  it.each([
    ['a loop without options', () => untyped(loop)((n: number) => n), 'OPTION_INVALID', /"until" and "maxRounds"/],
    ['a graph without a function', () => untyped(graph)('g'), 'PLAN_INVALID', /Graph "g": it needs a function/],
    [
      'a workflow without a function',
      () => untyped(workflow)('w'),
      'PLAN_INVALID',
      /Workflow "w": it needs a function/,
    ],
    [
      'options of a run that are null',
      () => invoke((n: number) => n, 1, untyped(null)),
      'OPTION_INVALID',
      /must be an object/,
    ],
  ])('is an error that says what to do: %s', async (_, work, code, message) => {
    expect(await failureOf(work)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('is one error when a graph is drawn later, and nothing else fails afterwards', async () => {
    const rejections: unknown[] = [];
    const note = (error: unknown) => rejections.push(error);
    process.on('unhandledRejection', note);
    const late = untyped(async (g: { node(id: string, step: unknown): void }) => {
      await Promise.resolve();
      g.node('late', (n: number) => n);
    });
    expect(await failureOf(() => graph('g', late))).toMatchObject({ code: 'PLAN_INVALID' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });
});

describe('a run that is cancelled', () => {
  const untilAborted = step(
    'wait',
    (_: number, at) => new Promise<number>((resolve) => at.signal.addEventListener('abort', () => resolve(0))),
  );

  it('has the reason of its signal as the cause', async () => {
    const controller = new AbortController();
    const failure = failureOf(() => invoke(untilAborted, 1, { signal: controller.signal }));
    const reason = new Error('The user left.');
    controller.abort(reason);
    expect(await failure).toMatchObject({ code: 'RUN_CANCELLED', cause: reason });
  });

  it('stops at once when cancel$ fails, and can be resumed', async () => {
    const failing$ = concat(
      EMPTY,
      throwError(() => new Error('The connection broke.')),
    );
    expect(await failureOf(() => invoke(untilAborted, 1, { cancel$: failing$ }))).toMatchObject({
      code: 'RUN_CANCELLED',
      details: { checkpoint: expect.objectContaining({ version: 1 }) },
    });
    const later$ = new Subject<{ mode: 'now' }>();
    const failure = failureOf(() => invoke(untilAborted, 1, { cancel$: later$ }));
    later$.error(new Error('The connection broke.'));
    expect(await failure).toMatchObject({ code: 'RUN_CANCELLED' });
  });
});

it('reports the path of a failed step in the events, too', async () => {
  const bad = step('bad', (): number => {
    throw new EngineError('FILE_UNKNOWN', 'There is no file.');
  });
  const events = await firstValueFrom(
    run(
      chain((n: number) => n, bad),
      { input: 1 },
    ).pipe(toArray()),
  );
  expect(events.at(-1)).toMatchObject({ type: 'run-failed', error: { code: 'FILE_UNKNOWN', node: 'bad' } });
});
