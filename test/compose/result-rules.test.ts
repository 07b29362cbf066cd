/** How the chunks of a result become one value. */
import { from } from 'rxjs';
import { expect, it } from 'vitest';
import { branch, chain, graph, invoke, step } from '../../src/index.js';

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
