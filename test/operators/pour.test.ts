import { of, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ChunkStream } from '../../src/operators/chunk-stream.js';
import { pour, toObservable } from '../../src/operators/pour.js';

const turn = (): Promise<void> => new Promise(setImmediate);

/** Counts from 1 and notes what happens to it. */
function counter(notes: string[], count = Number.POSITIVE_INFINITY): () => AsyncGenerator<number> {
  return async function* () {
    try {
      for (let at = 1; at <= count; at += 1) {
        notes.push(`gives ${at}`);
        yield at;
      }
    } finally {
      notes.push('closed');
    }
  };
}

describe('pour', () => {
  it('reads no further than the slowest of all readers allows, and goes on when one takes', async () => {
    const notes: string[] = [];
    const chunks = new ChunkStream<number>({ name: 'numbers', size: 2 });
    const iterator = chunks.reader()[Symbol.asyncIterator]();
    const pouring = pour(counter(notes)(), chunks);
    await turn();
    expect(notes).toEqual(['gives 1', 'gives 2']);
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    await turn();
    expect(notes).toEqual(['gives 1', 'gives 2', 'gives 3']);
    pouring.unsubscribe();
    await turn();
    expect(notes.at(-1)).toBe('closed');
    expect(chunks.isEnded).toBe(false);
  });

  it('ends the stream with the source', async () => {
    const notes: string[] = [];
    const chunks = new ChunkStream<number>({ name: 'numbers', isKept: true });
    const pouring = pour(counter(notes, 3)(), chunks);
    const heard: number[] = [];
    for await (const chunk of chunks.reader()) heard.push(chunk);
    expect(heard).toEqual([1, 2, 3]);
    expect([chunks.isEnded, pouring.closed]).toEqual([true, true]);
    expect(notes.filter((note) => note === 'closed')).toHaveLength(1);
  });

  it('fails the stream with the source, behind what came before', async () => {
    const chunks = new ChunkStream<number>({ name: 'numbers', isKept: true });
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error('cut');
    }
    pour(broken(), chunks);
    const iterator = chunks.reader()[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    await expect(iterator.next()).rejects.toThrow('cut');
  });

  it('fails the stream when the source cannot be opened', () => {
    const chunks = new ChunkStream<number>({ name: 'numbers' });
    const closed = {
      [Symbol.asyncIterator](): AsyncIterator<number> {
        throw new Error('closed already');
      },
    };
    const pouring = pour(closed, chunks);
    return turn().then(() => {
      expect(chunks.failure).toEqual({ error: new Error('closed already') });
      expect(pouring.closed).toBe(true);
    });
  });

  it('closes the source and fails the stream when a chunk finds no place', async () => {
    const notes: string[] = [];
    const chunks = new ChunkStream<number>({ name: 'numbers', size: 2, whenFull: 'fail' });
    chunks.reader();
    pour(counter(notes)(), chunks);
    await turn();
    expect(notes).toEqual(['gives 1', 'gives 2', 'gives 3', 'closed']);
    expect(chunks.failure).toEqual({ error: expect.objectContaining({ code: 'LIMIT_REACHED' }) });
  });

  it('closes a source that waits, and takes nothing from it any more', async () => {
    let isClosed = false;
    let give: (result: IteratorResult<number>) => void = () => {};
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise((resolve) => (give = resolve)),
        return: async () => {
          isClosed = true;
          throw new Error('not even that');
        },
      }),
    };
    const chunks = new ChunkStream<number>({ name: 'numbers', isKept: true });
    const pouring = pour(source, chunks);
    await turn();
    pouring.unsubscribe();
    expect(isClosed).toBe(true);
    give({ done: false, value: 1 });
    await turn();
    expect(chunks.chunks).toEqual([]);
  });
});

describe('an async iterable that never waits', () => {
  const CHUNKS = 2_000;

  /** How many turns of the event loop began before `work` was done. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    let isOver = false;
    const next = (): void => {
      if (isOver) return;
      turns += 1;
      setImmediate(next);
    };
    setImmediate(next);
    await work;
    isOver = true;
    return turns;
  }

  it('lets the event loop turn while it is poured', async () => {
    const chunks = new ChunkStream<number>({ name: 'numbers', isKept: true });
    const poured = (async () => {
      const heard: number[] = [];
      pour(counter([], CHUNKS)(), chunks);
      for await (const chunk of chunks.reader()) heard.push(chunk);
      return heard;
    })();
    // A pause at every 256th chunk, without one of the event loop itself.
    expect(await turnsDuring(poured)).toBeGreaterThanOrEqual(Math.floor(CHUNKS / 256));
    expect(await poured).toHaveLength(CHUNKS);
  });

  it('is not read on when it is left in such a pause', async () => {
    const notes: string[] = [];
    const chunks = new ChunkStream<number>({ name: 'numbers', isKept: true });
    const left = new Promise<void>((resolve) => {
      const pouring = pour(counter(notes)(), {
        write: (chunk) => {
          chunks.write(chunk);
          // In a microtask, when what reads has come to its pause.
          if (chunk === 256) queueMicrotask(() => resolve(pouring.unsubscribe()));
        },
        room: () => undefined,
        end: () => chunks.end(),
        fail: (error) => chunks.fail(error),
      });
    });
    await left;
    await turn();
    await turn();
    expect([chunks.chunks.length, notes.at(-1)]).toEqual([256, 'closed']);
  });
});

describe('an iterable as an Observable', () => {
  it('is read only while there is room, from the first chunk on', async () => {
    const notes: string[] = [];
    let open: () => void = () => {};
    let room: Promise<void> | undefined = new Promise((resolve) => {
      open = resolve;
    });
    const heard: number[] = [];
    const subscription = toObservable(counter(notes, 2)(), () => room).subscribe((chunk) => heard.push(chunk));
    await turn();
    expect([heard, notes]).toEqual([[], []]);
    room = undefined;
    open();
    await turn();
    expect([heard, notes, subscription.closed]).toEqual([[1, 2], ['gives 1', 'gives 2', 'closed'], true]);
  });

  it('errors as the iterable does, and closes it when it is unsubscribed', async () => {
    const notes: string[] = [];
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error('cut');
    }
    toObservable(broken()).subscribe({
      next: (chunk) => notes.push(String(chunk)),
      error: (error: Error) => notes.push(error.message),
    });
    await turn();
    expect(notes.splice(0)).toEqual(['1', 'cut']);
    toObservable(counter(notes)())
      .pipe(take(2))
      .subscribe((chunk) => notes.push(String(chunk)));
    await turn();
    expect(notes).toEqual(['gives 1', '1', 'gives 2', '2', 'closed']);
  });

  it('is an Observable that is one already', () => {
    const source = of(1);
    expect(toObservable(source)).toBe(source);
  });
});
