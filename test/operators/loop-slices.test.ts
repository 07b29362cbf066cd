import { expect, it } from 'vitest';
import { LoopSlices } from '../../src/operators/loop-slices.js';

/** Slices whose clock and loop are the test's. */
function setUp() {
  let time = 0;
  const log: string[] = [];
  const waiting: (() => void)[] = [];
  const slices = new LoopSlices({ now: () => time, later: (resume) => waiting.push(resume) });
  /** Pieces of half a millisecond, each looking whether its slice is over. */
  const work = async (name: string, pieces: number) => {
    for (let done = 0; done < pieces; done += 1) {
      if (slices.isOver) await slices.next();
      log.push(name);
      time += 0.5;
    }
  };
  const turn = async () => {
    log.push('|');
    time += 10;
    for (const resume of waiting.splice(0)) resume();
    for (let at = 0; at < 20; at += 1) await Promise.resolve();
  };
  return { slices, log, work, turn, waiting };
}

it('works that are cut into slices have one of them together in every fourth turn', async () => {
  const { log, work, turn } = setUp();
  const both = Promise.all([work('a', 4), work('b', 3)]);
  for (let at = 0; at < 13; at += 1) await turn();
  await both;
  expect(log.join('')).toBe('|aa||||bb||||aa||||b');
});

it('asks for no turn of the loop while no work waits', async () => {
  const { slices, work, turn, waiting } = setUp();
  expect(waiting).toEqual([]);
  const done = work('a', 1);
  expect(waiting).toHaveLength(1);
  await turn();
  await done;
  expect(waiting).toEqual([]);
  expect(slices.isOver).toBe(false);
  void slices.next();
  void slices.next();
  expect(waiting).toHaveLength(1);
});
