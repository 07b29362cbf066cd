import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { decideOnPrefix } from '../../src/operators/decide-on-prefix.js';
import { fanOut } from '../../src/operators/fan-out.js';
import { mergeNamed } from '../../src/operators/merge-named.js';
import { property } from '../support/random.js';

/** Reading with `for await`: what marble tests cannot show, because promises keep no virtual time. */

const turn = (): Promise<void> => new Promise(setImmediate);

async function readAll<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const heard: T[] = [];
  for await (const chunk of chunks) heard.push(chunk);
  return heard;
}

/** Counts from 1; `notes.given` is how far, `notes.closed` whether it was stopped or ended. */
async function* count(to: number, notes = { given: 0, closed: false }): AsyncGenerator<number> {
  try {
    for (let at = 1; at <= to; at += 1) {
      notes.given = at;
      yield at;
    }
  } finally {
    notes.closed = true;
  }
}

describe('fanOut, asked for its chunks', () => {
  it('reads no further ahead than the quickest reader and one buffer', async () => {
    const notes = { given: 0, closed: false };
    const [quick, slow] = fanOut({ readers: 2, size: 4, concat: (all: readonly number[]) => all.at(-1) as number })(
      count(1_000, notes),
    );
    const iterator = quick[Symbol.asyncIterator]();
    for (let at = 1; at <= 10; at += 1) expect(await iterator.next()).toEqual({ done: false, value: at });
    await turn();
    expect(notes.given).toBeLessThanOrEqual(10 + 4 + 1);
    await iterator.return?.();
    for await (const chunk of slow) if (chunk >= 10) break;
    await turn();
    expect(notes.closed).toBe(true);
    expect(notes.given).toBeLessThan(40);
  });

  it('gives the quickest reader every chunk by itself, however far the others are behind', async () => {
    const sizes = { size: 4, concat: (texts: readonly string[]) => texts.join(',') };
    async function* texts(): AsyncGenerator<string> {
      for (let at = 0; at < 200; at += 1) yield `${at}`;
    }
    const [quick, slow] = fanOut({ readers: 2, ...sizes })(texts());
    const expected = Array.from({ length: 200 }, (_, at) => `${at}`);
    expect(await readAll(quick)).toEqual(expected);
    const late = await readAll(slow);
    expect(late.length).toBeLessThanOrEqual(4);
    expect(late.join(',')).toBe(expected.join(','));
  });

  it('pauses a source while no reader has place, also when one of them is never read', async () => {
    const notes = { given: 0, closed: false };
    const [first] = fanOut({ readers: 1, size: 3 })(count(1_000, notes));
    const iterator = first[Symbol.asyncIterator]();
    await iterator.next();
    await turn();
    expect(notes.given).toBeLessThanOrEqual(5);
    await iterator.return?.();
    await turn();
    expect(notes.closed).toBe(true);
  });

  it('is read by a loop and by a subscription side by side', async () => {
    const [pulled, pushed] = fanOut({ readers: 2 })(of('a', 'b', 'c'));
    const heard: string[] = [];
    pushed.subscribe((chunk) => heard.push(chunk));
    expect(await readAll(pulled)).toEqual(['a', 'b', 'c']);
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  it('refuses a second loop over one reader', async () => {
    const [only] = fanOut({ readers: 1 })(of('a'));
    await readAll(only);
    expect(() => only[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: 'STREAM_TAKEN' }));
  });

  property('gives every reader the same, whatever their pace', 100, async (random) => {
    const total = 1 + random.int(200);
    const readers = fanOut({ readers: (1 + random.int(4)) as number, size: 1 + random.int(8), concat: add })(
      lists(total),
    );
    const all = await Promise.all(
      readers.map(async (reader) => {
        const heard: number[] = [];
        for await (const chunk of reader) {
          heard.push(...chunk);
          if (random.chance(0.2)) await turn();
        }
        return heard;
      }),
    );
    const expected = Array.from({ length: total }, (_, at) => at);
    for (const heard of all) expect(heard).toEqual(expected);
  });
});

const add = (all: readonly (readonly number[])[]): readonly number[] => all.flat();

async function* lists(total: number): AsyncGenerator<readonly number[]> {
  for (let at = 0; at < total; at += 1) yield [at];
}

describe('mergeNamed, asked for its chunks', () => {
  it('does not read sources on that can be paused, and loses nothing of what they had under way', async () => {
    const notes = [0, 1, 2].map(() => ({ given: 0, closed: false }));
    const [a, b, c] = notes.map((note) => count(50, note));
    const merged = mergeNamed({ a: a ?? [], b: b ?? [], c: c ?? [] } as Record<string, AsyncIterable<number>>, {
      size: 2,
    });
    const iterator = merged[Symbol.asyncIterator]();
    await iterator.next();
    await turn();
    for (const { given } of notes) expect(given).toBeLessThanOrEqual(4);
    const counts: Record<string, number[]> = { a: [], b: [], c: [] };
    const ends: string[] = [];
    for await (const said of iterator) {
      if (said.type === 'chunk') counts[said.name]?.push(said.chunk);
      else ends.push(said.name);
    }
    expect(ends.sort()).toEqual(['a', 'b', 'c']);
    const read = Object.values(counts).map((numbers) => numbers.length);
    expect(read.reduce((sum, length) => sum + length)).toBe(149);
    for (const numbers of Object.values(counts)) expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
  });

  it('stops all sources when the loop is broken off', async () => {
    const notes = { given: 0, closed: false };
    const subject = new Subject<string>();
    for await (const said of mergeNamed({ numbers: count(50, notes), texts: subject })) {
      if (said.type === 'chunk') break;
    }
    await turn();
    expect([notes.closed, subject.observed]).toEqual([true, false]);
  });

  it('fails when a source that cannot be paused is too fast for the loop', async () => {
    const subject = new Subject<number>();
    const iterator = mergeNamed({ texts: subject }, { size: 2 })[Symbol.asyncIterator]();
    for (let at = 0; at < 10; at += 1) subject.next(at);
    expect(subject.observed).toBe(false);
    for (let at = 0; at < 4; at += 1) await iterator.next();
    await expect(iterator.next()).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      message: expect.stringContaining('the source "texts" failed'),
    });
  });

  it('fails when there is no place even for the word that a source has ended', async () => {
    const quick = of(1, 2, 3, 4);
    const iterator = mergeNamed({ quick }, { size: 2 })[Symbol.asyncIterator]();
    for (let at = 0; at < 4; at += 1) await iterator.next();
    await expect(iterator.next()).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('types a chunk by the name of its source', async () => {
    const heard: string[] = [];
    for await (const said of mergeNamed({ numbers: of(1.25), texts: of('text') })) {
      if (said.type === 'ended') continue;
      heard.push(said.name === 'numbers' ? said.chunk.toFixed(1) : said.chunk.toUpperCase());
    }
    expect(heard).toEqual(['1.3', 'TEXT']);
  });
});

describe('decideOnPrefix, asked for its chunks', () => {
  it('keeps the chunks of a decision until a loop asks for them', async () => {
    const source = new Subject<string>();
    const decided: string[] = [];
    let reading: Promise<string[]> | undefined;
    source
      .pipe(decideOnPrefix((chunks) => (chunks.length === 2 ? 'two' : undefined)))
      .subscribe(({ label, chunks$ }) => {
        decided.push(label);
        reading = turn().then(() => readAll(chunks$));
      });
    for (const chunk of 'abc') source.next(chunk);
    await turn();
    source.next('d');
    source.complete();
    expect(decided).toEqual(['two']);
    expect(await reading).toEqual(['a', 'b', 'c', 'd']);
  });

  it('stops its source when the loop over the only route is broken off', async () => {
    const source = new Subject<string>();
    let looping: Promise<void> | undefined;
    source.pipe(decideOnPrefix(() => 'any')).subscribe(({ chunks$ }) => {
      looping = (async () => {
        for await (const chunk of chunks$) if (chunk === 'b') break;
      })();
    });
    source.next('a');
    source.next('b');
    await looping;
    expect(source.observed).toBe(false);
  });

  it('joins or refuses what waits too long for its reader', async () => {
    const chosen = (options: { concat?: (texts: readonly string[]) => string }) => {
      const source = new Subject<string>();
      let chunks$: AsyncIterable<string> | undefined;
      source
        .pipe(decideOnPrefix(() => 'any', { size: 2, ...options }))
        .subscribe((decision) => (chunks$ = decision.chunks$));
      for (const chunk of 'abcdef') source.next(chunk);
      source.complete();
      return readAll(chunks$ as AsyncIterable<string>);
    };
    expect((await chosen({ concat: (texts) => texts.join('') })).join('')).toBe('abcdef');
    await expect(chosen({})).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });
});
