import { EMPTY, merge, NEVER, Observable, of, range, reduce, Subject, take, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { type CoalesceOptions, coalesce } from '../../src/operators/coalesce.js';
import { marbles } from '../support/scheduler.js';

/** Lower-case texts are deltas, which merge; others stand alone. */
const policy = {
  merge: (older: string, newer: string) => (/^[a-z]+$/.test(older + newer) ? older + newer : undefined),
  size: (text: string) => text.length,
  maxSize: 5,
} satisfies Partial<CoalesceOptions<string>>;

const READY = { t: true, f: false };
const VALUES = { a: 'a', b: 'b', c: 'c', d: 'd', m: 'bc', X: 'X' };

const tooSlow = (size: number) =>
  new EngineError(
    'LIMIT_REACHED',
    `A reader is too slow: ${size} would wait for it, at most 5 may; read faster, or resume later.`,
  );

describe('coalesce', () => {
  it('passes values straight through while the reader is ready', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-b-X-|', VALUES);
      const sourceSubs = '  ^------!';
      const ready$ = cold(' t-------', READY);
      const readySubs = '   ^------!';
      const expected = '    -a-b-X-|';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('merges neighbours while the reader is not ready, and keeps the order', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-bcXd------|', VALUES);
      const sourceSubs = '  ^------------!';
      const ready$ = cold(' t-f-----t-----', READY);
      const readySubs = '   ^------------!';
      const expected = '    -a------(mXd)|';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('takes the reader as not ready until it says so', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('ab--c-|', VALUES);
      const ready$ = cold(' ---t---', READY);
      const expected = '    ---oc-|';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, { o: 'ab', c: 'c' });
    }));

  it('stops emitting when the reader becomes unready within what waited', () =>
    marbles(({ cold, hot, expectObservable }) => {
      const source$ = cold('XYZ---|          ');
      const drained$ = hot('-----t--t--t-----', READY);
      const expected = '    -----X--Y--(Z|)  ';
      const full$ = new Subject<boolean>();

      const result$ = source$.pipe(
        coalesce({ ...policy, ready$: merge(drained$, full$) }),
        tap(() => full$.next(false)),
      );

      expectObservable(result$).toBe(expected);
    }));

  it('keeps order and stack when the reader toggles, and its source emits, within every value', () =>
    marbles(({ expectObservable }) => {
      const source$ = new Subject<number>();
      const ready$ = new Subject<boolean>();
      const expected = '(z|)';
      const waiting = 20_000;

      const result$ = new Observable<number>((subscriber) => {
        const subscription = source$
          .pipe(coalesce({ merge: () => undefined, maxSize: waiting, ready$ }))
          .subscribe(subscriber);
        for (let x = 0; x < waiting; x++) source$.next(x);
        ready$.next(true);
        source$.complete();
        return subscription;
      }).pipe(
        tap((x) => {
          if (x < waiting) source$.next(x + waiting);
          ready$.next(false);
          ready$.next(true);
        }),
        reduce((next, x) => (x === next ? next + 1 : Number.NaN), 0),
      );

      expectObservable(result$).toBe(expected, { z: 2 * waiting });
    }));

  it('completes, after its source, only when nothing waits', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-|        ', VALUES);
      const sourceSubs = '  ^-!        ';
      const ready$ = cold(' ------t----', READY);
      const readySubs = '   ^-----!    ';
      const expected = '    ------(a|) ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('fails at once with its source, whatever waits', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-#  ', VALUES, new Error('source'));
      const sourceSubs = '  ^-!  ';
      const ready$ = cold(' f----', READY);
      const readySubs = '   ^-!  ';
      const expected = '    --#  ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES, new Error('source'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('fails with ready$, and lets its source go', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a------', VALUES);
      const sourceSubs = '  ^--!   ';
      const ready$ = cold(' t--#   ', READY, new Error('socket'));
      const readySubs = '   ^--!   ';
      const expected = '    a--#   ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES, new Error('socket'));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('fails when more would wait than may', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('abcdXY--');
      const sourceSubs = '  ^----!  ';
      const ready$ = cold(' f-------', READY);
      const readySubs = '   ^----!  ';
      const expected = '    -----#  ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, undefined, tooSlow(6));
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('gives room back when what waited is emitted', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('VWXYZ--abcde-------------#', undefined, new Error('end'));
      const ready$ = cold(' f----(tf)--------t--------', READY);
      const expected = '    -----(VWXYZ)-----o-------#';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(
        expected,
        { V: 'V', W: 'W', X: 'X', Y: 'Y', Z: 'Z', o: 'abcde' },
        new Error('end'),
      );
    }));

  it('fails as overflow says', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('XY---');
      const ready$ = cold(' f----', READY);
      const expected = '    -#   ';
      const overflow = (waiting: number, most: number) => new Error(`${waiting} of ${most}`);

      const result$ = source$.pipe(coalesce({ merge: () => undefined, maxSize: 1, overflow, ready$ }));

      expectObservable(result$).toBe(expected, undefined, new Error('2 of 1'));
    }));

  it.each(['merge', 'size'])('fails with what %s throws', (which) =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('XY---');
      const ready$ = cold(' f----', READY);
      const expected = which === 'merge' ? '-#' : '#';
      const subs = which === 'merge' ? '^!' : '(^!)';
      const failing = {
        [which]: () => {
          throw new Error(which);
        },
      };

      const result$ = source$.pipe(coalesce({ ...policy, ready$, ...failing }));

      expectObservable(result$).toBe(expected, undefined, new Error(which));
      expectSubscriptions(source$.subscriptions).toBe(subs);
      expectSubscriptions(ready$.subscriptions).toBe(subs);
    }),
  );

  it('lets source and reader go when unsubscribed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b---', VALUES);
      const ready$ = cold(' tf----', READY);
      const unsub = '       ^--!  ';
      const expected = '    a---  ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ })), unsub).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(unsub);
      expectSubscriptions(ready$.subscriptions).toBe(unsub);
    }));

  it('stops listening to a synchronous source when unsubscribed', () => {
    const pulled: number[] = [];
    marbles(({ expectObservable }) => {
      const source$ = range(1, 1e9).pipe(tap((x) => pulled.push(x)));
      const expected = '(xy|)';

      const result$ = source$.pipe(coalesce({ merge: () => undefined, maxSize: 0, ready$: of(true) }), take(2));

      expectObservable(result$).toBe(expected, { x: 1, y: 2 });
    });
    expect(pulled).toEqual([1, 2]);
  });

  it('completes when an unready reader can never become ready again', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-c---', VALUES);
      const sourceSubs = '  ^---!   ';
      const ready$ = cold(' t-f-|   ', READY);
      const expected = '    a---|   ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$ }))).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('does not even start when the reader was never there', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a-b-|', VALUES);
      const expected = '    |    ';

      expectObservable(source$.pipe(coalesce({ ...policy, ready$: EMPTY }))).toBe(expected, VALUES);
      expectSubscriptions(source$.subscriptions).toBe([]);
    }));

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a maxSize of %s', (maxSize) => {
    expect(() => coalesce({ ...policy, ready$: NEVER, maxSize })).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(String(maxSize)) }),
    );
  });
});
