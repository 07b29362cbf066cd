import { describe, expect, it } from 'vitest';
import type { ChunkReader } from '../../src/operators/chunk-reader.js';
import { ChunkStream, type ChunkStreamOptions } from '../../src/operators/chunk-stream.js';
import { property } from '../support/random.js';

const join = (texts: readonly string[]): string => texts.join('');

function stream(options: Partial<ChunkStreamOptions<string>> = {}): ChunkStream<string> {
  return new ChunkStream({ name: 'the test stream', ...options });
}

async function readAll<T>(reader: AsyncIterable<T>): Promise<T[]> {
  const heard: T[] = [];
  for await (const chunk of reader) heard.push(chunk);
  return heard;
}

/** Whether a promise is settled once everything that is due has been done. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  if (promise === undefined) return true;
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise(setImmediate);
  return settled;
}

describe('ChunkStream, pulled', () => {
  it('gives each chunk to the loop that waits for it, and ends with the stream', async () => {
    const chunks = stream();
    const reading = readAll(chunks.reader());
    chunks.write('a');
    await new Promise(setImmediate);
    chunks.write('b');
    chunks.write('c');
    chunks.end();
    chunks.write('too late');
    expect(await reading).toEqual(['a', 'b', 'c']);
  });

  it('gives an error behind what was written before it, once', async () => {
    const chunks = stream();
    const iterator = chunks.reader()[Symbol.asyncIterator]();
    chunks.write('a');
    chunks.fail(new Error('cut'));
    expect(await iterator.next()).toEqual({ done: false, value: 'a' });
    await expect(iterator.next()).rejects.toThrow('cut');
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('serves several calls of next in order and ends them all', async () => {
    const chunks = stream();
    const iterator = chunks.reader()[Symbol.asyncIterator]();
    const calls = [iterator.next(), iterator.next(), iterator.next(), iterator.next()];
    chunks.write('a');
    chunks.write('b');
    chunks.end();
    expect((await Promise.all(calls)).map(({ done, value }) => (done ? '|' : value))).toEqual(['a', 'b', '|', '|']);
  });

  it('leaves when the loop is broken off, and says that it is unread once', async () => {
    let unread = 0;
    const chunks = stream({ onUnread: () => (unread += 1) });
    const other = chunks.reader();
    const loop = async (): Promise<void> => {
      for await (const chunk of chunks.reader()) if (chunk === 'b') break;
    };
    const looping = loop();
    chunks.write('a');
    chunks.write('b');
    await looping;
    expect(unread).toBe(0);
    other.leave();
    other.leave();
    expect(unread).toBe(1);
    chunks.reader().leave();
    expect(unread).toBe(1);
  });

  it('does not count readers that leave behind the end', () => {
    let unread = 0;
    const chunks = stream({ onUnread: () => (unread += 1) });
    const reader = chunks.reader();
    chunks.write('a');
    chunks.end();
    reader.leave();
    expect(unread).toBe(0);
  });

  it('refuses a second consumer of one reader', () => {
    const reader = stream().reader();
    reader.toObservable().subscribe();
    const taken = expect.objectContaining({ code: 'STREAM_TAKEN', message: expect.stringContaining('another reader') });
    expect(() => reader[Symbol.asyncIterator]()).toThrow(taken);
  });

  it('ends a loop that waits when its reader leaves', async () => {
    const chunks = stream();
    const reader = chunks.reader();
    const reading = readAll(reader);
    reader.leave();
    expect(await reading).toEqual([]);
  });

  it('gives readers of an ended stream what it has kept', async () => {
    const chunks = stream({ isKept: true, size: 1 });
    for (const chunk of 'abc') chunks.write(chunk);
    chunks.end();
    expect(await readAll(chunks.reader())).toEqual(['a', 'b', 'c']);
    expect(chunks.chunks).toEqual(['a', 'b', 'c']);
  });

  it('gives readers of an ended stream that keeps nothing the end alone', async () => {
    const chunks = stream();
    chunks.write('a');
    chunks.end();
    expect(await readAll(chunks.reader())).toEqual([]);
  });
});

describe('room', () => {
  it('is there while the buffer of any reader is not full', async () => {
    const chunks = stream({ size: 1, concat: join });
    const [quick, slow] = [chunks.reader(), chunks.reader()];
    expect(chunks.room()).toBeUndefined();
    chunks.write('a');
    const room = chunks.room();
    expect(await isSettled(room)).toBe(false);
    expect(chunks.room()).toBe(room);
    const iterator = quick[Symbol.asyncIterator]();
    await iterator.next();
    expect(await isSettled(room)).toBe(true);
    expect(chunks.room()).toBeUndefined();
    chunks.write('b');
    await iterator.next();
    chunks.write('c');
    quick.leave();
    chunks.end();
    expect(await readAll(slow)).toEqual(['abc']);
  });

  it.each<[string, (chunks: ChunkStream<string>, reader: ChunkReader<string>) => void]>([
    ['a reader is subscribed to', (_, reader) => reader.toObservable().subscribe()],
    ['a reader comes', (chunks) => void chunks.reader()],
    ['the reader leaves', (_, reader) => reader.leave()],
    ['the stream ends', (chunks) => chunks.end()],
    ['the stream fails', (chunks) => chunks.fail(new Error('cut'))],
  ])('is there again when %s', async (_, happen) => {
    const chunks = stream({ size: 2 });
    const reader = chunks.reader();
    for (const chunk of 'ab') chunks.write(chunk);
    const room = chunks.room();
    expect(await isSettled(room)).toBe(false);
    happen(chunks, reader);
    expect(await isSettled(room)).toBe(true);
    expect(chunks.room()).toBeUndefined();
  });

  it.each(['concat', 'fail', 'latest'] as const)('is always there with whenFull: %s', (whenFull) => {
    const chunks = stream({ size: 1, whenFull });
    chunks.reader();
    chunks.write('a');
    expect(chunks.room()).toBeUndefined();
  });

  it('is there without readers, and counts a subscribed one as never full', () => {
    const chunks = stream({ size: 1, concat: join });
    chunks.write('a');
    expect(chunks.room()).toBeUndefined();
    chunks.reader().toObservable().subscribe();
    chunks.reader();
    for (const chunk of 'bcd') chunks.write(chunk);
    expect(chunks.room()).toBeUndefined();
  });
});

describe('a full buffer', () => {
  it('refuses a chunk without a rule, in words that help', () => {
    const chunks = stream({ name: 'the edge from "a" to "b"', size: 2 });
    const reader = chunks.reader();
    for (const chunk of 'xy') chunks.write(chunk);
    expect(() => chunks.write('z')).toThrow(
      /^the edge from "a" to "b": a reader is too slow: 2 chunks wait for it.*\(whenFull: pause\); .*pause.*rule.*size/,
    );
    expect(reader.waiting).toBe(2);
  });

  it('refuses a chunk when the rule fails, with its reason, and keeps what waits', async () => {
    const cause = new TypeError('no rule for links');
    const chunks = stream({
      size: 2,
      concat: () => {
        throw cause;
      },
    });
    const reader = chunks.reader();
    for (const chunk of 'xy') chunks.write(chunk);
    const refused = expect.objectContaining({
      code: 'LIMIT_REACHED',
      cause,
      message: expect.stringContaining('no rule for links'),
    });
    expect(() => chunks.write('z')).toThrow(refused);
    chunks.end();
    expect(await readAll(reader)).toEqual(['x', 'y']);
  });

  it('concatenates so that a chunk is touched few times, however long the reader sleeps', async () => {
    let touched = 0;
    const chunks = new ChunkStream<readonly number[]>({
      name: 'the test stream',
      concat: (neighbours) => {
        const all = neighbours.flat();
        touched += all.length;
        return all;
      },
    });
    const reader = chunks.reader();
    const count = 20_000;
    for (let at = 0; at < count; at += 1) chunks.write([at]);
    chunks.end();
    expect(reader.waiting).toBeLessThanOrEqual(16);
    const heard = (await readAll(reader)).flat();
    expect(heard).toHaveLength(count);
    expect(heard.every((value, at) => value === at)).toBe(true);
    // The newest two each time would touch 200,000,000.
    expect(touched).toBeLessThan(count * Math.log2(count));
  });

  property('gives every reader the same text, in order, whatever their pace', 200, async (random) => {
    const chunks = stream({ size: 1 + random.int(6), concat: join, isKept: random.chance(0.5) });
    const readers = Array.from({ length: 1 + random.int(3) }, () => ({
      heard: '',
      iterator: chunks.reader()[Symbol.asyncIterator](),
    }));
    let written = '';
    for (let step = 0; step < 200; step += 1) {
      const letter = String.fromCharCode(97 + random.int(26));
      chunks.write(letter);
      written += letter;
      for (const reader of readers) {
        if (random.chance(0.3)) reader.heard += (await reader.iterator.next()).value ?? '';
        else break;
      }
    }
    chunks.end();
    for (const { heard, iterator } of readers) expect(heard + join(await readAll(iterator))).toBe(written);
  });
});

describe('whole', () => {
  it('is the one chunk, or all of them by the rule', () => {
    const chunks = stream({ isKept: true, concat: (all) => `<${all.join('')}>` });
    chunks.write('a');
    expect(chunks.whole()).toBe('a');
    chunks.write('b');
    expect(chunks.whole()).toBe('<ab>');
    chunks.write('c');
    expect(chunks.whole()).toBe('<abc>');
  });

  it('asks the rule once for the same chunks', () => {
    let asked = 0;
    const chunks = stream({
      isKept: true,
      concat: (all) => {
        asked += 1;
        return join(all);
      },
    });
    for (const chunk of 'abc') chunks.write(chunk);
    expect([chunks.whole(), chunks.whole(), asked]).toEqual(['abc', 'abc', 1]);
  });

  it('fails without a chunk, without a rule, and with the stream', () => {
    const chunks = stream({ isKept: true });
    expect(() => chunks.whole()).toThrow(expect.objectContaining({ code: 'STREAM_EMPTY' }));
    for (const chunk of 'ab') chunks.write(chunk);
    expect(() => chunks.whole()).toThrow(expect.objectContaining({ code: 'CHUNKS_INVALID' }));
    chunks.fail(new Error('cut'));
    expect(() => chunks.whole()).toThrow('cut');
    expect(chunks.failure).toEqual({ error: new Error('cut') });
  });
});

describe('the options of a stream', () => {
  it.each([
    [{ size: 0 }, /"size" must be a whole number of at least 1; received 0/],
    [{ size: 1.5 }, /received 1.5/],
    [{ whenFull: 'drop' as 'fail' }, /"whenFull" must be one of pause, concat, fail, latest; received "drop"/],
  ])('are checked: %o', (options, message) => {
    expect(() => stream(options)).toThrow(message);
  });
});
