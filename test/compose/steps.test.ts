import { filter, identity, map as mapChunks, type Observable, pipe } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { branch, streamBranch } from '../../src/compose/branch.js';
import { chain } from '../../src/compose/chain.js';
import { loop } from '../../src/compose/loop.js';
import { looksLikeOperator, toStep, uniqueId } from '../../src/compose/make-step.js';
import { map } from '../../src/compose/map.js';
import { parallel } from '../../src/compose/parallel.js';
import { invoke } from '../../src/compose/run.js';
import { type AnyStep, DEFINITION, type GraphBlueprint } from '../../src/compose/step.js';
import { as, ask, generator, operator, passthrough, pick, step } from '../../src/compose/steps.js';

const graphOf = (made: AnyStep): GraphBlueprint => {
  const definition = made[DEFINITION];
  if (definition.type !== 'graph') throw new Error(`${made.name} is no graph but a ${definition.type}`);
  return definition.graph;
};
const idsOf = (made: AnyStep): string[] => graphOf(made).nodes.map(({ id }) => id);
const linesOf = (made: AnyStep): string[] => graphOf(made).edges.map(({ from, to }) => `${from}>${to}`);
const load = (id: string): string => id;
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringMatching(message) });
// biome-ignore lint/suspicious/noExplicitAny: calls that the types refuse
const untyped = <T>(value: T): any => value;

describe('step', () => {
  it('keeps the name, the kind and the options it is given', () => {
    const made = step('load', load, { kind: 'loader', timeoutMs: 50, output: z.string() });
    expect(made).toMatchObject({ name: 'load', kind: 'loader' });
    expect(made[DEFINITION]).toMatchObject({ type: 'function', run: load, options: { timeoutMs: 50 } });
    expect(Object.isFrozen(made)).toBe(true);
  });

  it('makes a chain one unit under a name of its own, which chains around it keep whole', () => {
    const unit = step('review', chain(load, load), { timeoutMs: 9 });
    expect(graphOf(unit)).toMatchObject({ style: 'chain', isInline: false });
    expect(unit[DEFINITION].options).toMatchObject({ timeoutMs: 9 });
    expect(idsOf(chain(load, unit))).toEqual(['load', 'review']);
  });

  it('puts new options over those that a step has, and leaves that step as it was', () => {
    const inner = step('inner', load, { timeoutMs: 5, retry: { attempts: 2 } });
    expect(step('outer', inner, { timeoutMs: 7 })[DEFINITION].options).toEqual({
      timeoutMs: 7,
      retry: { attempts: 2 },
    });
    expect(inner[DEFINITION].options).toEqual({ timeoutMs: 5, retry: { attempts: 2 } });
  });

  it.each([
    ['', /A step needs a name: text that is not empty; received ""/],
    ['a/b', /A step cannot be called "a\/b": "\/", "#", "\[" and "\]" separate the parts of paths/],
    ['a[1]', /cannot be called "a\[1\]"/],
    ['a#b', /cannot be called "a#b"/],
  ])('refuses the name %j', (name, message) => {
    expect(() => step(name, load)).toThrow(invalid(message));
  });

  it.each([
    [{ timeoutMs: 0 }, /load: "timeoutMs" must be a whole number of at least 1; received 0/],
    [{ retry: { attempts: 1.5 } }, /load: "retry.attempts" must be a whole number of at least 1; received 1.5/],
    [{ retry: { attempts: 2, delayMs: -1 } }, /load: "retry.delayMs" must be a whole number of at least 0/],
  ])('refuses the options %j', (options, message) => {
    expect(() => step('load', load, options)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }),
    );
  });
});

describe('a function as a step', () => {
  it('gets its own name, or the one that is left for it, with the characters of paths replaced', () => {
    expect(toStep(load, 'other').name).toBe('load');
    expect(
      toStep(
        untyped((value: unknown) => value),
        'step_1',
      ).name,
    ).toBe('step_1');
    const odd = { 'a/b[1]': (value: unknown) => value }['a/b[1]'];
    expect(toStep(untyped(odd), 'x').name).toBe('a_b_1_');
  });

  it('is taken as it is when it is a step already', () => {
    const made = step('load', load);
    expect(toStep(made, 'other')).toBe(made);
  });

  it.each([undefined, null, 7, 'load', [], { name: 'load' }])('is refused when it is %j', (value) => {
    expect(() => chain(untyped(value))).toThrow(invalid(/"step_1" must be a function or a step; received/));
  });

  it('is refused when it is an operator of RxJS, which has to be wrapped', () => {
    expect(() => chain(load, untyped(filter(Boolean)))).toThrow(
      invalid(/"step_2" is an RxJS operator.*Wrap the operator: operator\(/),
    );
    expect(() => chain(load, untyped(mapChunks(identity)))).toThrow(invalid(/Wrap the operator/));
  });

  it('is seen to be an operator when it is called, if it was written by hand', () => {
    const outcomeOf = (run: (value: never) => unknown) => {
      try {
        return { returned: run(5 as never) };
      } catch (thrown) {
        return { thrown };
      }
    };
    const piped = pipe(filter(Boolean), mapChunks(String));
    const written = (source: Observable<number>) => source.pipe(mapChunks(String));
    const unfinished = (project: (value: number) => number) => mapChunks(project);
    for (const body of [piped, written, unfinished]) expect(looksLikeOperator(outcomeOf(untyped(body)))).toBe(true);
    expect(looksLikeOperator({ returned: 5 })).toBe(false);
    expect(looksLikeOperator({ thrown: new TypeError('x is undefined') })).toBe(false);
    expect(looksLikeOperator({ thrown: new Error('source.pipe is not a function') })).toBe(false);
  });
});

describe('operator and generator', () => {
  it('take the name that is written, or that of the function', () => {
    async function* double<T>(chunks: AsyncIterable<T>) {
      for await (const chunk of chunks) yield chunk;
    }
    const loud = (source: Observable<string>) => source;
    expect(operator('loud', mapChunks(String)).name).toBe('loud');
    expect(operator(loud).name).toBe('loud');
    expect(generator(double).name).toBe('double');
    expect(
      idsOf(
        chain(
          load,
          operator(mapChunks(String)),
          generator(async function* () {}),
        ),
      ),
    ).toEqual(['load', 'step_2', 'step_3']);
  });

  it('refuse what is no function', () => {
    expect(() => operator(untyped(step('load', load)))).toThrow(
      invalid(/operator\(…\) needs a function; received a step/),
    );
    expect(() => generator('g', untyped(undefined))).toThrow(
      invalid(/generator\(…\) needs a function; received undefined/),
    );
  });
});

describe('chain', () => {
  it('names lambdas by position, functions by their names, and numbers equal names', () => {
    const made = chain(
      load,
      (text) => text,
      step('load', load),
      (text) => text,
      load,
    );
    expect(idsOf(made)).toEqual(['load', 'step_2', 'load_2', 'step_4', 'load_3']);
    expect(linesOf(made)).toEqual([
      'start>load',
      'load>step_2',
      'step_2>load_2',
      'load_2>step_4',
      'step_4>load_3',
      'load_3>end',
    ]);
  });

  it('never gives a node the name of an end', () => {
    const start = (text: string) => text;
    const end = (text: string) => text;
    expect(idsOf(chain(start, end))).toEqual(['start_2', 'end_2']);
  });

  it('takes nested chains and pipes apart and counts positions anew', () => {
    const inner = chain((text: string) => text, load).pipe((text) => text);
    expect(idsOf(chain(load, inner, (text) => text))).toEqual(['load', 'step_2', 'load_2', 'step_4', 'step_5']);
  });

  it('gives the same ids every time, and keeps the step objects that it was given', () => {
    const model = step('model', load);
    const build = () => chain(model, (text) => text, chain(load, model));
    expect(idsOf(build())).toEqual(idsOf(build()));
    expect(
      graphOf(build())
        .nodes.filter((node) => node.step === model)
        .map(({ id }) => id),
    ).toEqual(['model', 'model_2']);
  });

  it('refuses to be empty', () => {
    expect(() => untyped(chain)()).toThrow(invalid(/A chain needs at least one step; received none/));
  });
});

describe('parallel', () => {
  it('gives every step the input and gathers the outputs by key', () => {
    const made = parallel({ docs: load, end: load });
    expect(idsOf(made)).toEqual(['docs', 'end_2']);
    expect(linesOf(made)).toEqual(['start>docs', 'docs>end', 'start>end_2', 'end_2>end']);
    const gather = graphOf(made).end?.input;
    expect(
      gather?.whole(
        new Map([
          ['docs', 1],
          ['end_2', 2],
        ]),
      ),
    ).toEqual({ docs: 1, end: 2 });
    expect(gather?.piece?.('end_2', 'x')).toEqual([{ end: 'x' }]);
    expect(gather?.piece?.('other', 'x')).toEqual([]);
  });

  it('makes an own key also of one that objects inherit', () => {
    const steps = JSON.parse('{"__proto__":1}');
    Object.defineProperty(steps, '__proto__', { value: load, enumerable: true });
    const gather = graphOf(parallel(steps)).end?.input;
    const gathered = gather?.whole(new Map([['__proto__', 1]])) as object;
    expect(Object.hasOwn(gathered, '__proto__')).toBe(true);
    expect(Object.hasOwn(gather?.piece?.('__proto__', 1)[0] as object, '__proto__')).toBe(true);
  });

  it.each([{}, [], undefined, load])('refuses %j', (steps) => {
    expect(() => parallel(untyped(steps))).toThrow(
      invalid(/"parallel" needs an object with at least one step; received/),
    );
  });

  it.each([3, 600])('gives %i steps as an ordinary object, in their order, whatever they are called', async (count) => {
    const names = ['__proto__', 'constructor', ...Array.from({ length: count - 2 }, (_, at) => `n${at}`)];
    const steps = Object.fromEntries(names.map((name) => [name, (value: string) => `${name} ${value}`]));
    const result = await invoke(parallel(steps), 'x');
    expect(Object.entries(result)).toEqual(names.map((name) => [name, `${name} x`]));
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(result, 'n0')).toEqual({
      value: 'n0 x',
      enumerable: true,
      configurable: true,
      writable: true,
    });
  });
});

describe('branch', () => {
  it('puts a router in front of its routes', () => {
    const choose = (text: string) => (text === '' ? 'few' : 'many');
    const made = branch(choose, { many: load, few: load });
    expect(made.kind).toBe('branch');
    expect(idsOf(made)).toEqual(['branch', 'many', 'few']);
    expect(linesOf(made)).toEqual(['start>branch', 'branch>many', 'many>end', 'branch>few', 'few>end']);
    expect(graphOf(made).nodes[0]?.route).toEqual({ choose, routes: { many: 'many', few: 'few' } });
  });

  it('keeps its labels when one of them is the name of an end or of the router', () => {
    const made = streamBranch(
      (_: readonly string[]) => 'end' as const,
      { end: load, branch: load },
      { merge: ([first]) => first as string },
    );
    expect(idsOf(made)).toEqual(['branch_2', 'end_2', 'branch']);
    expect(graphOf(made).nodes[0]?.route?.routes).toEqual({ end: 'end_2', branch: 'branch' });
    expect(graphOf(made).end?.merge?.(['a', 'b'])).toBe('a');
  });

  it('needs routes and a function that chooses', () => {
    expect(() => branch((_: string) => 'a', untyped({}))).toThrow(
      invalid(/"branch" needs an object with at least one step/),
    );
    expect(() => branch(untyped('a'), untyped({ a: load }))).toThrow(invalid(/"choose" must be a function/));
    expect(() => streamBranch(untyped('a'), untyped({ a: load }))).toThrow(
      invalid(/"choosePrefix" must be a function/),
    );
    expect(() => branch((_: string) => 'a', { a: load }, { merge: untyped('all') })).toThrow(
      invalid(/"merge" must be a function/),
    );
  });
});

describe('map and loop', () => {
  it('bound what runs at once and how often', () => {
    expect(map(load)[DEFINITION]).toMatchObject({ type: 'map', concurrency: 8 });
    expect(map(load, { concurrency: 2 })[DEFINITION]).toMatchObject({ concurrency: 2, item: { name: 'load' } });
    const until = () => true;
    expect(loop(load, { until, maxRounds: 3 })[DEFINITION]).toMatchObject({ type: 'loop', maxRounds: 3, until });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuse %d as a bound', (bound) => {
    const refusal = expect.objectContaining({ code: 'OPTION_INVALID' });
    expect(() => map(load, { concurrency: bound })).toThrow(refusal);
    expect(() => loop(load, { until: () => true, maxRounds: bound })).toThrow(refusal);
  });

  it('refuse a loop without options, and one that does not say when it ends', () => {
    expect(() => loop(load, untyped(undefined))).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('"until" and "maxRounds"') }),
    );
    expect(() => loop(load, untyped({ maxRounds: 3 }))).toThrow(invalid(/"until" must be a function/));
  });
});

describe('ask', () => {
  const activation = (answer: unknown) => ({
    answer,
    interrupt: (question: unknown, options: unknown) => ({ question, options }),
  });
  const call = (made: AnyStep, input: unknown, answer?: unknown): unknown => {
    const definition = made[DEFINITION];
    return definition.type === 'function' && definition.run(input as never, untyped(activation(answer)));
  };

  it('asks with the question, or with what it makes of the input, and names the schema of the answer', () => {
    const answer = z.object({ ok: z.boolean() });
    expect(call(ask(answer, 'Send it?'), 1)).toEqual({ question: 'Send it?', options: { answer } });
    const made = ask(answer, (n: number) => ({ amount: n }), { expiresInMs: 50, fallback: { ok: false } });
    expect(call(made, 7)).toEqual({
      question: { amount: 7 },
      options: { answer, expiresInMs: 50, fallback: { ok: false } },
    });
  });

  it('gives the answer, also one that is false or null', () => {
    for (const answer of [false, null, 0, '', { ok: true }])
      expect(call(ask(z.unknown(), 'q'), 1, answer)).toBe(answer);
  });
});

describe('uniqueId', () => {
  it('numbers what is taken, and never collides with what a name already looks like', () => {
    const taken = new Map<string, number>();
    expect(['a', 'a_2', 'a', 'a', '', 'start', 'a/b'].map((name) => uniqueId(name, taken))).toEqual([
      'a',
      'a_2',
      'a_3',
      'a_4',
      'step',
      'start_2',
      'a_b',
    ]);
  });
});

describe('passthrough, pick and as', () => {
  it('are operators under their own names, numbered in a chain', () => {
    const made = chain(as<'a', string>('a'), passthrough<{ a: string }>(), pick('a'), as('b'));
    expect(idsOf(made)).toEqual(['as', 'passthrough', 'pick', 'as_2']);
    for (const node of graphOf(made).nodes) expect(node.step[DEFINITION].type).toBe('operator');
  });
});
