import { map as mapChunks, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { chain, defineState, graph, invoke, operator, step, workflow } from '../../../src/index.js';
import { chunksOf, failure, gate, spaced, turns } from './support.js';

interface User {
  readonly id: string;
  readonly profile?: { readonly name: string; readonly tags: readonly string[] };
}
const loadUser = step(
  'loadUser',
  async ({ id }: { id: string }): Promise<User> =>
    id === 'anonymous' ? { id } : { id, profile: { name: `name of ${id}`, tags: ['a', 'b'] } },
);
const PROTO = '__proto__';
const show = (value: unknown): string => JSON.stringify(value);
const upper = (text: string): string => text.toUpperCase();
const letters = (text: string): Observable<string> => spaced(...text);

describe('the fields of a workflow', () => {
  it('come from the input, from what nodes gave, from paths into it, from lists and from functions of it', async () => {
    const made = workflow<{ userId: string; question: string }, string>('fields', (input, w) => {
      const user = w.node('user', loadUser, { id: input.userId });
      const all = w.node('all', show, {
        asked: input.question,
        name: user.profile.name,
        second: user.profile.tags[1],
        count: user.profile.tags.length,
        loud: w.map(input.question, upper),
        whole: user,
      });
      w.end(all);
    });
    expect(JSON.parse(await invoke(made, { userId: 'u', question: 'why?' }))).toEqual({
      asked: 'why?',
      name: 'name of u',
      second: 'b',
      count: 2,
      loud: 'WHY?',
      whole: { id: 'u', profile: { name: 'name of u', tags: ['a', 'b'] } },
    });
  });

  it('are fixed values that each run has for itself: what it changes in them is gone with it', async () => {
    const shared = new (class Shared {
      count = 0;
    })();
    const values = () => {
      const round = new Map<string, unknown>();
      round.set('self', round);
      return { list: [1], deep: { [PROTO]: 1 }, map: round, set: new Set([1]), day: new Date(0), shared };
    };
    type Values = ReturnType<typeof values>;
    const use = (given: Values & { readonly text?: string }) => {
      const seen = [given.list.length, given.set.size, given.day.getTime(), given.map.size, Object.keys(given.deep)];
      given.list.push(2);
      given.set.add(2);
      given.day.setTime(1);
      (given.map.get('self') as Map<string, unknown>).set('other', 1);
      (given.deep as Record<string, number>).more = 1;
      given.shared.count += 1;
      return seen;
    };
    const pieces = operator<Values & { text: string }, unknown[]>((chunks) =>
      chunks.pipe(mapChunks((chunk) => ('list' in chunk ? use(chunk) : []))),
    );
    const made = workflow<string, { fixed: unknown[]; mixed: unknown[]; live: unknown }>('values', (input, w) => {
      const text = w.node('text', letters, input);
      w.end({
        fixed: w.node('fixed', use, values()),
        mixed: w.node('mixed', use, { ...values(), text: input }),
        live: w.node('live', step('live', pieces, { chunks: ([first]) => first as unknown[] }), { ...values(), text }),
      });
    });
    const fresh = [1, 1, 0, 1, [PROTO]];
    const all = { fixed: fresh, mixed: fresh, live: fresh };
    expect(await invoke(made, 'ab')).toEqual(all);
    expect(await invoke(made, 'ab')).toEqual(all);
    expect(shared.count).toBe(6);
  });

  it('are fixed values at any depth, beside what is read and alone', async () => {
    const made = workflow<string, { a: string; b: string }>('values', (input, w) => {
      const a = w.node('a', show, { deep: { list: [1, { text: input }], tone: 'brief' }, nothing: null });
      const b = w.node('b', show, { only: ['fixed', 2] });
      w.end({ a, b });
    });
    const { a, b } = await invoke(made, 'x');
    expect(JSON.parse(a)).toEqual({ deep: { list: [1, { text: 'x' }], tone: 'brief' }, nothing: null });
    expect(JSON.parse(b)).toEqual({ only: ['fixed', 2] });
  });

  it('may take a whole output as the whole input, and one source for several fields', async () => {
    const made = workflow<number, Record<'x' | 'y' | 'z', number>>('whole', (input, w) => {
      const a = w.node('a', (n: number) => ({ n, m: n + 1 }), input);
      const b = w.node('b', ({ n, m }: { n: number; m: number }) => n * m, a);
      w.end({ x: a.n, y: a.m, z: b });
    });
    expect(await invoke(made, 2)).toEqual({ x: 2, y: 3, z: 6 });
  });

  it('are undefined behind something optional that is missing', async () => {
    const made = workflow<string, { name: string | undefined }>('optional', (input, w) => {
      const user = w.node('user', loadUser, { id: input });
      const name = w.node('name', ({ name }: { name: string | undefined }) => name ?? 'nobody', {
        name: user.profile.name,
      });
      w.end({ name });
    });
    expect(await invoke(made, 'anonymous')).toEqual({ name: 'nobody' });
    const asIs = workflow<string, { name: string | undefined }>('asIs', (input, w) => {
      w.end({ name: w.node('user', loadUser, { id: input }).profile.name });
    });
    expect(await invoke(asIs, 'anonymous')).toEqual({ name: undefined });
  });

  it('fail with path and source where there are no fields', async () => {
    const made = workflow<unknown, string>('wrong', (input, w) => {
      // A word that the types were given is not true.
      const told = w.node('told', (value: unknown) => value as { user: { name: string } }, input);
      w.end(w.node('name', show, { name: told.user.name }));
    });
    await expect(invoke(made, { user: 'Ann' })).rejects.toEqual(
      failure('INPUT_MISSING', /"told.user.name" cannot be read: "name" should be a field of an object.*a string/, {
        details: { path: 'told.user.name', source: 'told' },
      }),
    );
  });

  it('are never what objects inherit', async () => {
    const made = workflow<Record<string, unknown>, unknown>('own', (input, w) => {
      w.end({ made: input.constructor, own: input.own });
    });
    expect(await invoke(made, { own: 1 })).toEqual({ made: undefined, own: 1 });
  });
});

describe('the order of a workflow', () => {
  it('follows from what is read: both sources are waited for, each node runs once', async () => {
    const ran: string[] = [];
    const note = (id: string, count: number) =>
      step(id, async (n: number) => {
        await turns(count);
        ran.push(id);
        return n + 1;
      });
    const made = workflow<number, number>('order', (input, w) => {
      const slow = w.node('slow', note('slow', 4), input);
      const quick = w.node('quick', note('quick', 0), input);
      const behind = w.node('behind', note('behind', 0), quick);
      const sum = w.node('sum', ({ a, b, c }: Record<'a' | 'b' | 'c', number>) => a + b + c, {
        a: slow,
        b: quick,
        c: behind,
      });
      w.end(sum);
    });
    expect(await invoke(made, 0)).toBe(4);
    expect(ran).toEqual(['quick', 'behind', 'slow']);
  });

  it('can be written without reading anything', async () => {
    const ran: string[] = [];
    const note = (id: string, count: number) => async (_: unknown) => {
      await turns(count);
      ran.push(id);
      return id;
    };
    const made = workflow<number, string>('after', (input, w) => {
      const first = w.node('first', note('first', 3), input);
      w.end(w.node('second', note('second', 0), 'fixed', { after: [first] }));
    });
    expect(await invoke(made, 1)).toBe('second');
    expect(ran).toEqual(['first', 'second']);
  });

  it('does not leave out a node whose output nothing reads', async () => {
    const sent: number[] = [];
    const made = workflow<number, number>('effect', (input, w) => {
      w.node(
        'send',
        async (n: number) => {
          await turns(3);
          sent.push(n);
        },
        input,
      );
      w.end(input);
    });
    expect(await invoke(made, 7)).toBe(7);
    expect(sent).toEqual([7]);
  });
});

describe('streams in a workflow', () => {
  const speak = (text: string): Observable<{ text?: string; n?: number }> =>
    spaced({ text: text.slice(0, 1) }, { n: text.length }, { text: text.slice(1) });

  it('are mapped chunk by chunk: a reference to a key is the stream of that key', async () => {
    const made = workflow<string, string>('keys', (input, w) => {
      const said = w.node('said', speak, input);
      w.end(w.node('loud', operator(mapChunks((text: string | undefined) => `${text}`.toUpperCase())), said.text));
    });
    expect(await chunksOf(made, 'abc')).toEqual(['A', 'BC']);
  });

  it('start their readers while they come, under the keys of the reader', async () => {
    const door = gate();
    const slow = step('slow', async function* (_: string) {
      yield 'a';
      await door.opened;
      yield 'b';
    });
    const made = workflow<string, { live: string; fixed: number }>('live', (input, w) => {
      w.end({ live: w.node('slow', slow, input), fixed: 5 });
    });
    const seen: unknown[] = [];
    const chunks = chunksOf(
      chain(
        made,
        operator(
          mapChunks((chunk) => {
            seen.push(chunk);
            if ('live' in chunk) door.open();
            return chunk;
          }),
        ),
      ),
      '',
    );
    await chunks;
    expect(seen).toEqual([{ fixed: 5 }, { live: 'a' }, { live: 'b' }]);
  });

  it('are whole for functions, and all their chunks count, however small', async () => {
    const made = workflow<string, { all: string; size: number }>('whole', (input, w) => {
      const said = w.node('said', speak, input);
      const all = w.node('all', ({ text, n }: { text: string | undefined; n: number | undefined }) => `${text}${n}`, {
        text: said.text,
        n: said.n,
      });
      w.end({ all, size: w.map(all, (text) => text.length) });
    });
    expect(await invoke(made, 'abc')).toEqual({ all: 'abc3', size: 4 });
  });

  it('may have two readers, one of chunks and one of the whole, and agree', async () => {
    const made = workflow<string, { live: string; whole: string }>('two', (input, w) => {
      const said = w.node('said', letters, input);
      const live = w.node('live', operator(mapChunks(upper)), said);
      const whole = w.node('whole', upper, said);
      w.end({ live, whole });
    });
    expect(await invoke(made, 'abc')).toEqual({ live: 'ABC', whole: 'ABC' });
    const chunks = await chunksOf(made, 'abc');
    expect(chunks.filter((chunk) => 'live' in chunk)).toHaveLength(3);
    expect(chunks.filter((chunk) => 'whole' in chunk)).toEqual([{ whole: 'ABC' }]);
  });
});

describe('branches of a workflow', () => {
  const ran: string[] = [];
  const made = workflow<{ n: number; who: string }, { text: string }>('branches', (input, w) => {
    const user = w.node(
      'user',
      async (id: string): Promise<User> => {
        await turns(4);
        return { id };
      },
      input.who,
    );
    const quick = w.node('quick', (n: number) => n * 2, input.n);
    const said = w.branch('size', quick, async (n) => (n > 2 ? 'many' : n > 0 ? 'few' : 'none'), {
      many: () => {
        const a = w.node(
          'a',
          (n: number) => {
            ran.push('a');
            return n + 100;
          },
          quick,
        );
        return w.node(
          'b',
          ({ n, id, input: given }: { n: number; id: string; input: number }) => {
            ran.push('b');
            return `${n} for ${id} of ${given}`;
          },
          { n: a, id: user.id, input: input.n },
        );
      },
      few: () => w.map(user, ({ id }) => `only ${id}`),
      none: () => 'nothing',
    });
    w.end({ text: w.node('show', upper, said) });
  });

  it('run one arm; what it reads from outside is there, however slow', async () => {
    ran.length = 0;
    expect(await invoke(made, { n: 2, who: 'ann' })).toEqual({ text: '104 FOR ANN OF 2' });
    expect(ran).toEqual(['a', 'b']);
  });

  it('may have arms without nodes: a reference of outside, or a value', async () => {
    ran.length = 0;
    expect(await invoke(made, { n: 1, who: 'ann' })).toEqual({ text: 'ONLY ANN' });
    expect(await invoke(made, { n: 0, who: 'ann' })).toEqual({ text: 'NOTHING' });
    expect(ran).toEqual([]);
  });

  it('may stand in each other', async () => {
    const nested = workflow<{ n: number; name: string }, string>('nested', (input, w) => {
      const outer = w.branch('outer', input.n, (n) => (n > 0 ? 'some' : 'none'), {
        some: () => {
          const twice = w.node('twice', async (n: number) => n * 2, input.n);
          return w.branch('inner', twice, (n) => (n > 5 ? 'many' : 'few'), {
            many: () =>
              w.node('many', ({ n, name }: { n: number; name: string }) => `${name}: ${n}`, {
                n: twice,
                name: input.name,
              }),
            few: () => w.node('few', show, twice),
          });
        },
        none: () => 'none',
      });
      w.end(outer);
    });
    expect(await Promise.all([3, 2, 0].map((n) => invoke(nested, { n, name: 'x' })))).toEqual(['x: 6', '4', 'none']);
  });

  it('let a stream go through the chosen arm as a stream', async () => {
    const live = workflow<string, string>('live', (input, w) => {
      const said = w.branch('b', input, (text) => (text === '' ? 'none' : 'some'), {
        some: () => w.node('letters', letters, input),
        none: () => 'nothing',
      });
      w.end(w.node('loud', operator(mapChunks(upper)), said));
    });
    expect(await chunksOf(live, 'ab')).toEqual(['A', 'B']);
    expect(await chunksOf(live, '')).toEqual(['NOTHING']);
  });

  it('fail with the chooser, and for a label that is no arm', async () => {
    const lost = workflow<number, number>('lost', (input, w) => {
      w.end(w.branch('b', input, () => 'y' as 'x', { x: () => input }));
    });
    await expect(invoke(lost, 1)).rejects.toEqual(failure('NODE_TARGET_UNKNOWN', /"b\/branch" chose "y".*"x"/));
  });
});

describe('workflows', () => {
  it('are steps: in chains, in graphs, in each other', async () => {
    const inner = workflow<{ n: number }, { m: number }>('inner', (input, w) => {
      w.end({ m: w.node('add', (n: number) => n + 1, input.n) });
    });
    const outer = workflow<number, { all: number[] }>('outer', (input, w) => {
      const one = w.node('one', inner, { n: input });
      const two = w.node('two', inner, { n: one.m });
      w.end({ all: [one.m, two.m] });
    });
    const drawn = graph<number, { all: number[] }>('drawn', (g) => {
      const node = g.node(
        'flow',
        chain((n: number) => n * 10, outer),
      );
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
    expect(await invoke(drawn, 1)).toEqual({ all: [11, 12] });
  });

  it('name a node that failed by its path', async () => {
    const inner = workflow<number, number>('inner', (input, w) => {
      const broken = (): number => {
        throw new Error('no luck');
      };
      w.end(w.node('broken', broken, input));
    });
    const outer = workflow<number, number>('outer', (input, w) => w.end(w.node('sub', inner, input)));
    await expect(invoke(outer, 1)).rejects.toEqual(failure('NODE_FAILED', /no luck/, { node: 'sub/broken' }));
  });

  it('own states, which their nodes and arms share', async () => {
    const Seen = defineState('seen', (): { names: string[] } => ({ names: [] }));
    const note = (name: string) => step(name, (n: number, at) => at.state(Seen).append('names', name).names.length + n);
    const made = workflow<number, number>(
      'states',
      (input, w) => {
        const a = w.node('a', note('a'), input);
        w.end(w.branch('b', a, () => 'x', { x: () => w.node('c', note('c'), a) }));
      },
      { state: Seen },
    );
    expect(await invoke(made, 0)).toBe(3);
    expect(await invoke(made, 0)).toBe(3);
  });
});
