import { NEVER, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import type { LinkNews, OpenLink } from '../../web/api/feed.js';
import { returning } from '../../web/api/return-link.js';
import { marbles } from '../support/scheduler.js';

/** `o` open, digits are events. */
const NEWS: Readonly<Record<string, LinkNews>> = {
  o: { type: 'open' },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((seq) => [
      String(seq),
      { type: 'events', events: [{ type: 'node-delta', seq, run: 'r', at: 0 } as RunEvent] },
    ]),
  ),
};

/** Opens one connection after the other, and keeps where each began. */
function linkOf(connections: readonly Observable<LinkNews>[]): { readonly open: OpenLink; readonly afters: number[] } {
  const afters: number[] = [];
  const open: OpenLink = (after) => {
    afters.push(after);
    return connections[afters.length - 1] as Observable<LinkNews>;
  };
  return { open, afters };
}

describe('returning', () => {
  it('leaves a link for a better one that stands, behind what came over the first', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const other = cold('                        -o12 4999ms 3----', NEWS);
      const one = cold('                          -o4|', NEWS);
      const better = linkOf([one]);
      const result$ = returning(better.open, () => other)(0, NEVER);
      expectObservable(result$).toBe('            -o12 4996ms --4|', NEWS);
      expectSubscriptions(other.subscriptions).toBe('^ 5000ms !');
      expectSubscriptions(one.subscriptions).toBe('5s ^--!');
      flush();
      expect(better.afters).toEqual([2]);
    }));

  it('takes what comes over the first until the better one stands', () =>
    marbles(({ cold, expectObservable }) => {
      const other = cold('   -o 4999ms 1-2', NEWS);
      const better = cold('           ---o2', NEWS);
      expectObservable(
        returning(
          () => better,
          () => other,
        )(0, NEVER),
        '5006ms !',
      ).toBe('-o 4999ms 1-22', NEWS);
    }));

  it('tries a better one that does not come through again, after pauses that double', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const [first, second, third] = [cold<LinkNews>('-#'), cold<LinkNews>('-#'), cold('-o5|', NEWS)];
      const better = linkOf([first, second, third]);
      const result$ = returning(better.open, () => cold('-o1', NEWS))(0, NEVER);
      expectObservable(result$).toBe('-o1 35001ms 5|', NEWS);
      expectSubscriptions(first.subscriptions).toBe('5s ^!');
      expectSubscriptions(second.subscriptions).toBe('15001ms ^!');
      expectSubscriptions(third.subscriptions).toBe('35002ms ^--!');
      flush();
      expect(better.afters).toEqual([1, 1, 1]);
    }));

  it('fails with the better one once that stood, and with the first before', () =>
    marbles(({ cold, expectObservable }) => {
      const stood = returning(
        () => cold('-o#', NEWS),
        () => cold('-o', NEWS),
      );
      expectObservable(stood(0, NEVER)).toBe('-o 5000ms #', NEWS);
      const broken = returning(
        () => cold('-o', NEWS),
        () => cold('-o#', NEWS),
      );
      expectObservable(broken(0, NEVER)).toBe('-o#', NEWS);
    }));

  it('ends with the first, and opens nothing then', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const better = cold('-o', NEWS);
      expectObservable(
        returning(
          () => better,
          () => cold('-o1|', NEWS),
        )(0, NEVER),
      ).toBe('-o1|', NEWS);
      expectSubscriptions(better.subscriptions).toBe([]);
    }));

  it('closes both when its reader goes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const [other, better] = [cold('-o', NEWS), cold<LinkNews>('--')];
      expectObservable(
        returning(
          () => better,
          () => other,
        )(0, NEVER),
        '5010ms !',
      ).toBe('-o', NEWS);
      expectSubscriptions(other.subscriptions).toBe('^ 5009ms !');
      expectSubscriptions(better.subscriptions).toBe('5s ^ 9ms !');
    }));
});
