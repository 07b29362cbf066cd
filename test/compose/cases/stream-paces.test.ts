import { from, lastValueFrom, Observable, of, Subject, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  collect,
  concatChunks,
  decideOnPrefix,
  EngineError,
  fanOut,
  generator,
  graph,
  hasToolCall,
  invoke,
  operator,
  passthrough,
  type Step,
  step,
  stream,
  streamBranch,
  transform,
} from '../../../src/index.js';

const turn = (): Promise<void> => new Promise(setImmediate);

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await turn();
}

const all = <T>(chunks: Observable<T>): Promise<T[]> => lastValueFrom(chunks.pipe(toArray()));

/** How far a counting producer has come, and whether it was closed. */
interface Notes {
  given: number;
  isClosed: boolean;
}

/** Counts as texts, `1;2;…`; asked for one by one. */
const counting = (notes: Notes, to: number) =>
  step('counting', async function* () {
    try {
      for (let at = 1; at <= to; at += 1) {
        notes.given = at;
        yield `${at};`;
      }
    } finally {
      notes.isClosed = true;
    }
  });

/** A step as a graph of its own. */
const inGraph = (body: Step<string, string>): Step<string, string> =>
  graph<string, string>('inner', (g) => {
    const node = g.node('body', body);
    g.edge(g.start, node);
    g.edge(node, g.end);
  });

/** A reader that goes on only when the gate lets it. */
function gated() {
  const gate = { heard: [] as string[], open: () => {}, isOpen: false };
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  const slow = generator('slow', async function* (chunks: AsyncIterable<string>) {
    for await (const chunk of chunks) {
      gate.heard.push(chunk);
      await opened;
      yield chunk;
    }
  });
  return { gate, slow };
}

const numbersTo = (to: number): string => Array.from({ length: to }, (_, at) => `${at + 1};`).join('');

describe('a slow reader', () => {
  it('makes a producer wait that can be paused: no more is read than the edges hold', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const { gate, slow } = gated();
    const result = invoke(chain(counting(notes, 1_000), slow), null);
    await turns(100);
    expect(gate.heard).toEqual(['1;']);
    expect(notes.given).toBeLessThan(25);
    gate.open();
    expect(await result).toBe(numbersTo(1_000));
    expect(gate.heard).toHaveLength(1_000);
  });

  it('with a small edge makes it wait sooner', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const { gate, slow } = gated();
    const made = graph<null, string>('small', (g) => {
      const producer = g.node('producer', counting(notes, 100), { edge: { size: 2 } });
      const reader = g.node('reader', slow);
      g.edge(g.start, producer as never);
      g.edge(producer, reader);
      g.edge(reader, g.end);
    });
    const result = invoke(made, null);
    await turns(50);
    expect(notes.given).toBeLessThanOrEqual(5);
    gate.open();
    expect(await result).toBe(numbersTo(100));
  });

  it('gets fewer and larger chunks of a producer that cannot be paused, and loses nothing', async () => {
    const source = new Subject<string>();
    const { gate, slow } = gated();
    const result = invoke(
      chain(() => source, slow),
      null,
    );
    for (let at = 1; at <= 1_000; at += 1) source.next(`${at};`);
    source.complete();
    await turns(5);
    gate.open();
    expect(await result).toBe(numbersTo(1_000));
    expect(gate.heard.length).toBeLessThanOrEqual(18);
  });

  it('of chunks without a rule fails the run, and the error names the node and the ways out', async () => {
    class Ticket {}
    const source = new Subject<Ticket>();
    const { slow } = gated();
    const failed = invoke(
      chain(
        step('tickets', () => source),
        slow as never,
      ),
      null,
    );
    for (let at = 0; at < 40; at += 1) source.next(new Ticket());
    await expect(failed).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      message: expect.stringMatching(/"tickets".*(generator|pause).*rule/s),
    });
    expect(source.observed).toBe(false);
  });

  it('gets the newest alone where that is asked for', async () => {
    const source = new Subject<string>();
    const { gate, slow } = gated();
    const made = graph<null, string>('newest', (g) => {
      const producer = g.node('producer', () => source, { edge: { size: 2, whenFull: 'latest' } });
      const reader = g.node('reader', slow);
      g.edge(g.start, producer as never);
      g.edge(producer, reader);
      g.edge(reader, g.end);
    });
    const result = invoke(made, null);
    source.next('first;');
    await turns(3);
    for (let at = 1; at <= 100; at += 1) source.next(`${at};`);
    source.complete();
    gate.open();
    expect(await result).toBe('first;99;100;');
  });

  it('fails the run where that is asked for, although its chunks could be joined', async () => {
    const source = new Subject<string>();
    const { slow } = gated();
    const made = graph<null, string>('strict', (g) => {
      const producer = g.node('producer', () => source, { edge: { size: 2, whenFull: 'fail' } });
      const reader = g.node('reader', slow);
      g.edge(g.start, producer as never);
      g.edge(producer, reader);
      g.edge(reader, g.end);
    });
    const failed = invoke(made, null);
    for (let at = 0; at < 10; at += 1) source.next('x');
    await expect(failed).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('does not slow the reader beside it', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const { gate, slow } = gated();
    const quickHeard: string[] = [];
    const quick = generator('quick', async function* (chunks: AsyncIterable<string>) {
      for await (const chunk of chunks) {
        quickHeard.push(chunk);
        yield chunk;
      }
    });
    const made = graph<null, { slow: string; quick: string }>('fan', (g) => {
      const producer = g.node('producer', counting(notes, 500));
      const left = g.node('slow', slow);
      const right = g.node('quick', quick);
      g.edge(g.start, producer as never);
      g.edge(producer, left);
      g.edge(producer, right);
      g.join({ slow: left, quick: right }, g.end);
    });
    const result = invoke(made, null);
    while (quickHeard.length < 500) await turn();
    expect(gate.heard).toEqual(['1;']);
    gate.open();
    expect(await result).toEqual({ slow: numbersTo(500), quick: numbersTo(500) });
    expect(quickHeard).toHaveLength(500);
    expect(gate.heard.length).toBeLessThan(20);
  });

  it('outside, in a loop over the stream, makes the producer wait too', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    let text = '';
    for await (const chunk of stream(counting(notes, 200), null)) {
      text += chunk;
      if (text.length < 40) await turns(3);
      expect(notes.given).toBeLessThan(text.split(';').length + 40);
    }
    expect(text).toBe(numbersTo(200));
  });

  it.each<[string, (slow: Step<string, string>) => Step<string, string>]>([
    [
      'an operator',
      (slow) =>
        chain(
          operator('same', (chunks: Observable<string>) => chunks),
          passthrough<string>(),
          slow,
        ),
    ],
    ['a graph', (slow) => chain(inGraph(chain(passthrough<string>(), slow)))],
    ['a graph in a graph', (slow) => chain(inGraph(chain(inGraph(slow))))],
    ['the end of a graph', (slow) => chain(inGraph(chain(passthrough<string>())), slow)],
    [
      'a branch',
      (slow) => streamBranch((_: readonly string[]) => 'on' as const, { on: slow, off: passthrough<string>() }),
    ],
  ])('makes a producer wait through %s, and every chunk stays by itself', async (_, around) => {
    const notes: Notes = { given: 0, isClosed: false };
    const { gate, slow } = gated();
    const result = invoke(chain(counting(notes, 300), around(slow)), null);
    await turns(100);
    expect(gate.heard).toEqual(['1;']);
    expect(notes.given).toBeLessThan(120);
    gate.open();
    expect(await result).toBe(numbersTo(300));
    expect(gate.heard).toHaveLength(300);
  });

  it('makes the chunks of the input wait that are asked for one by one', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const { gate, slow } = gated();
    async function* numbers(): AsyncGenerator<string> {
      try {
        for (let at = 1; at <= 200; at += 1) {
          notes.given = at;
          yield `${at};`;
        }
      } finally {
        notes.isClosed = true;
      }
    }
    const result = collect(chain(passthrough<string>(), slow), numbers());
    await turns(100);
    expect(notes.given).toBeLessThan(60);
    gate.open();
    expect(await result).toBe(numbersTo(200));
    expect(gate.heard).toHaveLength(200);
  });

  it('that reads on only now and then gets everything of a hundred thousand chunks', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    let heard = 0;
    const lazy = generator('lazy', async function* (chunks: AsyncIterable<string>) {
      for await (const chunk of chunks) {
        heard += chunk.split(';').length - 1;
        if (heard % 1_000 === 0) await turn();
      }
      yield heard;
    });
    expect(await invoke(chain(counting(notes, 100_000), passthrough<string>(), lazy), null)).toBe(100_000);
  });
});

describe('leaving early', () => {
  it('unsubscribing from a stream stops the producer and what it holds, at once', async () => {
    let isClosed = false;
    const endless = step(
      'endless',
      () =>
        new Observable<string>((subscriber) => {
          subscriber.next('a');
          return () => {
            isClosed = true;
          };
        }),
    );
    const heard: string[] = [];
    const reading = stream(
      chain(
        endless,
        operator((chunks: Observable<string>) => chunks),
      ),
      null,
    ).subscribe((chunk) => heard.push(chunk));
    expect(heard).toEqual(['a']);
    reading.unsubscribe();
    expect(isClosed).toBe(true);
  });

  it('breaking a loop off ends a generator with its clean-up', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    for await (const chunk of stream(counting(notes, 1_000), null)) if (chunk === '3;') break;
    await turns(3);
    expect(notes.isClosed).toBe(true);
    expect(notes.given).toBeLessThan(30);
  });

  it('unsubscribing ends an input that is asked for, at once', async () => {
    let isClosed = false;
    const input: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          isClosed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const abort = new AbortController();
    const ended = collect(chain(passthrough<string>()), input, { signal: abort.signal });
    await turns(2);
    abort.abort();
    await expect(ended).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(isClosed).toBe(true);
  });

  it('unsubscribing from a transformed stream lets go of the source', async () => {
    const source = new Subject<string>();
    const reading = source.pipe(transform(chain(operator((chunks: Observable<string>) => chunks)))).subscribe();
    expect(source.observed).toBe(true);
    reading.unsubscribe();
    expect(source.observed).toBe(false);
  });

  it('a generator that reads nothing does not hold its producer up', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const deaf = generator('deaf', async function* () {
      yield 'done';
    });
    expect(await invoke(chain(counting(notes, 1_000), deaf as never), null)).toBe('done');
    await turns(3);
    expect(notes.isClosed).toBe(true);
  });

  it('a reader that has enough leaves the others alone', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const made = graph<null, { some: string; every: string }>('fan', (g) => {
      const producer = g.node('producer', counting(notes, 100));
      const some = g.node('some', operator(take<string>(2)));
      const every = g.node('every', passthrough<string>());
      g.edge(g.start, producer as never);
      g.edge(producer, some);
      g.edge(producer, every);
      g.join({ some, every }, g.end);
    });
    expect(await invoke(made, null)).toEqual({ some: '1;2;', every: numbersTo(100) });
  });
});

describe('a branch on the beginning of a stream', () => {
  const letters = (text: string) => from([...text]);
  /** By the first capital letter: V for vowels, C for others; none at the end. */
  const byCapital = (chunks: readonly string[], isLast: boolean): 'vowel' | 'other' | 'none' | undefined => {
    const capital = chunks.find((chunk) => chunk !== chunk.toLowerCase());
    if (capital === undefined) return isLast ? 'none' : undefined;
    return 'AEIOU'.includes(capital) ? 'vowel' : 'other';
  };
  const tag = (name: string) =>
    operator(
      name,
      (chunks: Observable<string>) =>
        new Observable<string>((subscriber) => {
          subscriber.next(`${name}:`);
          return chunks.subscribe(subscriber);
        }),
    );
  const routes = { vowel: tag('vowel'), other: tag('other'), none: tag('none') };

  it.each([
    ['abCdE', 'other:abCdE'],
    ['Abc', 'vowel:Abc'],
    ['abc', 'none:abc'],
  ])('hands all chunks to the route, also those before the decision: %s', async (text, expected) => {
    expect(await invoke(chain(letters, streamBranch(byCapital, routes)), text)).toBe(expected);
  });

  it('lets chunks wait until it is decided, and passes the rest on live', async () => {
    const source = new Subject<string>();
    const heard: string[] = [];
    const ended = new Promise((resolve) =>
      stream(
        chain(() => source, streamBranch(byCapital, routes)),
        null,
      ).subscribe({ next: (chunk) => heard.push(chunk), complete: () => resolve(1) }),
    );
    source.next('a');
    source.next('b');
    await turn();
    expect(heard).toEqual([]);
    source.next('C');
    await turn();
    expect(heard).toEqual(['other:', 'a', 'b', 'C']);
    source.next('d');
    await turn();
    expect(heard).toEqual(['other:', 'a', 'b', 'C', 'd']);
    source.complete();
    await ended;
  });

  it('may choose several routes, each of which gets every chunk', async () => {
    const both = streamBranch((chunks: readonly string[]) => (chunks.length > 1 ? (['l', 'r'] as const) : undefined), {
      l: operator((chunks: Observable<string>) =>
        chunks.pipe(
          concatChunks(),
          (one) =>
            new Observable<object>((subscriber) =>
              one.subscribe({
                next: (l) => subscriber.next({ l }),
                error: (error) => subscriber.error(error),
                complete: () => subscriber.complete(),
              }),
            ),
        ),
      ),
      r: chain((r: string) => ({ r })),
    });
    expect(await invoke(chain(letters, both), 'abc')).toEqual({ l: 'abc', r: 'abc' });
  });

  it('fails when it is undecided at the end, and for a label that is no route', async () => {
    const never = streamBranch((_: readonly string[]): 'vowel' | undefined => undefined, { vowel: routes.vowel });
    await expect(invoke(chain(letters, never), 'abc')).rejects.toBeInstanceOf(EngineError);
    const wrong = streamBranch((_: readonly string[]) => 'vowl' as 'vowel', { vowel: routes.vowel });
    await expect(invoke(chain(letters, wrong), 'abc')).rejects.toMatchObject({
      code: 'NODE_TARGET_UNKNOWN',
      message: expect.stringContaining('vowl'),
    });
  });

  it('fails with an error before the decision, and runs no route', async () => {
    let isRun = false;
    const source = new Subject<string>();
    const route = operator((chunks: Observable<string>) => {
      isRun = true;
      return chunks;
    });
    const failed = invoke(
      chain(() => source, streamBranch(byCapital, { vowel: route, other: route, none: route })),
      null,
    );
    source.next('a');
    source.error(new Error('cut'));
    await expect(failed).rejects.toThrow('cut');
    expect(isRun).toBe(false);
  });

  it('decides a message: text before a tool call does not end the loop, and the call still happens', async () => {
    const message = (...chunks: object[]) => of(...chunks.map((chunk) => ({ role: 'assistant', ...chunk })));
    const call = { toolCalls: [{ index: 0, id: '1', name: 'find', arguments: '{}' }] };
    const made = (chunks: Observable<object>) =>
      chain(
        () => chunks as Observable<{ role: string; content?: string }>,
        streamBranch(hasToolCall(), {
          tools: chain((whole: object) => ({ called: whole })),
          end: chain((whole: object) => ({ said: whole })),
        }),
      );
    expect(await invoke(made(message({ content: 'One moment. ' }, { content: '' }, call)), null)).toMatchObject({
      called: { content: 'One moment. ', toolCalls: [{ name: 'find' }] },
    });
    expect(await invoke(made(message({ content: 'Hel' }, { content: 'lo' })), null)).toMatchObject({
      said: { content: 'Hello' },
    });
  });

  it('is there for plain Observables as well', async () => {
    const decided = await all(letters('abCd').pipe(decideOnPrefix(byCapital)));
    expect(decided.map(({ label }) => label)).toEqual(['other']);
    expect(await all(decided[0]?.chunks$ as Observable<string>)).toEqual(['a', 'b', 'C', 'd']);
  });
});

describe('copies of the stream of a run', () => {
  it('are read at different paces, and stop the run when all have been left', async () => {
    const notes: Notes = { given: 0, isClosed: false };
    const [first, second] = fanOut({ readers: 2, concat: (texts: readonly string[]) => texts.join('') })(
      stream(counting(notes, 1_000), null),
    );
    const [one, other] = [first[Symbol.asyncIterator](), second[Symbol.asyncIterator]()];
    expect(await one.next()).toEqual({ done: false, value: '1;' });
    expect(await one.next()).toEqual({ done: false, value: '2;' });
    expect((await other.next()).value).toMatch(/^1;/);
    await one.return?.();
    expect(notes.isClosed).toBe(false);
    await other.return?.();
    await turns(3);
    expect(notes.isClosed).toBe(true);
  });
});
