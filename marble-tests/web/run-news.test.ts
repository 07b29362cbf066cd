import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { type ListNews, type RunNews, runNews } from '../../web/api/run-news.js';
import { marbles } from '../support/scheduler.js';

const SAID: Readonly<Record<string, ListNews>> = { l: 'live', c: 'changed' };
const VISIBLE = { t: true, f: false };

/** Letters are live, with so many changes; digits are not. */
const NEWS: Readonly<Record<string, RunNews>> = Object.fromEntries(
  [0, 1, 2, 3].flatMap((changes) => [
    ['ABCD'[changes] as string, { isLive: true, changes }],
    [String(changes), { isLive: false, changes }],
  ]),
);

/** Opens one connection after the other. */
function opener(connections: readonly Observable<ListNews>[]): () => Observable<ListNews> {
  let opened = 0;
  return () => {
    opened += 1;
    return connections[opened - 1] as Observable<ListNews>;
  };
}

describe('runNews', () => {
  it('tells a change at once, and together those that come within 2 s', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const link = cold('        -lccc 4s c', SAID);
      const isVisible$ = hot('   t', VISIBLE);
      const unsub = '            7s !';
      const expected = '         -AB 1999ms C 2002ms D';
      const linkSubs = '         ^ 6999ms !';
      expectObservable(
        runNews(() => link, { isVisible$ }),
        unsub,
      ).toBe(expected, NEWS);
      expectSubscriptions(link.subscriptions).toBe(linkSubs);
      expectSubscriptions(isVisible$.subscriptions).toBe(linkSubs);
    }));

  it('keeps changes until the page is looked at', () =>
    marbles(({ cold, hot, expectObservable }) => {
      const link = cold('        -l-c 2s c 2s c', SAID);
      const isVisible$ = hot('   f 9s t', VISIBLE);
      const expected = '         -A 8999ms B';
      expectObservable(
        runNews(() => link, { isVisible$ }),
        '12s !',
      ).toBe(expected, NEWS);
    }));

  it('connects again after pauses that double, and from the first when a connection stood', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const [first, second] = [cold<ListNews>('--#'), cold<ListNews>('--#')];
      const third = cold('-l--#', SAID);
      const fourth = cold('l', SAID);
      const isVisible$ = hot('   t', VISIBLE);
      const news$ = runNews(opener([first, second, third, fourth]), { isVisible$, random: () => 1 });
      const expected = '         --0 501ms 0 1000ms A--0 499ms A';
      expectObservable(news$, '3s !').toBe(expected, NEWS);
      expectSubscriptions(second.subscriptions).toBe('502ms ^-!');
      expectSubscriptions(third.subscriptions).toBe(' 1504ms ^---!');
      expectSubscriptions(fourth.subscriptions).toBe('2008ms ^ 991ms !');
    }));

  it('connects at once when it is woken', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const [first, second] = [cold<ListNews>('--#'), cold('l', SAID)];
      const wake$ = hot('        -----w');
      const isVisible$ = hot('   t', VISIBLE);
      const news$ = runNews(opener([first, second]), { isVisible$, wake$ });
      expectObservable(news$, '-------!').toBe('--0--A', NEWS);
      expectSubscriptions(second.subscriptions).toBe('-----^-!');
      expectSubscriptions(wake$.subscriptions).toBe('--^--!');
    }));

  it('takes a connection that ends for one that is lost', () =>
    marbles(({ cold, hot, expectObservable }) => {
      const link = cold('        l-|', SAID);
      const isVisible$ = hot('   t', VISIBLE);
      expectObservable(runNews(opener([link, cold('l', SAID)]), { isVisible$, random: () => 0 }), '1s !').toBe(
        'A-0 249ms A',
        NEWS,
      );
    }));

  it('leaves nothing behind', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const link = cold('        #', SAID);
      const isVisible$ = hot('   t', VISIBLE);
      const wake$ = hot('        ');
      expectObservable(
        runNews(() => link, { isVisible$, wake$ }),
        '--!',
      ).toBe('0', NEWS);
      expectSubscriptions(link.subscriptions).toBe('(^!)');
      expectSubscriptions(wake$.subscriptions).toBe('^-!');
    }));
});
