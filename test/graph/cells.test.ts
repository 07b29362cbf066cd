/** The persistent vector against plain arrays. */
import { describe, expect, it } from 'vitest';
import { Cells } from '../../src/graph/state.js';
import { property } from '../support/random.js';

describe('Cells', () => {
  property('behave as arrays that are copied at every fork', 500, (random) => {
    const length = random.pick([0, 1, 15, 16, 17, 255, 256, 257, 1_000]);
    const forks = [{ cells: Cells.empty<number>(length), copy: new Array<number | undefined>(length).fill(undefined) }];
    for (let move = 0; move < 200; move += 1) {
      const { cells, copy } = random.pick(forks);
      if (random.chance(0.15)) {
        forks.push({ cells: cells.fork(), copy: [...copy] });
      } else if (length > 0) {
        const at = random.int(length);
        const value = random.chance(0.1) ? undefined : move;
        cells.set(at, value);
        copy[at] = value;
      }
    }
    for (const { cells, copy } of forks) {
      expect(cells.length).toBe(length);
      expect(Array.from({ length }, (_, at) => cells.get(at))).toEqual(copy);
    }
  });

  it('has nothing outside of its length', () => {
    const cells = Cells.empty<number>(3);
    expect(cells.get(1_000)).toBeUndefined();
  });
});
