import { EMPTY, expand, filter, map, mergeMap, type Observable, of, range, Subject, take, takeUntil, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { expandQueue } from '../../src/operators/expand-queue.js';
import { marbles } from '../support/scheduler.js';

const VALUES = { a: 1, b: 2, c: 4, d: 8, u: 10, v: 20, w: 40 };

describe('expandQueue', () => {
  it('emits each value, projects it and feeds the results back', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const source$ = hot('--x----|  ', { x: 1 });
      const sourceSubs = ' ^------!  ';
      const factor$ = cold(' --c|    ', { c: 2 });
      //                       --c|
      //                         --c|
      const factorSubs = ['--^--!    ', '----^--!', '------^--!'];
      const expected = '   --a-b-c-d|';

      const result$ = source$.pipe(expandQueue((x) => (x === 8 ? EMPTY : factor$.pipe(map((c) => c * x)))));

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(factor$.subscriptions).toBe(factorSubs);
    }));

  it('expands several values side by side', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-u|       ', VALUES);
      const sourceSubs = '  ^--!       ';
      //                    ---(b|)
      //                      ---(v|)
      //                       ---(c|)
      const expected = '    a-ub-vc-(w|)';

      const project = (x: number) => (x === 4 || x === 40 ? EMPTY : cold('---(z|)', { z: 2 * x }));
      const result$ = source$.pipe(expandQueue(project));

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('with a concurrency of 1 emits a value when its turn comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-u|              ', VALUES);
      const sourceSubs = '  ^--!              ';
      //                    ---(b|)
      //                       ---(v|)
      //                          ---(c|)
      //                             ---(w|)
      const expected = '    a--u--b--v--(cw|) ';

      const project = (x: number) => (x === 4 || x === 40 ? EMPTY : cold('---(z|)', { z: 2 * x }));
      const result$ = source$.pipe(expandQueue(project, { concurrency: 1 }));

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('with a concurrency of 2 never runs a third inner', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('  (abc|)     ', VALUES);
      const inner$ = cold('   -----|     ', VALUES);
      const innerSubs = ['    ^----!     ', '^----!', '-----^----!'];
      const expected = '      (ab)-c----|';

      const result$ = source$.pipe(expandQueue(() => inner$, { concurrency: 2 }));

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('fails with its source, and lets the inners go', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a---#  ', VALUES, new Error('source'));
      const sourceSubs = '  ^---!  ';
      const inner$ = cold(' -------', VALUES);
      const innerSubs = '   ^---!  ';
      const expected = '    a---#  ';

      expectObservable(source$.pipe(expandQueue(() => inner$))).toBe(expected, VALUES, new Error('source'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('fails with an inner, and lets the source and the other inners go', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-----', VALUES);
      const sourceSubs = '  ^----!  ';
      const first$ = cold(' --------', VALUES);
      const firstSubs = '   ^----!  ';
      const second$ = cold('  ---#  ', VALUES, new Error('inner'));
      const secondSubs = '  --^--!  ';
      const expected = '    a-b--#  ';

      const result$ = source$.pipe(expandQueue((x) => (x === 1 ? first$ : second$)));

      expectObservable(result$).toBe(expected, VALUES, new Error('inner'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    }));

  it('fails with what project throws', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-----  ', VALUES);
      const sourceSubs = '  ^--!    ';
      const expected = '    a--(b#) ';

      const result$ = source$.pipe(
        expandQueue((x) => {
          if (x === 2) throw new EngineError('NODE_FAILED', 'two');
          return cold('     ---(z|) ', { z: 2 * x });
        }),
      );

      expectObservable(result$).toBe(expected, VALUES, new EngineError('NODE_FAILED', 'two'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('lets everything go when unsubscribed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a--------', VALUES);
      const inner$ = cold(' ---b-----', VALUES);
      const unsub = '       ^----!   ';
      const innerSubs = ['  ^----!   ', '---^-!'];
      const expected = '    a--b--   ';

      expectObservable(source$.pipe(expandQueue(() => inner$)), unsub).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(unsub);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('does not break the chain when the result is unsubscribed explicitly', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a--------', VALUES);
      const inner$ = cold(' ---b-----', VALUES);
      const unsub = '       ^----!   ';
      const innerSubs = ['  ^----!   ', '---^-!'];
      const expected = '    a--b--   ';

      const result$ = source$.pipe(
        mergeMap((x) => of(x)),
        expandQueue(() => inner$),
        mergeMap((x) => of(x)),
      );

      expectObservable(result$, unsub).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(unsub);
      expectSubscriptions(inner$.subscriptions).toBe(innerSubs);
    }));

  it('walks synchronous inners breadth first, in one frame', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('(a|)    ', { a: 'a' });
      const sourceSubs = '  (^!)    ';
      const expected = '    (abcdef|)';
      const children: Record<string, string[]> = { a: ['b', 'c'], b: ['d', 'e'], c: ['f'] };

      const asArrays$ = source$.pipe(expandQueue((x) => children[x] ?? []));
      const asObservables$ = cold(expected).pipe(
        take(1),
        expandQueue((x) => of(...(children[x] ?? []))),
      );

      expectObservable(asArrays$).toBe(expected);
      expectObservable(asObservables$).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('stops listening to a synchronous source when unsubscribed, however late', () => {
    const pulled: number[] = [];
    marbles(({ expectObservable }) => {
      const source$ = range(1, 1e9).pipe(tap((x) => pulled.push(x)));
      const expected = '(a|)';

      const result$ = source$.pipe(
        expandQueue(() => EMPTY),
        take(1000),
        filter((x) => x === 1000),
      );

      expectObservable(result$).toBe(expected, { a: 1000 });
    });
    expect(pulled).toHaveLength(1000);
  });

  it('stops listening to a synchronous inner when unsubscribed from within it', () => {
    const pulled: number[] = [];
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a--', VALUES);
      const sourceSubs = '  (^!)';
      const expected = '    (a|)';
      const stop$ = new Subject<void>();
      const inner$ = range(1, 1e9).pipe(
        tap((x) => {
          pulled.push(x);
          if (x === 3) stop$.next();
        }),
      );

      const result$ = source$.pipe(
        expandQueue(() => inner$),
        takeUntil(stop$),
      );

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    });
    expect(pulled).toEqual([1, 2, 3]);
  });

  it('starts nothing that project asked for while it cancelled everything', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a--', VALUES);
      const sourceSubs = '  (^!)';
      const inner$ = cold(' b--', VALUES);
      const expected = '    (a|)';
      const stop$ = new Subject<void>();

      const result$ = source$.pipe(
        expandQueue(() => {
          stop$.next();
          return inner$;
        }),
        takeUntil(stop$),
      );

      expectObservable(result$).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(inner$.subscriptions).toBe([]);
    }));

  it('agrees with expand wherever inners take time', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('  a-(bc)--d--(e|)', { a: 1, b: 2, c: 3, d: 4, e: 5 });
      const shapes = ['       |', '---|', '-(z|)', '--z--z|', '(z-z)-z|', '-z----|'];
      for (const concurrency of [1, 2, 3, Number.POSITIVE_INFINITY]) {
        // Which inner a value leads to depends on the value alone, so both operators meet the same tree.
        const project = (x: number) => {
          const shape = x > 500 ? '|' : (shapes[(x * 7) % shapes.length] ?? '|');
          return cold(shape, { z: x * 3 + 1 }).pipe(map((z, index) => z + index));
        };
        expectObservable(source$.pipe(expandQueue(project, { concurrency }))).toEqual(
          source$.pipe(expand(project, concurrency)),
        );
      }
    }));
});

describe('expandQueue, pausing', () => {
  /** A clock that is a millisecond later at every look, so that every look asks for a pause: before step 32, then every 31. */
  const pausing = (pause$: Observable<string>) => {
    let lookedAt = 0;
    return {
      yieldEveryMs: 1,
      now: () => lookedAt++,
      yieldTo: (resume: () => void) => {
        const pause = pause$.subscribe(resume);
        return () => pause.unsubscribe();
      },
    };
  };
  /** Counts to `end` in synchronous steps. */
  const countTo = (end: number) => (x: number) => (x === end ? [] : [x + 1]);

  it('lets the event loop turn, then goes on where it was', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a|       ', { a: 1 });
      const pause$ = cold(' ---(r|)  ');
      const pauseSubs = ['  ^--!     ', '---^--!'];
      const expected = '    x--y--(z|)';

      const result$ = source$.pipe(
        expandQueue(countTo(63), pausing(pause$)),
        filter((x) => x === 31 || x === 62 || x === 63),
      );

      expectObservable(result$).toBe(expected, { x: 31, y: 62, z: 63 });
      expectSubscriptions(pause$.subscriptions).toBe(pauseSubs);
    }));

  it('keeps the order of what arrives during a pause', () =>
    marbles(({ hot, cold, expectObservable }) => {
      const source$ = hot(' ab|      ', { a: 1, b: 100 });
      const pause$ = cold(' ---(r|)  ');
      const expected = '    x--(yb|) ';

      const result$ = source$.pipe(
        expandQueue((x) => (x < 32 ? [x + 1] : []), pausing(pause$)),
        filter((x) => x > 30),
      );

      expectObservable(result$).toBe(expected, { x: 31, y: 32, b: 100 });
    }));

  it('calls a pending pause off when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a------', { a: 1 });
      const pause$ = cold(' ---(r|)');
      const unsub = '       ^-!    ';
      const expected = '    x--    ';

      const result$ = source$.pipe(
        expandQueue(countTo(63), pausing(pause$)),
        filter((x) => x === 31),
      );

      expectObservable(result$, unsub).toBe(expected, { x: 31 });
      expectSubscriptions(source$.subscriptions).toBe(unsub);
      expectSubscriptions(pause$.subscriptions).toBe(unsub);
    }));

  it('fails at once when its source fails during a pause', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-#    ', { a: 1 });
      const pause$ = cold(' ---(r|)');
      const pauseSubs = '   ^-!    ';
      const expected = '    x-#    ';

      const result$ = source$.pipe(
        expandQueue(countTo(63), pausing(pause$)),
        filter((x) => x === 31),
      );

      expectObservable(result$).toBe(expected, { x: 31 });
      expectSubscriptions(pause$.subscriptions).toBe(pauseSubs);
    }));
});
