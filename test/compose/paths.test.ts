/** Paths are compared segment by segment: one may begin with the letters of another. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  ask,
  chain,
  invoke,
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
