/** What is handed to steps and runs in the wrong form, as plain JavaScript does it: each is refused, and the error says where, what and what to do. */
import { from, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as runnel from '../../src/index.js';

// Wrong values are the subject, so the types are put aside.
// biome-ignore lint/suspicious/noExplicitAny: see above
const R = runnel as any;
const same = (value: unknown) => value;

/** Runs it, and gives code and message of what it failed with. */
async function failureOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (!runnel.EngineError.is(error)) return `${error}`;
    return `${error.code}: ${error.message}`;
  }
  return 'did not fail';
}

const graph = (draw: (g: never) => void, options?: unknown) => R.graph('g', draw, options);
// biome-ignore lint/suspicious/noExplicitAny: the builder is misused, too
const through = (g: any, options?: unknown, step: unknown = same) => {
  const a = g.node('a', step, options);
  g.edge(g.start, a);
  g.edge(a, g.end);
};
const run = (options: unknown) => () => R.invoke(same, 1, options);
const asking = (questions: (at: never) => unknown) => () =>
  R.invoke(
    R.step('s', (_: unknown, at: never) => questions(at)),
    1,
  );

describe('options of a run', () => {
  it.each([
    [
      'no signal',
      run({ signal: 'stop' }),
      'run: "signal" must be an AbortSignal, such as controller.signal; received "stop".',
    ],
    ['a controller', run({ signal: new AbortController() }), 'received an object of the class AbortController.'],
    [
      'one observer in place of a list',
      run({ observe: R.observe({}) }),
      '"observe" must be a list of what observe({ … }) gives',
    ],
    ['an unknown name', run({ timeout: 5 }), 'run: there is no option "timeout". '],
    ['a misspelt name', run({ sginal: 5 }), 'Did you mean "signal"?'],
    [
      'a store without functions',
      run({ checkpoints: {} }),
      '"checkpoints" must be a store with the functions save, load and delete; received an object.',
    ],
    ['a log without functions', run({ log: {} }), '"log" must be a log with the functions snapshot, append and flush'],
    ['no Observable to cancel with', run({ cancel$: 'x' }), '"cancel$" must be an Observable; received "x".'],
    ['values that are no list', run({ values: 'x' }), '"values" must be a list of what defineValue({ … }) gives'],
    ['a rule that is no function', run({ chunks: 'x' }), '"chunks" must be a function; received "x".'],
    ['another durability', run({ durability: 'x' }), '"durability" must be "exit", "async" or "sync"; received "x".'],
    ['an id that is no text', run({ run: 5 }), '"run" must be a text that is not empty; received 5.'],
    ['a list', run([]), '"options" must be an object; received a list.'],
  ])('are refused: %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^OPTION_INVALID: run: /);
    expect(failure).toContain(message);
  });

  it('may be undefined one by one', async () => {
    expect(await R.invoke(same, 1, { signal: undefined, checkpoints: undefined, with: undefined })).toBe(1);
  });
});

describe('what a run is started with', () => {
  const chunks =
    'OPTION_INVALID: run: "chunks" must be an Observable or an AsyncIterable (a value goes to invoke or stream); received ';
  it.each([
    ['a value for collect', () => R.collect(same, 5), `${chunks}5.`],
    ['a list for collect', () => R.collect(same, [1]), `${chunks}a list.`],
    ['nothing for collect', () => R.collect(same), `${chunks}undefined.`],
    [
      'no step for transform',
      () => R.transform(undefined),
      'PLAN_INVALID: run: "step" must be a function or a step; received undefined.',
    ],
    [
      'an option in the start',
      () => R.run(same, { input: 1, log: {} }),
      'OPTION_INVALID: run: there is no "log" beside "input"; options are the third argument: run(step, { input }, { … }).',
    ],
    [
      'a start without input',
      () => R.run(same, {}),
      'OPTION_INVALID: run: "start" must be an object with "input"; received an object.',
    ],
    ['no start', () => R.run(same), 'OPTION_INVALID: run: "start" must be an object with "input"; received undefined.'],
  ])('is refused: %s', async (_, work, message) => {
    expect(await failureOf(work)).toBe(message);
  });
});

describe('what a run goes on from', () => {
  it.each([
    [
      'nothing',
      () => R.resumeFrom(null),
      'resumeFrom: "from" must be a checkpoint or the id of a stored one; received null.',
    ],
    [
      'a number',
      () => R.resumeFrom(5),
      'resumeFrom: "from" must be a checkpoint or the id of a stored one; received 5.',
    ],
    [
      'no log',
      () => R.recoverFrom(),
      'recoverFrom: "log" must be an object with the snapshot and the events of a log; received undefined.',
    ],
    [
      'a log without events',
      () => R.recoverFrom({}),
      'recoverFrom: "log" must be an object with the snapshot and the events of a log; received ',
    ],
  ])('is refused: %s', async (_, work, message) => {
    expect(await failureOf(async () => work())).toContain(`OPTION_INVALID: ${message}`);
  });

  it('is not there when its store failed, which the error says', async () => {
    const checkpoints = {
      load: async () => undefined,
      delete: async () => {},
      save: () => Promise.reject(new Error('disk full')),
    };
    expect(await failureOf(() => R.invoke(same, 1, { checkpoints }))).toBe('JOURNAL_FAILED: disk full');
  });
});

describe('what map goes through', () => {
  it('is a list', async () => {
    expect(await failureOf(() => R.invoke(R.map(same), 'ab'))).toBe(
      'INPUT_INVALID: "map" goes through a list; received "ab". Give it a list.',
    );
  });
});

describe('parts of steps', () => {
  it.each([
    [
      'options that are null',
      () => R.step('a', same, null),
      'OPTION_INVALID: a: "options" must be an object; received null.',
    ],
    ['an unknown option', () => R.step('a', same, { timeout: 5 }), 'OPTION_INVALID: a: there is no option "timeout". '],
    [
      'a schema that is text',
      () => R.step('a', same, { input: 'string' }),
      'OPTION_INVALID: a: "input" must be a Standard Schema, such as z.string(); received "string".',
    ],
    [
      'a schema that is a function',
      () => R.step('a', same, { output: same }),
      'OPTION_INVALID: a: "output" must be a Standard Schema',
    ],
    [
      'a rule that is text',
      () => R.generator('a', same, { chunks: 'join' }),
      'OPTION_INVALID: a: "chunks" must be a function; received "join".',
    ],
    [
      'a question in place of its schema',
      () => R.ask('really?'),
      'OPTION_INVALID: ask: "answer" must be a Standard Schema, such as z.string(); received "really?".',
    ],
    [
      'nothing to ask',
      () => R.ask(),
      'OPTION_INVALID: ask: "answer" must be a Standard Schema, such as z.string(); received undefined.',
    ],
    ['no key to pick', () => R.pick(), 'OPTION_INVALID: pick: "key" must be a text; received undefined.'],
    ['no key to put under', () => R.as(), 'OPTION_INVALID: as: "key" must be a text; received undefined.'],
    [
      'a number in place of options',
      () => R.map(same, 3),
      'OPTION_INVALID: map: "options" must be an object; received 3.',
    ],
    [
      'a misspelt bound of map',
      () => R.map(same, { concurency: 3 }),
      'OPTION_INVALID: map: there is no option "concurency". Did you mean "concurrency"?',
    ],
    [
      'a misspelt bound of loop',
      () => R.loop(same, { until: same, maxRound: 3 }),
      'OPTION_INVALID: loop: there is no option "maxRound". Did you mean "maxRounds"?',
    ],
    [
      'a chooser that is an object',
      () => R.branch({}, { a: same }),
      'PLAN_INVALID: branch: "choose" must be a function; received an object.',
    ],
  ])('are refused: %s', async (_, work, message) => {
    expect(await failureOf(work)).toContain(message);
  });

  it.each([
    [
      'an operator that forgets its return',
      R.operator('op', () => undefined),
      'The function of step "op" must give an Observable, as RxJS operators do; received undefined.',
    ],
    [
      'a generator that is not async',
      R.generator('gen', function* () {}),
      'The function of step "gen" must give an async iterable: async function* (chunks) { yield …; }; received an object.',
    ],
    [
      'a function of a generator that is not async',
      R.step('s', function* () {}),
      'Step "s" gave a generator that is not async; write async function*, or give a list.',
    ],
    [
      'a chooser that asks',
      R.branch((_: unknown, at: runnel.StepActivation) => at.interrupt('x'), { a: same }),
      'Branch "branch" was given a question by its chooser, which cannot ask; ask in a step before it.',
    ],
  ])('fail with NODE_PROTOCOL: %s', async (_, step, message) => {
    expect(await failureOf(() => R.invoke(step, 1))).toBe(`NODE_PROTOCOL: ${message}`);
  });

  it('say what was thrown when it says nothing itself', async () => {
    const silent = () => Promise.reject(undefined);
    expect(await failureOf(() => R.invoke(silent, 1))).toBe(
      'NODE_FAILED: undefined was thrown; throw an Error that says what failed.',
    );
  });
});

describe('several questions of one step', () => {
  it.each([
    [
      'none',
      asking((at: never) => (at as runnel.StepActivation).interruptAll([])),
      'needs a list of at least one question',
    ],
    [
      'two with one id',
      asking((at: never) => {
        const { interrupt, interruptAll } = {
          interrupt: (at as runnel.StepActivation).interrupt.bind(at),
          interruptAll: (at as runnel.StepActivation).interruptAll.bind(at),
        };
        return interruptAll([
          { id: 'a', interrupt: interrupt(1) },
          { id: 'a', interrupt: interrupt(2) },
        ]);
      }),
      'has two questions with the id "a"; give one another id',
    ],
    [
      'something else than a question',
      asking((at: never) => (at as runnel.StepActivation).interruptAll([{ id: 'a', interrupt: 'x' as never }])),
      'needs what at.interrupt(…) gives as "interrupt" of "a"',
    ],
  ])('are refused: %s', async (_, work, message) => {
    expect(await failureOf(work)).toBe(`NODE_PROTOCOL: Step "s": at.interruptAll(…) ${message}.`);
  });
});

describe('a node of tools', () => {
  it.each([
    ['no options', () => R.toolsNode('x'), '"options" must be an object; received "x".'],
    ['a list of tools alone', () => R.toolsNode([]), '"options" must be an object; received a list.'],
    ['a misspelt option', () => R.toolsNode({ tool: [] }), 'there is no option "tool". Did you mean "tools"?'],
    ['a text for unknown tools', () => R.toolsNode({ unknownTool: 'x' }), '"unknownTool" must be a function'],
    ['a text for arguments', () => R.toolsNode({ prepareArguments: 'x' }), '"prepareArguments" must be a function'],
    ['a text for errors', () => R.toolsNode({ errorsAsText: 'x' }), '"errorsAsText" must be a function'],
    ['a text for the repair', () => R.toolsNode({ repair: 'x' }), '"repair" must be true or false; received "x".'],
    ['a list of aliases', () => R.toolsNode({ aliases: [] }), '"aliases" must be an object of aliases'],
  ])('refuses %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^OPTION_INVALID: toolsNode/);
    expect(failure).toContain(message);
  });
});

describe('steps inside each other', () => {
  // biome-ignore lint/suspicious/noExplicitAny: what is wrapped does not matter
  const inGraph = (step: any) => R.graph('g', (g: any) => through(g, {}, step));
  it.each([
    ['graphs', inGraph],
    ['maps', (step: unknown) => R.map(step)],
    ['loops', (step: unknown) => R.loop(step, { until: () => true, maxRounds: 1 })],
    ['parallels', (step: unknown) => R.parallel({ a: step })],
  ])('are refused when they are more than 200 %s', async (_, wrap) => {
    let step: unknown = same;
    for (let depth = 0; depth < 200; depth += 1) step = wrap(step);
    expect(await failureOf(() => wrap(step))).toMatch(
      /^PLAN_INVALID: "\w+" holds more than 200 graphs, maps or loops inside each other\. Put steps into one chain/,
    );
  });

  it('run when they are 200, observed and with chunks, and can be described', async () => {
    let step: unknown = R.step('x', (n: number) => from([n, n + 1]));
    for (let depth = 0; depth < 200; depth += 1) step = inGraph(step);
    const told: string[] = [];
    const watching = R.observe({ startChunks: () => {}, end: (_: unknown, { path }: never) => void told.push(path) });
    expect(await R.invoke(step, 1, { observe: [watching] })).toBe(2);
    // The outermost graph is the run itself.
    expect(told).toHaveLength(201);
    expect(JSON.stringify(R.describe(step)).length).toBeGreaterThan(1_000);
  });
});

describe('parts of graphs', () => {
  it.each([
    [
      'an edge to the start',
      (g: never) => {
        const { start } = g as { start: unknown };
        R2(g).edge(R2(g).node('a', same), start);
      },
      undefined,
      'PLAN_INVALID: Graph "g": an edge from "a" cannot lead to the start. Lead it to a node.',
    ],
    [
      'an edge from the end',
      (g: never) => R2(g).edge(R2(g).end, R2(g).node('a', same)),
      undefined,
      'PLAN_INVALID: Graph "g": an edge to "a" cannot come from the end. Begin it at a node.',
    ],
    [
      'a branch without routes',
      (g: never) => R2(g).branch(R2(g).start, {}, same),
      undefined,
      'PLAN_INVALID: Graph "g": the branch at "start" needs an object with at least one route; received an empty object.',
    ],
    [
      'a join without parts',
      (g: never) => R2(g).join({}, R2(g).end),
      undefined,
      'PLAN_INVALID: Graph "g": the join at "end" needs an object with at least one part; received an empty object.',
    ],
    [
      'a hook that is text',
      (g: never) => through(g, { before: 'x' }),
      undefined,
      'OPTION_INVALID: Graph "g", node "a": "before" must be a function; received "x".',
    ],
    [
      'a misspelt hook',
      (g: never) => through(g, { befor: same }),
      undefined,
      'Graph "g", node "a": there is no option "befor". Did you mean "before"?',
    ],
    [
      'one id in place of a list',
      (g: never) => through(g),
      { interruptBefore: 'a' },
      'OPTION_INVALID: Graph "g": "interruptBefore" must be a list of ids of its nodes; received "a".',
    ],
    [
      'a state that is none',
      (g: never) => through(g),
      { state: () => 1 },
      'OPTION_INVALID: Graph "g": "state" must be what defineState(…) gives, or a list of it; received a function.',
    ],
    [
      'options that are text',
      (g: never) => through(g),
      'x',
      'OPTION_INVALID: Graph "g": "options" must be an object; received "x".',
    ],
  ] as const)('are refused: %s', async (_, draw, options, message) => {
    expect(await failureOf(() => graph(draw as never, options))).toContain(message);
  });

  it('are refused in a workflow: an order that is no list', async () => {
    const work = () =>
      R.workflow('w', (input: unknown, w: never) => {
        const a = R2(w).node('a', same, input);
        R2(w).node('b', same, input, { after: a });
      });
    expect(await failureOf(work)).toContain(
      'OPTION_INVALID: Workflow "w", node "b": "after" must be a list of references',
    );
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a builder without its types
function R2(builder: never): any {
  return builder;
}

describe('what looks odd and is allowed', () => {
  it('a step whose options are undefined one by one', async () => {
    expect(await R.invoke(R.step('a', same, { input: undefined, timeoutMs: undefined }), 1)).toBe(1);
  });
  it('an operator that gives an async iterable', async () => {
    const twice = R.operator('twice', async function* () {
      yield 1;
      yield 2;
    });
    expect(await lastValueFrom(from([1]).pipe(R.transform(twice)))).toBe(2);
  });
});
