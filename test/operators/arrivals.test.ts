import { expect, it } from 'vitest';
import { Arrivals } from '../../src/operators/arrivals.js';

/** Arrivals whose event loop is the test's. */
function setUp(most?: number) {
  const log: string[] = [];
  let pending: (() => void)[] = [];
  let time = 0;
  const arrivals = new Arrivals({
    later: (resume) => pending.push(resume),
    soon: (resume) => {
      pending.push(() => {
        time += 1;
        resume();
      });
    },
    now: () => time,
    ...(most && { most }),
  });
  const turn = () => {
    log.push('|');
    const resumed = pending;
    pending = [];
    for (const resume of resumed) resume();
  };
  const wait = (name: string) => arrivals.later(() => log.push(name));
  const pass = (ms: number) => {
    time += ms;
  };
  return { arrivals, log, turn, wait, pass, pending: () => pending.length };
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

it('work waits until what has begun is there, or has failed', async () => {
  const { arrivals, log, turn, wait } = setUp();
  let begun: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  const first = arrivals.hold(new Promise<void>((resolve) => (begun = resolve)));
  const second = arrivals.hold(new Promise<void>((_, reject) => (fail = reject)));
  wait('a');
  turn();
  begun();
  await first;
  turn();
  expect(log).not.toContain('a');
  fail(new Error('refused'));
  await expect(second).rejects.toThrow('refused');
  turn();
  expect(log).toEqual(['|', '|', '|', 'a']);
});

it('work waits for one beginning for 150 ms, and for many without an end for 200 looks', () => {
  const { arrivals, log, turn, wait } = setUp();
  void arrivals.hold(new Promise(() => {}));
  wait('a');
  // The first turn takes no time.
  for (let at = 0; at < 150; at += 1) turn();
  expect(log).not.toContain('a');
  turn();
  expect(log).toContain('a');
  wait('b');
  turn();
  for (let at = 0; at < 32; at += 1) turn();
  expect(log).toContain('b');
  wait('c');
  for (let at = 0; at < 200; at += 1) {
    void arrivals.hold(new Promise(() => {}));
    turn();
  }
  expect(log).not.toContain('c');
  turn();
  expect(log).toContain('c');
});

it('refuses to hold for no turn', () => {
  expect(() => new Arrivals({ most: 0 })).toThrow(/Arrivals/);
});

it('what is about to begin waits while more comes, and begins in one turn', async () => {
  const { arrivals, log, turn, pending } = setUp();
  const begin = (name: string) => {
    arrivals.note();
    void arrivals.gather().then(() => log.push(name));
  };
  const turned = async () => {
    turn();
    await Promise.resolve();
  };
  for (const name of ['a', 'b', 'c']) {
    begin(name);
    await turned();
  }
  expect(log).toEqual(['|', '|', '|']);
  await turned();
  expect(log).toEqual(['|', '|', '|', '|', 'a', 'b', 'c']);
  expect(pending()).toBe(0);
  void arrivals.gather().then(() => log.push('d'));
  await turned();
  expect(log.slice(-2)).toEqual(['|', 'd']);
});

it('what is about to begin waits 50 ms at most, however much comes', async () => {
  const { arrivals, turn, pass } = setUp();
  let begun = 0;
  for (let at = 0; at < 110; at += 1) {
    arrivals.note();
    void arrivals.gather().then(() => {
      begun += 1;
    });
    turn();
    await Promise.resolve();
    if (at === 49) expect(begun).toBe(0);
    if (at === 50) expect(begun).toBe(51);
    pass(1);
  }
  expect(begun).toBe(102);
});
