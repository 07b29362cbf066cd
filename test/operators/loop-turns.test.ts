import { expect, it } from 'vitest';
import { LoopTurns } from '../../src/operators/loop-turns.js';

/** Turns whose clock and loop are the test's: each piece takes some milliseconds, and waits for its promise in between. */
function setUp(most?: number) {
  let time = 0;
  const log: string[] = [];
  const waiting: (() => void)[] = [];
  const turns = new LoopTurns({ now: () => time, later: (resume) => waiting.push(resume), ...(most && { most }) });
  const piece = (name: string, ms: number) => async () => {
    log.push(name);
    time += ms;
    await Promise.resolve();
    await Promise.resolve();
  };
  /** What the loop does between two turns: everything that is ready. */
  const settled = async () => {
    for (let at = 0; at < 50; at += 1) await Promise.resolve();
  };
  const turn = async () => {
    await settled();
    log.push('|');
    for (const resume of waiting.splice(0)) resume();
    await settled();
  };
  return { turns, log, piece, turn, settled };
}

it('pieces that come at once begin behind each other, with a turn of the loop after each slice', async () => {
  const { turns, log, piece, turn } = setUp(1);
  for (const name of ['a', 'b', 'c', 'd', 'e']) void turns.do(piece(name, 4));
  await turn();
  await turn();
  expect(log).toEqual(['a', 'b', '|', 'c', 'd', '|', 'e']);
});

it('a piece that is longer than a slice has it alone, and as many as may are at work at once', async () => {
  const { turns, log, piece, settled, turn } = setUp();
  const free: (() => void)[] = [];
  const waits = (name: string) => async () => {
    log.push(name);
    await new Promise<void>((resolve) => free.push(resolve));
  };
  for (const name of ['a', 'b', 'c']) void turns.do(waits(name));
  await settled();
  expect(log).toEqual(['a', 'b']);
  free.shift()?.();
  await settled();
  expect(log).toEqual(['a', 'b', 'c']);
  for (const resume of free.splice(0)) resume();
  await turn();
  void turns.do(piece('long', 20));
  void turns.do(piece('next', 1));
  await settled();
  expect(log.at(-1)).toBe('long');
  await turn();
  expect(log.at(-1)).toBe('next');
});

it('a piece that fails, or is not wanted any more, lets the next one begin', async () => {
  const { turns, log, piece, turn } = setUp(1);
  const stop = new AbortController();
  const failed = turns.do(async () => {
    throw new Error('broken');
  });
  const left = turns.do(piece('left', 1), stop.signal);
  const last = turns.do(piece('last', 1));
  stop.abort(new Error('gone'));
  await expect(failed).rejects.toThrow('broken');
  await expect(left).rejects.toThrow('gone');
  await turn();
  await last;
  expect(log.filter((name) => name !== '|')).toEqual(['last']);
});

it('refuses to let none work', () => {
  expect(() => new LoopTurns({ most: 0 })).toThrow(/LoopTurns/);
});
