import { concat, of, range, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { concatChunks } from '../../src/operators/concat-chunks.js';
import { marbles } from '../support/scheduler.js';

describe('concatChunks', () => {
  it('makes one value of all chunks, at the end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('          -a--b-c-|');
      const result$ = source.pipe(concatChunks((chunks) => chunks.join('+')));
      expectObservable(result$).toBe('--------(x|)', { x: 'a+b+c' });
      expectSubscriptions(source.subscriptions).toBe('^-------!');
    }));

  it('joins texts without a rule, and leaves a single chunk as it is', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a-b-|').pipe(concatChunks())).toBe('-----(x|)', { x: 'ab' });
      const single = { any: 'thing' };
      expectObservable(cold('-a-|', { a: single }).pipe(concatChunks())).toBe('---(a|)', { a: single });
    }));

  it('fails for an empty source, which has no value', () =>
    marbles(({ cold, expectObservable }) => {
      const empty = new EngineError(
        'STREAM_EMPTY',
        'concatChunks: the source ended without a chunk, so there is no value; use defaultIfEmpty before it when that may happen.',
      );
      expectObservable(cold('---|').pipe(concatChunks())).toBe('---#', undefined, empty);
    }));

  it('fails with its source, at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                        a-b#');
      expectObservable(source.pipe(concatChunks())).toBe('---#');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('fails with its rule, and without one for chunks that are no texts', () =>
    marbles(({ cold, expectObservable }) => {
      const broken = (): string => {
        throw new Error('no');
      };
      expectObservable(cold('ab|').pipe(concatChunks(broken))).toBe('--#', undefined, new Error('no'));
      const invalid = new EngineError(
        'CHUNKS_INVALID',
        'concatChunks: chunk 1 of 2 is no text but number, and there is no rule; give one, such as concatValues.',
      );
      const values: Record<string, unknown> = { a: 'one', b: 2 };
      expectObservable(cold('ab|', values).pipe(concatChunks())).toBe('--#', undefined, invalid);
    }));

  it('stops its source at the bound', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d-|');
      const tooMany = new EngineError(
        'LIMIT_REACHED',
        'concatChunks: the source has more than 2 chunks, which is the most that may be held; join some before, or allow more (maxChunks).',
      );
      expectObservable(source.pipe(concatChunks(undefined, { maxChunks: 2 }))).toBe('----#', undefined, tooMany);
      expectSubscriptions(source.subscriptions).toBe('^---!');
    }));

  it('stops its source when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('                              a-b-c-|');
      expectObservable(source.pipe(concatChunks()), '    ^--!').toBe('');
      expectSubscriptions(source.subscriptions).toBe('   ^--!');
    }));

  it('takes sources that emit and fail at once', () => {
    const heard: unknown[] = [];
    range(0, 50_000)
      .pipe(concatChunks((chunks) => chunks.length))
      .subscribe((value) => heard.push(value));
    concat(
      of('a'),
      throwError(() => new Error('cut')),
    )
      .pipe(concatChunks())
      .subscribe({ next: (value) => heard.push(value), error: (error: Error) => heard.push(error.message) });
    expect(heard).toEqual([50_000, 'cut']);
  });

  it('refuses a bound that is none', () => {
    expect(() => concatChunks(undefined, { maxChunks: 0 })).toThrow(/"maxChunks".*received 0/);
  });
});
