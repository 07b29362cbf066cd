import { NEVER, of, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { mapInOrder } from '../../src/operators/map-in-order.js';
import { marbles } from '../support/scheduler.js';

const PACE = { concurrency: 2, ahead: 3 };

describe('mapInOrder', () => {
  it('works on some values at once and gives their results in order', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  abc--|');
      const a = cold('       ------(x|)');
      const b = cold('        --(y|)');
      const c = cold('           --(z|)');
      const inners: Record<string, typeof a> = { a, b, c };
      const result$ = source.pipe(mapInOrder((name) => inners[name] ?? NEVER, PACE));
      expectObservable(result$).toBe('------(xyz|)');
      expectSubscriptions(a.subscriptions).toBe('^-----!');
      expectSubscriptions(b.subscriptions).toBe('-^-!');
      expectSubscriptions(c.subscriptions).toBe('---^-!');
    }));

  it('does not run further ahead than it may', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  (abcd|)');
      const slow = cold('    ---------(x|)');
      const quick = cold('   -(y|)');
      const last = cold('             -----(z|)');
      const inners: Record<string, typeof slow> = { a: slow, d: last };
      const result$ = source.pipe(mapInOrder((name) => inners[name] ?? quick, PACE));
      expectObservable(result$).toBe('---------(xyy)(z|)');
      expectSubscriptions(last.subscriptions).toBe('---------^----!');
    }));

  it('fails with its source and with any of its work, and stops the rest', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = cold('-----(x|)');
      expectObservable(cold('a-#').pipe(mapInOrder(() => work, PACE))).toBe('--#');
      expectSubscriptions(work.subscriptions).toBe('^-!');

      const other = cold('-----(x|)');
      const broken = cold('---#');
      const result$ = cold('(ab)').pipe(mapInOrder((name) => (name === 'a' ? other : broken), PACE));
      expectObservable(result$).toBe('---#');
      expectSubscriptions(other.subscriptions).toBe('^--!');
    }));

  it('stops everything when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-----');
      const work = cold('  -----x');
      expectObservable(source.pipe(mapInOrder(() => work, PACE)), '^--!').toBe('---');
      expectSubscriptions(source.subscriptions).toBe('^--!');
      expectSubscriptions(work.subscriptions).toBe('^--!');
    }));

  it('does work that is done at once at once, whether it gives one value, several or none', () => {
    const heard: number[] = [];
    let isDone = false;
    range(0, 20_000)
      .pipe(mapInOrder((value) => (value % 2 === 0 ? of() : of(value, value)), PACE))
      .subscribe({ next: (value) => heard.push(value), complete: () => (isDone = true) });
    expect(heard).toHaveLength(20_000);
    expect(heard.slice(0, 4)).toEqual([1, 1, 3, 3]);
    expect(isDone).toBe(true);
  });
});
