/** How the chunks of a result become one value. */
import { from } from 'rxjs';
import { expect, it } from 'vitest';
import { branch, chain, graph, invoke, loop, map, observe, step, stream } from '../../src/index.js';

const sum = { chunks: (items: readonly number[]) => items.reduce((total, one) => total + one, 0) };
const parts = step('parts', (value: number) => from([value, value + 1]), sum);

it('is the rule of the step that gives it, alone, in a chain and in a branch', async () => {
  expect(await invoke(parts, 1)).toBe(3);
  expect(
    await invoke(
      chain((value: number) => value, parts),
      1,
    ),
  ).toBe(3);
  expect(
    await invoke(
      branch((value: number) => (value > 0 ? 'one' : 'other'), { one: parts, other: parts }),
      1,
    ),
  ).toBe(3);
});

it('is that of the step inside for those that read a graph', async () => {
  const inner = graph<number, number>('inner', (g) => {
    const made = g.node('parts', parts);
    g.edge(g.start, made);
    g.edge(made, g.end);
  });
  expect(
    await invoke(
      chain(step('unit', inner), (value: number) => value * 10),
      1,
    ),
  ).toBe(30);
});

const inGraph = graph<number, number>('inner', (g) => {
  const made = g.node('parts', parts);
  g.edge(g.start, made);
  g.edge(made, g.end);
});

it('is that of the step inside for each item of a map and each round of a loop', async () => {
  expect(await invoke(map(parts), [1, 2])).toEqual([3, 5]);
  expect(await invoke(map(inGraph), [1, 2])).toEqual([3, 5]);
  expect(await invoke(loop(parts, { until: (value) => value > 3, maxRounds: 3 }), 1)).toBe(7);
  expect(await invoke(loop(inGraph, { until: (value) => value > 3, maxRounds: 3 }), 1)).toBe(7);
});

it('is that of the item for the items of a map which has a rule for its own list', async () => {
  const lists = { chunks: (all: readonly number[][]) => all.flat() };
  expect(await invoke(step('unit', map(parts), lists), [1, 2])).toEqual([3, 5]);
});

it('is that of the step inside for the hook behind a graph', async () => {
  const seen: unknown[] = [];
  const hooked = graph<number, number>('outer', (g) => {
    const node = g.node('unit', inGraph, {
      after: (value: number) => {
        seen.push(value);
        return value;
      },
    });
    g.edge(g.start, node);
    g.edge(node, g.end);
  });
  expect(await invoke(hooked, 1)).toBe(3);
  expect(seen).toEqual([3]);
});

it('is that of the step inside for those who observe a graph, or the whole run', async () => {
  const told: (readonly [string, unknown])[] = [];
  const observer = observe({ end: (output, { path }) => void told.push([path, output]) });
  const around = chain(step('unit', inGraph), (value: number) => value);
  await invoke(around, 1, { observe: [observer] });
  expect(told.filter(([path]) => path === 'unit')).toEqual([['unit', 3]]);
  told.length = 0;
  for await (const _ of stream(
    chain((value: number) => value, parts),
    1,
    { observe: [observer] },
  ));
  expect(told.filter(([path]) => path === '')).toEqual([['', 3]]);
});
