/** Where runs are stored, and how they go on from there. */
import { from, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Checkpoint } from '../../../src/graph/state.js';
import {
  ask,
  chain,
  defineState,
  editState,
  generator,
  graph,
  invoke,
  loop,
  parallel,
  recoverFrom,
  resumeFrom,
  type StepActivation,
  step,
} from '../../../src/index.js';
import { TextLog } from '../support/memory-run-log.js';
import { attempt, TextStore, waiting } from '../support/waiting-runs.js';

const rejects = (code: string, message: RegExp = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });
const sure = () => step('sure', ask(z.boolean(), 'sure?'));
const Notes = defineState('notes', () => ({ lines: [] as string[] }));

/** Notes its input, asks, and gives its notes. */
const noting = (name = 'noting') =>
  graph<string, string>(
    name,
    (g) => {
      const note = g.node('note', (text: string, at: StepActivation) => {
        at.state(Notes).append('lines', text);
        return text;
      });
      const wait = g.node('wait', sure());
      const read = g.node('read', (_: boolean, at: StepActivation) => at.state(Notes).value.lines.join());
      g.edge(g.start, note);
      g.edge(note, wait);
      g.edge(wait, read);
      g.edge(read, g.end);
    },
    { state: Notes },
  );

/** Stops a run while its step `slow` is at work. */
async function cancelled(
  make: (slow: (value: number) => Promise<number>) => ReturnType<typeof step<number, number>>,
  how: { readonly mode: 'now' | 'after-step'; readonly withinMs?: number },
  letsEnd: boolean,
): Promise<Checkpoint> {
  const cancel$ = new Subject<typeof how>();
  const slow = (value: number) =>
    new Promise<number>((resolve) => {
      setImmediate(() => {
        cancel$.next(how);
        if (letsEnd) resolve(value + 1);
      });
    });
  const failure = await invoke(make(slow), 1, { cancel$ }).catch((error: unknown) => error);
  expect(failure).toEqual(rejects('RUN_CANCELLED'));
  return JSON.parse(
    JSON.stringify((failure as { details: { checkpoint: Checkpoint } }).details.checkpoint),
  ) as Checkpoint;
}

describe('a store of checkpoints', () => {
  it('has where a run waits under the id of the run, and the run goes on by that id', async () => {
    const checkpoints = new TextStore();
    const first = await waiting(noting(), 'a', { checkpoints, run: 'r1' });
    expect([...checkpoints.texts.keys()]).toEqual(['r1']);
    expect(
      await invoke(noting(), resumeFrom('r1', { [first.questions[0]?.address as string]: true }), { checkpoints }),
    ).toBe('a');
  });

  it('keeps the checkpoint that a run went on from when it writes to another id', async () => {
    const checkpoints = new TextStore();
    const steps = () => chain(step('one', ask(z.number(), '1?')), step('two', ask(z.number(), '2?')));
    await waiting(steps(), 0, { checkpoints, run: 'r1' });
    const before = checkpoints.texts.get('r1');
    await waiting(steps(), resumeFrom('r1', { one: 1 }), { checkpoints, run: 'r2' });
    expect(checkpoints.texts.get('r1')).toBe(before);
    expect(await invoke(steps(), resumeFrom('r2', { two: 2 }), { checkpoints })).toBe(2);
  });

  it('is not read by a run that begins anew under an id that it has', async () => {
    const checkpoints = new TextStore();
    await waiting(noting(), 'old', { checkpoints, run: 'r1' });
    await waiting(noting(), 'new', { checkpoints, run: 'r1' });
    expect(await invoke(noting(), resumeFrom('r1', { wait: true }), { checkpoints })).toBe('new');
  });

  it('gives the result of a run that has ended again, until it is deleted', async () => {
    const checkpoints = new TextStore();
    const calls: number[] = [];
    const made = step('count', (n: number) => calls.push(n) && n + 1);
    await invoke(made, 1, { checkpoints, run: 'r1' });
    expect(await invoke(made, resumeFrom('r1'), { checkpoints })).toBe(2);
    expect(calls).toEqual([1]);
    await checkpoints.delete('r1');
    await expect(invoke(made, resumeFrom('r1'), { checkpoints })).rejects.toEqual(
      rejects('NOT_FOUND', /no checkpoint of run "r1": the store has none under that id/),
    );
  });

  it('is asked for when a run is to go on by an id and has none', async () => {
    await expect(invoke(sure(), resumeFrom('r1'))).rejects.toEqual(
      rejects('NOT_FOUND', /the run has no store to load it from; give it one/),
    );
  });

  it('keeps a key called __proto__ like any other, in inputs, states, questions, memos and answers, and in the log', async () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"b":[{"__proto__":2}]}') as object;
    const seen: unknown[] = [];
    const made = () =>
      graph<object, unknown>(
        'odd',
        (g) => {
          const asking = g.node('asking', (input: object, at: StepActivation) => {
            if (at.answer !== undefined) {
              seen.push(input, at.state(Kept).value, at.memo, at.answer);
              return input;
            }
            at.state(Kept).update(odd);
            return at.interrupt(odd, { memo: odd });
          });
          g.edge(g.start, asking);
          g.edge(asking, g.end);
        },
        { state: Kept },
      );
    const Kept = defineState('kept', () => ({}) as object);
    const log = new TextLog();
    const { checkpoint, questions } = await waiting(made(), odd, { log });
    expect(questions[0]?.question).toStrictEqual(odd);
    const ends = [resumeFrom(checkpoint, { asking: odd }), recoverFrom(log.all, { asking: odd })];
    for (const end of ends) expect(await invoke(made(), end)).toStrictEqual(odd);
    expect(seen).toStrictEqual(Array(8).fill(odd));
  });

  it('has no value of a step that nobody can read any more', async () => {
    const checkpoints = new TextStore();
    const made = chain(
      (n: number) => `secret ${n}`,
      (text) => text.length,
      sure(),
    );
    await waiting(made, 7, { checkpoints, run: 'r1' });
    expect(checkpoints.texts.get('r1')).not.toContain('secret');
  });
});

describe('a checkpoint of another version', () => {
  const chainOf = (...names: string[]) =>
    graph<string, boolean>('flow', (g) => {
      const wait = g.node(names[0] as string, sure());
      g.edge(g.start, wait);
      g.edge(wait, g.end);
    });

  it('is refused, and goes on when it is migrated', async () => {
    const { checkpoint } = await waiting(chainOf('wait'), 'x');
    await expect(invoke(chainOf('hold'), resumeFrom(checkpoint))).rejects.toEqual(rejects('PLAN_CHANGED', /"migrate"/));
    const migrate = (state: object) => JSON.parse(JSON.stringify(state).replaceAll('"wait"', '"hold"'));
    expect(await invoke(chainOf('hold'), resumeFrom(checkpoint, { hold: true }, { migrate }))).toBe(true);
  });

  it('has its states brought to their new form, also in graphs inside', async () => {
    const outer = graph<string, string>('outer', (g) => {
      const sub = g.node('sub', noting('inner'));
      g.edge(g.start, sub);
      g.edge(sub, g.end);
    });
    const { checkpoint } = await waiting(outer, 'a');
    const seen: string[] = [];
    const migrateState = (name: string, value: unknown, path: string) => {
      seen.push(`${path}:${name}`);
      return { lines: [...(value as { lines: string[] }).lines, 'new'] };
    };
    const value = await invoke(outer, resumeFrom(checkpoint, { 'sub/wait': true }, { migrateState }));
    expect([value, seen]).toEqual(['a,new', ['sub:notes']]);
  });
});

describe('a state', () => {
  it('may be edited before the run goes on, at the top or at a path', async () => {
    const { checkpoint } = await waiting(noting(), 'a');
    const states = [editState(Notes, { lines: ['b'] })];
    expect(await invoke(noting(), resumeFrom(checkpoint, { wait: true }, { states }))).toBe('b');
    const both = parallel({ left: noting('left'), right: noting('right') });
    const second = await waiting(both, 'a');
    const at = second.questions.map(({ address }) => address.slice(0, -'/wait'.length));
    const edits = [editState(Notes, { lines: ['c'] }, { at: at[1] as string })];
    expect(
      await invoke(both, resumeFrom(second.checkpoint, undefined, { states: edits })).catch((e: unknown) => e),
    ).toEqual(rejects('RUN_INTERRUPTED'));
    const answers = Object.fromEntries(second.questions.map(({ address }) => [address, true]));
    expect(await invoke(both, resumeFrom(second.checkpoint, answers, { states: edits }))).toEqual({
      left: 'a',
      right: 'c',
    });
  });

  it('that the run does not have cannot be edited', async () => {
    const { checkpoint } = await waiting(sure(), 'a');
    const states = [editState(Notes, { lines: [] })];
    await expect(invoke(sure(), resumeFrom(checkpoint, { sure: true }, { states }))).rejects.toEqual(
      rejects('STATE_MISSING', /"notes" cannot be edited at the top of the run: it has none of that name/),
    );
  });
});

describe('a run that is stopped', () => {
  const steps = (slow: (value: number) => Promise<number>) =>
    chain(step('slow', slow), (value: number) => value * 10) as never;
  const quick = (value: number) => Promise.resolve(value + 1);

  it('after a step keeps what that gave', async () => {
    const checkpoint = await cancelled(steps, { mode: 'after-step' }, true);
    const never = () => Promise.reject(new Error('It ran again.'));
    expect(await invoke(steps(never) as never, resumeFrom(checkpoint))).toBe(20);
  });

  it.each([{ mode: 'now' }, { mode: 'after-step', withinMs: 1 }] as const)(
    'with %j begins the step again with the input it had',
    async (how) => {
      const checkpoint = await cancelled(steps, how, false);
      expect(await invoke(steps(quick) as never, resumeFrom(checkpoint))).toBe(20);
    },
  );

  it('keeps the chunks that a step had read', async () => {
    const make = (slow: (value: number) => Promise<number>) =>
      chain(
        step('words', () => from([1, 2, 3])),
        generator('sum', async function* (chunks: AsyncIterable<number>) {
          let sum = 0;
          for await (const chunk of chunks) sum += chunk;
          yield await slow(sum);
        }),
      ) as never;
    const checkpoint = await cancelled(make, { mode: 'now' }, false);
    expect(await invoke(make(quick) as never, resumeFrom(checkpoint))).toBe(7);
  });

  it('before it has begun anything keeps its input', async () => {
    const cancel$ = of({ mode: 'now' } as const);
    const made = step('add', (n: number) => n + 1);
    const failure = await invoke(made, 4, { cancel$ }).catch((error: unknown) => error);
    const { checkpoint } = (failure as { details: { checkpoint: Checkpoint } }).details;
    expect(await invoke(made, resumeFrom(checkpoint))).toBe(5);
  });
});

describe('a value that cannot be stored', () => {
  class Socket {}

  it('is refused as an input before anything runs', async () => {
    const calls: unknown[] = [];
    const made = step('use', (socket: Socket) => calls.push(socket));
    await expect(invoke(made, new Socket(), { checkpoints: new TextStore() })).rejects.toEqual(
      rejects('VALUE_NOT_STORABLE', /\$\.input/),
    );
    expect(calls).toEqual([]);
  });

  it('fails the step that gives it, and what others gave stays', async () => {
    const checkpoints = new TextStore();
    const calls: string[] = [];
    const make = (opened: unknown) =>
      chain(
        step('first', (n: number) => {
          calls.push('first');
          return n + 1;
        }),
        step('open', () => opened),
        step('last', (value: unknown) => String(value)),
      );
    await expect(invoke(make(new Socket()), 1, { checkpoints, run: 'r1' })).rejects.toEqual(
      rejects('VALUE_NOT_STORABLE', /open/),
    );
    expect(await invoke(make('a port'), resumeFrom('r1'), { checkpoints })).toBe('a port');
    expect(calls).toEqual(['first']);
  });

  it('does no harm inside a step, unless that has to wait', async () => {
    const socket = step('socket', () => new Socket());
    const make = (asks: boolean) =>
      step('outer', async (_: string, at: StepActivation) => {
        await invoke(socket, undefined, { within: at });
        return asks ? at.interrupt('sure?') : 'done';
      });
    expect(await invoke(make(false), '')).toBe('done');
    await expect(invoke(make(true), '')).rejects.toEqual(rejects('VALUE_NOT_STORABLE', /outer\/socket/));
  });
});

describe('a log', () => {
  it('grows by the same for every step, however many came before', async () => {
    const bytes = async (rounds: number) => {
      const log = new TextLog();
      await invoke(
        loop(
          step('add', (n: number) => n + 1),
          { until: (n: number) => n >= rounds, maxRounds: rounds },
        ),
        0,
        {
          log,
          run: 'r1',
        },
      );
      return log.bytes;
    };
    const [few, many] = [await bytes(200), await bytes(2_000)];
    expect(many / few).toBeLessThan(12);
  });

  it('of a run that has ended gives its result again, and nothing runs', async () => {
    const log = new TextLog();
    const calls: number[] = [];
    const made = step('add', (n: number) => calls.push(n) && n + 1);
    await invoke(made, 1, { log, run: 'r1' });
    expect(await invoke(made, recoverFrom(log.all))).toBe(2);
    expect(calls).toEqual([1]);
  });

  it('goes on with the next number, and tells which start is repeated', async () => {
    const log = new TextLog();
    const made = chain(
      (n: number) => n + 1,
      step('last', (n: number) => n * 2),
    );
    await invoke(made, 1, { log, run: 'r1', durability: 'sync' });
    const cut = log.events.findIndex(({ type, node }) => type === 'node-started' && node === 'last');
    const before = log.events.slice(0, cut + 1);
    const snapshot = log.all.snapshot;
    const next = new TextLog();
    const history = { snapshot, events: before.map((event) => JSON.stringify(event)) };
    expect(await invoke(made, recoverFrom(history), { log: next })).toBe(4);
    expect(next.events[0]).toMatchObject({ type: 'run-started', run: 'r1', seq: before.length + 1, recovered: true });
    expect(next.events[1]).toMatchObject({ type: 'node-started', node: 'last', retractFrom: before.length });
  });

  it('takes back what a step had changed in a state when it was lost before its end', async () => {
    const made = graph<string, string>(
      'noting',
      (g) => {
        const note = g.node('note', async (text: string, at: StepActivation) => {
          at.state(Notes).append('lines', text);
          await Promise.resolve();
          return at.state(Notes).value.lines.join();
        });
        g.edge(g.start, note);
        g.edge(note, g.end);
      },
      { state: Notes },
    );
    const log = new TextLog();
    await invoke(made, 'a', { log, run: 'r1', durability: 'sync' });
    const patched = log.events.findIndex(({ type }) => type === 'node-patched');
    expect(patched).toBeGreaterThan(0);
    const events = log.events.slice(0, patched + 1).map((event) => JSON.stringify(event));
    expect(await attempt(made, recoverFrom({ snapshot: log.all.snapshot, events }))).toEqual({
      status: 'done',
      value: 'a',
    });
  });

  it('of a run that waits may be answered at once', async () => {
    const log = new TextLog();
    await waiting(noting(), 'a', { log, run: 'r1' });
    expect(await invoke(noting(), recoverFrom(log.all, { wait: true }))).toBe('a');
    expect((await waiting(noting(), recoverFrom(log.all))).questions.map(({ address }) => address)).toEqual(['wait']);
  });
});
