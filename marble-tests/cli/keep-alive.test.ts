import { type Observable, of, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { keepAlive, type ObservedEnd, type ProcessEnd } from '../../src/cli/keep-alive.js';
import { marbles } from '../support/scheduler.js';

const crash: ProcessEnd = { code: null, signal: 'SIGKILL' };
const wrong: ProcessEnd = { code: 2, signal: null };

/** What is told at each virtual time, and the end. */
function told(ends$: Observable<ObservedEnd>, now: () => number, what: [number, unknown][]): void {
  ends$.subscribe({
    next: ({ pauseMs, code }) => what.push([now(), pauseMs ?? `last, ${code}`]),
    error: (error) => what.push([now(), error]),
    complete: () => what.push([now(), 'end']),
  });
}

describe('keepAlive', () => {
  it('starts again after 2, 4, 8, 16, 30 and 30 s, and after 2 s when it lived for a minute', () => {
    const what: [number, unknown][] = [];
    marbles(({ cold }, now) => {
      const lives = ['1s', '1s', '1s', '1s', '1s', '1s', '60s', '1s'];
      const open = () => cold<ProcessEnd>(`${lives.shift()} (e|)`, { e: crash });
      const ends$ = keepAlive({ open, stopped: new AbortController().signal }).pipe(take(8));
      told(ends$, now, what);
    });
    expect(what).toEqual([
      [1_000, 2_000],
      [4_000, 4_000],
      [9_000, 8_000],
      [18_000, 16_000],
      [35_000, 30_000],
      [66_000, 30_000],
      [156_000, 2_000],
      [159_000, 4_000],
      [159_000, 'end'],
    ]);
  });

  it('ends with the process once it is stopped, also after an error', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const stop = new AbortController();
      const source$ = cold<ProcessEnd>('--(e|)', { e: { code: 0, signal: null } });
      const sourceSubs = '              ^-!';
      const expected = '                --(e|)';

      cold('-s').subscribe(() => stop.abort());
      expectObservable(keepAlive({ open: () => source$, stopped: stop.signal })).toBe(expected, {
        e: { code: 0, signal: null },
      });
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('ends at once when it is stopped between two starts', () => {
    const what: [number, unknown][] = [];
    marbles(({ cold }, now) => {
      const stop = new AbortController();
      cold('1500ms s').subscribe(() => stop.abort());
      const open = () => cold<ProcessEnd>('1s (e|)', { e: crash });
      told(keepAlive({ open, stopped: stop.signal }), now, what);
    });
    expect(what).toEqual([
      [1_000, 2_000],
      [1_500, 'end'],
    ]);
  });

  it('does not repeat a call that is wrong the first time; a synchronous source', () => {
    const what: [number, unknown][] = [];
    marbles((_, now) => {
      told(keepAlive({ open: () => of(wrong), stopped: new AbortController().signal }), now, what);
    });
    expect(what).toEqual([
      [0, 'last, 2'],
      [0, 'end'],
    ]);
  });

  it('repeats a call that is wrong later, such as while the folder is still in use', () => {
    const what: [number, unknown][] = [];
    marbles(({ cold }, now) => {
      const ends = [crash, wrong, crash];
      const open = () => cold<ProcessEnd>('1s (e|)', { e: ends.shift() ?? crash });
      told(keepAlive({ open, stopped: new AbortController().signal }).pipe(take(3)), now, what);
    });
    expect(what).toEqual([
      [1_000, 2_000],
      [4_000, 4_000],
      [9_000, 8_000],
      [9_000, 'end'],
    ]);
  });

  it('passes on an error and tears down when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold<ProcessEnd>('----#');
      const never = new AbortController().signal;
      expectObservable(keepAlive({ open: () => source$, stopped: never })).toBe('----#');
      expectObservable(keepAlive({ open: () => source$, stopped: never }), '--!').toBe('---');
      expectSubscriptions(source$.subscriptions).toBe(['^---!', '^-!']);
    }));
});
