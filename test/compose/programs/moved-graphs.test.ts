/** Graphs, states and questions as programs have them that were written for CloudWeGo Eino: each behaviour that they rely on, with what the pages say. */
import { EMPTY, filter, from, lastValueFrom, map as mapEach, mergeMap, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  as,
  ask,
  branch,
  type ChunkSource,
  chain,
  defineState,
  editState,
  fanOut,
  graph,
  invoke,
  loop,
  map,
  mergeNamed,
  observe,
  operator,
  optional,
  parallel,
  passthrough,
  pick,
  resumeFrom,
  type StepActivation,
  type StepDescription,
  step,
  stream,
  transform,
  workflow,
} from '../../../src/index.js';
import { chunksOf, failure, spaced } from '../cases/support.js';
import { TextStore, waiting } from '../support/waiting-runs.js';

const Trail = defineState('trail', () => ({ seen: [] as string[] }));

describe('keys of nodes', () => {
  it('take one key of the input and put the output under another, whole and in chunks', async () => {
    const keyed = chain(
      pick<{ question: string }, 'question'>('question'),
      (text) => from(`${text}!`.split('')),
      as('answer'),
    );
    expect(await invoke(keyed, { question: 'so' })).toEqual({ answer: 'so!' });
    expect(await chunksOf(keyed, { question: 'so' })).toEqual([{ answer: 's' }, { answer: 'o' }, { answer: '!' }]);
  });

  it('say what is missing where the input has no such key', async () => {
    const keyed = chain(pick<{ question?: string }, 'question'>('question'), (text) => text);
    await expect(invoke(keyed, {})).rejects.toEqual(failure('STREAM_EMPTY', /"pick" gives none for a key/));
  });

  it('fan in to one object at the end, where different keys meet', async () => {
    const both = graph<string, { upper: string; length: number }>('both', (g) => {
      const upper = g.node(
        'upper',
        chain((text: string) => text.toUpperCase(), as('upper')),
      );
      const length = g.node(
        'length',
        chain((text: string) => text.length, as('length')),
      );
      const end = g.end as never;
      for (const node of [upper, length]) {
        g.edge(g.start, node);
        g.edge(node as never, end);
      }
    });
    expect(await invoke(both, 'abc')).toEqual({ upper: 'ABC', length: 3 });
  });
});

describe('ways through a graph', () => {
  it('pass streams through a node that does nothing, live, to two readers at their own pace', async () => {
    const both = graph<string, { a: string; b: number }>('both', (g) => {
      const words = g.node('words', (text: string) => spaced(...text.split(' ')));
      const same = g.passthrough<string>('same');
      const a = g.node('a', operator(mapEach((word: string) => word.toUpperCase())));
      const b = g.node('b', (text: string) => text.length);
      g.edge(g.start, words);
      g.edge(words, same);
      g.edge(same, a);
      g.edge(same, b);
      g.join({ a, b }, g.end);
    });
    expect(await invoke(both, 'x yz')).toEqual({ a: 'XYZ', b: 3 });
    expect(await chunksOf(both, 'x yz')).toEqual([{ a: 'X' }, { a: 'YZ' }, { b: 3 }]);
  });

  it('may end at several nodes, of which a branch chooses one, or two whose results are merged', async () => {
    const ends = graph<number, { small?: number; large?: number }>('ends', (g) => {
      const small = g.node('small', (n: number) => ({ small: n }));
      const large = g.node('large', (n: number) => ({ large: n }));
      g.branch(g.start, { small, large }, (n) => (n > 9 ? ['small', 'large'] : n > 5 ? 'large' : 'small'));
      g.edge(small, g.end);
      g.edge(large, g.end);
    });
    expect(await Promise.all([1, 7, 12].map((n) => invoke(ends, n)))).toEqual([
      { small: 1 },
      { large: 7 },
      { small: 12, large: 12 },
    ]);
  });

  it('skip what stands behind a skipped node alone, and run what another way still leads to', async () => {
    const ran: string[] = [];
    const note = (id: string) => (value: unknown) => {
      ran.push(id);
      return { [id]: value !== undefined };
    };
    const skips = graph<number, unknown>('skips', (g) => {
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => g.node<unknown, object>(id, note(id)));
      if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four nodes');
      g.branch(g.start, { a, b } as never, (() => 'b') as never);
      g.edge(a, c);
      g.join({ c: optional(c), b: optional(b) }, d);
      g.edge(d, g.end);
    });
    expect(await invoke(skips, 1)).toEqual({ d: true });
    expect(ran).toEqual(['b', 'd']);
  });

  it('run in waves when they are told so, and once for every arrival', async () => {
    const order: string[] = [];
    const node = (id: string) => (n: number) => {
      order.push(id);
      return n + 1;
    };
    const waves = graph<number, number>(
      'waves',
      (g) => {
        const [a, b, c] = [g.node('a', node('a')), g.node('b', node('b')), g.node('c', node('c'), { trigger: 'any' })];
        const last = g.node('last', (values: number) => values, { merge: (all) => Math.max(...all) });
        g.edge(g.start, a);
        g.edge(g.start, c);
        g.edge(a, b);
        g.edge(b, c);
        g.edge(c, last);
        g.edge(last, g.end);
      },
      { pace: 'lockstep' },
    );
    expect(await invoke(waves, 0)).toBe(3);
    expect(order).toEqual(['a', 'c', 'b', 'c']);
  });

  it('stop after so many steps that a run is given, and name the node that was next', async () => {
    const round = graph<number, number>('round', (g) => {
      const a = g.node('a', (n: number) => n + 1);
      g.edge(g.start, a);
      g.branch(a, { again: a, end: g.end }, (n) => (n < 100 ? 'again' : 'end'));
    });
    await expect(invoke(round, 0, { maxSteps: 10 })).rejects.toEqual(failure('RUN_STEPS_EXCEEDED', /took 10 steps/));
    expect(await invoke(round, 0)).toBe(100);
  });

  it('are told of when they are built, with graphs inside and their edges', () => {
    const built: StepDescription[] = [];
    const inner = graph<number, number>('inner', (g) => g.edge(g.start, g.end as never));
    graph<number, number>(
      'outer',
      (g) => {
        const node = g.node('node', inner);
        g.edge(g.start, node);
        g.edge(node, g.end);
      },
      { onBuilt: (description) => void built.push(description) },
    );
    expect(built).toHaveLength(1);
    expect(built[0]).toMatchObject({ name: 'outer', graph: { nodes: [{ id: 'node' }] } });
    expect(JSON.stringify(built[0])).toContain('"inner"');
  });

  it('fail with the path through graphs inside and the very error that was thrown', async () => {
    const cause = new Error('no ink');
    const inner = graph<string, string>('inner', (g) => {
      const print = g.node('print', (_: string): string => {
        throw cause;
      });
      g.edge(g.start, print);
      g.edge(print, g.end);
    });
    const outer = chain(
      (text: string) => text,
      step(
        'writer',
        chain(step('inner', inner), (text: string) => text),
      ),
    );
    await expect(invoke(outer, 'a')).rejects.toEqual(
      failure('NODE_FAILED', /no ink/, { node: 'writer/inner/print', cause }),
    );
  });

  it('are cancelled while they run, with the reason of the one who did it', async () => {
    const stopping = new AbortController();
    const forever = chain(
      (n: number) => n,
      () => new Promise<number>(() => {}),
    );
    const running = invoke(forever, 1, { signal: stopping.signal });
    const reason = new Error('the user left');
    stopping.abort(reason);
    await expect(running).rejects.toEqual(failure('RUN_CANCELLED', /cancelled/, { cause: reason }));
  });
});

describe('fields of a workflow', () => {
  it('go from nested fields to nested fields, with fixed values and nulls beside them', async () => {
    type Input = { user: { name: string; address: { city: string } | null }; tags: Record<string, string | null> };
    const letter = workflow<Input, unknown>('letter', (input, w) => {
      const made = w.node('made', (fields: unknown) => fields, {
        to: { name: input.user.name, at: { city: input.user.address.city } },
        style: { tone: 'kind', depth: { level: 2 } },
        tag: input.tags.first,
      });
      w.end({ letter: made, none: input.tags.second });
    });
    const to = { name: 'Ada', at: { city: 'Oslo' } };
    const style = { tone: 'kind', depth: { level: 2 } };
    const tags = { first: 'a', second: null };
    expect(await invoke(letter, { user: { name: 'Ada', address: { city: 'Oslo' } }, tags })).toEqual({
      letter: { to, style, tag: 'a' },
      none: null,
    });
    expect(await invoke(letter, { user: { name: 'Ada', address: null }, tags: {} })).toEqual({
      letter: { to: { name: 'Ada', at: { city: undefined } }, style, tag: undefined },
      none: undefined,
    });
  });

  it('are made of pieces of several streams, each under its field', async () => {
    const words = (text: string) => spaced(...text.split(' '));
    const two = workflow<{ a: string; b: string }, { a: string; b: { c: string }; fixed: number }>(
      'two',
      (input, w) => {
        const a = w.node('first', words, input.a);
        const b = w.node('second', words, input.b);
        w.end({ a, b: { c: b }, fixed: 1 });
      },
    );
    expect(await invoke(two, { a: 'x y', b: 'u v w' })).toEqual({ a: 'xy', b: { c: 'uvw' }, fixed: 1 });
    const pieces = await chunksOf(two, { a: 'x y', b: 'u v w' });
    expect(pieces.length).toBeGreaterThan(4);
  });

  it('wait for a node that they do not read, also across a branch', async () => {
    const order: string[] = [];
    const noted = (id: string) => (value: unknown) => {
      order.push(id);
      return value;
    };
    const across = workflow<number, unknown>('across', (input, w) => {
      const first = w.node('first', noted('first'), input);
      const chosen = w.branch('way', input, (n) => (n > 0 ? 'up' : 'down'), {
        up: () => w.node('up', noted('up'), { read: first }),
        down: () => w.node('down', noted('down'), { read: input }),
      });
      const last = w.node('last', noted('last'), { fixed: 1 }, { after: [chosen] });
      w.end({ chosen, last });
    });
    expect(await invoke(across, 2)).toEqual({ chosen: { read: 2 }, last: { fixed: 1 } });
    expect(order).toEqual(['first', 'up', 'last']);
  });
});

describe('states', () => {
  it('are read and changed before and behind a node, also chunk by chunk', async () => {
    const noted = graph<string, string>(
      'noted',
      (g) => {
        const words = g.node('words', (text: string) => from(text.split(' ')), {
          before: (text: string, at) => {
            at.state(Trail).append('seen', `in ${text}`);
            return text;
          },
          afterChunks: (chunks, at) =>
            chunks.pipe(
              mapEach((word: string) => {
                at.state(Trail).append('seen', word);
                return word.toUpperCase();
              }),
            ),
        });
        const all = g.node('all', (text: string, at) => `${text} ${at.state(Trail).value.seen.join(',')}`);
        g.edge(g.start, words);
        g.edge(words, all);
        g.edge(all, g.end);
      },
      { state: Trail },
    );
    expect(await invoke(noted, 'a b')).toBe('AB in a b,a,b');
  });

  it('are those of the graph around for what a step runs inside itself, also behind a question', async () => {
    const inner = chain(
      (name: string, at) => at.state(Trail).append('seen', name) && name,
      ask(z.boolean(), (name: string) => `Keep ${name}?`),
      (isKept: boolean, at) => (isKept ? at.state(Trail).value.seen : []),
    );
    const made = () =>
      graph<string, readonly string[]>(
        'outer',
        (g) => {
          const node = g.node('node', (name: string, at: StepActivation) => {
            if (!at.isResumed) at.state(Trail).append('seen', 'outer');
            return invoke(inner, name, { within: at });
          });
          g.edge(g.start, node);
          g.edge(node, g.end);
        },
        { state: Trail },
      );
    const { questions, checkpoint } = await waiting(made(), 'Ada');
    expect(questions.map(({ address }) => address)).toEqual(['node/chain/ask']);
    expect(await invoke(made(), resumeFrom(checkpoint, { 'node/chain/ask': true }))).toEqual(['outer', 'Ada']);
  });

  it('may be changed by the one who answers, in the graph inside that stopped before its node', async () => {
    const inner = graph<string, string>(
      'inner',
      (g) => {
        const read = g.node('read', (text: string, at) => `${text}: ${at.state(Trail).value.seen.join()}`);
        g.edge(g.start, read);
        g.edge(read, g.end);
      },
      { state: Trail, interruptBefore: ['read'] },
    );
    const made = () =>
      chain(
        step('first', (text: string) => `${text}!`),
        step('review', inner),
      );
    const { questions, checkpoint } = await waiting(made(), 'so');
    expect(questions).toEqual([expect.objectContaining({ address: 'review/read', kind: 'before' })]);
    const edited = { states: [editState(Trail, { seen: ['edited'] }, { at: 'review' })] };
    expect(await invoke(made(), resumeFrom(checkpoint, undefined, edited))).toBe('so!: edited');
  });
});

describe('runs that are stored', () => {
  const sure = () =>
    chain(
      (n: number) => n + 1,
      step(
        'sure',
        ask(z.boolean(), (n: number) => `${n}?`),
      ),
      (isSure) => (isSure ? 'yes' : 'no'),
    );

  it('begin anew under the same id, and may go on under another one', async () => {
    const checkpoints = new TextStore();
    await waiting(sure(), 1, { checkpoints, run: 'r1' });
    const { questions } = await waiting(sure(), 5, { checkpoints, run: 'r1' });
    expect(questions).toMatchObject([{ question: '6?' }]);
    expect(await invoke(sure(), resumeFrom('r1', { sure: true }), { checkpoints, run: 'r2' })).toBe('yes');
    expect([...checkpoints.texts.keys()]).toEqual(['r1', 'r2']);
    expect(await invoke(sure(), resumeFrom('r1', { sure: false }), { checkpoints })).toBe('no');
  });

  it('run a node that asked again with the input it had, also where that was a stream', async () => {
    const inputs: string[] = [];
    const made = () =>
      chain(
        (text: string) => spaced(...text.split(' ')),
        step('careful', (text: string, at: StepActivation) => {
          inputs.push(text);
          return at.answer === undefined ? at.interrupt('Go on?') : `${text} ${at.answer}`;
        }),
      );
    const { checkpoint } = await waiting(made(), 'a b c');
    expect(await invoke(made(), resumeFrom(checkpoint, { careful: 'yes' }))).toBe('abc yes');
    expect(inputs).toEqual(['abc', 'abc']);
  });

  it('ask in several graphs at once; what is not answered keeps its address and waits on', async () => {
    const inner = (name: string) => step(name, sure());
    const made = () => chain(parallel({ a: inner('a'), b: map(inner('b')) as never }) as never, (all: unknown) => all);
    const first = await waiting(made(), [1, 2]);
    const addresses = first.questions.map(({ address }) => address);
    expect(addresses).toEqual(['parallel/a/sure', 'parallel/b[0]/sure', 'parallel/b[1]/sure']);
    const second = await waiting(made(), resumeFrom(first.checkpoint, { [addresses[1] as string]: true }));
    expect(second.questions.map(({ address }) => address)).toEqual([addresses[0], addresses[2]]);
    const rest = { [addresses[0] as string]: true, [addresses[2] as string]: false };
    expect(await invoke(made(), resumeFrom(second.checkpoint, rest))).toEqual({ a: 'yes', b: ['yes', 'no'] });
  });
});

describe('streams', () => {
  it('leave chunks out on their way, and end in an error of the reader when none is left', async () => {
    const some = chain(
      (text: string) => from(text.split('')),
      operator(filter((letter: string) => letter !== 'x')),
      (text) => text,
    );
    expect(await invoke(some, 'axb')).toBe('ab');
    await expect(invoke(some, 'xx')).rejects.toEqual(failure('STREAM_EMPTY', /"step_3" needs a value/));
  });

  it('are copied for readers of which one is slow, and merged with the names of their sources', async () => {
    const [fast, slow] = fanOut({ readers: 2 })(from([1, 2, 3])) as readonly [ChunkSource<number>, ChunkSource<number>];
    const read: number[] = [];
    fast.subscribe((n) => read.push(n));
    expect(read).toEqual([1, 2, 3]);
    const late: number[] = [];
    for await (const n of slow) late.push(n);
    expect(late.at(-1)).toBe(3);
    const merged = await lastValueFrom(mergeNamed({ a: of(1), b: of('x') }).pipe(toArray()));
    expect(JSON.stringify(merged)).toContain('"a"');
    expect(merged).toHaveLength(4);
  });

  it('choose their way by their beginning, to steps of different kinds', async () => {
    const inner = graph<string, string>('inner', (g) => {
      const node = g.node('node', (text: string) => `graph ${text}`);
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
    const ways = branch((text: string) => (text.length > 2 ? 'chain' : text.length > 1 ? 'graph' : 'same'), {
      chain: chain(
        (text: string) => text,
        (text) => `chain ${text}`,
      ),
      graph: inner,
      same: passthrough<string>(),
    });
    expect(await Promise.all(['abc', 'ab', 'a'].map((text) => invoke(ways, text)))).toEqual([
      'chain abc',
      'graph ab',
      'a',
    ]);
  });

  it('fail in the middle, and what came before is there', async () => {
    const broken = chain((n: number) =>
      from([n, n + 1, n + 2]).pipe(mergeMap((m) => (m > 2 ? (new Error('cut') as never) : [m]))),
    );
    const seen: number[] = [];
    const error = await new Promise((resolve) =>
      stream(broken, 1).subscribe({ next: (n) => void seen.push(n), error: resolve }),
    );
    expect(seen).toEqual([1, 2]);
    expect(error).toMatchObject({ code: 'NODE_FAILED' });
    expect(await lastValueFrom(EMPTY.pipe(transform(passthrough<number>())), { defaultValue: 0 })).toBe(0);
  });
});

describe('observers', () => {
  it('are told of nested graphs from outside to inside and back, and of one place alone', async () => {
    const told: string[] = [];
    const inner = chain(
      step('add', (n: number) => n + 1),
      (n) => n,
    );
    const program = chain(
      step('inner', inner),
      loop(
        step('twice', (n: number) => n * 2),
        { until: () => true, maxRounds: 1 },
      ),
    );
    const watching = observe({
      start: (_, { path }) => void told.push(`> ${path}`),
      end: (_, { path }) => void told.push(`< ${path}`),
    });
    const place = observe.at('inner/add', { end: (n: number) => void told.push(`${n} at inner/add`) });
    expect(await invoke(program, 1, { observe: [watching, place] })).toBe(4);
    expect(told).toEqual([
      '> ',
      '> inner',
      '> inner/add',
      '< inner/add',
      '2 at inner/add',
      '> inner/step_2',
      '< inner/step_2',
      '< inner',
      '> loop',
      '> loop[1]/twice',
      '< loop[1]/twice',
      '< loop',
      '< ',
    ]);
  });
});
