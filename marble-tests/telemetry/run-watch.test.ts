import { of, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { NO_USAGE } from '../../src/graph/state.js';
import { type RunWatch, watchedBy } from '../../src/telemetry/run-watch.js';
import { marbles } from '../support/scheduler.js';

const event = (seq: number): RunEvent => ({
  type: 'run-cancelled',
  run: 'r',
  seq,
  at: 0,
  elapsedMs: 0,
  input: {},
  usage: NO_USAGE,
});
const events = { a: event(1), b: event(2), c: event(3) };

/** A watch that remembers; it throws at the event with the number `brokenAt`. */
function remembering(brokenAt = 0): RunWatch & { readonly said: string[] } {
  const said: string[] = [];
  return {
    said,
    event({ seq }) {
      said.push(`watch ${seq}`);
      if (seq === brokenAt) throw new Error('broken');
    },
    close: () => void said.push('close'),
  };
}

describe('watchedBy', () => {
  it('hears every event, and the end once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const watch = remembering();
      const source = cold('                       --a--b--c|', events);
      expectObservable(source.pipe(watchedBy(watch))).toBe('--a--b--c|', events);
      expectSubscriptions(source.subscriptions).toBe('     ^--------!');
      flush();
      expect(watch.said).toEqual(['watch 1', 'watch 2', 'watch 3', 'close']);
    }));

  it('passes an error of the run, and closes', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const watch = remembering();
      expectObservable(cold('--a--#', events).pipe(watchedBy(watch))).toBe('--a--#', events);
      flush();
      expect(watch.said).toEqual(['watch 1', 'close']);
    }));

  it('disturbs no run when it breaks, is not asked again, and is closed all the same', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const watch = remembering(2);
      expectObservable(cold('--a--b--c|', events).pipe(watchedBy(watch))).toBe('--a--b--c|', events);
      flush();
      expect(watch.said).toEqual(['watch 1', 'watch 2', 'close']);
    }));

  it('closes when nobody wants the rest', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const watch = remembering();
      const source = cold('                       --a--b--c|', events);
      expectObservable(source.pipe(watchedBy(watch)), '^---!').toBe('--a--', events);
      expectSubscriptions(source.subscriptions).toBe('     ^---!');
      flush();
      expect(watch.said).toEqual(['watch 1', 'close']);
    }));

  it('hears an event before anybody behind it, of a run that says everything at once too', () =>
    marbles(({ expectObservable, flush }) => {
      const watch = remembering();
      const behind = tap(({ seq }: RunEvent) => watch.said.push(`behind ${seq}`));
      expectObservable(of(events.a, events.b).pipe(watchedBy(watch), behind)).toBe('(ab|)', events);
      flush();
      expect(watch.said).toEqual(['watch 1', 'behind 1', 'watch 2', 'behind 2', 'close']);
    }));
});
