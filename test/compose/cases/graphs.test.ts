import { map as mapChunks, NEVER, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  graph,
  hasToolCall,
  invoke,
  operator,
  optional,
  parallel,
  type StepRunOptions,
  step,
  stream,
} from '../../../src/index.js';
import { chunksOf, failure, gate, spaced, turns } from './support.js';

const upper = (text: string): string => text.toUpperCase();
const letters = (text: string): Observable<string> => spaced(...text);
const upperChunks = () => operator(mapChunks(upper));
const fails = (): never => {
  throw new Error('no luck');
};
type Numbers = Record<string, number>;
type Letters = Record<string, string>;

describe('joins in graphs', () => {
  it('may be left out: the start can lead to the end', async () => {
    const made = graph<string, string>('straight', (g) => g.edge(g.start, g.end));
    expect(await invoke(made, 'x')).toBe('x');
    expect(await chunksOf(chain(letters, made), 'ab')).toEqual(['a', 'b']);
  });

  it('make one object of objects with different keys that arrive together', async () => {
    const made = graph<number, Numbers>('fan', (g) => {
      const a = g.node('a', async (n: number): Promise<Numbers> => ({ a: n }));
      const b = g.node('b', (n: number): Numbers => ({ b: n, c: n }));
      for (const node of [a, b]) {
        g.edge(g.start, node);
        g.edge(node, g.end);
      }
    });
    expect(await invoke(made, 1)).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('refuse equal keys, naming the key and both nodes', async () => {
    const made = graph<number, Numbers>('fan', (g) => {
      for (const id of ['a', 'b']) {
        const node = g.node(id, (n: number): Numbers => ({ same: n }));
        g.edge(g.start, node);
        g.edge(node, g.end);
      }
    });
    await expect(invoke(made, 1)).rejects.toEqual(failure('MERGE_CONFLICT', /"a" and "b" both gave the key "same"/));
  });

  it('refuse values that are no objects, unless the node merges them', async () => {
    const sum = (merge?: (values: readonly number[]) => number) =>
      graph<number, number>('sum', (g) => {
        const both = g.node('both', (n: number) => n, merge === undefined ? {} : { merge });
        for (const [id, by] of [['slow', 1] as const, ['quick', 2] as const]) {
          const node = g.node(id, id === 'slow' ? async (n: number) => n + by : (n: number) => n + by);
          g.edge(g.start, node);
          g.edge(node, both);
        }
        g.edge(both, g.end);
      });
    await expect(invoke(sum(), 1)).rejects.toEqual(failure('MERGE_CONFLICT', /gave a number/, { node: 'both' }));
    const orders: (readonly number[])[] = [];
    const merge = (values: readonly number[]): number => {
      orders.push(values);
      return values.reduce((all, value) => all + value, 0);
    };
    expect(await invoke(sum(merge), 1)).toBe(5);
    // In the order of the edges, whichever came first.
    expect(orders).toEqual([[2, 3]]);
  });

  it('gather typed parts by key, however long each takes, and the input of the graph as well', async () => {
    const made = graph<number, string>('join', (g) => {
      const slow = g.node('slow', async (n: number) => {
        await turns(3);
        return n * 10;
      });
      const quick = g.node('quick', (n: number) => `q${n}`);
      const show = g.node('show', (all: { slow: number; quick: string; input: number }) => JSON.stringify(all));
      g.edge(g.start, slow);
      g.edge(g.start, quick);
      g.join({ slow, quick, input: g.start }, show);
      g.edge(show, g.end);
    });
    expect(JSON.parse(await invoke(made, 1))).toEqual({ slow: 10, quick: 'q1', input: 1 });
  });

  it('do not wait for optional parts that a branch left out', async () => {
    const made = graph<number, { docs: string; web?: string }>('join', (g) => {
      const docs = g.node('docs', async (n: number) => `d${n}`);
      const web = g.node('web', (n: number) => `w${n}`);
      const none = g.passthrough<number>('none');
      const log = g.node('log', (all: { docs: string; web?: string; none?: number }) => {
        const { none: _, ...rest } = all;
        return rest;
      });
      g.edge(g.start, docs);
      g.branch(g.start, { web, none }, (n) => (n > 1 ? 'web' : 'none'));
      g.join({ docs, web: optional(web), none: optional(none) }, log);
      g.edge(log, g.end);
    });
    expect(await invoke(made, 1)).toEqual({ docs: 'd1' });
    expect(await invoke(made, 2)).toEqual({ docs: 'd2', web: 'w2' });
  });

  it('run once when one way to them is longer than the other', async () => {
    let runs = 0;
    const made = graph<number, Numbers>('diamond', (g) => {
      const [a, b, c] = ['a', 'b', 'c'].map((id) => g.node(id, async (n: number) => n + 1));
      const last = g.node('last', (all: { short: number; long: number }): Numbers => {
        runs += 1;
        return all;
      });
      if (a === undefined || b === undefined || c === undefined) return;
      g.edge(g.start, a);
      g.edge(g.start, b);
      g.edge(b, c);
      g.join({ short: a, long: c }, last);
      g.edge(last, g.end);
    });
    expect(await invoke(made, 0)).toEqual({ short: 1, long: 2 });
    expect(runs).toBe(1);
  });

  it('merge streams with different keys chunk by chunk', async () => {
    const made = graph<string, Letters>('streams', (g) => {
      const a = g.node('a', chain(letters, operator(mapChunks((a: string): Letters => ({ a })))));
      const b = g.node('b', chain(letters, operator(mapChunks((b: string): Letters => ({ b })))));
      for (const node of [a, b]) {
        g.edge(g.start, node);
        g.edge(node, g.end);
      }
    });
    const chunks = await chunksOf(made, 'xy');
    expect(chunks).toHaveLength(4);
    expect(await invoke(made, 'xy')).toEqual({ a: 'xy', b: 'xy' });
  });
});

describe('triggers in graphs', () => {
  /** Two ways into one node, the second of which takes longer. */
  const twoWays = (trigger: 'all' | 'any', work: Parameters<typeof step<number, number>>[1], ran: number[]) =>
    graph<number, number>('two', (g) => {
      const slow = g.node('slow', async (n: number) => {
        await turns(3);
        return n + 10;
      });
      const quick = g.node('quick', (n: number) => n + 1);
      const both = g.node('both', work, { trigger, merge: (values) => values.reduce((all, value) => all + value, 0) });
      const last = g.node(
        'last',
        (n: number) => {
          ran.push(n);
          return n;
        },
        { trigger },
      );
      g.edge(g.start, slow);
      g.edge(g.start, quick);
      g.edge(slow, both);
      g.edge(quick, both);
      g.edge(both, last);
      g.branch(last, { end: g.end }, () => 'end');
    });

  it('run a node once for everything that can reach it', async () => {
    const ran: number[] = [];
    expect(
      await invoke(
        twoWays('all', (n: number) => n, ran),
        0,
      ),
    ).toBe(11);
    expect(ran).toEqual([11]);
  });

  it('run a node for every arrival when they are told to', async () => {
    const ran: number[] = [];
    await invoke(
      twoWays('any', (n: number) => n, ran),
      0,
    ).catch(() => {});
    expect(ran).toEqual([1, 10]);
  });

  it('keep the arrivals of such a node apart when it is a parallel with a join inside', async () => {
    const ran: number[] = [];
    const inner = chain(parallel({ a: (n: number) => n, b: async (n: number) => n }), ({ a, b }) => a + b);
    await invoke(twoWays('any', inner, ran), 0).catch(() => {});
    expect(ran).toEqual([2, 20]);
  });

  it('start nodes wave by wave in lockstep, and each as soon as it can otherwise', async () => {
    const orderOf = async (pace: 'eager' | 'lockstep'): Promise<string[]> => {
      const ran: string[] = [];
      const note = (id: string, count: number) => async (n: number) => {
        await turns(count);
        ran.push(id);
        return n;
      };
      const made = graph<number, { slow: number; second: number }>(
        'paced',
        (g) => {
          const slow = g.node('slow', note('slow', 5));
          const first = g.node('first', note('first', 0));
          const second = g.node('second', note('second', 0));
          g.edge(g.start, slow);
          g.edge(g.start, first);
          g.edge(first, second);
          g.join({ slow, second }, g.end);
        },
        { pace },
      );
      await invoke(made, 1);
      return ran;
    };
    expect(await orderOf('eager')).toEqual(['first', 'second', 'slow']);
    expect(await orderOf('lockstep')).toEqual(['first', 'slow', 'second']);
  });

  it('end with the first result and stop everything else when they are told to', async () => {
    let signal: AbortSignal | undefined;
    const made = graph<number, string>(
      'race',
      (g) => {
        const slow = g.node('slow', (_: number, at) => {
          signal = at.signal;
          return NEVER as Observable<string>;
        });
        const quick = g.node('quick', async (n: number) => `quick ${n}`);
        for (const node of [slow, quick]) {
          g.edge(g.start, node);
          g.edge(node, g.end);
        }
      },
      { endWith: 'first' },
    );
    expect(await invoke(made, 1)).toBe('quick 1');
    expect(signal?.aborted).toBe(true);
  });
});

describe('branches in graphs', () => {
  it('leave out a whole way, also for a join behind it', async () => {
    const made = graph<number, string>('skip', (g) => {
      const [a, b, c] = ['a', 'b', 'c'].map((id) => g.node(id, (text: string) => `${text}${id}`));
      const first = g.node('first', (n: number) => String(n));
      if (a === undefined || b === undefined || c === undefined) return;
      g.edge(g.start, first);
      g.branch(first, { long: a, short: c }, (text) => (text === '1' ? 'long' : 'short'));
      g.edge(a, b);
      g.edge(b, c);
      g.edge(c, g.end);
    });
    expect([await invoke(made, 1), await invoke(made, 2)]).toEqual(['1abc', '2c']);
  });

  it('may be several on one node, and may choose the same target, which runs once', async () => {
    let runs = 0;
    const made = graph<number, Numbers>('several', (g) => {
      const shared = g.node('shared', (n: number): Numbers => {
        runs += 1;
        return { shared: n };
      });
      const other = g.node('other', (n: number): Numbers => ({ other: n }));
      g.branch(g.start, { shared, other }, (n) => (n > 1 ? ['shared', 'other'] : 'shared'));
      g.branch(g.start, { shared, end: other }, async (n) => (n > 2 ? 'end' : 'shared'));
      g.edge(shared, g.end);
      g.edge(other, g.end);
    });
    expect(await invoke(made, 1)).toEqual({ shared: 1 });
    expect(await invoke(made, 2)).toEqual({ shared: 2, other: 2 });
    expect(await invoke(made, 3)).toEqual({ shared: 3, other: 3 });
    expect(runs).toBe(3);
  });

  it('may stand behind each other, and what none of them chose does not run', async () => {
    const ran: string[] = [];
    const made = graph<number, string>('nested', (g) => {
      const node = (id: string) =>
        g.node(id, (n: number) => {
          ran.push(id);
          return n;
        });
      const [a, b, c] = [node('a'), node('b'), node('c')];
      const last = g.node('last', (n: number) => `done ${n}`, { merge: ([n]) => n as number });
      g.branch(g.start, { a, b }, (n) => (n > 0 ? 'a' : 'b'));
      g.branch(a, { c, last }, (n) => (n > 1 ? 'c' : 'last'));
      g.edge(b, last);
      g.edge(c, last);
      g.edge(last, g.end);
    });
    expect(await invoke(made, 2)).toBe('done 2');
    expect(await invoke(made, 1)).toBe('done 1');
    expect(await invoke(made, 0)).toBe('done 0');
    expect(ran).toEqual(['a', 'c', 'a', 'b']);
  });

  it('that lead one stream to one node twice lead it there once', async () => {
    const made = graph<string, string>('streams', (g) => {
      const source = g.node('source', letters);
      const loud = g.node('loud', upperChunks());
      g.edge(g.start, source);
      g.streamBranch(source, { loud, end: g.end }, () => 'loud');
      g.streamBranch(source, { loud, end: g.end }, (_, isLast) => (isLast ? 'loud' : undefined));
      g.edge(loud, g.end);
    });
    expect(await chunksOf(made, 'ab')).toEqual(['A', 'B']);
  });

  it('that choose nothing leave the graph without a result', async () => {
    const made = graph<number, number>('nothing', (g) => g.branch(g.start, { end: g.end }, () => []));
    await expect(invoke(made, 1)).rejects.toEqual(failure('GRAPH_NO_OUTPUT'));
  });

  it('may lead back, and the node sees the value of whoever led to it', async () => {
    const seen: number[] = [];
    const made = graph<number, number>('cycle', (g) => {
      const add = g.node('add', (n: number) => {
        seen.push(n);
        return n + 1;
      });
      const double = g.node('double', async (n: number) => n * 2);
      g.edge(g.start, add);
      g.branch(add, { double, end: g.end }, (n) => (n > 20 ? 'end' : 'double'));
      g.edge(double, add);
    });
    expect(await invoke(made, 1)).toBe(23);
    expect(seen).toEqual([1, 4, 10, 22]);
  });

  it('cannot lead back more often than the graph, or the run, allows', async () => {
    const made = (maxSteps?: number) =>
      graph<number, number>(
        'forever',
        (g) => {
          const a = g.node('a', async (n: number) => n + 1);
          g.edge(g.start, a);
          g.branch(a, { a, end: g.end }, (n) => (n > 1000 ? 'end' : 'a'));
        },
        maxSteps === undefined ? {} : { maxSteps },
      );
    await expect(invoke(made(10), 1)).rejects.toEqual(failure('RUN_STEPS_EXCEEDED'));
    await expect(invoke(made(), 1, { maxSteps: 10 })).rejects.toEqual(failure('RUN_STEPS_EXCEEDED'));
    expect(await invoke(made(), 1)).toBe(1001);
  });

  it('call a tool although text came before the call, and give the answer that came last', async () => {
    interface Piece {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly { readonly index: number; readonly name: string }[];
    }
    const say = (content: string): Piece => ({ role: 'assistant', content });
    const call: Piece = { role: 'assistant', content: '', toolCalls: [{ index: 0, name: 'look' }] };
    const made = graph<string, Piece>('react', (g) => {
      const model = g.node('model', (text: string) =>
        text === 'found' ? spaced(say('It is '), say('here.')) : spaced(say('Let me '), say('look. '), call),
      );
      const tools = g.node('tools', (_: Piece) => 'found');
      g.edge(g.start, model);
      g.streamBranch(model, { tools, end: g.end }, hasToolCall());
      g.edge(tools, model);
    });
    const answer = await chunksOf(made, 'where?');
    expect(answer.map(({ content }) => content).join('')).toBe('It is here.');
  });
});

describe('graphs', () => {
  it('pass chunks on while they are made', async () => {
    const door = gate();
    const made = graph<string, string>('live', (g) => {
      const slow = g.node('slow', async function* (_: string) {
        yield 'a';
        await door.opened;
        yield 'b';
      });
      const loud = g.node('loud', upperChunks());
      g.edge(g.start, slow);
      g.edge(slow, loud);
      g.edge(loud, g.end);
    });
    const seen: string[] = [];
    for await (const chunk of stream(made, '')) {
      seen.push(chunk);
      door.open();
    }
    expect(seen).toEqual(['A', 'B']);
  });

  it('change what goes into a node and what comes out of it, whole or in chunks', async () => {
    const made = graph<number, string>('hooks', (g) => {
      const whole = g.node('whole', upper, { before: (n: number) => `n${n}`, after: (text) => [text, text] });
      const live = g.node('live', upperChunks(), {
        beforeChunks: mapChunks((list: string[]) => list.join('')),
        afterChunks: mapChunks((text) => `${text}!`),
      });
      g.edge(g.start, whole);
      g.edge(whole, live);
      g.edge(live, g.end);
    });
    expect(await invoke(made, 1)).toBe('N1N1!');
  });

  it('may stand in each other, and name what failed inside by its whole path', async () => {
    const inner = (work: (text: string) => string) =>
      graph<string, string>('inner', (g) => {
        const a = g.node('a', work);
        g.edge(g.start, a);
        g.edge(a, g.end);
      });
    const outer = (work: (text: string) => string) =>
      graph<string, string>('outer', (g) => {
        const sub = g.node('sub', inner(work));
        const after = g.node('after', chain(upper, inner(upper)));
        g.edge(g.start, sub);
        g.edge(sub, after);
        g.edge(after, g.end);
      });
    expect(
      await invoke(
        outer((text) => `${text}x`),
        'a',
      ),
    ).toBe('AX');
    await expect(invoke(outer(fails), 'a')).rejects.toEqual(failure('NODE_FAILED', /no luck/, { node: 'sub/a' }));
  });

  it('run anew in every round of a cycle around them', async () => {
    const inner = graph<number, number>('inner', (g) => {
      const [a, b] = [g.node('a', async (n: number) => n + 1), g.node('b', (n: number) => n + 2)];
      const sum = g.node('sum', ({ a: x, b: y }: { a: number; b: number }) => x + y);
      g.edge(g.start, a);
      g.edge(g.start, b);
      g.join({ a, b }, sum);
      g.edge(sum, g.end);
    });
    const made = graph<number, number>('outer', (g) => {
      const round = g.node('round', inner);
      g.edge(g.start, round);
      g.branch(round, { round, end: g.end }, (n) => (n > 20 ? 'end' : 'round'));
    });
    // 0 -> 3 -> 9 -> 21
    expect(await invoke(made, 0)).toBe(21);
  });

  it('may hold one step in several nodes and be in several runs at the same time', async () => {
    const twice = step('twice', async (n: number) => n * 2);
    const made = graph<number, number>('both', (g) => {
      const [a, b] = [g.node('a', twice), g.node('b', twice)];
      g.edge(g.start, a);
      g.edge(a, b);
      g.edge(b, g.end);
    });
    expect(await Promise.all([1, 2, 3].map((n) => invoke(made, n)))).toEqual([4, 8, 12]);
  });

  it('try a node again, as often as it may, and end it when it takes too long', async () => {
    let tries = 0;
    const made = (attempts: number) =>
      graph<number, number>('again', (g) => {
        const a = g.node(
          'a',
          (n: number) => {
            tries += 1;
            return tries < 3 ? fails() : n;
          },
          { retry: { attempts } },
        );
        g.edge(g.start, a);
        g.edge(a, g.end);
      });
    expect(await invoke(made(3), 5)).toBe(5);
    expect(tries).toBe(3);
    tries = 0;
    await expect(invoke(made(2), 5)).rejects.toEqual(failure('NODE_FAILED', /no luck/));
    const slow = graph<number, number>('slow', (g) => {
      const a = g.node('a', (_: number) => NEVER as Observable<number>, { timeoutMs: 5 });
      g.edge(g.start, a);
      g.edge(a, g.end);
    });
    await expect(invoke(slow, 1)).rejects.toEqual(failure('NODE_TIMEOUT', /./, { node: 'a' }));
  });

  it('end when their caller cancels them, and stop what runs', async () => {
    const caller = new AbortController();
    let signal: AbortSignal | undefined;
    const made = graph<number, number>('cancelled', (g) => {
      const a = g.node('a', (_: number, at) => {
        signal = at.signal;
        setImmediate(() => caller.abort());
        return NEVER as Observable<number>;
      });
      g.edge(g.start, a);
      g.edge(a, g.end);
    });
    const options: StepRunOptions = { signal: caller.signal };
    await expect(invoke(made, 1, options)).rejects.toEqual(failure('RUN_CANCELLED'));
    expect(signal?.aborted).toBe(true);
  });

  it('may have nodes with the names that the engine uses inside', async () => {
    const made = graph<number, number>('named', (g) => {
      const input = g.node('input', (n: number) => n + 1);
      const output = g.node('output', (n: number) => n + 1);
      g.edge(g.start, input);
      g.edge(input, output);
      g.edge(output, g.end);
    });
    expect(await invoke(made, 1)).toBe(3);
  });
});
