import { map, mergeMap, type Observable, of, range, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { decideOnPrefix } from '../../src/operators/decide-on-prefix.js';
import { marbles } from '../support/scheduler.js';

/** Decides at the first capital letter, for that letter; at the end for `none`. */
const byCapital = (chunks: readonly string[], isLast: boolean): string | undefined =>
  chunks.find((chunk) => chunk >= 'A' && chunk <= 'Z') ?? (isLast ? 'none' : undefined);

/** All decisions in one stream: `X>a` for chunk a under label X. */
const routed = mergeMap(({ label, chunks$ }: { label: string; chunks$: Observable<string> }) =>
  chunks$.pipe(map((chunk) => `${label}>${chunk}`)),
);

describe('decideOnPrefix', () => {
  it('lets chunks wait for the decision, loses none, and passes the rest on live', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                                      --a--X-----b--c--|');
      const result$ = source.pipe(decideOnPrefix(byCapital), routed);
      expectObservable(result$).toBe('                           -----(ax)--b--c--|', {
        a: 'X>a',
        x: 'X>X',
        b: 'X>b',
        c: 'X>c',
      });
      expectSubscriptions(source.subscriptions).toBe('           ^----------------!');
    }));

  it('completes with its decision, while the source goes on for the readers', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-X---b-|');
      const labels$ = source.pipe(
        decideOnPrefix(byCapital),
        map(({ label }) => label),
      );
      expectObservable(labels$).toBe('--(x|)', { x: 'X' });
      expectSubscriptions(source.subscriptions).toBe('^-------!');
    }));

  it('gives every chunk to each of several routes', () =>
    marbles(({ cold, expectObservable }) => {
      const source = cold('a-b-----c---|');
      const both = (chunks: readonly string[]) => (chunks.length === 2 ? (['l', 'r', 'l'] as const) : undefined);
      expectObservable(source.pipe(decideOnPrefix(both), routed)).toBe('--(abcd)(ef)|', {
        a: 'l>a',
        b: 'l>b',
        c: 'r>a',
        d: 'r>b',
        e: 'l>c',
        f: 'r>c',
      });
    }));

  it('stops its source when no route is chosen', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c|');
      expectObservable(source.pipe(decideOnPrefix((chunks) => (chunks.length === 2 ? [] : undefined)))).toBe('--|');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }));

  it('asks once more at the end, also of an empty source', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a-b-|').pipe(decideOnPrefix(byCapital), routed)).toBe('----(ab|)', {
        a: 'none>a',
        b: 'none>b',
      });
      const asked$ = cold('--|').pipe(
        decideOnPrefix(byCapital),
        mergeMap(({ chunks$ }) => chunks$.pipe(toArray())),
      );
      expectObservable(asked$).toBe('--(x|)', { x: [] });
    }));

  it('fails when there is no decision at the end', () =>
    marbles(({ cold, expectObservable }) => {
      const undecided = new EngineError(
        'ROUTE_UNDECIDED',
        'decideOnPrefix: the source has ended after 2 chunks without a decision; give a label when called with isLast.',
      );
      expectObservable(cold('ab-|').pipe(decideOnPrefix(() => undefined))).toBe('---#', undefined, undecided);
    }));

  it('fails when too many chunks have brought no decision, and stops its source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d-|');
      const undecided = new EngineError(
        'LIMIT_REACHED',
        'decideOnPrefix: 3 chunks brought no decision, and no more may wait; decide earlier, or let more wait (maxChunks).',
      );
      const result$ = source.pipe(decideOnPrefix(() => undefined, { maxChunks: 3 }));
      expectObservable(result$).toBe('----#', undefined, undecided);
      expectSubscriptions(source.subscriptions).toBe('^---!');
    }));

  it('fails with its source before the decision, and hands the error to the readers after it', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a-#').pipe(decideOnPrefix(byCapital), routed)).toBe('--#');
      expectObservable(
        cold('aX-#').pipe(
          decideOnPrefix(byCapital),
          map(({ label }) => label),
        ),
      ).toBe('-(x|)', { x: 'X' });
      expectObservable(cold('X--#').pipe(decideOnPrefix(byCapital), routed)).toBe('x--#', { x: 'X>X' });
    }));

  it('fails with the function that chooses, and stops its source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-|');
      const broken = (): never => {
        throw new Error('no');
      };
      expectObservable(source.pipe(decideOnPrefix(broken))).toBe('#', undefined, new Error('no'));
      expectSubscriptions(source.subscriptions).toBe('(^!)');
    }));

  it('stops its source when it is unsubscribed before the decision, and when all readers have left after it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const early = cold('a-b-X-|');
      expectObservable(early.pipe(decideOnPrefix(byCapital), routed), '^--!').toBe('');
      expectSubscriptions(early.subscriptions).toBe('^--!');

      const late = cold('X-b-c-|');
      expectObservable(late.pipe(decideOnPrefix(byCapital), routed), '^--!').toBe('x-b', { x: 'X>X', b: 'X>b' });
      expectSubscriptions(late.subscriptions).toBe('^--!');
    }));

  it('does not wait for the readers of routes that were not taken up', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d-|');
      const result$ = source.pipe(
        decideOnPrefix(() => ['l', 'r']),
        take(1),
        mergeMap(({ chunks$ }) => chunks$.pipe(take(2))),
      );
      expectObservable(result$).toBe('a-(b|)');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }));

  it('takes sources that emit at once', () => {
    const heard: string[] = [];
    of('a', 'X', 'b')
      .pipe(decideOnPrefix(byCapital), routed)
      .subscribe({ next: (chunk) => heard.push(chunk), complete: () => heard.push('|') });
    range(0, Number.POSITIVE_INFINITY)
      .pipe(
        decideOnPrefix((chunks) => (chunks.length > 500 ? 'x' : undefined)),
        mergeMap(({ chunks$ }) => chunks$),
        take(600),
        toArray(),
      )
      .subscribe((all) => heard.push(`${all.length} to ${all.at(-1)}`));
    expect(heard).toEqual(['X>a', 'X>X', 'X>b', '|', '600 to 599']);
  });

  it.each([
    [{ maxChunks: 0 }, /"maxChunks".*received 0/],
    [{ size: 0 }, /"size".*received 0/],
  ])('refuses bounds that are none: %o', (options, message) => {
    expect(() => decideOnPrefix(() => 'x', options)).toThrow(message);
  });
});
