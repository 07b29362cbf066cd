import {
  endWith,
  filter,
  from,
  lastValueFrom,
  map as mapChunks,
  type Observable,
  of,
  Subject,
  scan,
  take,
  toArray,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  branch,
  chain,
  collect,
  generator,
  graph,
  invoke,
  mergeNamed,
  operator,
  parallel,
  passthrough,
  pick,
  run,
  type Step,
  type StepLike,
  step,
  stream,
  streamBranch,
  transform,
} from '../../../src/index.js';
import { property } from '../../support/random.js';

const turn = (): Promise<void> => new Promise(setImmediate);

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

describe('the four ways of running a step', () => {
  const shapes: [string, Step<string, unknown>, unknown][] = [
    ['a function', chain((text: string) => `<${text}>`), '<a b c>'],
    ['a promise', chain(async (text: string) => text.length), 5],
    ['an Observable', chain(words), 'abc'],
    ['an async generator', chain(saidWords), 'abc'],
    ['a promise of chunks', chain(async (text: string) => from(text.split(' ')) as unknown as string), 'abc'],
    ['an operator behind chunks', chain(words, upper), 'ABC'],
    ['an operator behind a value', chain((text: string) => text, upper), 'A B C'],
    ['a generator behind chunks', chain(saidWords, dotted), 'a.b.c.'],
    ['a function behind chunks', chain(words, (text: string) => text.length), 3],
    ['numbers, of which the last stays', chain((text: string) => from(text.split(' ').keys())), 2],
    [
      'objects, key by key',
      chain(words, operator(mapChunks((text: string) => ({ text, last: text })))),
      { text: 'abc', last: 'abc' },
    ],
    ['steps side by side', parallel({ small: words, large: chain(words, upper) }), { small: 'abc', large: 'ABC' }],
    [
      'a branch',
      branch((text: string) => (text.length > 3 ? 'long' : 'short'), { long: saidWords, short: upper }),
      'abc',
    ],
    [
      'a branch on a prefix',
      chain(
        words,
        streamBranch((chunks: readonly string[]) => (chunks.length === 2 ? 'on' : undefined), { on: upper }),
      ),
      'ABC',
    ],
    [
      'a graph in a graph',
      graph<string, string>('outer', (g) => {
        const inner = g.node(
          'inner',
          graph<string, string>('within', (h) => {
            const first = h.node('first', saidWords);
            h.edge(h.start, first);
            h.edge(first, h.end);
          }),
        );
        g.edge(g.start, inner);
        g.edge(inner, g.end);
      }),
      'abc',
    ],
  ];

  it.each(shapes)('invoke gives what concatenating stream gives: %s', async (_, made, expected) => {
    expect(await invoke(made, 'a b c')).toEqual(expected);
    const chunks = await all(stream(made, 'a b c'));
    expect(
      await invoke(
        chain(() => from(chunks)),
        null,
      ),
    ).toEqual(expected);
  });

  it.each(shapes)('collect and transform give the same for an input of one chunk: %s', async (_, made, expected) => {
    expect(await collect(made, of('a b c'))).toEqual(expected);
    const chunks = await all(of('a b c').pipe(transform(made)));
    expect(
      await invoke(
        chain(() => from(chunks)),
        null,
      ),
    ).toEqual(expected);
  });

  it('stream gives one chunk for a result that is no stream', async () => {
    expect(await all(stream((text: string) => text.length, 'four'))).toEqual([4]);
  });

  it('collect joins the chunks of the input for a function, and hands them on one by one to an operator', async () => {
    const heard: string[] = [];
    const noting = operator(
      'noting',
      mapChunks((text: string) => {
        heard.push(text);
        return text;
      }),
    );
    expect(
      await collect(
        chain(noting, (text: string) => `<${text}>`),
        of('a', 'b', 'c'),
      ),
    ).toBe('<abc>');
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  it('collect and transform take async iterables, too', async () => {
    async function* letters(): AsyncGenerator<string> {
      yield* ['a', 'b'];
    }
    expect(await collect(upper, letters())).toBe('AB');
    expect(await all(from(letters()).pipe(transform(dotted)))).toEqual(['a.', 'b.']);
  });

  it('all are cold: each subscription is a run of its own', async () => {
    let runs = 0;
    const counted = stream(() => of(++runs, 0), null);
    expect(runs).toBe(0);
    expect([await all(counted), await all(counted)]).toEqual([
      [1, 0],
      [2, 0],
    ]);
    const source = of('a').pipe(transform(chain(() => ++runs)));
    expect([await all(source), await all(source)]).toEqual([[3], [4]]);
  });

  it('stream can be read in a loop', async () => {
    const heard: string[] = [];
    for await (const chunk of stream(chain(saidWords, upper), 'a b c')) heard.push(chunk);
    expect(heard).toEqual(['A', 'B', 'C']);
  });

  property('they agree for every chain of steps', 60, async (random) => {
    const kinds: StepLike<string, string>[] = [
      upper,
      dotted,
      words,
      saidWords,
      passthrough<string>(),
      (text: string) => `${text} ${text}`,
      async (text: string) => `<${text}>`,
      operator(filter((_: string, at: number) => at < 40)),
    ];
    let made: Step<string, string> = chain(random.pick(kinds));
    for (let length = random.int(6); length > 0; length -= 1) made = made.pipe(random.pick(kinds));
    const whole = await invoke(made, 'a b');
    expect((await all(stream(made, 'a b'))).join('')).toBe(whole);
    expect(await collect(made, of('a b'))).toBe(whole);
    expect((await all(of('a b').pipe(transform(made)))).join('')).toBe(whole);
  });
});

describe('chunks on their way', () => {
  it('reach an operator while the producer is still at work, through sub-graphs as well', async () => {
    const source = new Subject<string>();
    const inner = graph<string, string>('inner', (g) => {
      const loud = g.node('loud', upper);
      g.edge(g.start, loud);
      g.edge(loud, g.end);
    });
    const heard: string[] = [];
    stream(
      chain(() => source, inner, dotted),
      null,
    ).subscribe((chunk) => heard.push(chunk));
    await turn();
    source.next('a');
    await turn();
    expect(heard).toEqual(['A.']);
    source.next('b');
    source.complete();
    await turn();
    expect(heard).toEqual(['A.', 'B.']);
  });

  it('do not reach a function before the last one has come', async () => {
    const source = new Subject<string>();
    const heard: string[] = [];
    stream(
      chain(
        () => source,
        (text: string) => `<${text}>`,
      ),
      null,
    ).subscribe((chunk) => heard.push(chunk));
    source.next('a');
    source.next('b');
    await turn();
    expect(heard).toEqual([]);
    source.complete();
    await turn();
    expect(heard).toEqual(['<ab>']);
  });

  it('can be dropped, changed, added to and gathered by an operator', async () => {
    const convert = operator('convert', (chunks: Observable<string>) =>
      chunks.pipe(
        filter((text) => text !== ''),
        mapChunks((text) => text.length),
        scan((sum, length) => sum + length),
        endWith(-1),
      ),
    );
    expect(
      await all(
        stream(
          chain(() => of('a', '', 'bcd'), convert),
          null,
        ),
      ),
    ).toEqual([1, 4, -1]);
  });

  it('end when an operator has enough, and the producer is told', async () => {
    let given = 0;
    let isClosed = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) {
          given += 1;
          yield given;
        }
      } finally {
        isClosed = true;
      }
    }
    expect(
      await all(
        stream(
          chain(() => endless(), operator(take(3))),
          null,
        ),
      ),
    ).toEqual([1, 2, 3]);
    await turn();
    expect(isClosed).toBe(true);
    expect(given).toBeLessThan(30);
  });

  it('of different nodes come to one node in the order in which they arrive, when no join asks for all', async () => {
    const [a, b] = [new Subject<{ a: string }>(), new Subject<{ b: string }>()];
    const both = graph<null, object>('both', (g) => {
      const left = g.node('left', () => a);
      const right = g.node('right', () => b);
      const out = g.node('out', passthrough<object>());
      g.edge(g.start, left);
      g.edge(g.start, right);
      g.edge(left, out);
      g.edge(right, out);
      g.edge(out, g.end);
    });
    const heard: object[] = [];
    const ended = new Promise((resolve) =>
      stream(both, null).subscribe({ next: (chunk) => heard.push(chunk), complete: () => resolve(1) }),
    );
    a.next({ a: '1' });
    b.next({ b: '2' });
    a.next({ a: '3' });
    a.complete();
    b.next({ b: '4' });
    b.complete();
    await ended;
    expect(heard).toEqual([{ a: '1' }, { b: '2' }, { a: '3' }, { b: '4' }]);
  });

  it('of different nodes with the same key are refused as soon as the second one comes', async () => {
    const clash = graph<null, object>('clash', (g) => {
      const left = g.node('left', () => of({ text: 'a' }));
      const right = g.node('right', () => of({ text: 'b' }));
      const out = g.node('out', passthrough<object>());
      for (const side of [left, right]) {
        g.edge(g.start, side);
        g.edge(side, out);
      }
      g.edge(out, g.end);
    });
    await expect(invoke(clash, null)).rejects.toMatchObject({
      code: 'MERGE_CONFLICT',
      message: expect.stringMatching(/"left".*"right".*"text"/),
    });
  });

  it('of steps side by side come as objects of one key, as soon as there is one', async () => {
    const late = new Subject<string>();
    const heard: object[] = [];
    const together = parallel({ soon: words, late: chain((_: string) => late) });
    const ended = new Promise((resolve) =>
      stream(together, 'a b').subscribe({ next: (chunk) => heard.push(chunk), complete: () => resolve(1) }),
    );
    expect(heard).toEqual([{ soon: 'a' }, { soon: 'b' }]);
    late.next('z');
    late.complete();
    await ended;
    expect(heard).toEqual([{ soon: 'a' }, { soon: 'b' }, { late: 'z' }]);
  });

  it('are live where ways of different lengths come together, as soon as every way has begun', async () => {
    const [long, short] = [new Subject<string>(), new Subject<string>()];
    const heard: object[] = [];
    const together = parallel({
      long: chain((_: null) => long, upper, passthrough<string>()),
      short: chain((_: null) => short),
    });
    const ended = new Promise((resolve) =>
      stream(together, null).subscribe({ next: (chunk) => heard.push(chunk), complete: () => resolve(1) }),
    );
    short.next('a');
    long.next('b');
    expect(heard).toEqual([{ short: 'a' }, { long: 'B' }]);
    long.complete();
    short.next('c');
    expect(heard).toEqual([{ short: 'a' }, { long: 'B' }, { short: 'c' }]);
    short.complete();
    await ended;
  });

  it('wait where another way may still come that has not begun', async () => {
    const [quick, slow] = [new Subject<string>(), new Subject<string>()];
    const heard: object[] = [];
    const together = parallel({
      quick: chain((_: null) => quick),
      slow: chain(
        (_: null) => slow,
        (text: string) => `<${text}>`,
      ),
    });
    const ended = new Promise((resolve) =>
      stream(together, null).subscribe({ next: (chunk) => heard.push(chunk), complete: () => resolve(1) }),
    );
    quick.next('a');
    slow.next('b');
    expect(heard).toEqual([]);
    slow.complete();
    quick.next('c');
    quick.complete();
    await ended;
    expect(heard).toHaveLength(3);
    expect(
      await invoke(
        chain(() => from(heard)),
        null,
      ),
    ).toEqual({ quick: 'ac', slow: '<b>' });
  });

  it('of a key are the stream of that key', async () => {
    const both = chain(parallel({ small: words, large: chain(words, upper) }), pick('large'));
    expect(await all(stream(both, 'a b'))).toEqual(['A', 'B']);
  });

  it('of two runs are merged with their names', async () => {
    const said = await all(mergeNamed({ one: stream(words, 'a b'), two: stream(upper, 'c') }));
    expect(said.map((one) => (one.type === 'chunk' ? `${one.name}:${one.chunk}` : `${one.name}|`))).toEqual([
      'one:a',
      'one:b',
      'one|',
      'two:C',
      'two|',
    ]);
  });

  it('are told once in the events of the run, where they are not read any more, and the last event has the whole result', async () => {
    const events = await all(run(chain(words, upper), { input: 'a b' }));
    const chunks = events.flatMap((event) => (event.type === 'node-chunk' ? [[event.node, event.value]] : []));
    expect(chunks).toEqual([
      ['upper', 'A'],
      ['upper', 'B'],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'run-settled', value: 'AB' });
  });
});
