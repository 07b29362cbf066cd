import { map, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import type { Client } from '../../web/api/client.js';
import type { FeedNews } from '../../web/api/feed.js';
import { agentRun } from '../../web/run/paths.js';
import { RunStore } from '../../web/run/run-store.js';
import { marbles } from '../support/scheduler.js';

const head = (seq: number) => ({ run: 'r', seq, at: 1_000 + seq });
const EVENTS: readonly RunEvent[] = [
  { ...head(1), type: 'run-started', input: { query: 'hi' }, resumed: false },
  { ...head(2), type: 'node-started', node: 'Message:A', token: 1, attempt: 1 },
  { ...head(3), type: 'node-delta', node: 'Message:A', token: 1, port: 'content', text: 'one ' },
  { ...head(4), type: 'node-delta', node: 'Message:A', token: 1, port: 'content', text: 'two' },
  { ...head(5), type: 'node-settled', node: 'Message:A', token: 1, outputs: { content: 'one two' }, elapsedMs: 1 },
  {
    ...head(6),
    type: 'run-settled',
    outputs: {},
    elapsedMs: 2,
    input: { query: 'hi' },
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 },
  },
];
const NEWS: Readonly<Record<string, FeedNews>> = {
  ...Object.fromEntries(
    EVENTS.map((event): [string, FeedNews] => [String(event.seq), { type: 'events', events: [event] }]),
  ),
  z: { type: 'link', link: { is: 'ended' } },
};

const storeOf = (news$: Observable<FeedNews>, client = {} as Client) =>
  new RunStore({ client, place: agentRun('a', 'r'), news$ });

/** How many events the picture has, and what was said. */
const drawn = (store: RunStore) => store.picture$.pipe(map(({ lastSeq, answer }) => `${lastSeq} ${answer.text}`));

describe('RunStore', () => {
  it('is drawn at most every 100 ms, and always as it was last', () =>
    marbles(({ cold, expectObservable }) => {
      const store = storeOf(cold('123 200ms 4 49ms (56z|)', NEWS));
      expectObservable(drawn(store)).toBe('a 99ms b 202ms c', { a: '0 ', b: '3 one ', c: '6 one two' });
      store.open();
    }));

  it('is drawn less often while it catches up, and at once when that ends', () =>
    marbles(({ cold, expectObservable }) => {
      const pieces = (from: number): FeedNews => ({
        type: 'events',
        events: Array.from({ length: 500 }, (_, at) => ({ ...EVENTS[2], ...head(from + at) }) as RunEvent),
      });
      const news = { ...NEWS, a: pieces(3), b: pieces(503), c: pieces(1_003) };
      const store = storeOf(cold('(12a) 96ms b 1099ms (cz|)', news));
      const lengths = store.picture$.pipe(map(({ lastSeq }) => lastSeq));
      expectObservable(lengths).toBe('w 99ms x 1000ms y 99ms z', { w: 0, x: 502, y: 1_002, z: 1_502 });
      store.open();
    }));

  it('gives a screen that comes late the present picture at once', () =>
    marbles(({ cold, expectObservable }) => {
      const store = storeOf(cold('123', NEWS));
      expectObservable(drawn(store), '500ms ^').toBe('500ms a', { a: '3 one ' });
      store.open();
    }));

  it('knows the run after each of its events', () =>
    marbles(({ cold, flush }) => {
      const store = storeOf(cold('(123456z|)', NEWS));
      store.open();
      flush();
      expect([0, 3, 4, 6, 99].map((seq) => store.at(seq).answer.text)).toEqual([
        '',
        'one ',
        'one two',
        'one two',
        'one two',
      ]);
      expect(store.events).toEqual(EVENTS);
      expect(store.connection).toEqual({ is: 'ended' });
    }));

  it('follows from its opening to its closing, once', () =>
    marbles(({ cold, expectSubscriptions }) => {
      const news$ = cold('1--2--3', NEWS);
      const store = storeOf(news$);
      store.open();
      store.open();
      expectSubscriptions(news$.subscriptions).toBe('^--!');
      cold('---x').subscribe(() => store.close());
    }));

  it('says why its events cannot be had', () =>
    marbles(({ cold, flush }) => {
      const store = storeOf(cold('-#', NEWS, new Error('There is no such run.')));
      store.open();
      flush();
      expect(store.connection).toMatchObject({ is: 'refused', error: { message: 'There is no such run.' } });
    }));

  it('is stopping from the wish to its last event', () =>
    marbles(({ cold, flush }) => {
      const asked: string[] = [];
      const client = {
        call: (path: string) => {
          asked.push(path);
          return new Promise(() => {});
        },
      } as unknown as Client;
      const store = storeOf(cold('(1234)--(56z|)', NEWS), client);
      const seen: string[] = [];
      store.open();
      cold('---x').subscribe(() => {
        void store.stop();
        seen.push(store.picture.status);
      });
      flush();
      seen.push(store.picture.status);
      expect(seen).toEqual(['stopping', 'succeeded']);
      expect(asked).toEqual(['/agents/a/runs/r/cancel']);
    }));
});
