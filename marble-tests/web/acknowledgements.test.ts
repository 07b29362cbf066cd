import { concatMap, from, map, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { acknowledgements } from '../../web/api/acknowledgements.js';
import { marbles } from '../support/scheduler.js';

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);

describe('acknowledgements', () => {
  it('come at once with every 64th event, and 100 ms later with what is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a 150ms |', { a: upTo(130) });
      const taken$: Observable<number> = source$.pipe(concatMap((numbers) => from(numbers)));
      expectObservable(acknowledgements(taken$, 64)).toBe('(ab) 96ms c 50ms |', { a: 64, b: 128, c: 130 });
      expectSubscriptions(source$.subscriptions).toBe('^ 150ms !');
    }));

  it('tell a number once', () =>
    marbles(({ cold, expectObservable }) => {
      const taken$ = cold('a 150ms |', { a: upTo(64) }).pipe(concatMap((numbers) => from(numbers)));
      expectObservable(acknowledgements(taken$, 64)).toBe('a 150ms |', { a: 64 });
    }));

  it('tell the newest of few', () =>
    marbles(({ cold, expectObservable }) => {
      const taken$ = cold('abc 200ms d 200ms |').pipe(map((letter) => letter.charCodeAt(0) - 96));
      expectObservable(acknowledgements(taken$, 64)).toBe('100ms a 202ms b 100ms |', { a: 3, b: 4 });
    }));

  it('end with the events, by an error too, and let go of them', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const failing$ = cold<number>('-#');
      expectObservable(acknowledgements(failing$, 64)).toBe('-#');
      const endless$ = cold<number>('-a-', { a: 1 });
      expectObservable(acknowledgements(endless$, 64), '--!').toBe('---');
      expectSubscriptions(endless$.subscriptions).toBe('^-!');
    }));
});
