import { expect, it } from 'vitest';
import { Arrivals } from '../../src/operators/arrivals.js';

/** Arrivals whose event loop is the test's. */
function setUp(most?: number) {
  const log: string[] = [];
  let pending: (() => void)[] = [];
  const arrivals = new Arrivals({ later: (resume) => pending.push(resume), ...(most && { most }) });
  const turn = () => {
    log.push('|');
    const resumed = pending;
    pending = [];
    for (const resume of resumed) resume();
  };
  const wait = (name: string) => arrivals.later(() => log.push(name));
  return { arrivals, log, turn, wait, pending: () => pending.length };
}

it('work goes on with the next turn when nothing comes, and asks for no turns when none waits', () => {
  const { arrivals, log, turn, wait, pending } = setUp();
  wait('a');
  wait('b');
  turn();
  expect(log).toEqual(['|', 'a', 'b']);
  arrivals.note();
  expect(pending()).toBe(0);
});

it('work waits for each turn in which something has come', () => {
  const { arrivals, log, turn, wait } = setUp();
  arrivals.note();
  wait('a');
  for (let at = 0; at < 3; at += 1) {
    turn();
    arrivals.note();
  }
  wait('b');
  turn();
  expect(log).not.toContain('a');
  turn();
  expect(log).toEqual(['|', '|', '|', '|', '|', 'a', 'b']);
});

it('arrivals without an end hold work for some turns only, and then work has some turns for itself', () => {
  const { arrivals, log, turn, wait } = setUp(3);
  let done = 0;
  const again = (): void => {
    done += 1;
    arrivals.later(again);
  };
  arrivals.later(again);
  const turnsOfWork: number[] = [];
  for (let at = 0; at < 80; at += 1) {
    arrivals.note();
    const before = done;
    turn();
    if (done > before) turnsOfWork.push(at);
  }
  wait('late');
  expect(turnsOfWork.slice(0, 3)).toEqual([3, 4, 5]);
  // 33 turns of work, then three are held again.
  expect(turnsOfWork.slice(32, 35)).toEqual([35, 39, 40]);
  expect(log).not.toContain('late');
});

it('refuses to hold for no turn', () => {
  expect(() => new Arrivals({ most: 0 })).toThrow(/Arrivals/);
});
