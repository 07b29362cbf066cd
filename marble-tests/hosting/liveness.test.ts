import { map, NEVER, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { heartbeat, quietFor } from '../../src/hosting/liveness.js';
import { marbles } from '../support/scheduler.js';

const COUNTS = { '0': 0, '1': 1, '2': 2 };
const FLAGS = { t: true, f: false };
const SAID = { x: 0, p: 'ping', l: 'lost' };

const abandoned = (clients$: Observable<number>, graceMs: number) =>
  quietFor(clients$.pipe(map((clients) => clients > 0)), graceMs);

describe('quietFor of the clients of a run', () => {
  it('emits when the last client has been gone for the whole grace', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const clients$ = hot('1--2--1--0------', COUNTS);
      const clientsSubs = ' ^------------!';
      const expected = '   -------------(x|)';

      expectObservable(abandoned(clients$, 4)).toBe(expected, SAID);
      expectSubscriptions(clients$.subscriptions).toBe(clientsSubs);
    }));

  it('starts anew when a client comes back within the grace', () =>
    marbles(({ hot, expectObservable }) => {
      const clients$ = hot('1--0--1--0------', COUNTS);
      const expected = '   -------------(x|)';

      expectObservable(abandoned(clients$, 4)).toBe(expected, SAID);
    }));

  it('counts from the start when no client ever came', () =>
    marbles(({ hot, expectObservable }) => {
      const clients$ = hot('0-----', COUNTS);
      const expected = '   ----(x|)';

      expectObservable(abandoned(clients$, 4)).toBe(expected, SAID);
    }));

  it('lets its timer go with its subscriber', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const clients$ = hot('0---------', COUNTS);
      const unsub = '      --!';
      const clientsSubs = ' ^-!';
      const expected = '   ---';

      expectObservable(abandoned(clients$, 4), unsub).toBe(expected, SAID);
      expectSubscriptions(clients$.subscriptions).toBe(clientsSubs);
    }));

  it('passes on a failure of its source', () =>
    marbles(({ cold, expectObservable }) => {
      const clients$ = cold('1-0-#', COUNTS);
      const expected = '     ----#';

      expectObservable(abandoned(clients$, 4)).toBe(expected, SAID);
    }));
});

describe('quietFor of a reader', () => {
  it('emits after the whole time without readiness, and not before', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const ready$ = hot('t-f--t-f-----', FLAGS);
      const readySubs = ' ^----------!';
      const expected = '  -----------(x|)';

      expectObservable(quietFor(ready$, 4)).toBe(expected, SAID);
      expectSubscriptions(ready$.subscriptions).toBe(readySubs);
    }));

  it('never emits for a client that takes everything', () =>
    marbles(({ hot, expectObservable }) => {
      const ready$ = hot('t------------', FLAGS);
      const expected = '  -------------';

      expectObservable(quietFor(ready$, 4)).toBe(expected, SAID);
    }));
});

describe('heartbeat', () => {
  it('pings while there are signs of life', () =>
    marbles(({ hot, expectObservable }) => {
      const alive$ = hot('----a----a----a--');
      const unsub = '     ----------------!';
      // Each sign starts the rhythm anew: one ping for one sign.
      const expected = '  ---p---p----p----';

      expectObservable(heartbeat(alive$, 3), unsub).toBe(expected, SAID);
    }));

  it('gives a client up after two pings without a sign', () =>
    marbles(({ expectObservable }) => {
      const expected = '---p--p--(l|)';

      expectObservable(heartbeat(NEVER, 3)).toBe(expected, SAID);
    }));

  it('forgets a missed ping at the next sign', () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const alive$ = hot('-------a-----------');
      const aliveSubs = ' ^---------------!';
      const expected = '  ---p--p---p--p--(l|)';

      expectObservable(heartbeat(alive$, 3)).toBe(expected, SAID);
      expectSubscriptions(alive$.subscriptions).toBe(aliveSubs);
    }));
});

describe('quietFor of work', () => {
  it('emits when nothing has been going on for the whole time', () =>
    marbles(({ hot, expectObservable }) => {
      const busy$ = hot('f--t-----f----', FLAGS);
      const expected = ' -------------(x|)';

      expectObservable(quietFor(busy$, 4)).toBe(expected, SAID);
    }));

  it('takes a repeated false for activity', () =>
    marbles(({ hot, expectObservable }) => {
      const busy$ = hot('f--f--f-------', FLAGS);
      const expected = ' ----------(x|)';

      expectObservable(quietFor(busy$, 4)).toBe(expected, SAID);
    }));
});

it('never waits for real time', () => {
  expect(() =>
    marbles(({ expectObservable }) =>
      expectObservable(heartbeat(NEVER, 60_000)).toBe('60s p 59999ms p 59999ms (l|)', SAID),
    ),
  ).not.toThrow();
});
