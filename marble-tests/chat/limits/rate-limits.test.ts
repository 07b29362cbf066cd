import { asyncScheduler, concat, map, merge, mergeMap, NEVER, type Observable, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createRateLimits,
  type RateCaller,
  type RateLimitsOptions,
  type RateState,
} from '../../../src/chat/limits/rate-limits.js';
import { EngineError } from '../../../src/errors.js';
import { marbles } from '../../support/scheduler.js';

const limitsOf = (options: RateLimitsOptions = {}) => createRateLimits({ now: () => asyncScheduler.now(), ...options });
const ME: RateCaller = { tenant: 't', user: 'u', session: 's' };

/** Requests of callers at times, each as its name when it passes. */
const requests = (
  limits: ReturnType<typeof limitsOf>,
  given: readonly (readonly [name: string, atMs: number, caller?: Partial<RateCaller>])[],
): Observable<string> =>
  merge(
    ...given.map(([name, atMs, caller]) =>
      timer(atMs).pipe(
        mergeMap(() => limits.admit({ ...ME, ...caller })),
        map(() => name),
      ),
    ),
  );

const refused = (most: number, what: string, why: string, seconds: number): EngineError =>
  new EngineError(
    'RATE_LIMITED',
    `Too many requests: ${most} a second are allowed for one ${what}, and ${why}. Try again in ${seconds} s.`,
  );

describe('createRateLimits', () => {
  it('lets 5 of a session pass in any second, exactly, and the others in their order when there is room', () =>
    marbles(({ expectObservable }) => {
      const given = [
        ['a', 0],
        ['b', 0],
        ['c', 500],
        ['d', 500],
        ['e', 999],
        ['f', 999],
        ['g', 999],
        ['h', 1_200],
      ] as const;
      const expected = '(ab) 496ms (cd) 495ms e(fg) 496ms (h|)';
      expectObservable(requests(limitsOf(), given)).toBe(expected);
    }));

  it('lets 10 of a user pass in any second, over all sessions', () =>
    marbles(({ expectObservable }) => {
      const names = [...'abcdefghijkl'];
      const given = names.map((name, at) => [name, at, { session: `s${at}` }] as const);
      expectObservable(requests(limitsOf(), given)).toBe('abcdefghij 990ms k(l|)');
    }));

  it('lets 1,000 of a tenant pass at once, then one each millisecond', () =>
    marbles(({ flush }) => {
      const limits = limitsOf();
      const passed: number[] = [];
      for (let at = 0; at < 1_005; at += 1) {
        limits.admit({ tenant: 't' }).subscribe(() => passed.push(asyncScheduler.now()));
      }
      flush();
      expect(passed.slice(0, 1_000).every((ms) => ms === 0)).toBe(true);
      expect(passed.slice(1_000)).toEqual([1, 2, 3, 4, 5]);
    }));

  it('keeps one session, user and tenant from waiting for another', () =>
    marbles(({ expectObservable }) => {
      const own = Array.from({ length: 6 }, (_, at) => [`${at}`, 0] as const);
      const others = [
        ['x', 0, { session: 'other' }],
        ['y', 0, { user: 'other', session: 'third' }],
        ['z', 0, { tenant: 'other' }],
      ] as const;
      expectObservable(requests(limitsOf(), [...own, ...others])).toBe('(01234xyz) 990ms (5|)');
    }));

  it('refuses the one that finds 100 in line, and says when to come back', () =>
    marbles(({ expectObservable }) => {
      const limits = limitsOf({ rates: { session: 1, user: 0, tenant: 0 } });
      const waiting$ = merge(...Array.from({ length: 101 }, () => limits.admit(ME).pipe(mergeMap(() => NEVER))));
      expectObservable(waiting$, '- 100ms !').toBe('-');
      const late$ = timer(5).pipe(mergeMap(() => limits.admit(ME)));
      expectObservable(late$).toBe('5ms #', undefined, refused(1, 'session', '100 wait already', 100));
      // Those who went away leave their places.
      expectObservable(timer(102).pipe(map(() => limits.waiting))).toBe('102ms (n|)', { n: 0 });
    }));

  it('refuses what has waited for 2 s', () =>
    marbles(({ expectObservable }) => {
      const limits = limitsOf({ rates: { session: 1 } });
      const each = Array.from({ length: 4 }, (_, at) => limits.admit(ME).pipe(map(() => `${at}`)));
      const [first, second, third, fourth] = each as [Observable<string>, ...Observable<string>[]];
      expectObservable(first).toBe('(0|)');
      expectObservable(second as Observable<string>).toBe('1s (1|)');
      // The turn of the third and the end of its time are the same moment.
      expectObservable(fourth as Observable<string>).toBe(
        '2s #',
        undefined,
        refused(1, 'session', 'it has waited for 2000 ms', 1),
      );
      expectObservable(third as Observable<string>).toBe(
        '2s #',
        undefined,
        refused(1, 'session', 'it has waited for 2000 ms', 1),
      );
    }));

  it('gives the place of one that went away to the next', () =>
    marbles(({ expectObservable }) => {
      const limits = limitsOf({ rates: { session: 1 } });
      expectObservable(limits.admit(ME).pipe(map(() => 'a'))).toBe('(a|)');
      expectObservable(limits.admit(ME).pipe(map(() => 'b')), '500ms !').toBe('-');
      expectObservable(limits.admit(ME).pipe(map(() => 'c'))).toBe('1s (c|)');
    }));

  it('moves one whose session has room into the line of its user', () =>
    marbles(({ expectObservable }) => {
      const limits = limitsOf({ rates: { session: 1, user: 2 } });
      const given = [
        ['a', 0],
        ['b', 0],
        ['c', 900, { session: 'other' }],
        ['d', 950, { session: 'third' }],
      ] as const;
      // b waits for its session until 1,000; then a has left the second of the user, whom d waits for since 950.
      expectObservable(requests(limits, given)).toBe('a 899ms c 99ms b 899ms (d|)');
    }));

  it('counts nothing where nothing is bounded', () =>
    marbles(({ expectObservable }) => {
      const limits = limitsOf({ rates: { session: 0, user: 0, tenant: 0 } });
      expectObservable(limits.admit(ME)).toBe('(p|)', { p: undefined });
      const named = limitsOf({ rates: { tenant: 0 } });
      expectObservable(concat(...Array.from({ length: 20 }, () => named.admit({ tenant: 't' })))).toBe(
        '(pppppppppppppppppppp|)',
        { p: undefined },
      );
    }));

  it('tells which rate has the least room', () =>
    marbles(({ expectObservable }) => {
      const state: RateState = { limit: 5, remaining: 4, resetSeconds: 1 };
      expectObservable(limitsOf().admit(ME)).toBe('(p|)', { p: state });
    }));

  it('lets a tenth through by itself while the shared counter is silent', () =>
    marbles(({ expectObservable }) => {
      const told: string[] = [];
      const limits = limitsOf({
        counter: { take: () => new Promise(() => {}) },
        log: { warn: (_, message) => void told.push(message) },
        rates: { session: 20, user: 0, tenant: 0 },
      });
      const given = [
        ['a', 0],
        ['b', 300],
        ['c', 301],
        ['d', 302],
      ] as const;
      // At 1,250 the counter is asked again, for 250 ms; those that passed before have left their second by then.
      expectObservable(requests(limits, given)).toBe('250ms a 49ms b 1199ms (cd|)');
      expectObservable(timer(5_000).pipe(map(() => told.length))).toBe('5s (n|)', { n: 1 });
    }));
});
