/** Programs with chains and graphs, written from the pages of the library alone: what peers' tests ask of theirs, asked of ours. */
import { describe, expect, it } from 'vitest';
import {
  branch,
  chain,
  collect,
  describe as describeStep,
  draw,
  graph,
  invoke,
  loop,
  map,
  optional,
  parallel,
  passthrough,
  step,
  stream,
  streamBranch,
} from '../../../src/index.js';
import { failure, spaced } from '../cases/support.js';

const mark = (suffix: string) => step(`mark_${suffix}`, (text: string) => text + suffix);
const put = (key: string) => step(`put_${key}`, (_: unknown) => ({ [key]: key }));

async function all<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

describe('programs with branches', () => {
  it('take the short or the long way by the length of a text', async () => {
    const made = graph<string, string>('ways', (g) => {
      const [short, long] = [g.node('short', mark('1')), g.node('long', mark('2'))];
      g.branch(g.start, { short, long }, (text) => (text.length > 3 ? 'long' : 'short'));
      g.edge(short, g.end);
      g.edge(long, g.end);
    });
    expect(await invoke(made, 'hi')).toBe('hi1');
    expect(await invoke(made, 'hello')).toBe('hello2');
  });

  it('ask two branches of one start, and merge what both chose', async () => {
    const made = graph<string, Record<string, string>>('two', (g) => {
      const nodes = ['1', '2', '3', '4'].map((id) => g.node(id, put(id)));
      const [a, b, c, d] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
      g.branch(g.start, { a, b }, (text) => (text.length > 3 ? 'b' : 'a'));
      g.branch(g.start, { c, d }, (text) => (text.length > 3 ? 'd' : 'c'));
      for (const node of nodes) g.edge(node, g.end);
    });
    expect(await invoke(made, 'hi')).toEqual({ 1: '1', 3: '3' });
    expect(await invoke(made, 'hello')).toEqual({ 2: '2', 4: '4' });
  });

  it('cross: the routes of two branches lead to one node, which runs once', async () => {
    let runs = 0;
    const made = graph<number, Record<string, string>>('cross', (g) => {
      const [left, right] = [g.node('left', put('left')), g.node('right', put('right'))];
      const both = g.node('both', (value: Record<string, string>) => {
        runs += 1;
        return value;
      });
      g.branch(g.start, { left, both: right }, () => ['left', 'both']);
      g.edge(left, both);
      g.edge(right, both);
      g.edge(both, g.end);
    });
    expect(await invoke(made, 1)).toEqual({ left: 'left', right: 'right' });
    expect(runs).toBe(1);
  });

  it('stand behind each other, and a node behind a way that was not chosen is skipped with it', async () => {
    const ran: string[] = [];
    const note = (id: string) => (n: number) => {
      ran.push(id);
      return n;
    };
    const made = graph<number, number>('nested', (g) => {
      const [a, b, c, d] = [
        g.node('a', note('a')),
        g.node('b', note('b')),
        g.node('c', note('c')),
        g.node('d', note('d')),
      ];
      g.branch(g.start, { a, b }, (n) => (n > 0 ? 'a' : 'b'));
      g.branch(a, { c, d }, (n) => (n > 10 ? 'c' : 'd'));
      g.edge(b, g.end);
      g.edge(c, g.end);
      g.edge(d, g.end);
    });
    await invoke(made, 5);
    await invoke(made, -5);
    expect(ran).toEqual(['a', 'd', 'b']);
  });

  it('choose on the first word of a stream, and every route gets all of it', async () => {
    const route = streamBranch((words: readonly string[]) => (words[0] === 'loud' ? ['up', 'as'] : 'as'), {
      up: step('up', (text: string) => ({ up: text.toUpperCase() })),
      as: step('as', (text: string) => ({ as: text })),
    });
    const read = (...words: string[]) => collect(route, spaced(...words));
    expect(await read('loud', ' and', ' clear')).toEqual({ up: 'LOUD AND CLEAR', as: 'loud and clear' });
    expect(await read('soft', ' spoken')).toEqual({ as: 'soft spoken' });
  });

  it('may choose with a promise, and lead back until enough was said', async () => {
    const made = graph<string, string>('echo', (g) => {
      const say = g.node('say', (text: string) => `${text}!`);
      g.edge(g.start, say);
      g.branch(say, { again: say, done: g.end }, async (text) => (text.endsWith('!!!') ? 'done' : 'again'));
    });
    expect(await invoke(made, 'hey')).toBe('hey!!!');
  });

  it('tell a label that is no route from one that is', async () => {
    const made = branch(((n: number) => (n > 0 ? 'yes' : 'maybe')) as () => 'yes', { yes: mark('y') as never });
    await expect(invoke(made, 0 as never)).rejects.toEqual(failure('NODE_TARGET_UNKNOWN', /maybe/));
  });
});

describe('programs with joins and merges', () => {
  it('fan out to eight nodes and come together', async () => {
    const ids = Array.from({ length: 8 }, (_, at) => `n${at}`);
    const made = graph<number, Record<string, string>>('fan', (g) => {
      for (const id of ids) {
        const node = g.node(id, put(id));
        g.edge(g.start, node);
        g.edge(node, g.end);
      }
    });
    expect(Object.keys(await invoke(made, 1))).toEqual(ids);
  });

  it('do not merge two texts, nor one key twice, and say which nodes gave them', async () => {
    const clash = (left: ReturnType<typeof put>, right: ReturnType<typeof put>) =>
      graph<number, unknown>('clash', (g) => {
        const [a, b] = [g.node('a', left), g.node('b', right)];
        g.edge(g.start, a);
        g.edge(g.start, b);
        g.edge(a, g.end);
        g.edge(b, g.end);
      });
    await expect(invoke(clash(put('same'), put('same')), 1)).rejects.toEqual(
      failure('MERGE_CONFLICT', /"a" and "b" both gave the key "same"/),
    );
    await expect(invoke(clash(put('x'), mark('y') as never), 'z' as never)).rejects.toEqual(
      failure('MERGE_CONFLICT', /"b" gave a string/),
    );
  });

  it('merge numbers by a function of the node, which may fail with words of its own', async () => {
    const sum = (limit: number) =>
      graph<number, number>('sum', (g) => {
        const [a, b] = [g.node('a', (n: number) => n + 1), g.node('b', (n: number) => n * 10)];
        const total = g.node('total', (n: number) => n, {
          merge: (values) => {
            const made = values.reduce((left, right) => left + right, 0);
            if (made > limit) throw new Error('too much');
            return made;
          },
        });
        g.edge(g.start, a);
        g.edge(g.start, b);
        g.edge(a, total);
        g.edge(b, total);
        g.edge(total, g.end);
      });
    expect(await invoke(sum(100), 4)).toBe(45);
    await expect(invoke(sum(40), 4)).rejects.toEqual(failure('NODE_FAILED', /too much/, { node: 'total' }));
  });

  it('wait for the longer of two ways, and take a part that a branch left out as absent', async () => {
    const made = graph<number, unknown>('late', (g) => {
      const quick = g.node('quick', (n: number) => n);
      const slow1 = g.node('slow1', async (n: number) => n + 1);
      const slow2 = g.node('slow2', async (n: number) => n + 1);
      const maybe = g.node('maybe', (n: number) => n);
      const both = g.node('both', (parts: { quick: number; slow: number; maybe?: number }) => parts);
      g.edge(g.start, quick);
      g.edge(g.start, slow1);
      g.edge(slow1, slow2);
      g.branch(g.start, { maybe, skip: quick }, (n) => (n > 5 ? 'maybe' : 'skip'));
      g.join({ quick, slow: slow2, maybe: optional(maybe) }, both);
      g.edge(both, g.end);
    });
    expect(await invoke(made, 1)).toEqual({ quick: 1, slow: 3 });
    expect(await invoke(made, 6)).toEqual({ quick: 6, slow: 8, maybe: 6 });
  });
});

describe('programs of programs', () => {
  it('hold a graph in a chain in a graph, and streams go through all of them', async () => {
    const inner = graph<string, string>('inner', (g) => {
      const letters = g.node('letters', (text: string) => spaced(...text));
      g.edge(g.start, letters);
      g.edge(letters, g.end);
    });
    const outer = graph<string, string>('outer', (g) => {
      const node = g.node('node', chain(inner, passthrough<string>()));
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
    expect(await all(stream(outer, 'abc'))).toEqual(['a', 'b', 'c']);
    expect(await invoke(outer, 'abc')).toBe('abc');
  });

  it('name what fails three levels down, and keep its cause', async () => {
    const cause = new Error('no disk');
    const bad = step('save', () => {
      throw cause;
    });
    const level = (name: string, body: typeof bad) =>
      graph<unknown, never>(name, (g) => {
        const node = g.node(name, body as never);
        g.edge(g.start, node as never);
        g.edge(node as never, g.end as never);
      }) as unknown as typeof bad;
    const made = level('one', level('two', level('three', bad)));
    await expect(invoke(made, 1)).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'one/two/three', cause });
  });

  it('say at once that a chain is empty, a graph has no way, an id is taken, or an edge is drawn twice', () => {
    const line = graph<number, number>;
    expect(() => (chain as unknown as () => unknown)()).toThrow(/at least one step; received none/);
    expect(() => line('none', () => {})).toThrow(/nothing leads away from the start/);
    expect(() =>
      line('twice', (g) => {
        g.node('a', (n: number) => n);
        g.node('a', (n: number) => n);
      }),
    ).toThrow(/there are two nodes "a"/);
    expect(() =>
      line('edges', (g) => {
        const a = g.node('a', (n: number) => n);
        g.edge(g.start, a);
        g.edge(g.start, a);
      }),
    ).toThrow(/the edge from "start" to "a" is there already/);
  });

  it('can be looked at before they run: nodes, edges, labels, drawings', () => {
    const made = graph<number, number>('look', (g) => {
      const [a, b] = [g.node('a', (n: number) => n), g.node('b', map((n: number) => n) as never)];
      g.branch(g.start, { small: a, large: b as never }, () => 'small');
      g.edge(a, g.end);
      g.edge(b as never, g.end as never);
    });
    const { graph: about } = describeStep(made);
    expect(about?.nodes.map(({ id }) => id)).toEqual(['a', 'b', 'start/branch']);
    expect(about?.edges).toContainEqual({ from: 'start/branch', to: 'a', labels: ['small'] });
    expect(draw(made)).toMatch(/^flowchart TD\n/);
    expect(draw(made)).toContain('small');
  });

  it('go round a list, and round until it is done, with the index in the path of what fails', async () => {
    const halve = loop((n: number) => n / 2, { until: (n) => n < 1, maxRounds: 10 });
    expect(await invoke(map(halve, { concurrency: 2 }), [3, 8])).toEqual([0.75, 0.5]);
    await expect(invoke(map(halve), [3, 5_000])).rejects.toMatchObject({
      code: 'RUN_STEPS_EXCEEDED',
      node: 'map[1]/loop',
    });
  });

  it('gather what steps side by side make of one input, whose keys are theirs', async () => {
    const made = chain(
      parallel({ length: (text: string) => text.length, loud: mark('!') }),
      ({ length, loud }) => `${loud} ${length}`,
    );
    expect(await invoke(made, 'hey')).toBe('hey! 3');
  });
});
