/** Programs with workflows and states, written from the pages of the library alone. */
import { map as mapChunks, scan } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { chain, collect, defineState, graph, invoke, operator, step, stream, workflow } from '../../../src/index.js';
import { chunksOf, failure, spaced } from '../cases/support.js';

interface Order {
  readonly id: string;
  readonly buyer?: { readonly name: string | null; readonly tags: readonly string[] } | null;
  readonly lines: readonly { readonly price: number; readonly count: number }[];
}

const order: Order = {
  id: 'o1',
  buyer: { name: 'Ada', tags: ['new', 'eu'] },
  lines: [
    { price: 2, count: 3 },
    { price: 5, count: 1 },
  ],
};
const load = step('load', (id: string): Order => ({ ...order, id }));
const keep = <T>(value: T): T => value;
const json = (value: unknown): string => JSON.stringify(value);

describe('programs of fields', () => {
  it('read from nested fields into nested fields, and from list items', async () => {
    const made = workflow<string, { a: { name: unknown; first: unknown }; id: string }>('nest', (input, w) => {
      const found = w.node('found', load, input);
      w.end({ a: { name: found.buyer.name, first: found.lines[0]?.price }, id: found.id } as never);
    });
    expect(await invoke(made, 'o7')).toEqual({ a: { name: 'Ada', first: 2 }, id: 'o7' });
  });

  it('give undefined for what is missing or null on the way, and null where the value is null', async () => {
    const none = step('none', (): Order => ({ id: 'x', buyer: null, lines: [] }));
    const blank = step('blank', (): Order => ({ id: 'x', buyer: { name: null, tags: [] }, lines: [] }));
    const made = (source: typeof none) =>
      workflow<string, unknown>('nothing', (input, w) => {
        const found = w.node('found', source as never, input as never) as never as { buyer: { name: never } };
        w.end(w.node('all', json, { name: found.buyer.name, kept: 1 }));
      });
    expect(await invoke(made(none), '')).toBe('{"kept":1}');
    expect(await invoke(made(blank), '')).toBe('{"name":null,"kept":1}');
  });

  it('fail when a field is read from a number, and say which', async () => {
    const made = workflow<number, unknown>('deep', (input, w) => {
      w.end(w.node('a', json, { x: (input as never as { a: { b: never } }).a.b }));
    });
    await expect(invoke(made, 5)).rejects.toEqual(failure('INPUT_MISSING', /"start.a.b" cannot be read/));
  });

  it('compute with values on the way by functions, also of single items', async () => {
    const made = workflow<string, { total: number; loud: string }>('total', (input, w) => {
      const found = w.node('found', load, input);
      const total = w.map(found.lines, (lines) => lines.reduce((sum, { price, count }) => sum + price * count, 0));
      w.end({ total, loud: w.map(found.id, (id) => id.toUpperCase()) });
    });
    expect(await invoke(made, 'o2')).toEqual({ total: 11, loud: 'O2' });
  });

  it('run a node on fixed values alone, and one after another without reading it', async () => {
    const ran: string[] = [];
    const noting = (name: string) =>
      step(name, (value: { tone: string }) => {
        ran.push(name);
        return value.tone;
      });
    const made = workflow<null, string>('fixed', (_, w) => {
      const later = w.node(
        'later',
        noting('later'),
        { tone: 'b' },
        { after: [w.node('first', noting('first'), { tone: 'a' })] },
      );
      w.end(later);
    });
    expect(await invoke(made, null)).toBe('b');
    expect(ran).toEqual(['first', 'later']);
  });

  it('refuse a whole beside a field, a cycle of names, a second end and another workflow', () => {
    type Loose = never;
    expect(() =>
      workflow<{ a: 1 }, unknown>('both', (input, w) => w.end({ ...(input as Loose as object), b: 1 })),
    ).toThrow(/the whole of "start" beside the field "b"/);
    expect(() =>
      workflow<1, unknown>('ends', (input, w) => {
        w.end(input);
        w.end(input);
      }),
    ).toThrow(/w.end was called twice/);
    let other: unknown;
    workflow<1, number>('other', (input, w) => {
      other = input;
      w.end(input as Loose);
    });
    expect(() => workflow<1, unknown>('mine', (_, w) => w.end(other as Loose))).toThrow(/of another workflow/);
  });
});

describe('programs of arms', () => {
  const route = (text: string): 'ask' | 'tell' => (text.endsWith('?') ? 'ask' : 'tell');

  it('read outside of their arm as data, and give one result', async () => {
    const made = workflow<string, string>('arms', (input, w) => {
      const title = w.node('title', (text: string) => `<${text}>`, input);
      const answer = w.branch('kind', input, route, {
        ask: () =>
          w.node('answer', ({ text, title: t }: { text: string; title: string }) => `${t} ${text} 42`, {
            text: input,
            title,
          }),
        tell: () => w.map(title, (text) => `${text} ok`),
      });
      w.end(w.node('sign', (text: string) => `${text}.`, answer));
    });
    expect(await invoke(made, 'what?')).toBe('<what?> what? 42.');
    expect(await invoke(made, 'so')).toBe('<so> ok.');
  });

  it('do not let a node outside read the inside of an arm', () => {
    expect(() =>
      workflow<string, unknown>('peek', (input, w) => {
        let inner: unknown;
        w.branch('kind', input, route, {
          ask: () => {
            inner = w.node('inner', keep as never, input as never);
            return inner;
          },
          tell: () => 1,
        });
        w.end(inner as never);
      }),
    ).toThrow(/inside the arm "kind\/ask" and may not run/);
  });

  it('stand in arms of others', async () => {
    const made = workflow<number, string>('sign', (input, w) => {
      const word = w.branch('zero', input, (n) => (n === 0 ? 'zero' : 'other'), {
        zero: () => 'zero',
        other: () =>
          w.branch('side', input, (n) => (n > 0 ? 'above' : 'below'), { above: () => 'above', below: () => 'below' }),
      });
      w.end(word);
    });
    expect(await Promise.all([0, 3, -3].map((n) => invoke(made, n)))).toEqual(['zero', 'above', 'below']);
  });
});

describe('programs of streams of fields', () => {
  const parts = step('parts', (text: string) => spaced(...[...text].map((letter) => ({ letter, size: 1 }))));

  it('pass on the stream of one field, live', async () => {
    const made = workflow<string, string>('letters', (input, w) => {
      const made = w.node('parts', parts, input);
      w.end(w.node('up', operator(mapChunks((letter: string) => letter.toUpperCase())), made.letter));
    });
    expect(await chunksOf(made, 'abc')).toEqual(['A', 'B', 'C']);
    expect(await invoke(made, 'abc')).toBe('ABC');
  });

  it('put streams of two nodes into the fields of one, beside fixed values', async () => {
    const made = workflow<string, unknown>('fields', (input, w) => {
      const left = w.node('left', (text: string) => spaced(...text), input);
      const right = w.node('right', (text: string) => spaced(text, '!'), input);
      w.end(w.node('all', json, { left, right, tone: 'low' }));
    });
    expect(JSON.parse((await invoke(made, 'ab')) as string)).toEqual({ left: 'ab', right: 'ab!', tone: 'low' });
  });
});

describe('programs of states', () => {
  const Log = defineState('log', () => ({ lines: [] as string[], sum: 0 }), {
    reducers: { sum: (before: number, more: number) => before + more },
  });

  it('count in hooks before and after a node, and start afresh in each run', async () => {
    const made = graph<number, string>(
      'counted',
      (g) => {
        const twice = g.node('twice', (n: number) => n * 2, {
          before: (n, at) => {
            at.state(Log).update({ sum: n });
            return n + 1;
          },
          after: (n, at) => {
            at.state(Log).append('lines', `gave ${n}`);
            return `${n}: ${at.state(Log).value.sum} ${at.state(Log).value.lines.join()}`;
          },
        });
        g.edge(g.start, twice);
        g.edge(twice, g.end);
      },
      { state: Log },
    );
    expect(await invoke(made, 4)).toBe('10: 4 gave 10');
    expect(await invoke(made, 4)).toBe('10: 4 gave 10');
  });

  it('are seen by graphs inside, and hidden by one of the same name', async () => {
    const write = step('write', (text: string, at) => at.state(Log).append('lines', text).lines.length);
    const inside = (own: boolean) =>
      graph<string, number>(
        'inside',
        (g) => {
          const node = g.node('node', write);
          g.edge(g.start, node);
          g.edge(node, g.end);
        },
        own ? { state: Log } : {},
      );
    const outside = (own: boolean) =>
      graph<string, number>(
        'outside',
        (g) => {
          const [first, second] = [
            g.node('first', (text: string, at) => {
              at.state(Log).append('lines', text);
              return text;
            }),
            g.node('second', inside(own)),
          ];
          g.edge(g.start, first);
          g.edge(first, second);
          g.edge(second, g.end);
        },
        { state: Log },
      );
    expect(await invoke(outside(false), 'x')).toBe(2);
    expect(await invoke(outside(true), 'x')).toBe(1);
  });

  it('lose nothing when a hundred steps write at once', async () => {
    const made = graph<number, number>(
      'many',
      (g) => {
        const last = g.node('last', (_: unknown, at) => at.state(Log).value.sum, { merge: () => 0 });
        for (let id = 0; id < 100; id += 1) {
          const node = g.node(`n${id}`, async (n: number, at) => {
            await Promise.resolve();
            at.state(Log).update({ sum: n });
          });
          g.edge(g.start, node);
          g.edge(node as never, last as never);
        }
        g.edge(last, g.end);
      },
      { state: Log },
    );
    expect(await invoke(made, 3)).toBe(300);
  });

  it('change with the chunks of a stream, in operators that see the step', async () => {
    const Seen = defineState('seen', () => ({ letters: 0 }));
    const made = graph<string, number>(
      'stream',
      (g) => {
        const letters = g.node('letters', (text: string) => spaced(...text));
        const count = g.node(
          'count',
          operator<string, string>((chunks, at) =>
            chunks.pipe(
              scan((sum, letter) => {
                at.state(Seen).update({ letters: at.state(Seen).value.letters + 1 });
                return sum + letter;
              }, ''),
            ),
          ),
        );
        const last = g.node('last', (_: string, at) => at.state(Seen).value.letters);
        g.edge(g.start, letters);
        g.edge(letters, count);
        g.edge(count, last);
        g.edge(last, g.end);
      },
      { state: Seen },
    );
    expect(await invoke(made, 'abcd')).toBe(4);
  });

  it('are missing where no graph declares them, which the error says with a way out', async () => {
    const lost = step('lost', (_: number, at) => at.state(Log).value);
    await expect(invoke(chain(lost), 1)).rejects.toEqual(
      failure('STATE_MISSING', /graph\(…, \{ state: … \}\)/, { node: 'lost' }),
    );
  });
});

describe('programs that are fed in chunks', () => {
  it('collect a stream into one value, and a workflow reads it as a whole', async () => {
    const made = workflow<string, number>('length', (input, w) => w.end(w.map(input, (text) => text.length)));
    expect(await collect(made, spaced('ab', 'cd', 'e'))).toBe(5);
  });

  it('stop their producer when the reader has had enough', async () => {
    let isStopped = false;
    const endless = step('endless', async function* () {
      try {
        for (let n = 0; ; n += 1) yield n;
      } finally {
        isStopped = true;
      }
    });
    for await (const n of stream(endless, null)) if (n === 3) break;
    expect(isStopped).toBe(true);
  });
});
