import { concat, NEVER, type Observable, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import type { BreakerState } from '../../../src/models/routing/breaker.js';
import { marbles } from '../../support/scheduler.js';
import { failure, PIECES, REQUEST, routeOf, target } from './route.js';

const busy = (status: number, retryAfterMs?: number): Observable<never> =>
  throwError(() => failure(status, retryAfterMs));

/** The error of a route "chat" that gave up. */
function gaveUp(attempts: number, reasons: Record<string, string>, retryAfterMs?: number): EngineError {
  const said = Object.entries(reasons).map(([id, reason]) => `${id}: ${reason}`);
  return new EngineError(
    'MODEL_UNAVAILABLE',
    `No model of the route "chat" answered, in ${attempts} attempts. ${said.join('; ')}. Try again later, or add targets to the route.`,
    { details: { retryAfterMs } },
  );
}

describe('a route whose targets are paused', () => {
  it('waits for the pause that ends first', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = target('a', busy(429, 9_000), NEVER);
      const b = target('b', busy(429, 4_000), cold('--x-(f|)', PIECES));
      const { route } = routeOf([a, b]);
      // Both refuse; after the jitter of 1 s the second pass waits for b.
      expectObservable(route.asModel().chat(REQUEST)).toBe('4s --x-(f|)', PIECES);
      flush();
      expect([a.asked.length, b.asked.length]).toEqual([1, 2]);
    }));

  it('skips a paused target while another one passes, and comes back to it afterwards', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const a = target('a', busy(429), cold('(xf|)', PIECES));
      const b = target('b', cold('(yf|)', PIECES));
      const { route } = routeOf([a, b]);
      const ask = () => route.asModel().chat(REQUEST);
      expectObservable(concat(ask(), timer(1_990), ask(), timer(10), ask())).toBe('(yf) 1986ms (tyf) -----(txf|)', {
        ...PIECES,
        t: 0,
      });
      flush();
      expect([a.asked.length, b.asked.length]).toEqual([2, 2]);
    }));

  it('does not wait longer than it may: the request goes to the target that opens next, or fails with the time to wait', () =>
    marbles(({ expectObservable, flush }) => {
      const a = target('a', busy(429, 60_000));
      const { route, breakers } = routeOf([a]);
      expectObservable(route.asModel().chat(REQUEST)).toBe('1s #', {}, gaveUp(1, { a: 'answered 429' }));
      flush();
      expect(breakers.of('a')).toMatchObject({ phase: 'closed', pausedUntil: 60_000 });
    }));
});

describe('a route whose targets are open', () => {
  it('asks the one that opens next, and fails when that fails', () =>
    marbles(({ expectObservable, flush }) => {
      const a = target('a', busy(503));
      const b = target('b', busy(500));
      const { route, breakers } = routeOf([a, b], { attempts: 1 });
      for (let at = 0; at < 5; at += 1) breakers.record('b', { type: 'failed', reason: 'gone' });
      timer(1_000).subscribe(() => {
        for (let at = 0; at < 5; at += 1) breakers.record('a', { type: 'failed', reason: 'gone' });
      });
      const later$ = concat(timer(2_000), route.asModel().chat(REQUEST));
      expectObservable(later$).toBe(
        '2s (t#)',
        { t: 0 },
        gaveUp(1, { a: 'its breaker is open: 5 failures in a row, the last one: gone', b: 'answered 500' }),
      );
      flush();
      expect([a.asked.length, b.asked.length]).toEqual([0, 1]);
      expect(breakers.of('b').phase).toBe('open');
    }));

  it('fails at once, without a call, when no time opens any of them', () =>
    marbles(({ expectObservable, flush }) => {
      const a = target('a', NEVER);
      const b = target('b', NEVER);
      const { route, breakers } = routeOf([a, b]);
      breakers.record('a', { type: 'key-refused' });
      breakers.record('b', { type: 'forced-open' });
      const error = gaveUp(0, {
        a: 'its breaker is open: key refused',
        b: 'its breaker is open: opened by an administrator',
      });
      expectObservable(route.asModel().chat(REQUEST)).toBe('#', {}, error);
      flush();
      expect([a.asked.length, b.asked.length]).toEqual([0, 0]);
    }));
});

describe('a probe', () => {
  /** A route whose first target opened at 0, and the answer of its probe after 5 min; what its breaker was at some times. */
  const phasesWith = (probe: Observable<never>, at: readonly number[]): (string | undefined)[] => {
    const phases: (string | undefined)[] = [];
    marbles(({ cold, flush }) => {
      const a = target('a', probe);
      const b = target('b', cold('(yf|)', PIECES));
      const { route, breakers } = routeOf([a, b]);
      for (let count = 0; count < 5; count += 1) breakers.record('a', { type: 'failed', reason: 'gone' });
      timer(300_000).subscribe(() => route.asModel().chat(REQUEST).subscribe());
      for (const ms of at) timer(ms).subscribe(() => phases.push(breakers.of('a').phase));
      flush();
      expect(a.asked).toHaveLength(1);
    });
    return phases;
  };

  it.each([
    ['is silent for 5 s', NEVER, 'open'],
    ['is refused with 503', busy(503), 'open'],
    ['is refused with 404', busy(404), 'open'],
    ['is refused with 429', busy(429), 'open'],
    ['is refused with 400: the server is there', busy(400), 'closed'],
  ])('that %s', (_, answer, phase) => {
    expect(phasesWith(answer, [299_999, 305_001])).toEqual(['open', phase]);
  });

  it('whose key is refused opens it without an end', () => {
    const states: BreakerState[] = [];
    marbles(({ flush }) => {
      const { route, breakers } = routeOf([target('a', busy(401)), target('b', NEVER)]);
      for (let count = 0; count < 5; count += 1) breakers.record('a', { type: 'failed', reason: 'gone' });
      timer(300_000).subscribe(() => route.asModel().chat(REQUEST).subscribe());
      timer(300_001).subscribe(() => states.push(breakers.of('a')));
      flush();
    });
    expect(states).toMatchObject([{ phase: 'open', reason: 'key refused' }]);
    expect(states[0]).not.toHaveProperty('until');
  });

  it('is unsubscribed when the route is closed', () =>
    marbles(({ cold, expectSubscriptions, flush }) => {
      const probed = cold('-');
      const { route, breakers } = routeOf([target('a', probed as never), target('b', NEVER)]);
      for (let count = 0; count < 5; count += 1) breakers.record('a', { type: 'failed', reason: 'gone' });
      timer(300_000).subscribe(() => route.asModel().chat(REQUEST).subscribe());
      timer(300_010).subscribe(() => route.close());
      flush();
      expectSubscriptions(probed.subscriptions).toBe('5m ^---------!');
    }));
});

describe('the bounds of a request', () => {
  it('tries all targets once more after 1 s, then 2 s, as long as it has attempts', () =>
    marbles(({ expectObservable, flush }) => {
      const a = target('a', busy(503));
      const b = target('b', busy(500));
      const { route } = routeOf([a, b], { attempts: 6 });
      expectObservable(route.asModel().chat(REQUEST)).toBe(
        '3s #',
        {},
        gaveUp(6, { a: 'answered 503', b: 'answered 500' }),
      );
      flush();
      expect([a.asked.length, b.asked.length]).toEqual([3, 3]);
    }));

  it('counts hedges as attempts', () =>
    marbles(({ expectObservable, expectSubscriptions, cold }) => {
      const a = cold('- 20s #', {}, failure(503));
      const b = cold('-');
      const { route } = routeOf([target('a', a as never), target('b', b as never)], { attempts: 1 });
      expectObservable(route.asModel().chat(REQUEST)).toBe(
        '- 20s #',
        {},
        gaveUp(1, { a: 'answered 503', b: 'not called' }),
      );
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('begins no call that would bring the request above its ceiling', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const price = { prompt: 1_000_000, completion: 0 };
      const dear = { ...target('dear', NEVER), price: { prompt: 9_000_000, completion: 0 } };
      const failing = { ...target('failing', busy(503)), price };
      const spare = { ...target('spare', cold('(xf|)', PIECES)), price };
      // The prompt "hello" counts as 2 tokens.
      const { route } = routeOf([dear, failing, spare], { maxCost: 4 });
      expectObservable(route.asModel().chat(REQUEST)).toBe('(xf|)', PIECES);
      const short = routeOf([dear, failing, spare], { maxCost: 3 });
      const above = 'a call would bring the request above its ceiling of 3';
      expectObservable(short.route.asModel().chat(REQUEST)).toBe(
        '#',
        {},
        gaveUp(1, { dear: above, failing: 'answered 503', spare: above }),
      );
      flush();
      expect([dear.asked.length, failing.asked.length, spare.asked.length]).toEqual([0, 2, 1]);
    }));

  it('starts no hedge above the ceiling', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const price = { prompt: 1_000_000, completion: 0 };
      const slow = { ...target('slow', cold('9s (xf|)', PIECES)), price };
      const other = cold('-');
      const hedge = { ...target('hedge', other as never), price };
      const { route } = routeOf([slow, hedge], { maxCost: 3 });
      expectObservable(route.asModel().chat(REQUEST)).toBe('9s (xf|)', PIECES);
      expectSubscriptions(other.subscriptions).toBe([]);
    }));
});
