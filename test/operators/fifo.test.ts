import { describe, expect, it } from 'vitest';
import { Fifo } from '../../src/operators/fifo.js';

/** A small generator of pseudo-random numbers in [0, 1), so that a failure can be run again (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('Fifo', () => {
  it.each([1, 2, 3, 4, 5])('behaves as an array with push and shift, growing and shrinking (seed %i)', (seed) => {
    const next = random(seed);
    const fifo = new Fifo<number>();
    const model: number[] = [];
    for (let step = 0; step < 30_000; step++) {
      // Phases of growth and decline carry the head across the point of compaction many times.
      const pushes = next() < (Math.floor(step / 3000) % 2 === 0 ? 0.7 : 0.3);
      if (pushes) {
        fifo.push(step);
        model.push(step);
      } else if (model.length > 0) {
        expect(fifo.take()).toBe(model.shift());
      }
      if (step % 100 === 0 && model.length > 0) {
        fifo.replaceNewest(-step);
        model[model.length - 1] = -step;
      }
      if (fifo.size !== model.length || fifo.newest !== model.at(-1)) {
        expect({ step, size: fifo.size, newest: fifo.newest }).toEqual({
          step,
          size: model.length,
          newest: model.at(-1),
        });
      }
    }
    while (model.length > 0) expect(fifo.take()).toBe(model.shift());
    expect(fifo.size).toBe(0);
  });

  it('keeps undefined as a value like any other', () => {
    const fifo = new Fifo<number | undefined>();
    fifo.push(undefined);
    fifo.push(1);
    expect([fifo.size, fifo.take(), fifo.size, fifo.take(), fifo.size]).toEqual([2, undefined, 1, 1, 0]);
  });

  it('is empty, and usable, after clear', () => {
    const fifo = new Fifo<number>();
    fifo.push(1);
    fifo.push(2);
    fifo.take();
    fifo.clear();
    expect([fifo.size, fifo.newest]).toEqual([0, undefined]);
    fifo.push(3);
    expect(fifo.take()).toBe(3);
  });
});
