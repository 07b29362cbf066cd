import { defer, finalize, lastValueFrom, NEVER, of, take, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstValue, fromAbortable, UNSUBSCRIBED } from '../../src/operators/from-abortable.js';

/** Lets every promise that can settle do so, and Node report what nobody handled. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Rejects when the signal is aborted, as `fetch` does. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await nextTurn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe('fromAbortable with a promise', () => {
  it('ignores what the work rejects with after being unsubscribed', async () => {
    const seen: unknown[] = [];
    const subscription = fromAbortable(untilAborted).subscribe({ error: (error) => seen.push(error) });
    subscription.unsubscribe();
    await nextTurn();
    expect(seen).toEqual([]);
  });

  it('gives a reason that programs know: an AbortError', () => {
    expect(UNSUBSCRIBED.name).toBe('AbortError');
  });

  it.each([undefined, 7, 'text', {}])('refuses work that returns %s', async (returned) => {
    const wrong = fromAbortable(() => returned as never);
    await expect(lastValueFrom(wrong)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});

describe('fromAbortable with an async iterable', () => {
  it('emits every item, completes, and does not abort', async () => {
    let given: AbortSignal | undefined;
    const items$ = fromAbortable(async function* (signal) {
      given = signal;
      yield 1;
      yield 2;
    });
    expect(await lastValueFrom(items$.pipe(toArray()))).toEqual([1, 2]);
    expect(given?.aborted).toBe(false);
  });

  it('fails with what the iteration throws, after what came before', async () => {
    const seen: unknown[] = [];
    const items$ = fromAbortable(async function* () {
      yield 1;
      throw new Error('broken');
    });
    await new Promise<void>((resolve) =>
      items$.subscribe({
        next: (item) => seen.push(item),
        error: (error) => {
          seen.push(error);
          resolve();
        },
      }),
    );
    expect(seen).toEqual([1, new Error('broken')]);
  });

  it('lets a waiting generator clean up when unsubscribed', async () => {
    const log: string[] = [];
    const items$ = fromAbortable(async function* (signal) {
      try {
        yield 'first';
        await untilAborted(signal);
      } finally {
        log.push(`released, aborted: ${signal.aborted}`);
      }
    });
    const subscription = items$.subscribe((item) => log.push(item));
    await nextTurn();
    subscription.unsubscribe();
    await nextTurn();
    expect(log).toEqual(['first', 'released, aborted: true']);
  });

  it('closes the iteration when a reader has had enough', async () => {
    const log: string[] = [];
    const items$ = fromAbortable(async function* () {
      try {
        for (let at = 0; ; at++) {
          log.push(`made ${at}`);
          yield at;
        }
      } finally {
        log.push('released');
      }
    });
    expect(await lastValueFrom(items$.pipe(take(2), toArray()))).toEqual([0, 1]);
    await nextTurn();
    expect(log).toEqual(['made 0', 'made 1', 'released']);
  });

  it.each([
    {
      way: 'throws',
      close: () => {
        throw new Error('return');
      },
    },
    { way: 'rejects', close: () => Promise.reject(new Error('return')) },
    { way: 'is missing', close: undefined },
  ])('bears an iterator whose return $way', async ({ close }) => {
    let calls = 0;
    const closing = close && {
      return: () => {
        calls += 1;
        return close();
      },
    };
    const iterator = { next: () => new Promise<never>(() => {}), ...closing };
    const subscription = fromAbortable(() => ({ [Symbol.asyncIterator]: () => iterator })).subscribe();
    subscription.unsubscribe();
    await nextTurn();
    expect(calls).toBe(close === undefined ? 0 : 1);
  });
});

it('asks an async iterable for nothing while `ready` has not settled, and not again once unsubscribed', async () => {
  let pulled = 0;
  async function* numbers() {
    for (;;) {
      pulled += 1;
      yield pulled;
    }
  }
  const rooms: (() => void)[] = [];
  const ready = () => (pulled % 2 === 0 ? new Promise<void>((resolve) => rooms.push(resolve)) : undefined);
  const seen: number[] = [];
  const subscription = fromAbortable(() => numbers(), ready).subscribe((value) => seen.push(value));
  await nextTurn();
  expect(seen).toEqual([1, 2]);
  await nextTurn();
  expect(pulled).toBe(2);
  rooms[0]?.();
  await nextTurn();
  expect(seen).toEqual([1, 2, 3, 4]);
  subscription.unsubscribe();
  rooms[1]?.();
  await nextTurn();
  expect(pulled).toBe(4);
});

describe('firstValue', () => {
  it('gives the first value, with and without a signal', async () => {
    expect(await firstValue(of(1, 2))).toBe(1);
    expect(await firstValue(of(1, 2), new AbortController().signal)).toBe(1);
  });

  it('rejects with the reason of an abort and unsubscribes from the source', async () => {
    const abort = new AbortController();
    let isEnded = false;
    const value = firstValue(
      NEVER.pipe(
        finalize(() => {
          isEnded = true;
        }),
      ),
      abort.signal,
    );
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(value).rejects.toBe(reason);
    expect(isEnded).toBe(true);
  });

  it('does not subscribe to the source when the signal is aborted already', async () => {
    const reason = new Error('too late');
    let isBegun = false;
    const source$ = defer(() => {
      isBegun = true;
      return of(1);
    });
    await expect(firstValue(source$, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(isBegun).toBe(false);
  });
});
