/** Paths are compared segment by segment: one may begin with the letters of another. */
import { EMPTY, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AnyStep,
  ask,
  branch,
  chain,
  graph,
  invoke,
  loop,
  map,
  observe,
  observed,
  options,
  resumeFrom,
  type StepActivation,
  step,
} from '../../src/index.js';
import { waiting } from './support/waiting-runs.js';

const approve = (name: string) =>
  step(
    name,
    ask(z.boolean(), (n: number) => `${n}?`),
  );

/** Runs a step of each of these names inside itself, all at once. */
const runsOf = (names: readonly string[]) =>
  step('outer', (n: number, at: StepActivation) =>
    Promise.all(names.map((name, index) => invoke(approve(name), n + index, { within: at }))),
  );

it.each([
  [
    ['check', 'check', 'check_2'],
    ['check', 'check_2', 'check_2_2'],
  ],
  [
    ['check_2', 'check', 'check'],
    ['check_2', 'check', 'check_3'],
  ],
])('of runs of %j inside a step are told apart, and each gets its own answer', async (names, told) => {
  const { questions, checkpoint } = await waiting(runsOf(names), 1);
  const addresses = told.map((name, index) => `outer/${name}/${names[index]}`);
  expect(questions.map(({ address }) => address)).toEqual(addresses);
  expect(questions.map(({ question }) => question)).toEqual(['1?', '2?', '3?']);
  const [first, second, third] = addresses as [string, string, string];
  const next = await waiting(runsOf(names), resumeFrom(checkpoint, { [first]: true }));
  expect(next.questions.map(({ address }) => address)).toEqual([second, third]);
  const answers = { [second]: false, [third]: true };
  expect(await invoke(runsOf(names), resumeFrom(next.checkpoint, answers))).toEqual([true, false, true]);
});

it('of the runs themselves are those of what they contain', async () => {
  const paths: string[] = [];
  const watching = observe({ end: (_, { path }) => void paths.push(path) });
  const inner = step('inner', (n: number) => n);
  const outer = step('outer', async (n: number, at: StepActivation) => {
    await invoke(inner, n, { within: at });
    return invoke(inner, n, { within: at });
  });
  await invoke(outer, 1, { observe: [watching] });
  expect(paths).toEqual(['outer/inner/inner', 'outer/inner', 'outer/inner_2/inner', 'outer/inner_2', 'outer', '']);
});

it('of what is observed do not take in a neighbour whose name begins in the same way', async () => {
  const told: string[] = [];
  const listen = { end: (_: unknown, { path }: { readonly path: string }) => void told.push(path) };
  const part = step('part', (n: number) => n + 1);
  const unit = step('unit', chain(part, part));
  const both = chain(observed(unit, observe(listen)), unit, (n: number) => n);
  await invoke(both, 1);
  expect(told).toEqual(['unit/part', 'unit/part_2', 'unit']);
  told.length = 0;
  await invoke(both, 1, { observe: [observe.at('unit_2/part', listen)] });
  expect(told).toEqual(['unit/part', 'unit/part_2', 'unit', 'unit_2/part']);
});

it('of options hold for one step alone', async () => {
  const given: unknown[] = [];
  const part = step('part', (n: number, at: StepActivation) => {
    given.push([at.path, at.options]);
    return n;
  });
  await invoke(chain(part, part), 1, { with: [options(part, { a: 1 } as never, { at: 'part' })] });
  expect(given).toEqual([
    ['part', { a: 1 }],
    ['part_2', {}],
  ]);
});

describe('in messages', () => {
  const never = loop(
    step('more', (n: number) => n + 1),
    { until: () => false, maxRounds: 2 },
  );
  const isOdd = (n: number) => n % 2 === 1;
  it.each<[string, AnyStep, string, string]>([
    ['a loop', map(never), 'map[0]/loop', 'Loop "map[0]/loop" went round 2 times'],
    ['a list that is none', map(map((n: number) => n) as never), 'map[0]/map', '"map[0]/map" goes through a list'],
    [
      'an input',
      map(step('even', (n: number) => n, { input: z.number().multipleOf(2) })),
      'map[1]/even',
      'The input of step "map[1]/even" does not fit its schema',
    ],
    [
      'an output',
      map(
        loop(
          step('even', (n: number) => n, { output: z.number().multipleOf(2) }),
          { until: () => true, maxRounds: 1 },
        ),
      ),
      'map[1]/loop[1]/even',
      'The output of step "map[1]/loop[1]/even" does not fit its schema',
    ],
    [
      'a label',
      map(branch((n: number) => (isOdd(n) ? 'odd' : 'evn') as 'odd', { odd: (n: number) => n })),
      'map[0]/branch',
      'Branch "map[0]/branch" chose "evn"',
    ],
    [
      'a stream without chunks',
      map(
        chain(
          (n: number) => (isOdd(n) ? EMPTY : of(n)),
          (n: number) => n,
        ),
      ),
      'map[1]/step_2',
      '"map[1]/step_2" needs a value',
    ],
    [
      'values that come together',
      map(
        graph<number, number>('both', (g) => {
          const [a, b] = [g.node('a', (n: number) => n), g.node('b', (n: number) => n)];
          const sum = g.node('sum', (n: number) => n);
          g.edge(g.start, a);
          g.edge(g.start, b);
          g.edge(a, sum);
          g.edge(b, sum);
          g.edge(sum, g.end);
        }),
      ),
      'map[0]/sum',
      'Several values came together at "map[0]/sum"',
    ],
    [
      'a graph without a result',
      map(branch((n: number) => (isOdd(n) ? [] : 'even'), { even: (n: number) => n })),
      'map[1]',
      'Graph "map[1]" ended without a result',
    ],
  ])('have the number of the item and the round: %s', async (_, program, path, message) => {
    const error = await invoke(program, [2, 3]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ node: path, message: expect.stringContaining(message) });
  });

  it('are those of the outermost run', async () => {
    const outer = map(step('outer', (n: number, at: StepActivation) => invoke(map(never), [n], { within: at })));
    const error = await invoke(outer, [1]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      node: 'map[0]/outer/map/map[0]/loop',
      message: expect.stringContaining('Loop "map[0]/outer/map/map[0]/loop" went round'),
    });
  });

  it('have them where a step took too long', async () => {
    const slow = map(step('slow', () => new Promise<number>(() => {}), { timeoutMs: 1 }));
    await expect(invoke(slow, [1])).rejects.toMatchObject({
      code: 'NODE_TIMEOUT',
      message: expect.stringContaining('Node "map[0]/slow" did not finish'),
    });
  });
});
