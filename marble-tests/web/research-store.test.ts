import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import type { FeedNews } from '../../web/api/feed.js';
import { ResearchStore } from '../../web/research/research-store.js';
import { marbles } from '../support/scheduler.js';

const head = (seq: number) => ({ run: 'r', seq, at: 1_000 + seq, node: 'research_0', token: 1 });
const EVENTS = [
  { ...head(1), type: 'run-started', input: { query: 'hi' }, resumed: false },
  { ...head(2), type: 'node-notice', name: 'research', data: { type: 'token', content: 'one ', section: 1 } },
  { ...head(3), type: 'node-notice', name: 'research', data: { type: 'token', content: 'two', section: 1 } },
] as unknown as readonly RunEvent[];
const NEWS: Readonly<Record<string, FeedNews>> = {
  ...Object.fromEntries(
    EVENTS.map((event): [string, FeedNews] => [String(event.seq), { type: 'events', events: [event] }]),
  ),
  l: { type: 'link', link: { is: 'lost', tries: 1, pauseMs: 250 } },
  z: { type: 'link', link: { is: 'ended' } },
};

const drawn = (store: ResearchStore) => store.shown$.pipe(map(({ lastSeq, report }) => `${lastSeq} ${report}`));

describe('ResearchStore', () => {
  it('is drawn at most every 100 ms, and always as it was last', () =>
    marbles(({ cold, expectObservable }) => {
      const store = new ResearchStore(cold('12 150ms 3 49ms (z|)', NEWS));
      expectObservable(drawn(store)).toBe('a 99ms b 151ms c', { a: '0 ', b: '2 one ', c: '3 one two' });
      store.open();
    }));

  it('says how it stands with the server', () =>
    marbles(({ cold, expectObservable }) => {
      const store = new ResearchStore(cold('-l--(z|)', NEWS));
      expectObservable(store.connection$.pipe(map(({ is }) => is))).toBe('cl--e', {
        c: 'connecting',
        l: 'lost',
        e: 'ended',
      });
      store.open();
    }));

  it('follows from open to close, once', () =>
    marbles(({ cold, expectSubscriptions, flush }) => {
      const news$ = cold('1--2--3--', NEWS);
      const store = new ResearchStore(news$);
      store.open();
      store.open();
      cold('----x').subscribe(() => store.close());
      expectSubscriptions(news$.subscriptions).toBe('^---!');
      flush();
      expect(store.shown.lastSeq).toBe(2);
    }));

  it('shows that it is being stopped until its end comes, and not behind it', () =>
    marbles(({ cold, flush }) => {
      const end = { ...head(4), type: 'run-cancelled' } as unknown as RunEvent;
      const store = new ResearchStore(cold('1---x', { ...NEWS, x: { type: 'events', events: [end] } }));
      const statuses: string[] = [];
      cold('--s-t-s', {}).subscribe(() => {
        store.setStopping(true);
        statuses.push(store.shown.status);
      });
      store.open();
      flush();
      expect(statuses).toEqual(['stopping', 'stopping', 'cancelled']);
    }));
});
