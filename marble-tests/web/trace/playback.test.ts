import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { LONGEST_PAUSE_MS, PLAY_STEP_MS, play } from '../../../web/trace/playback.js';

const scheduler = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));

describe('play', () => {
  it('shows the events at the pace of the run', () => {
    scheduler().run(({ expectObservable }) => {
      const events = { first: 1, atMs: [0, 50, 150] };
      const shown$ = play(events, 1, 1);
      expectObservable(shown$).toBe('50ms b 49ms b 49ms (c|)', { b: 2, c: 3 });
    });
  });

  it('is faster by its speed', () => {
    scheduler().run(({ expectObservable }) => {
      const events = { first: 1, atMs: [0, 400, 800] };
      expectObservable(play(events, 1, 16)).toBe('50ms (c|)', { c: 3 });
    });
  });

  it('cuts pauses in which the run waited for a person', () => {
    scheduler().run(({ expectObservable }) => {
      const events = { first: 7, atMs: [0, 86_400_000] };
      const steps = LONGEST_PAUSE_MS / PLAY_STEP_MS;
      const marbles = Array.from({ length: steps - 1 }, () => `${PLAY_STEP_MS - 1}ms a`).join(' ');
      expectObservable(play(events, 7, 1)).toBe(`1ms ${marbles} ${PLAY_STEP_MS - 1}ms (b|)`, {
        a: 7,
        b: 8,
      });
    });
  });

  it('ends at once at the last event, and stops when it is left', () => {
    scheduler().run(({ expectObservable }) => {
      expectObservable(play({ first: 1, atMs: [0, 1] }, 2, 1)).toBe('50ms (a|)', { a: 2 });
      const long$ = play({ first: 1, atMs: [0, 10_000] }, 1, 1);
      expectObservable(long$, '60ms !').toBe('50ms a', { a: 1 });
    });
  });
});
