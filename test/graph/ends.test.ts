/** How runs end: once, whoever ends them and whenever, with every timer cleared and every signal raised. */
import { NEVER } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTerminal, type RunEvent } from '../../src/graph/events.js';
import { settled } from '../../src/graph/node-events.js';
import { checkpointOf, execute, run } from '../../src/graph/run.js';
import type { CheckpointStore, RunOptions } from '../../src/graph/run-options.js';
import type { Checkpoint, State } from '../../src/graph/state.js';
import { passes } from './support/containers.js';
import { everyKind, KINDS } from './support/every-kind.js';
import { draw, planOfSpecs } from './support/specs.js';
import { lines, type Watched, watch } from './support/watch.js';

/** Events of an undisturbed run of `everyKind`. */
const LENGTH = 50;
const EVERY_EVENT = Array.from({ length: LENGTH }, (_, at) => at + 1);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a run', () => {
  it('numbers its events without gaps and ends with one last event', async () => {
    const { watched, signals } = await watchThrough({}, () => {});
    expect(new Set(watched.events.map(({ type }) => type))).toEqual(new Set(KINDS));
    expect(watched.events.length).toBe(LENGTH);
    expectNumbered(watched.events);
    expect(watched.outcome?.status).toBe('waiting');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(EVERY_EVENT)('cancelled during event %i says one word more', async (seq) => {
    const abort = new AbortController();
    const { watched, signals } = await watchThrough({ signal: abort.signal }, (event) => {
      if (event.seq === seq) abort.abort();
    });
    expectNumbered(watched.events);
    if (seq === LENGTH) {
      expect(watched.outcome?.status).toBe('waiting');
      return;
    }
    expect(watched.events.length).toBe(seq + 1);
    expect(watched.events.at(-1)?.type).toBe('run-cancelled');
    expect(watched.outcome?.status).toBe('cancelled');
    expectStopped(watched, signals);
  });

  it.each(EVERY_EVENT)('cancelled during event %i keeps a checkpoint of that moment', async (seq) => {
    const store = new SlowStore();
    const abort = new AbortController();
    const { watched, signals } = await watchThrough({ signal: abort.signal, checkpoints: store }, (event) => {
      if (event.seq === seq) abort.abort();
    });
    expectNumbered(watched.events);
    expect(watched.events.length).toBe(Math.min(seq + 1, LENGTH));
    expect(store.saved.map((checkpoint) => checkpoint.seq)).toEqual([watched.events.length]);
    expectStopped(watched, signals);
  });

  it.each(EVERY_EVENT.slice(0, -1))('unsubscribed during event %i says no more', async (seq) => {
    const { watched, signals } = await watchThrough({}, (event, { unsubscribe }) => {
      if (event.seq === seq) unsubscribe();
    });
    expect(watched.events.length).toBe(seq);
    expect(watched.outcome).toBeUndefined();
    expectStopped(watched, signals);
  });

  it('does nothing before it is subscribed, and everything again for the next subscriber', () => {
    let calls = 0;
    const run$ = run(draw('a', { a: { activate: () => ({ calls: ++calls }) } }), { input: null });
    expect(calls).toBe(0);
    run$.subscribe();
    run$.subscribe();
    expect(calls).toBe(2);
  });

  it('with a signal that was raised before does not start', () => {
    const { events } = watch(draw('a'), { input: null }, { signal: AbortSignal.abort() });
    expect(lines(events)).toEqual(['run-started', 'run-cancelled']);
  });
});

describe('a limit', () => {
  it('of time fails the run at that moment', () => {
    const watched = watch(draw('a', { a: { activate: () => NEVER } }), { input: null }, { timeoutMs: 50 });
    vi.advanceTimersByTime(49);
    expect(watched.isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(watched.events.at(-1)).toMatchObject({ type: 'run-failed', error: { code: 'RUN_TIMEOUT' }, elapsedMs: 50 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of time leaves no timer behind in a run that ends before', () => {
    watch(draw('a'), { input: null }, { timeoutMs: 50 });
    expect(vi.getTimerCount()).toBe(0);
  });

  const forever = {
    rounds: 1_000,
    isParallel: false,
    isIsolated: false,
    result: ['x', 'value'],
    itemOf: () => null,
  } as const;
  it.each([
    { what: 'edges that go round', plan: draw('s -> a -> b -> a'), rounds: /"(a|b)" -> "(a|b)" -> "\1"/ },
    {
      what: 'a body without end',
      rounds: 'the body of "box"',
      plan: planOfSpecs({ box: { isContainer: true, activate: passes(forever) }, x: { parent: 'box' } }),
    },
    {
      what: 'a body that is left each time',
      rounds: 'the body of "box"',
      plan: planOfSpecs({
        box: { isContainer: true, activate: passes(forever) },
        x: { parent: 'box', activate: () => settled({}, { exit: true }) },
      }),
    },
    {
      what: 'edges that go round beside a node that does not',
      plan: draw('s -> a -> b -> a\ns -> c'),
      rounds: /"(a|b)" -> "(a|b)" -> "\1"/,
    },
  ])('of steps ends $what, and names what goes round', ({ plan, rounds }) => {
    const { events, outcome } = watch(plan, { input: null }, { maxSteps: 100 });
    expect(events.at(-1)).toMatchObject({
      type: 'run-failed',
      error: { code: 'RUN_STEPS_EXCEEDED', message: expect.stringMatching(rounds) },
    });
    expect(outcome?.state.step).toBe(100);
  });

  it('of steps lets a run through that needs exactly as many', () => {
    expect(watch(draw('a -> b -> c'), { input: null }, { maxSteps: 3 }).outcome?.status).toBe('succeeded');
    expect(watch(draw('a -> b -> c'), { input: null }, { maxSteps: 2 }).outcome?.status).toBe('failed');
  });
});

it('steps are those of one run: a fork and the next turn begin with none', () => {
  const plan = draw('a -> b -> c');
  const { outcome } = watch(plan, { input: null }, { run: 'one', maxSteps: 3 });
  const checkpoint = checkpointOf(plan, { ...(outcome?.state as State), step: 3 }, 'one', 0, 0);
  const again = watch(plan, { checkpoint, recovery: { starts: new Map() } }, { run: 'two', maxSteps: 3 });
  expect(again.outcome?.state.step).toBe(0);
});

describe('options', () => {
  it.each<[keyof RunOptions, number]>([
    ['concurrency', 0],
    ['concurrency', 1.5],
    ['concurrency', Number.NaN],
    ['maxSteps', 0],
    ['maxSteps', Number.POSITIVE_INFINITY],
    ['timeoutMs', 0],
    ['timeoutMs', -1],
    ['seq', -1],
  ])('%s: %s is refused at once', (name, value) => {
    const error = expect.objectContaining({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(`"${name}".* ${value}`),
    });
    expect(() => run(draw('a'), { input: null }, { [name]: value })).toThrowError(error);
    expect(() => execute(draw('a'), { input: null }, { [name]: value })).toThrowError(error);
  });
});

describe('execute', () => {
  it('gives the outcome of runs that succeed and of runs that fail', async () => {
    await expect(execute(draw('a'), { input: null })).resolves.toMatchObject({
      status: 'succeeded',
      outputs: { value: 'a' },
    });
    const bad = draw('a', { a: { activate: () => Promise.reject(new Error('No.')) } });
    await expect(execute(bad, { input: null })).resolves.toMatchObject({ status: 'failed', error: { message: 'No.' } });
  });

  it('rejects when the checkpoint cannot be kept', async () => {
    const checkpoints = new SlowStore(new Error('Disk full.'));
    await expect(execute(draw('a'), { input: null }, { checkpoints })).rejects.toThrow('Disk full.');
  });
});

async function watchThrough(options: RunOptions, onEvent: Parameters<typeof watch>[3]) {
  const signals: AbortSignal[] = [];
  const watched = watch(everyKind(signals), { input: null }, options, onEvent);
  // The store of checkpoints takes microtasks, not time.
  await vi.advanceTimersByTimeAsync(20);
  return { watched, signals };
}

function expectNumbered(events: readonly RunEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.filter(isTerminal)).toEqual(events.slice(-1));
}

/** Nothing works on: no timer runs, and a node that had not settled was told. */
function expectStopped({ events }: Watched, signals: readonly AbortSignal[]): void {
  expect(vi.getTimerCount()).toBe(0);
  const hasSettled = events.some((event) => event.type === 'node-settled' && event.node === 'quiet');
  if (!hasSettled) expect(signals.every(({ aborted }) => aborted)).toBe(true);
}

class SlowStore implements CheckpointStore {
  readonly saved: Checkpoint[] = [];
  readonly #error: Error | undefined;
  constructor(error?: Error) {
    this.#error = error;
  }
  async save(checkpoint: Checkpoint): Promise<void> {
    await Promise.resolve();
    if (this.#error !== undefined) throw this.#error;
    this.saved.push(checkpoint);
  }
  async load(): Promise<Checkpoint | undefined> {
    return this.saved.at(-1);
  }
  async delete(): Promise<void> {}
}
