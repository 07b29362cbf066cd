import { map, NEVER, type Observable, of, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import type { LinkNews, OpenLink } from '../../web/api/feed.js';
import { openAhead } from '../../web/api/open-ahead.js';
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

/** A link whose connections are these, one after the other, and what it was opened with. */
function linkOf(connections: readonly Observable<LinkNews>[]) {
  const afters: number[] = [];
  const seen: number[] = [];
  const open: OpenLink = (after, seen$) => {
    seen$.subscribe((seq) => seen.push(seq));
    afters.push(after);
    return connections[afters.length - 1] as Observable<LinkNews>;
  };
  return { open, afters, seen };
}

describe('openAhead', () => {
  it('opens at once, and gives its reader what came before, then what comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('                 -o1-2-------3-4|', NEWS);
      const result$ = openAhead(linkOf([first]).open)(0, NEVER);
      expectObservable(result$, '          ------^').toBe('------(o12)-3-4|', NEWS);
      expectSubscriptions(first.subscriptions).toBe('^--------------!');
    }));

  it('gives its reader an error that comes later, and another connection where the error came before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const [late, early, own] = [cold('-o----#', NEWS), cold('-o#', NEWS), cold('-o1|', NEWS)];
      expectObservable(openAhead(linkOf([late]).open)(0, NEVER), '      ---^').toBe('---o--#', NEWS);
      expectObservable(openAhead(linkOf([early, own]).open)(0, NEVER), '---^').toBe('----o1|', NEWS);
      expectSubscriptions(late.subscriptions).toBe('                              ^-----!');
      expectSubscriptions(early.subscriptions).toBe('                             ^-!');
    }));

  it('is closed by its reader', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('                                                 -o-1-------2', NEWS);
      expectObservable(openAhead(linkOf([first]).open)(0, NEVER), '-----^---!').toBe('-----(o1)', NEWS);
      expectSubscriptions(first.subscriptions).toBe('                       ^--------!');
    }));

  it('gives a reader what comes at once', () =>
    marbles(({ expectObservable }) => {
      const result$ = openAhead(linkOf([of(NEWS.o as LinkNews, NEWS[1] as LinkNews)]).open)(0, NEVER);
      expectObservable(result$, '--^').toBe('--(o1|)', NEWS);
    }));

  it('tells the server what its reader took, and nothing before', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { open, seen, afters } = linkOf([cold('-o12', NEWS)]);
      const result$ = openAhead(open)(0, cold('-a-b', { a: 1, b: 2 }));
      expectObservable(result$, '-----^').toBe('-----(o12)', NEWS);
      flush();
      expect([afters, seen]).toEqual([[0], [1, 2]]);
    }));

  it('is left after 20 s without a reader, and the next one gets a connection of its own', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const [first, second] = [cold('-o1', NEWS), cold('-o1|', NEWS)];
      const { open, afters } = linkOf([first, second]);
      expectObservable(openAhead(open)(0, NEVER), '21s ^').toBe('21s -o1|', NEWS);
      expectSubscriptions(first.subscriptions).toBe('^ 19999ms !');
      expectSubscriptions(second.subscriptions).toBe('21s ^--!');
      flush();
      expect(afters).toEqual([0, 0]);
    }));

  it('stays open for its reader', () =>
    marbles(({ cold, expectObservable }) => {
      const result$ = openAhead(linkOf([cold('-o 20s 1', NEWS)]).open)(0, NEVER);
      expectObservable(result$, '---^').toBe('---o 19998ms 1', NEWS);
    }));

  it('gives connections of their own to readers behind an event, and to a second one', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const connections = [cold('-o1', NEWS), cold('-o3|', NEWS), cold('-o1|', NEWS)] as const;
      const { open, afters } = linkOf(connections);
      const ahead = openAhead(open);
      expectObservable(ahead(2, NEVER), '  -^').toBe('      --o3|', NEWS);
      expectObservable(ahead(0, NEVER), '  ------^--!').toBe('------(o1)', NEWS);
      expectObservable(ahead(0, NEVER), '  -------^').toBe('--------o1|', NEWS);
      expectSubscriptions(connections[0].subscriptions).toBe('^--------!');
      flush();
      expect(afters).toEqual([0, 2, 0]);
    }));

  it('does not keep more than a server sends ahead', () =>
    marbles(({ cold, expectObservable }) => {
      const many = range(0, 10_001).pipe(map(() => NEWS[1] as LinkNews));
      const { open } = linkOf([many, cold('-o1|', NEWS)]);
      expectObservable(openAhead(open)(0, NEVER), '-^').toBe('--o1|', NEWS);
    }));
});
