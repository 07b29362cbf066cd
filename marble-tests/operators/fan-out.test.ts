import { range, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { fanOut } from '../../src/operators/fan-out.js';
import { marbles } from '../support/scheduler.js';

const join = (texts: readonly string[]): string => texts.join('');

describe('fanOut', () => {
  it('gives every reader every chunk, and subscribes to its source once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('             -a-b--c|');
      const [first, second] = fanOut({ readers: 2 })(source);
      expectObservable(first).toBe('    -a-b--c|');
      expectObservable(second).toBe('   -a-b--c|');
      expectSubscriptions(source.subscriptions).toBe('^------!');
    }));

  it('keeps chunks for a reader that begins later', () =>
    marbles(({ cold, expectObservable }) => {
      const [first, second] = fanOut({ readers: 2 })(cold('-a-b-----c|'));
      expectObservable(first).toBe('           -a-b-----c|');
      expectObservable(second, '-----^').toBe('-----(ab)c|');
    }));

  it('concatenates what waits for a late reader when there is too much of it', () =>
    marbles(({ cold, expectObservable }) => {
      const [first, second] = fanOut({ readers: 2, size: 2, concat: join })(cold<string>('abc--d|'));
      expectObservable(first).toBe('         abc--d|');
      expectObservable(second, '---^').toBe('---x-d|', { x: 'abc', d: 'd' });
    }));

  it('fails for all when a reader that has not begun is full, and stops its source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('abcd|');
      const [first, second] = fanOut({ readers: 2, size: 2, name: 'copies' })(source);
      const tooSlow = new EngineError(
        'LIMIT_REACHED',
        'copies: a reader is too slow: 2 chunks wait for it, which is the most that may (whenFull: pause); ' +
          'read faster, use a producer that can be paused, give a rule that concatenates its chunks, or let more wait (size).',
      );
      expectObservable(first).toBe('ab(c#)', undefined, tooSlow);
      expectObservable(second, '----^').toBe('----(ab#)', undefined, tooSlow);
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }));

  it('gives an error of its source to every reader, behind what came before', () =>
    marbles(({ cold, expectObservable }) => {
      const [first, second] = fanOut({ readers: 2 })(cold('a-#'));
      expectObservable(first).toBe('a-#');
      expectObservable(second, '-----^').toBe('-----(a#)');
    }));

  it('goes on while a reader is left, and stops its source when none is', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d-e-|');
      const [first, second] = fanOut({ readers: 2 })(source);
      expectObservable(first, ' ^-----!').toBe('a-b-c-');
      expectObservable(second, '^--!').toBe('a-b');
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    }));

  it('stops a source that emits at once as soon as its readers have what they wanted, or one can take no more', () => {
    const heard: unknown[] = [];
    const [only] = fanOut({ readers: 1 })(range(1, Number.POSITIVE_INFINITY));
    only.pipe(take(3)).subscribe((chunk) => heard.push(chunk));
    const [quick] = fanOut({ readers: 2, size: 2 })(range(1, Number.POSITIVE_INFINITY));
    quick.subscribe({ next: (chunk) => heard.push(chunk), error: (error: EngineError) => heard.push(error.code) });
    expect(heard).toEqual([1, 2, 3, 1, 2, 3, 'LIMIT_REACHED']);
  });

  it('refuses fewer readers than one', () => {
    expect(() => fanOut({ readers: 0 })).toThrow(/fanOut: "readers" must be a whole number of at least 1; received 0/);
  });
});
