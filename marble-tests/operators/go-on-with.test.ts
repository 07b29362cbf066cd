import { type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { goOnWith, type SourceEnd } from '../../src/operators/go-on-with.js';
import { marbles } from '../support/scheduler.js';

describe('goOnWith', () => {
  it('goes on with another source once the first one has ended', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-b|     ');
      const sourceSubs = '  ^---!     ';
      const next$ = cold('      -c-d| ');
      const nextSubs = '    ----^---! ';
      const expected = '    -a-b-c-d| ';

      expectObservable(source$.pipe(goOnWith(() => next$))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(next$.subscriptions).toBe(nextSubs);
    }));

  it('goes on behind an error, which it tells', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const ends: SourceEnd[] = [];
      const source$ = cold('-a-#      ');
      const sourceSubs = '  ^--!      ';
      const next$ = cold('     -c|    ');
      const expected = '    -a--c|    ';

      const result$ = source$.pipe(
        goOnWith((end) => {
          ends.push(end);
          return next$;
        }),
      );
      expectObservable(result$).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      flush();
      expect(ends).toEqual([{ error: 'error' }]);
    }));

  it('ends with the source when nothing comes behind it', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a-|').pipe(goOnWith(() => undefined))).toBe('-a-|');
      expectObservable(cold('-a-#').pipe(goOnWith(() => undefined))).toBe('-a-|');
    }));

  it('fails with what the continuation throws, and with the error of what it gives', () =>
    marbles(({ cold, expectObservable }) => {
      const passedOn = cold('-a-#').pipe(
        goOnWith((end) => {
          throw end?.error;
        }),
      );
      expectObservable(passedOn).toBe('-a-#');
      expectObservable(cold('-a-|').pipe(goOnWith(() => cold('--#')))).toBe('-a---#');
    }));

  it('stops whichever is at work when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-b|     ');
      const sourceSubs = '  ^---!     ';
      const next$ = cold('      -c-d| ');
      const nextSubs = '    ----^--!  ';
      const unsub = '       -------!  ';
      const early$ = cold(' -a-b|     ');
      const earlySubs = '   ^-!       ';

      expectObservable(source$.pipe(goOnWith(() => next$)), unsub).toBe('-a-b-c');
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(next$.subscriptions).toBe(nextSubs);
      expectObservable(early$.pipe(goOnWith(() => next$)), '--!').toBe('-a');
      expectSubscriptions(early$.subscriptions).toBe(earlySubs);
    }));

  it('does the same with sources that give everything at once', () =>
    marbles(({ expectObservable }) => {
      const first$: Observable<string> = of('a', 'b');
      expectObservable(first$.pipe(goOnWith(() => of('c')))).toBe('(abc|)');
    }));
});
