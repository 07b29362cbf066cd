import { describe, expect, it } from 'vitest';
import { inTurn } from '../../src/operators/in-turn.js';
import type { LoopTurns } from '../../src/operators/loop-turns.js';
import { marbles } from '../support/scheduler.js';

/** Turns that are given by hand. */
function turnsByHand() {
  const line: (() => Promise<unknown>)[] = [];
  const turns: Pick<LoopTurns, 'do'> = {
    do: (work) => {
      line.push(work);
      return new Promise(() => {});
    },
  };
  return { turns, line, give: () => void line.shift()?.() };
}

describe('inTurn', () => {
  it('subscribes when it is its turn', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { turns, give } = turnsByHand();
      hot('                      ---x').subscribe(give);
      const source = cold('         a-b|');
      expectObservable(source.pipe(inTurn(turns))).toBe('---a-b|');
      expectSubscriptions(source.subscriptions).toBe('   ---^--!');
    }));

  it('never subscribes for one that has left before', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { turns, line, give } = turnsByHand();
      hot('                      ---x').subscribe(give);
      const source = cold('         a-b|');
      expectObservable(source.pipe(inTurn(turns)), '^-!').toBe('---');
      expectSubscriptions(source.subscriptions).toBe([]);
      hot('                      ----x').subscribe(() => expect(line).toEqual([]));
    }));

  it('leaves the source with its subscriber, and tells its error', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { turns, give } = turnsByHand();
      hot('                      -(xx)').subscribe(give);
      const [left, failing] = [cold('a-b-c'), cold('a-#')];
      expectObservable(left.pipe(inTurn(turns)), '^---!').toBe('-a-b');
      expectObservable(failing.pipe(inTurn(turns))).toBe('-a-#');
      expectSubscriptions(left.subscriptions).toBe('-^--!');
    }));

  it('subscribes at once without turns', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b|');
      expectObservable(source.pipe(inTurn(undefined))).toBe('a-b|');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));
});
