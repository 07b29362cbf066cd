import { concatMap, map as mapChunks, NEVER, type Observable, of, scan } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  as,
  branch,
  chain,
  generator,
  invoke,
  loop,
  map,
  operator,
  parallel,
  passthrough,
  pick,
  step,
  stream,
  streamBranch,
} from '../../../src/index.js';
import { chunksOf, failure, gate, spaced, turns } from './support.js';

const upper = (text: string): string => text.toUpperCase();
const letters = (text: string): Observable<string> => spaced(...text);
const fails = (): never => {
  throw new Error('no luck');
};

describe('chains', () => {
  it('hand the output of each step to the next, whatever its type, at once or later', async () => {
    const made = chain(
      (n: number) => n + 1,
      async (n) => ({ n }),
      ({ n }) => [n, n],
      (list) => list.join('-'),
    );
    expect(await invoke(made, 1)).toBe('2-2');
  });

  it('do the same nested as in one piece', async () => {
    const inner = chain(upper, (text) => `${text}!`);
    expect(await invoke(chain(letters, inner, inner), 'ab')).toBe('AB!!');
    expect(await invoke(chain(letters, step('kept', inner), inner), 'ab')).toBe('AB!!');
  });

  it('pass on empty values: a list without items, an empty text, null', async () => {
    const same = chain(
      (value: unknown) => value,
      (value) => value,
    );
    for (const value of [[], '', null, 0, false]) expect(await invoke(same, value)).toEqual(value);
  });

  it('may hold one step twice', async () => {
    const twice = step('twice', (n: number) => n * 2);
    expect(await invoke(chain(twice, twice, twice), 1)).toBe(8);
  });

  it('join the chunks of a stream for a function, and leave them apart for an operator', async () => {
    expect(await chunksOf(chain(letters, upper), 'abc')).toEqual(['ABC']);
    expect(await chunksOf(chain(letters, operator(mapChunks(upper))), 'abc')).toEqual(['A', 'B', 'C']);
  });

  it('start an operator with its producer', async () => {
    const door = gate();
    const slow = step('slow', async function* (_: string) {
      yield 'a';
      await door.opened;
      yield 'b';
    });
    const made = chain(
      slow,
      operator(
        mapChunks((text) => {
          door.open();
          return text.toUpperCase();
        }),
      ),
    );
    expect(await chunksOf(made, '')).toEqual(['A', 'B']);
  });

  it('let a generator take what it wants and leave the rest', async () => {
    const taken: string[] = [];
    const two = generator(async function* (chunks: AsyncIterable<string>) {
      for await (const chunk of chunks) {
        taken.push(chunk);
        yield chunk;
        if (taken.length === 2) return;
      }
    });
    expect(await chunksOf(chain(letters, two, upper), 'abcd')).toEqual(['AB']);
    expect(taken).toEqual(['a', 'b']);
  });

  it('give one chunk to operators and generators when a whole value comes', async () => {
    const count = scan((n: number, _: string) => n + 1, 0);
    expect(await chunksOf(chain(upper, operator(count)), 'abc')).toEqual([1]);
  });

  it('name the step that failed by its path, with the error underneath', async () => {
    const cause = new Error('no luck');
    const broken = step('broken', () => {
      throw cause;
    });
    await expect(invoke(chain(upper, step('outer', chain(upper, broken))), 'a')).rejects.toEqual(
      failure('NODE_FAILED', /no luck/, { node: 'outer/broken', cause }),
    );
  });

  it('fail with a step in the middle of a stream, after the chunks that came before', async () => {
    const made = chain(letters, operator(concatMap((text) => (text === 'c' ? fails() : of(text)))));
    const seen: string[] = [];
    const ended = new Promise((resolve) => {
      stream(made, 'abcd').subscribe({ next: (chunk) => seen.push(chunk), error: resolve });
    });
    expect(await ended).toEqual(failure('NODE_FAILED', /no luck/));
    expect(seen).toEqual(['a', 'b']);
  });

  it('refuse a function that is an operator of RxJS after all, and say what to do', async () => {
    const written = (source: Observable<string>) => source.pipe(mapChunks(upper));
    // biome-ignore lint/suspicious/noExplicitAny: the compiler refuses it
    const made = chain(upper, written as any);
    await expect(invoke(made, 'a')).rejects.toEqual(
      failure('PLAN_INVALID', /"written" is an RxJS operator.*operator\(/),
    );
  });

  it('fail for a stream without chunks where a value is needed', async () => {
    await expect(invoke(chain(letters, upper), '')).rejects.toEqual(failure('STREAM_EMPTY', /without any chunk/));
  });

  it('take keys out of objects and put values under keys, also chunk by chunk', async () => {
    const made = chain(letters, as('text'), passthrough(), pick('text'));
    expect(await chunksOf(made, 'ab')).toEqual(['a', 'b']);
    expect(await invoke(chain(upper, as('loud')), 'a')).toEqual({ loud: 'A' });
  });
});

describe('parallels', () => {
  it('give every step the same input and gather what they give by key', async () => {
    const made = parallel({ loud: upper, size: async (text: string) => text.length, end: (text: string) => text });
    expect(await invoke(made, 'abc')).toEqual({ loud: 'ABC', size: 3, end: 'abc' });
  });

  it('start all steps before one has ended', async () => {
    const door = gate<string>();
    const made = parallel({
      waits: (_: string) => door.opened,
      opens: (text: string) => {
        door.open(text);
        return text;
      },
    });
    expect(await invoke(made, 'x')).toEqual({ waits: 'x', opens: 'x' });
  });

  it('end with the first failure and stop the other steps', async () => {
    let stopped: AbortSignal | undefined;
    const made = parallel({
      slow: step('slow', (_: string, at) => {
        stopped = at.signal;
        return NEVER as Observable<string>;
      }),
      broken: async (_: string) => {
        await turns(2);
        return fails();
      },
    });
    await expect(invoke(made, 'x')).rejects.toEqual(failure('NODE_FAILED', /no luck/, { node: 'broken' }));
    expect(stopped?.aborted).toBe(true);
  });

  it('give chunks under their keys as they come, which together are the whole', async () => {
    const made = parallel({ a: letters, b: (text: string) => text.length });
    const chunks = await chunksOf(made, 'xy');
    expect(chunks).toHaveLength(3);
    expect(chunks.filter((chunk) => 'a' in chunk)).toEqual([{ a: 'x' }, { a: 'y' }]);
    expect(await invoke(made, 'xy')).toEqual({ a: 'xy', b: 2 });
  });

  it('may stand in each other, behind a stream too', async () => {
    const made = chain(
      letters,
      parallel({ a: upper, more: parallel({ b: upper, c: (text: string) => text }) }),
      (all) => [all.a, all.more.b, all.more.c],
    );
    expect(await invoke(made, 'xy')).toEqual(['XY', 'XY', 'xy']);
  });
});

describe('branches', () => {
  it('run the chosen step alone, and go on with what it gave', async () => {
    const ran: string[] = [];
    const route = (name: string) => (n: number) => {
      ran.push(name);
      return `${name} ${n}`;
    };
    const made = chain(
      branch(async (n: number) => (n > 1 ? 'many' : 'few'), { many: route('many'), few: route('few') }),
      upper,
    );
    expect([await invoke(made, 2), await invoke(made, 1)]).toEqual(['MANY 2', 'FEW 1']);
    expect(ran).toEqual(['many', 'few']);
  });

  it('run several chosen steps side by side and merge what they give', async () => {
    const made = branch((_: number) => ['a', 'b'] as const, {
      a: async (n: number) => ({ a: n }),
      b: (n: number) => ({ b: n }),
      c: (n: number) => ({ c: n }),
    });
    expect(await invoke(made, 1)).toEqual({ a: 1, b: 1 });
  });

  it('cannot merge equal keys or texts by themselves, but with a function', async () => {
    const same = { a: (n: number) => ({ x: n }), b: (n: number) => ({ x: n }) };
    const both = (_: number) => ['a', 'b'] as const;
    await expect(invoke(branch(both, same), 1)).rejects.toEqual(
      failure('MERGE_CONFLICT', /"a" and "b" both gave the key "x"/),
    );
    const texts = { a: (n: number) => `a${n}`, b: async (n: number) => `b${n}` };
    await expect(invoke(branch(both, texts), 1)).rejects.toEqual(failure('MERGE_CONFLICT', /gave a string/));
    expect(await invoke(branch(both, texts, { merge: (values) => values.join('+') }), 1)).toBe('a1+b1');
  });

  it('fail when the chooser fails, or names no route', async () => {
    await expect(
      invoke(
        branch((_: number) => fails(), { a: (n: number) => n }),
        1,
      ),
    ).rejects.toEqual(failure('NODE_FAILED', /no luck/, { node: 'branch' }));
    await expect(
      invoke(
        branch((_: number): 'a'[] => [], { a: (n: number) => n }),
        1,
      ),
    ).rejects.toEqual(failure('GRAPH_NO_OUTPUT'));
    const lost = branch((_: number) => 'aa' as 'ab', { ab: (n: number) => n });
    await expect(invoke(lost, 1)).rejects.toEqual(
      failure('NODE_TARGET_UNKNOWN', /chose "aa".*"ab".*Did you mean "ab"/),
    );
  });

  it('pass a stream on as a stream, although the chooser saw the whole', async () => {
    const made = chain(
      letters,
      branch((text: string) => (text === 'abc' ? 'whole' : 'part'), { whole: operator(mapChunks(upper)), part: upper }),
    );
    expect(await chunksOf(made, 'abc')).toEqual(['A', 'B', 'C']);
  });

  it('choose by the beginning of a stream; the route gets every chunk and starts while others come', async () => {
    const asked: number[] = [];
    const door = gate();
    const slow = step('slow', async function* (_: string) {
      yield 'a';
      yield 'b';
      await door.opened;
      yield 'c';
    });
    const made = chain(
      slow,
      streamBranch(
        (chunks: readonly string[]) => {
          asked.push(chunks.length);
          return chunks.length === 2 ? 'live' : undefined;
        },
        {
          live: operator(
            mapChunks((text: string) => {
              if (text === 'b') door.open();
              return text.toUpperCase();
            }),
          ),
          other: upper,
        },
      ),
    );
    expect(await chunksOf(made, '')).toEqual(['A', 'B', 'C']);
    expect(asked).toEqual([1, 2]);
  });

  it('choose at the end of a stream that did not decide before, and fail without a choice', async () => {
    const atEnd = streamBranch((_: readonly string[], isLast: boolean) => (isLast ? 'a' : undefined), { a: upper });
    expect(await invoke(chain(letters, atEnd), 'abc')).toBe('ABC');
    const never = streamBranch((_: readonly string[]): 'a' | undefined => undefined, { a: upper });
    await expect(invoke(chain(letters, never), 'abc')).rejects.toEqual(
      failure('NODE_TARGET_UNKNOWN', /chose no route although all 3 chunks had come/),
    );
  });
});

describe('maps and loops', () => {
  it('work on as many items as they may at once, and keep their order', async () => {
    let atWork = 0;
    let most = 0;
    const item = async (n: number): Promise<number> => {
      atWork += 1;
      most = Math.max(most, atWork);
      await turns(5 - n);
      atWork -= 1;
      return n * 10;
    };
    expect(await invoke(map(item, { concurrency: 2 }), [1, 2, 3, 4])).toEqual([10, 20, 30, 40]);
    expect(most).toBe(2);
    expect(await invoke(map(item), [])).toEqual([]);
  });

  it('name the item that failed', async () => {
    const made = chain((n: number) => [n, n + 1], map(step('half', (n: number) => (n % 2 === 0 ? n / 2 : fails()))));
    await expect(invoke(made, 2)).rejects.toEqual(failure('NODE_FAILED', /no luck/));
  });

  it('go round until the result is good, and no further than they may', async () => {
    const rounds: number[] = [];
    const until = (n: number, round: number): boolean => {
      rounds.push(round);
      return n >= 8;
    };
    const double = (n: number): number => n * 2;
    expect(await invoke(loop(double, { until, maxRounds: 3 }), 1)).toBe(8);
    expect(rounds).toEqual([1, 2, 3]);
    await expect(invoke(loop(double, { until, maxRounds: 2 }), 1)).rejects.toEqual(failure('RUN_STEPS_EXCEEDED'));
  });
});
