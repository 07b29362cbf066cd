import { describe, expect, it } from 'vitest';
import { Breather } from '../../src/operators/breather.js';

/** Steps until the breather wants to pause, at most `most`. */
function stepsUntilPause(breather: Breather, most = 1000): number {
  for (let steps = 1; steps <= most; steps++) if (breather.shouldYield()) return steps;
  return Number.POSITIVE_INFINITY;
}

describe('Breather', () => {
  it('looks at the clock once in 32 steps', () => {
    let looks = 0;
    const breather = new Breather({ now: () => 0 * ++looks });
    breather.begin();
    for (let steps = 0; steps < 320; steps++) breather.shouldYield();
    expect(looks).toBe(1 + 10);
  });

  it.each([
    { clock: 'stands still', times: [100, 100, 100, 100], pausesAt: Number.POSITIVE_INFINITY },
    { clock: 'has moved by less', times: [100, 107, 107, 107], pausesAt: Number.POSITIVE_INFINITY },
    { clock: 'reaches the slice at the second look', times: [100, 104, 108], pausesAt: 64 },
    { clock: 'was set back', times: [100, 50], pausesAt: 32 },
  ])('asks for a pause when due: the clock $clock', ({ times, pausesAt }) => {
    let look = 0;
    const breather = new Breather({ yieldEveryMs: 8, now: () => times[Math.min(look++, times.length - 1)] as number });
    breather.begin();
    expect(stepsUntilPause(breather)).toBe(pausesAt);
  });

  it('asks for a pause at the 256th asynchronous step, whatever the clock says, and then counts anew', () => {
    const breather = new Breather({
      now: () => 0,
      yieldTo: (resume) => {
        resume();
        return () => {};
      },
    });
    for (const round of [1, 2]) {
      for (let steps = 1; steps < 256; steps++) breather.asyncStep();
      breather.begin();
      expect([round, breather.shouldYield()]).toEqual([round, false]);
      breather.asyncStep();
      expect([round, breather.shouldYield()]).toEqual([round, true]);
      breather.yieldThen(() => {});
    }
  });

  it('never asks when yieldEveryMs is Infinity', () => {
    let now = 0;
    const breather = new Breather({
      yieldEveryMs: Number.POSITIVE_INFINITY,
      now: () => {
        now -= 1e6;
        return now;
      },
    });
    for (let steps = 0; steps < 1000; steps++) breather.asyncStep();
    breather.begin();
    expect(stepsUntilPause(breather)).toBe(Number.POSITIVE_INFINITY);
  });

  it('resumes once, and not at all after stop, however careless yieldTo is', () => {
    const resumes: (() => void)[] = [];
    let resumed = 0;
    let calledOff = 0;
    const breather = new Breather({
      yieldTo: (resume) => {
        resumes.push(resume);
        return () => {
          calledOff += 1;
        };
      },
    });
    const count = () => {
      resumed += 1;
    };
    breather.yieldThen(count);
    expect(breather.isPaused).toBe(true);
    resumes[0]?.();
    resumes[0]?.();
    expect([resumed, breather.isPaused]).toEqual([1, false]);
    breather.yieldThen(count);
    breather.stop();
    resumes[1]?.();
    expect([resumed, calledOff, breather.isPaused]).toEqual([1, 1, false]);
  });
});
