import { EMPTY, ignoreElements, map, mergeMap, type Observable, of, range, take, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { route } from '../../src/operators/route.js';
import { marbles } from '../support/scheduler.js';

const VALUES = { a: 1, b: 2, c: 3, d: 4 };
const RESULTS = { ...VALUES, B: 'even 2', D: 'even 4' };
const isEven = (x: number): boolean => x % 2 === 0;

describe('route', () => {
  it('sends each value down one of two streams and merges them, over one subscription', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-b-c-d-|', VALUES);
      const sourceSubs = '  ^--------!';
      const expected = '    -a-B-c-D-|';

      const result$ = source$.pipe(
        route(isEven, { matched: (even$) => even$.pipe(map((x) => `even ${x}`)), rest: (odd$) => odd$ }),
      );

      expectObservable(result$).toBe(expected, RESULTS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('waits for both routes before it completes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b|    ', VALUES);
      const sourceSubs = '  ^--!    ';
      const inner$ = cold('   ---B| ', RESULTS);
      const innerSubs = '   --^---! ';
      const expected = '    a----B| ';

      const result$ = source$.pipe(
        route(isEven, { matched: (even$) => even$.pipe(mergeMap(() => inner$)), rest: (odd$) => odd$ }),
      );

      expectObservable(result$).toBe(expected, RESULTS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('fails with its source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-#', VALUES, new Error('source'));
      const sourceSubs = '  ^---!';
      const expected = '    a-b-#';

      const result$ = source$.pipe(route(isEven, { matched: (even$) => even$, rest: (odd$) => odd$ }));

      expectObservable(result$).toBe(expected, RESULTS, new Error('source'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('fails with either route, and lets the source and the other go', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b------', VALUES);
      const sourceSubs = '  ^---!    ';
      const failing$ = cold(' --#    ', VALUES, new Error('inner'));
      const failingSubs = ' --^-!    ';
      const other$ = cold(' ---------', VALUES);
      const otherSubs = '   ^---!    ';
      const expected = '    ----#    ';

      const result$ = source$.pipe(
        route(isEven, {
          matched: (even$) => even$.pipe(mergeMap(() => failing$)),
          rest: (odd$) => odd$.pipe(mergeMap(() => other$)),
        }),
      );

      expectObservable(result$).toBe(expected, RESULTS, new Error('inner'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(failing$.subscriptions).toBe(failingSubs);
      expectSubscriptions(other$.subscriptions).toBe(otherSubs);
    }));

  it('fails with what the predicate throws', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-c', VALUES);
      const sourceSubs = '  ^-!  ';
      const expected = '    a-#  ';
      const isOdd = (x: number): boolean => {
        if (x === 2) throw new Error('two');
        return true;
      };

      const result$ = source$.pipe(route(isOdd, { matched: (odd$) => odd$, rest: () => EMPTY }));

      expectObservable(result$).toBe(expected, RESULTS, new Error('two'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('lets its source and what the routes started go when unsubscribed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b------', VALUES);
      const unsub = '       ^---!    ';
      const inner$ = cold('   -------', VALUES);
      const innerSubs = '   --^-!    ';
      const expected = '    a----    ';

      const result$ = source$.pipe(
        route(isEven, { matched: (even$) => even$.pipe(mergeMap(() => inner$)), rest: (odd$) => odd$ }),
      );

      expectObservable(result$, unsub).toBe(expected, RESULTS);
      expectSubscriptions(source$.subscriptions).toBe(unsub);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('keeps the order of a synchronous source', () =>
    marbles(({ expectObservable }) => {
      const expected = '(aBcD|)';

      const result$ = of(1, 2, 3, 4).pipe(
        route(isEven, { matched: (even$) => even$.pipe(map((x) => `even ${x}`)), rest: (odd$) => odd$ }),
      );

      expectObservable(result$).toBe(expected, RESULTS);
    }));

  it('stops listening to a synchronous source when unsubscribed', () => {
    const pulled: number[] = [];
    marbles(({ expectObservable }) => {
      const source$ = range(1, 1e9).pipe(tap((x) => pulled.push(x)));
      const expected = '(bd|)';

      const result$ = source$.pipe(
        route(isEven, { matched: (even$) => even$, rest: (odd$) => odd$.pipe(ignoreElements()) }),
        take(2),
      );

      expectObservable(result$).toBe(expected, RESULTS);
    });
    expect(pulled).toEqual([1, 2, 3, 4]);
  });

  it('goes on when one route has completed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-c-d-|', VALUES);
      const sourceSubs = '  ^-------!';
      const expected = '    a-b---d-|';

      const result$ = source$.pipe(route(isEven, { matched: (even$) => even$, rest: (odd$) => odd$.pipe(take(1)) }));

      expectObservable(result$).toBe(expected, RESULTS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('narrows what each route receives', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold<string | number>('tn|', { t: 'ab', n: 2 });
      const expected = '                     tn|';

      const result$: Observable<string> = source$.pipe(
        route((x) => typeof x === 'string', {
          matched: (texts$) => texts$.pipe(map((text) => text.toUpperCase())),
          rest: (numbers$) => numbers$.pipe(map((number) => number.toFixed(1))),
        }),
      );

      expectObservable(result$).toBe(expected, { t: 'AB', n: '2.0' });
    }));
});
