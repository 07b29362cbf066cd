import { endWith, merge, NEVER, of, repeat, switchMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { createLimiter } from '../../src/models/limiter.js';
import { marbles } from '../support/scheduler.js';

describe('createLimiter', () => {
  it('runs one after the other, in order of arrival', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a = cold('  --a--b|     ');
      const subA = '    ^-----!     ';
      const b = cold('        --c|  ');
      const subB = '    ------^--!  ';
      const c = cold('           -d|');
      const subC = '    ---------^-!';
      const expected = '--a--b--c-d|';
      expectObservable(merge(...[a, b, c].map((source) => source.pipe(limiter.limit())))).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
      expectSubscriptions(c.subscriptions).toBe(subC);
    }));

  it('fills every seat, and gives a free one to whoever waits longest', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 2 });
      const a = cold('  -----a|    ');
      const subA = '    ^-----!    ';
      const b = cold('  --b|       ');
      const subB = '    ^--!       ';
      const c = cold('     ----c|  ');
      const subC = '    ---^----!  ';
      const d = cold('        --d-|');
      const subD = '    ------^---!';
      const expected = '--b--a-cd-|';
      expectObservable(merge(...[a, b, c, d].map((source) => source.pipe(limiter.limit())))).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
      expectSubscriptions(c.subscriptions).toBe(subC);
      expectSubscriptions(d.subscriptions).toBe(subD);
    }));

  it('lets parties take turns, whoever came first', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a1 = cold(' --a|           ');
      const a2 = cold('    --b|        ');
      const a3 = cold('          --d|  ');
      const b1 = cold('       --c|     ');
      const subA2 = '   ---^--!        ';
      const subB1 = '   ------^--!     ';
      const subA3 = '   ---------^--!  ';
      const expected = '--a--b--c--d|  ';
      const sources = [a1, a2, a3].map((source) => source.pipe(limiter.limit('a')));
      expectObservable(merge(...sources, b1.pipe(limiter.limit('b')))).toBe(expected);
      expectSubscriptions(a2.subscriptions).toBe(subA2);
      expectSubscriptions(b1.subscriptions).toBe(subB1);
      expectSubscriptions(a3.subscriptions).toBe(subA3);
    }));

  it('keeps a seat from a party that gives none back, once there is another', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 2 });
      const b1 = cold('  b|       ');
      const a1 = cold('  ---------');
      const a2 = cold('  ---------');
      const b2 = cold('     b|    ');
      const subB1 = '    ^!        ';
      const subB2 = '    ---^!     ';
      expectObservable(
        merge(b1.pipe(limiter.limit('b')), a1.pipe(limiter.limit('a')), a2.pipe(limiter.limit('a'))),
      ).toBe('b--------');
      const late = cold('---|').pipe(
        endWith(1),
        switchMap(() => b2.pipe(limiter.limit('b'))),
      );
      expectObservable(late).toBe('---b|');
      expectSubscriptions(b1.subscriptions).toBe(subB1);
      expectSubscriptions(a2.subscriptions).toBe([]);
      expectSubscriptions(b2.subscriptions).toBe(subB2);
    }));

  it('gives the seat on when a source fails, and leaves the others alone', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a = cold('   --#     ');
      const b = cold('     --b|  ');
      const subB = '     --^--!  ';
      const expectedA = '--#     ';
      const expectedB = '----b|  ';
      expectObservable(a.pipe(limiter.limit())).toBe(expectedA);
      expectObservable(b.pipe(limiter.limit())).toBe(expectedB);
      expectSubscriptions(b.subscriptions).toBe(subB);
    }));

  it('gives the seat on when a running one is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a = cold('   -a------');
      const unsubA = '   ---!     ';
      const subA = '     ^--!     ';
      const b = cold('      -b|   ');
      const subB = '     ---^-!   ';
      const expectedA = '-a       ';
      const expectedB = '----b|   ';
      expectObservable(a.pipe(limiter.limit()), unsubA).toBe(expectedA);
      expectObservable(b.pipe(limiter.limit())).toBe(expectedB);
      expectSubscriptions(a.subscriptions).toBe(subA);
      expectSubscriptions(b.subscriptions).toBe(subB);
    }));

  it('lets a waiting one leave the queue without ever touching its source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a = cold('   ---a|   ');
      const b = cold('   b|      ');
      const unsubB = '   -!      ';
      const c = cold('       -c| ');
      const subC = '     ----^-! ';
      const expectedA = '---a|   ';
      const expectedB = '        ';
      const expectedC = '-----c| ';
      expectObservable(a.pipe(limiter.limit())).toBe(expectedA);
      expectObservable(b.pipe(limiter.limit()), unsubB).toBe(expectedB);
      expectObservable(c.pipe(limiter.limit())).toBe(expectedC);
      expectSubscriptions(b.subscriptions).toBe([]);
      expectSubscriptions(c.subscriptions).toBe(subC);
    }));

  it('seats a newcomer behind those who wait', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1 });
      const a = cold('   ---|      ');
      const b = cold('      --|    ');
      const subB = '     ---^-!    ';
      const c = hot('    --b---c-d|');
      const lateC = '    -^        ';
      const subC = '     -----^---!';
      const expectedC = '------c-d|';
      expectObservable(a.pipe(limiter.limit())).toBe('---|');
      expectObservable(b.pipe(limiter.limit())).toBe('-----|');
      expectObservable(c.pipe(limiter.limit()), lateC).toBe(expectedC);
      expectSubscriptions(b.subscriptions).toBe(subB);
      expectSubscriptions(c.subscriptions).toBe(subC);
    }));

  it('subscribes synchronously while a seat is free, and survives a long queue of synchronous sources', () => {
    const limiter = createLimiter({ maxConcurrent: 1, maxWaiting: 50_000 });
    const blocked = NEVER.pipe(limiter.limit()).subscribe();
    const heard: number[] = [];
    for (let at = 0; at < 50_000; at += 1) {
      of(at)
        .pipe(limiter.limit())
        .subscribe((value) => heard.push(value));
    }
    expect([limiter.running, limiter.waiting, heard.length]).toEqual([1, 50_000, 0]);
    blocked.unsubscribe();
    expect(heard).toEqual(Array.from({ length: 50_000 }, (_, at) => at));
    expect([limiter.running, limiter.waiting]).toEqual([0, 0]);
    of(-1)
      .pipe(limiter.limit())
      .subscribe((value) => heard.push(value));
    expect(heard.at(-1)).toBe(-1);
  });

  it('stops an endless synchronous source', () => {
    const heard: number[] = [];
    const limiter = createLimiter();
    of(1)
      .pipe(repeat(), limiter.limit(), take(3))
      .subscribe((value) => heard.push(value));
    expect([heard, limiter.running]).toEqual([[1, 1, 1], 0]);
  });

  it('keeps its order while thousands give up', () => {
    const limiter = createLimiter({ maxConcurrent: 1, maxWaiting: 100 });
    const blocked = NEVER.pipe(limiter.limit()).subscribe();
    const heard: number[] = [];
    for (let at = 0; at < 10_000; at += 1) {
      const waiting = of(at)
        .pipe(limiter.limit())
        .subscribe((value) => heard.push(value));
      if (at % 1_000 !== 0) waiting.unsubscribe();
    }
    expect(limiter.waiting).toBe(10);
    blocked.unsubscribe();
    expect(heard).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
  });

  it('refuses one too many', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter({ maxConcurrent: 1, maxWaiting: 0 });
      const a = cold('--|');
      const b = cold('--|');
      const full = new EngineError(
        'LIMIT_REACHED',
        '1 model calls are running and 0 are waiting; try again later, or raise MAX_CONCURRENT_CHATS.',
      );
      expectObservable(a.pipe(limiter.limit())).toBe('--|');
      expectObservable(b.pipe(limiter.limit())).toBe('#', {}, full);
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it.each([
    [{ maxConcurrent: 0 }, '"maxConcurrent" must be a whole number of at least 1; received 0'],
    [{ maxWaiting: -1 }, '"maxWaiting" must be a whole number of at least 0; received -1'],
  ])('refuses %j when it is built', (options, message) => {
    expect(() => createLimiter(options)).toThrow(message);
  });
});
