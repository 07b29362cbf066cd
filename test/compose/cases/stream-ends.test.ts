import {
  catchError,
  concat,
  endWith,
  from,
  lastValueFrom,
  map as mapChunks,
  Observable,
  of,
  Subject,
  take,
  throwError,
  toArray,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  generator,
  graph,
  invoke,
  operator,
  parallel,
  passthrough,
  type Step,
  type StepLike,
  step,
  stream,
  transform,
} from '../../../src/index.js';

const all = <T>(chunks: Observable<T>): Promise<T[]> => lastValueFrom(chunks.pipe(toArray()));

/** The words of a text as chunks: as an Observable, and asked for one by one. */
const words = step('words', (text: string) => from(text.split(' ')));
const saidWords = step('said', async function* (text: string) {
  yield* text.split(' ');
});
const upper = operator(
  'upper',
  mapChunks((text: string) => text.toUpperCase()),
);
const dotted = generator('dotted', async function* (chunks: AsyncIterable<string>) {
  for await (const chunk of chunks) yield `${chunk}.`;
});

class Ticket {
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
}

describe('several readers of one stream', () => {
  /** One producer, and readers that end at keys of one object. */
  const fan = (count: number, producer: StepLike<string, string>, reader: (at: number) => Step<string, string>) =>
    graph<string, Record<string, string>>('fan', (g) => {
      const from = g.node('producer', producer);
      g.edge(g.start, from);
      const readers = Array.from({ length: count }, (_, at) => {
        const node = g.node(`reader ${at}`, reader(at));
        g.edge(from, node);
        return [`${at}`, node] as const;
      });
      g.join(Object.fromEntries(readers), g.end as never);
    });

  it('each get every chunk, whatever kind of step they are', async () => {
    const kinds: Step<string, string>[] = [upper, dotted, chain((text: string) => `<${text}>`), chain(upper, dotted)];
    for (const producer of [words, saidWords]) {
      const result = await invoke(
        fan(4, producer, (at) => kinds[at] as Step<string, string>),
        'a b c',
      );
      expect(result).toEqual({ 0: 'ABC', 1: 'a.b.c.', 2: '<abc>', 3: 'A.B.C.' });
    }
  });

  it('may be a hundred, with a thousand chunks', async () => {
    const numbers = step('numbers', async function* () {
      for (let at = 0; at < 1_000; at += 1) yield `${at};`;
    });
    const result = await invoke(
      fan(100, numbers, () => passthrough<string>()),
      '',
    );
    const expected = Array.from({ length: 1_000 }, (_, at) => `${at};`).join('');
    expect(Object.keys(result)).toHaveLength(100);
    expect(Object.values(result).every((text) => text === expected)).toBe(true);
  });

  it('may leave one after the other; the rest get everything', async () => {
    const result = await invoke(
      fan(3, saidWords, (at) => operator(take(at === 1 ? 10 : 1))),
      'a b c d',
    );
    expect(result).toEqual({ 0: 'a', 1: 'abcd', 2: 'a' });
  });

  it('may each have readers of their own', async () => {
    const deep = fan(2, saidWords, () =>
      chain(parallel({ l: upper, r: dotted }), ({ l, r }: { l: string; r: string }) => l + r),
    );
    expect(await invoke(deep, 'a b')).toEqual({ 0: 'ABa.b.', 1: 'ABa.b.' });
  });
});

describe('a stream that fails', () => {
  const broken = step('broken', (_: unknown) =>
    concat(
      of('a', 'b'),
      throwError(() => new RangeError('cut')),
    ),
  );

  it('gives the chunks before the error to a live reader, and then the error', async () => {
    const heard: string[] = [];
    const failed = all(stream(chain(broken, upper), null).pipe(mapChunks((chunk) => heard.push(chunk))));
    await expect(failed).rejects.toMatchObject({
      code: 'NODE_FAILED',
      cause: expect.objectContaining({ message: 'cut' }),
    });
    expect(heard).toEqual(['A', 'B']);
  });

  it('fails invoke with the same error, and functions behind it do not run', async () => {
    let runs = 0;
    await expect(
      invoke(
        chain(broken, () => (runs += 1)),
        null,
      ),
    ).rejects.toMatchObject({
      code: 'NODE_FAILED',
      message: expect.stringContaining('cut'),
    });
    expect(runs).toBe(0);
  });

  it('stops the nodes beside it', async () => {
    let isStopped = false;
    const waiting = step('waiting', () => new Observable<string>(() => () => (isStopped = true)));
    await expect(invoke(parallel({ broken, waiting }), null)).rejects.toMatchObject({ code: 'NODE_FAILED' });
    expect(isStopped).toBe(true);
  });

  it('may be mended on the way, where a chunk or another stream takes the place of the error', async () => {
    const mend = catchError<string, Observable<string>>(() => of('!'));
    const made = step('made', () =>
      concat(
        of('a'),
        throwError(() => new Error('cut')),
      ).pipe(mend),
    );
    expect(await invoke(chain(made, upper), null)).toBe('A!');
  });

  it('fails with an operator that fails, and stops the producer', async () => {
    const source = new Subject<string>();
    const failing = operator(
      'failing',
      mapChunks((text: string) => {
        if (text === 'b') throw new RangeError('not b');
        return text;
      }),
    );
    const heard: string[] = [];
    const ended = new Promise<unknown>((resolve) =>
      stream(
        chain(() => source, failing),
        null,
      ).subscribe({ next: (chunk) => heard.push(chunk), error: resolve }),
    );
    source.next('a');
    source.next('b');
    expect(await ended).toMatchObject({ code: 'NODE_FAILED', message: expect.stringContaining('not b') });
    expect(heard).toEqual(['a']);
    expect(source.observed).toBe(false);
  });

  it('fails when the chunks of the input do, behind what they made before', async () => {
    const heard: string[] = [];
    const source = concat(
      of('a'),
      throwError(() => new Error('input cut')),
    );
    await expect(
      all(
        source.pipe(
          transform(upper),
          mapChunks((chunk) => heard.push(chunk)),
        ),
      ),
    ).rejects.toThrow('input cut');
    expect(heard).toEqual(['A']);
  });
});

describe('an empty stream', () => {
  const nothing = step('nothing', (_: unknown) => of<string>());

  it('has no value for a function, which does not run', async () => {
    let runs = 0;
    await expect(
      invoke(
        chain(nothing, () => (runs += 1)),
        null,
      ),
    ).rejects.toMatchObject({ code: 'STREAM_EMPTY' });
    expect(runs).toBe(0);
  });

  it('is no result of invoke, and an empty one of stream', async () => {
    await expect(invoke(nothing, null)).rejects.toMatchObject({ code: 'STREAM_EMPTY' });
    expect(await all(stream(chain(nothing, upper), null))).toEqual([]);
  });

  it('may be filled by an operator or a generator', async () => {
    const counted = generator('counted', async function* (chunks: AsyncIterable<string>) {
      let count = 0;
      for await (const _ of chunks) count += 1;
      yield count;
    });
    expect(await invoke(chain(nothing, counted), null)).toBe(0);
    expect(await invoke(chain(nothing, operator(endWith('z'))), null)).toBe('z');
  });
});

describe('rules for chunks', () => {
  const tickets = () => from([1, 2, 3].map((id) => new Ticket(id)));
  const sum = (all: readonly Ticket[]): Ticket => new Ticket(all.reduce((total, { id }) => total + id, 0));

  it('are needed for instances of classes, and the error says so', async () => {
    await expect(
      invoke(
        chain(tickets, ({ id }: Ticket) => id),
        null,
      ),
    ).rejects.toMatchObject({
      code: 'CHUNKS_INVALID',
      message: expect.stringMatching(/class Ticket in chunk 0.*rule/),
    });
  });

  it('may come with the step or the run', async () => {
    const own = step('tickets', tickets, { chunks: sum });
    expect(
      await invoke(
        chain(own, ({ id }: Ticket) => id),
        null,
      ),
    ).toBe(6);
    expect(await invoke(own, null)).toEqual(new Ticket(6));
    expect(
      await invoke(
        chain(tickets, ({ id }: Ticket) => id),
        null,
        { chunks: sum as never },
      ),
    ).toBe(6);
    expect(await invoke(chain(tickets), null, { chunks: sum as never })).toEqual(new Ticket(6));
  });

  it('are not asked for one chunk', async () => {
    const one = step('one', () => of(new Ticket(7)), { chunks: () => new Ticket(0) });
    expect(
      await invoke(
        chain(one, ({ id }: Ticket) => id),
        null,
      ),
    ).toBe(7);
  });

  it('join chunks of messages on the way to a function', async () => {
    const model = step('model', () =>
      of(
        { role: 'assistant', content: 'Hel' },
        { role: 'assistant', content: 'lo' },
        { role: 'assistant', content: '', finishReason: 'stop' },
      ),
    );
    expect(
      await invoke(
        chain(model, (message: object) => message),
        null,
      ),
    ).toEqual({
      role: 'assistant',
      content: 'Hello',
      finishReason: 'stop',
    });
  });
});
