/** Runs of many synchronous steps: a flat stack, and timers that still get their turn. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { execute } from '../../src/graph/run.js';
import { passes } from './support/containers.js';
import { draw, planOfSpecs, readValue, type SpecParts } from './support/specs.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);

describe('10,000 synchronous nodes', () => {
  it.each<{ shape: string; plan: Plan; steps: number }>([
    { shape: 'in a chain', plan: draw(ids(10_000).join(' -> ')), steps: 10_000 },
    { shape: 'side by side', plan: draw(`s -> ${ids(10_000).join(' ')} -> z`), steps: 10_002 },
    { shape: 'in layers of 100', plan: layers(100, 100), steps: 10_000 },
  ])('$shape run once each', async ({ plan, steps }) => {
    const outcome = await execute(plan, { input: null });
    expect({ status: outcome.status, steps: outcome.state.step }).toEqual({ status: 'succeeded', steps });
  });
});

describe('a loop of many synchronous rounds', () => {
  const rounds = 100_000;
  const count: SpecParts = {
    activate: (at) => {
      const done = ((readValue(at, 'count@done') as number | null) ?? 0) + 1;
      return settled({ done }, { next: [done < rounds ? 'count' : 'z'] });
    },
  };
  const body = {
    rounds: 2_000,
    isParallel: false,
    isIsolated: false,
    result: ['x', 'value'],
    itemOf: () => null,
  } as const;
  it.each<{ how: string; plan: Plan; steps: number }>([
    { how: 'by edges', plan: draw('s -> count -> count z', { count }), steps: rounds + 2 },
    {
      how: 'by a body',
      plan: planOfSpecs({ box: { isContainer: true, activate: passes(body) }, x: { parent: 'box' } }),
      steps: 2_001,
    },
  ])('$how ends, and lets the event loop turn meanwhile', async ({ plan, steps }) => {
    let isOver = false;
    const over = execute(plan, { input: null }).finally(() => {
      isOver = true;
    });
    let turns = 0;
    while (!isOver) {
      await setImmediate();
      turns += 1;
    }
    expect((await over).state.step).toBe(steps);
    if (steps > rounds) expect(turns).toBeGreaterThan(2);
  });
});

/** Every node of a layer leads to three nodes of the next one. */
function layers(count: number, width: number): Plan {
  const lines = Array.from({ length: count * width }, (_, at) => {
    const layer = Math.floor(at / width);
    const next = [0, 1, 7].map((shift) => `n${(layer + 1) * width + ((at + shift) % width)}`);
    return layer === count - 1 ? `n${at}` : `n${at} -> ${next.join(' ')}`;
  });
  return draw(lines.join('\n'));
}
