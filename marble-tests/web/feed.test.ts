import { concat, type Observable, of, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { type FeedNews, feed, type LinkNews, type OpenLink, Refusal } from '../../web/api/feed.js';
import { marbles } from '../support/scheduler.js';

const at = (seq: number, type: RunEvent['type'] = 'node-delta'): RunEvent =>
  ({ type, seq, run: 'r', at: 0 }) as RunEvent;
const came = (event: RunEvent): LinkNews => ({ type: 'events', events: [event] });
const shown = (event: RunEvent): FeedNews => ({ type: 'events', events: [event] });
const END = at(9, 'run-settled');

/** What links say: `o` open, digits are events, `e` the last one (9), `s` an early end (3). */
const IN: Readonly<Record<string, LinkNews>> = {
  o: { type: 'open' },
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((seq) => [String(seq), came(at(seq))])),
  e: came(END),
  s: came(at(3, 'run-settled')),
};

const lost = (tries: number, pauseMs: number): FeedNews => ({ type: 'link', link: { is: 'lost', tries, pauseMs } });

/** What feeds say: `c` connecting, `o` live, digits events, `s` the early end, `z` ended; `l`, `m`, `n` lost once, twice, three times. */
const OUT: Readonly<Record<string, FeedNews>> = {
  c: { type: 'link', link: { is: 'connecting' } },
  o: { type: 'link', link: { is: 'live' } },
  z: { type: 'link', link: { is: 'ended' } },
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((seq) => [String(seq), shown(at(seq))])),
  s: shown(at(3, 'run-settled')),
  l: lost(1, 250),
  m: lost(2, 500),
  n: lost(3, 1_000),
};

/** Opens one connection after the other, and keeps where each began. */
function linksOf(connections: readonly Observable<LinkNews>[]): { readonly open: OpenLink; readonly afters: number[] } {
  const afters: number[] = [];
  const open: OpenLink = (after) => {
    afters.push(after);
    return connections[afters.length - 1] as Observable<LinkNews>;
  };
  return { open, afters };
}

/** No spread: the pauses are 250, 500, 1,000 … milliseconds. */
const options = { random: () => 1 };

describe('feed', () => {
  it('gives the events to the last of the run, and closes its connection', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const one = cold('                              -o-12-s-', IN);
      expectObservable(feed([() => one], options)).toBe('co-12-(sz|)', OUT);
      expectSubscriptions(one.subscriptions).toBe('    ^-----!');
    }));

  it('says that it lost the connection, and goes on behind the last event after a pause', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { open, afters } = linksOf([cold('-o12#', IN), cold('-o-s', IN)]);
      expectObservable(feed([open], options)).toBe('co12l 249ms -o-(sz|)', OUT);
      flush();
      expect(afters).toEqual([0, 2]);
    }));

  it('goes on behind the event that its page already has', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { open, afters } = linksOf([cold('-os', IN)]);
      expectObservable(feed([open], { ...options, after: 2 })).toBe('co(sz|)', OUT);
      flush();
      expect(afters).toEqual([2]);
    }));

  it('drops numbers that came before', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(feed([() => cold('-o1121s', IN)], options)).toBe('co1-2-(sz|)', OUT);
    }));

  it('asks at once again for what is missing', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const first = cold('-o13', IN);
      const second = cold('  -o2s', IN);
      const { open, afters } = linksOf([first, second]);
      expectObservable(feed([open], options)).toBe('co1-o2(sz|)', OUT);
      expectSubscriptions(first.subscriptions).toBe('^--!');
      flush();
      expect(afters).toEqual([0, 1]);
    }));

  it('takes of events that came together those before a gap, and asks for the others', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const events = (...seqs: readonly number[]): LinkNews => ({ type: 'events', events: seqs.map((seq) => at(seq)) });
      const { open, afters } = linksOf([
        cold('-ox', { ...IN, x: events(1, 1, 2, 4) }),
        cold('-oy', { ...IN, y: events(3, 4) }),
      ]);
      expectObservable(feed([open], options)).toBe('coxoy', { ...OUT, x: events(1, 2), y: events(3, 4) });
      flush();
      expect(afters).toEqual([0, 2]);
    }));

  it('takes what comes behind events that are gone, when asking again three times gave the same', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { open, afters } = linksOf([cold('-o13', IN), cold('-o3', IN), cold('-o3', IN), cold('-o3s', IN)]);
      expectObservable(feed([open], options)).toBe('co1-o-o-o3 ', OUT);
      flush();
      expect(afters).toEqual([0, 1, 1, 1]);
    }));

  it('tries a server that is gone again after pauses that grow to ten seconds', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const gone = cold('#', IN);
      const pauses: number[] = [];
      const news$ = feed([() => gone], options).pipe(
        tap((news) => {
          if (news.type === 'link' && news.link.is === 'lost') pauses.push(news.link.pauseMs);
        }),
      );
      expectObservable(news$, '^ 40s !').toBe(
        '(cl) 246ms m 499ms n 999ms q 1999ms r 3999ms t 7999ms u 9999ms v 9999ms w',
        {
          ...OUT,
          q: lost(4, 2_000),
          r: lost(5, 4_000),
          t: lost(6, 8_000),
          u: lost(7, 10_000),
          v: lost(8, 10_000),
          w: lost(9, 10_000),
        },
      );
      expectSubscriptions(gone.subscriptions).toBe([
        '(^!)',
        '250ms (^!)',
        '750ms (^!)',
        '1750ms (^!)',
        '3750ms (^!)',
        '7750ms (^!)',
        '15750ms (^!)',
        '25750ms (^!)',
        '35750ms (^!)',
      ]);
    }));

  it('begins with short pauses again once an event came', () =>
    marbles(({ cold, expectObservable }) => {
      const { open } = linksOf([cold('#', IN), cold('#', IN), cold('o1#', IN), cold('o-', IN)]);
      expectObservable(feed([open], options), '^ 2s !').toBe('(cl) 246ms m 499ms o1l 249ms o', OUT);
    }));

  it('spreads the tries of many pages over half of a pause', () =>
    marbles(({ cold, expectObservable }) => {
      const { open } = linksOf([cold('-#', IN), cold('o-', IN)]);
      expectObservable(feed([open], { random: () => 0 }), '^ 1s !').toBe('cl 124ms o', { ...OUT, l: lost(1, 125) });
    }));

  it('tries at once when it is woken', () =>
    marbles(({ cold, hot, expectObservable }) => {
      const { open } = linksOf([cold('-#', IN), cold('o-', IN)]);
      const wake$ = hot('----w');
      expectObservable(feed([open], { ...options, wake$ }), '^ 1s !').toBe('cl--o', OUT);
    }));

  it('leaves the next try to the other link when one does not come to stand', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const socket = cold('-#', IN);
      const stream = cold('o-12s', IN);
      expectObservable(feed([() => socket, () => stream], options)).toBe('cl 249ms o-12(sz|)', OUT);
      expectSubscriptions(stream.subscriptions).toBe('251ms ^---!');
    }));

  it('tries again when the server ends before the run does', () =>
    marbles(({ cold, expectObservable }) => {
      const { open } = linksOf([cold('-o1|', IN), cold('o-', IN)]);
      expectObservable(feed([open], options), '^ 1s !').toBe('co1l 249ms o', OUT);
    }));

  it('ends with a refusal', () =>
    marbles(({ cold, expectObservable }) => {
      const refusal = new Refusal('There is no such run.');
      expectObservable(feed([() => cold('-#', IN, refusal)], options)).toBe('c#', OUT, refusal);
    }));

  it('says which events were taken, after they were', () =>
    marbles(({ cold, hot, expectObservable }) => {
      const order: string[] = [];
      const open: OpenLink = (_, seen$) => {
        expectObservable(seen$.pipe(tap((seq) => order.push(`said ${seq}`)))).toBe('--123', { 1: 1, 2: 2, 3: 3 });
        return cold('-o12s', IN);
      };
      const taken$ = feed([open], options).pipe(
        tap((news) => news.type === 'events' && order.push(`took ${news.events[0]?.seq}`)),
      );
      expectObservable(taken$).toBe('co12(sz|)', OUT);
      expectObservable(hot('-----x').pipe(tap(() => expect(order.slice(0, 2)).toEqual(['took 1', 'said 1'])))).toBe(
        '-----x',
      );
    }));

  it('closes the connection when its page goes, also in a pause', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold('-o1-2', IN);
      expectObservable(feed([() => open$], options), '^--!').toBe('co1', OUT);
      expectSubscriptions(open$.subscriptions).toBe('  ^--!');
      const lost$ = cold('-#', IN);
      expectObservable(feed([() => lost$], options), '^ 100ms !').toBe('cl', OUT);
      expectSubscriptions(lost$.subscriptions).toBe('  ^!');
    }));

  it('takes a source that says everything at once', () =>
    marbles(({ expectObservable }) => {
      const open: OpenLink = () => concat(of(IN.o as LinkNews, IN[1] as LinkNews, IN[2] as LinkNews, IN.s as LinkNews));
      expectObservable(feed([open], options)).toBe('(co12sz|)', OUT);
    }));
});
