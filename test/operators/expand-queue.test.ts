import { concat, EMPTY, lastValueFrom, of, Subject, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expandQueue } from '../../src/operators/expand-queue.js';

const STEPS = 1_000_000;

describe('expandQueue with a million synchronous steps', () => {
  // A step "takes" a tenth of a millisecond on this clock, so a slice of 8 ms is 80 steps, and 95 until the next look.
  it.each([
    { inner: 'an array', project: (x: number) => (x === STEPS ? [] : [x + 1]) },
    { inner: 'an Observable', project: (x: number) => (x === STEPS ? EMPTY : of(x + 1)) },
  ])('keeps a flat stack and pauses in time ($inner)', ({ project }) => {
    let steps = 0;
    let last = 0;
    let isComplete = false;
    const pausedAfter: number[] = [];
    let resume: (() => void) | undefined;

    of(1)
      .pipe(
        expandQueue(project, {
          yieldEveryMs: 8,
          now: () => steps / 10,
          yieldTo: (go) => {
            pausedAfter.push(steps);
            resume = go;
            return () => {};
          },
        }),
      )
      .subscribe({
        next: (x) => {
          steps += 1;
          last = x;
        },
        complete: () => {
          isComplete = true;
        },
      });
    while (resume !== undefined) {
      const go = resume;
      resume = undefined;
      go();
    }

    expect({ steps, last, isComplete }).toEqual({ steps: STEPS, last: STEPS, isComplete: true });
    const slices = pausedAfter.map((at, index) => at - (pausedAfter[index - 1] ?? 0));
    expect(new Set(slices)).toEqual(new Set([95]));
    expect(pausedAfter).toHaveLength(Math.floor(STEPS / 95));
  });

  it('never pauses when yieldEveryMs is Infinity', () => {
    let last = 0;
    of(1)
      .pipe(expandQueue((x) => (x === STEPS ? [] : [x + 1]), { yieldEveryMs: Number.POSITIVE_INFINITY }))
      .subscribe((x) => {
        last = x;
      });
    expect(last).toBe(STEPS);
  });

  it('lets a queued setImmediate callback run before it completes', async () => {
    const order: string[] = [];
    let clockMs = 0;
    setImmediate(() => order.push('immediate'));
    // Only the clock is fake: the pause is the real setImmediate, and comes after the first look at the clock.
    await lastValueFrom(of(1).pipe(expandQueue((x) => (x === 1000 ? [] : [x + 1]), { now: () => (clockMs += 10) })));
    order.push('complete');
    expect(order).toEqual(['immediate', 'complete']);
  });

  it('ends during a real pause when unsubscribed', async () => {
    let clockMs = 0;
    let steps = 0;
    const endless = of(0)
      .pipe(expandQueue((x) => [x + 1], { now: () => (clockMs += 10) }))
      .subscribe(() => {
        steps += 1;
      });
    const stepsAtPause = steps;
    endless.unsubscribe();
    await new Promise((resolve) => setImmediate(resolve));
    expect(stepsAtPause).toBeGreaterThan(0);
    expect(steps).toBe(stepsAtPause);
  });

  it.each([
    { from: 'its inners', run: () => of(0).pipe(expandQueue((x) => (x === 1000 ? EMPTY : Promise.resolve(x + 1)))) },
    {
      from: 'its source',
      run: () => {
        const arrivals$ = new Subject<number>();
        const project = (x: number) => {
          if (x === 1000) arrivals$.complete();
          else void Promise.resolve().then(() => arrivals$.next(x + 1));
          return [];
        };
        return concat(of(0), arrivals$).pipe(expandQueue(project));
      },
    },
  ])('interrupts a chain of resolved promises from $from, which starves timers like a loop', async ({ run }) => {
    let isImmediateDone = false;
    setImmediate(() => {
      isImmediateDone = true;
    });
    expect(await lastValueFrom(run())).toBe(1000);
    expect(isImmediateDone).toBe(true);
  });
});

describe('expandQueue, details', () => {
  it('numbers the calls of project from 0, for each subscription', () => {
    const indexes: number[] = [];
    const counted$ = of('a', 'b').pipe(
      expandQueue((_, index) => {
        indexes.push(index);
        return index < 2 ? ['c'] : [];
      }),
    );
    counted$.subscribe();
    counted$.subscribe();
    expect(indexes).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('does not project a value that ended the stream', () => {
    const projected: number[] = [];
    of(1, 2, 3)
      .pipe(
        expandQueue((x) => {
          projected.push(x);
          return [];
        }),
        take(2),
      )
      .subscribe();
    expect(projected).toEqual([1]);
  });

  it('goes on at once, with a new slice of time, after a pause that is synchronous', () => {
    let now = 0;
    let pauses = 0;
    let last = 0;
    of(1)
      .pipe(
        expandQueue((x) => (x === 1000 ? [] : [x + 1]), {
          yieldEveryMs: 10,
          now: () => now,
          yieldTo: (resume) => {
            pauses += 1;
            resume();
            return () => {};
          },
        }),
      )
      .subscribe((x) => {
        now = x < 500 ? 0 : 20;
        last = x;
      });
    expect({ last, pauses }).toEqual({ last: 1000, pauses: 1 });
  });

  it.each([0, -1, 1.5, Number.NaN, '2'])('refuses a concurrency of %s', (concurrency) => {
    expect(() => expandQueue(() => EMPTY, { concurrency: concurrency as number })).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(String(concurrency)) }),
    );
  });

  it.each([0, -8, Number.NaN, '8'])('refuses yieldEveryMs of %s', (yieldEveryMs) => {
    expect(() => expandQueue(() => EMPTY, { yieldEveryMs: yieldEveryMs as number })).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(String(yieldEveryMs)) }),
    );
  });
});
