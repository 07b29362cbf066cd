import { describe, expect, it } from 'vitest';
import { type GraphBuilder, graph } from '../../src/compose/graph.js';
import type { GraphOptions } from '../../src/compose/graph-options.js';
import { type NodeHandle, optional } from '../../src/compose/handles.js';
import { hasToolCall } from '../../src/compose/has-tool-call.js';
import { defineState } from '../../src/compose/state.js';
import { DEFINITION, type GraphBlueprint } from '../../src/compose/step.js';
import { step } from '../../src/compose/steps.js';

// biome-ignore lint/suspicious/noExplicitAny: the shape of a graph is tested here, its types are in test/compose/types
type Untyped = any;
const same = (value: Untyped): Untyped => value;
const first = (): Untyped => 'a';

/** A graph of untyped nodes: what the compiler would refuse can be drawn, too. */
function draw(build: (g: GraphBuilder<Untyped, Untyped>) => void, options?: GraphOptions): GraphBlueprint {
  const definition = graph<Untyped, Untyped>('g', build, options)[DEFINITION];
  if (definition.type !== 'graph') throw new Error('a graph was expected');
  return definition.graph;
}

const linesOf = (blueprint: GraphBlueprint): string[] => blueprint.edges.map(({ from, to }) => `${from}>${to}`);
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringMatching(message) });

describe('graph', () => {
  it('is data: nodes with the step objects that they were given, and edges', () => {
    const load = step('load', same);
    const made = draw((g) => {
      const a = g.node('a', load, { trigger: 'any', timeoutMs: 5, edge: { size: 2 } });
      const b = g.passthrough('b');
      g.edge(g.start, a);
      g.edge(a, b);
      g.edge(b, g.end);
    });
    expect(made).toMatchObject({
      name: 'g',
      style: 'graph',
      isInline: false,
      pace: 'eager',
      endWith: 'all',
      states: [],
    });
    expect(made.nodes[0]).toEqual({ id: 'a', step: load, trigger: 'any', timeoutMs: 5, edge: { size: 2 } });
    expect(linesOf(made)).toEqual(['start>a', 'a>b', 'b>end']);
  });

  it('keeps its states, interrupts and limits', () => {
    const state = defineState('s', () => 0);
    const limits = {
      interruptBefore: ['a'],
      interruptAfter: ['a'],
      maxSteps: 3,
      pace: 'lockstep',
      endWith: 'first',
    } as const;
    const line = (g: GraphBuilder<Untyped, Untyped>) => {
      const a = g.node('a', same);
      g.edge(g.start, a);
      g.edge(a, g.end);
    };
    expect(draw(line, { ...limits, state })).toMatchObject({ ...limits, states: [state] });
    const other = defineState('other', () => '');
    expect(draw(line, { state: [state, other] }).states).toEqual([state, other]);
    expect(() => draw(line, { state: [state, defineState('s', () => 1)] })).toThrow(
      invalid(/Graph "g": two of its states are called "s". Give one another name/),
    );
    expect(() => draw(line, { maxSteps: 0 })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    expect(() => draw(line, { interruptBefore: ['aa'] })).toThrow(
      invalid(/Graph "g": interruptBefore names "aa", which is not a node of it. Did you mean "a"\?/),
    );
  });

  it('makes a router of every branch, numbered where a node has several', () => {
    const made = draw((g) => {
      const [a, b, c] = ['a', 'b', 'c'].map((id) => g.node(id, same)) as [Node, Node, Node];
      g.branch(g.start, { a, b }, first);
      g.branch(g.start, { c, skip: g.end }, first);
      g.streamBranch(a, { b, end: g.end }, first);
      g.edge(b, g.end);
      g.edge(c, g.end);
    });
    const routers = made.nodes.filter(({ route }) => route !== undefined);
    expect(routers.map(({ id, route }) => [id, route?.routes])).toEqual([
      ['start/branch', { a: 'a', b: 'b' }],
      ['start/branch_2', { c: 'c', skip: 'end' }],
      ['a/branch', { b: 'b', end: 'end' }],
    ]);
    expect(routers.map(({ route }) => route?.choose === undefined)).toEqual([false, false, true]);
    expect(linesOf(made)).toContain('start/branch_2>end');
  });

  it('may lead two labels of a branch, and two branches, to one node', () => {
    const made = draw((g) => {
      const a = g.node('a', same);
      g.branch(g.start, { x: a, y: a }, first);
      g.branch(g.start, { x: a, y: g.end }, first);
      g.edge(a, g.end);
    });
    expect(linesOf(made).filter((line) => line === 'start/branch>a')).toHaveLength(1);
    expect(linesOf(made)).toContain('start/branch_2>a');
  });

  it('may have cycles that a branch leaves', () => {
    const made = draw((g) => {
      const [a, b] = [g.node('a', same), g.node('b', same)];
      g.edge(g.start, a);
      g.branch(a, { again: b, done: g.end }, first);
      g.edge(b, a);
      g.branch(b, { self: b, a }, first);
    });
    expect(linesOf(made)).toContain('b/branch>b');
  });
});

it('may have a cycle that its first result ends', () => {
  const build = (g: GraphBuilder<Untyped, Untyped>) => {
    const [a, b] = [g.node('a', same), g.node('b', same)];
    g.edge(g.start, a);
    g.edge(a, b);
    g.edge(b, a);
    g.edge(b, g.end);
  };
  expect(linesOf(draw(build, { endWith: 'first' }))).toContain('b>a');
  expect(() => draw(build)).toThrow(/never ends/);
});

type Node = NodeHandle<Untyped, Untyped>;

describe('join', () => {
  const joined = (web: (source: Node) => Untyped) =>
    draw((g) => {
      const [docs, user, to] = [g.node('docs', same), g.node('user', same), g.node('to', same)];
      g.edge(g.start, docs);
      g.branch(g.start, { user, none: g.end }, first);
      g.join({ docs, copy: docs, user: web(user), start: g.start }, to);
      g.edge(to, g.end);
    }).nodes.find(({ id }) => id === 'to')?.input;

  it('gathers the values of its parts by key, and leaves out optional ones that did not run', () => {
    const rule = joined(optional);
    const arrived = new Map<string, unknown>([
      ['docs', 1],
      ['start', 'in'],
    ]);
    expect(rule?.whole(arrived)).toEqual({ docs: 1, copy: 1, start: 'in' });
    expect(rule?.whole(new Map([...arrived, ['user', undefined]]))).toEqual({
      docs: 1,
      copy: 1,
      start: 'in',
      user: undefined,
    });
    expect(rule?.piece?.('docs', 'x')).toEqual([{ docs: 'x' }, { copy: 'x' }]);
    expect(rule?.piece?.('elsewhere', 'x')).toEqual([]);
  });

  it('fails with the part and its node when a needed one did not come', () => {
    expect(() => joined(optional)?.whole(new Map([['start', 1]]))).toThrow(
      expect.objectContaining({
        code: 'INPUT_MISSING',
        node: 'to',
        message: expect.stringMatching(/Graph "g", node "to": nothing came from "docs" for the part "docs"/),
        details: { path: 'docs', source: 'docs' },
      }),
    );
  });

  it('refuses a needed part that a branch may skip', () => {
    expect(() => joined(same)).toThrow(
      invalid(
        /node "to" needs the part "user" of "user", which a branch may skip while "docs" runs. Write user: optional\(…\)/,
      ),
    );
  });

  it.each<[string, (g: GraphBuilder<Untyped, Untyped>, at: Record<string, Node>) => void]>([
    [
      'all of whose parts are behind one branch',
      (g, { a, b, c }) => {
        g.branch(g.start, { c: c as Node, end: g.end }, first);
        g.edge(c as Node, a as Node);
        g.edge(c as Node, b as Node);
      },
    ],
    [
      'of a part that every route leads to',
      (g, { a, b, c }) => {
        g.edge(g.start, a as Node);
        g.branch(g.start, { b: b as Node, c: c as Node }, first);
        g.edge(c as Node, b as Node);
      },
    ],
    [
      'of a part in a loop that it has to pass',
      (g, { a, b, c }) => {
        g.edge(g.start, a as Node);
        g.edge(g.start, b as Node);
        g.branch(b as Node, { c: c as Node, end: g.end }, first);
        g.edge(c as Node, b as Node);
      },
    ],
  ])('takes a join %s', (_, lead) => {
    const made = draw((g) => {
      const nodes = Object.fromEntries(['a', 'b', 'c', 'to'].map((id) => [id, g.node(id, same)]));
      lead(g, nodes);
      g.join({ a: nodes.a as Node, b: nodes.b as Node }, nodes.to as Node);
      g.edge(nodes.to as Node, g.end);
    });
    expect(made.nodes.find(({ id }) => id === 'to')?.input).toBeDefined();
  });

  it('may be the result of the graph', () => {
    const made = draw((g) => {
      const a = g.node('a', same);
      g.edge(g.start, a);
      g.join({ a, input: g.start }, g.end);
    });
    expect(
      made.end?.input?.whole(
        new Map([
          ['a', 1],
          ['start', 2],
        ]),
      ),
    ).toEqual({ a: 1, input: 2 });
  });
});

describe('a graph that cannot run is refused', () => {
  const line = (g: GraphBuilder<Untyped, Untyped>, ...ids: string[]): Record<string, Node> => {
    const nodes = ids.map((id) => g.node(id, same));
    const all = [g.start, ...nodes, g.end];
    for (const [at, to] of all.slice(1).entries()) g.edge(all[at] as Node, to as Node);
    return Object.fromEntries(nodes.map((node) => [node.id, node]));
  };
  let outer: Untyped;
  const cases: [string, (g: GraphBuilder<Untyped, Untyped>) => unknown, RegExp][] = [
    ['an id twice', (g) => line(g, 'a', 'a'), /Graph "g": there are two nodes "a". Give one another id/],
    ['the id "start"', (g) => g.node('start', same), /a node cannot be called "start", which is an end of the graph/],
    ['the id "end"', (g) => g.node('end', same), /a node cannot be called "end"/],
    ['an empty id', (g) => g.node('', same), /Graph "g": a node needs a name/],
    ['an id with a slash', (g) => g.node('a/b', same), /cannot be called "a\/b"/],
    ['an id with brackets', (g) => g.node('a[0]', same), /cannot be called "a\[0\]"/],
    ['no function', (g) => g.node('a', undefined as Untyped), /"a" must be a function or a step; received undefined/],
    ['an edge twice', (g) => g.edge(g.start, line(g, 'a').a as Node), /the edge from "start" to "a" is there already/],
    [
      'no way from the start',
      (g) => g.edge(g.node('a', same), g.end),
      /nothing leads away from the start. Add g.edge\(g.start, …\)/,
    ],
    [
      'no way to the end',
      (g) => g.edge(g.start, g.node('a', same)),
      /nothing leads to the end. Add g.edge\(…, g.end\)/,
    ],
    [
      'two halves',
      (g) => {
        const [a, b] = [g.node('a', same), g.node('b', same)];
        g.edge(g.start, a);
        g.edge(b, g.end);
      },
      /node "b" cannot be reached from the start/,
    ],
    [
      'a cycle without a way in',
      (g) => {
        line(g, 'a');
        const [b, c] = [g.node('b', same), g.node('c', same)];
        g.edge(b, c);
        g.edge(c, b);
        g.edge(c, g.end);
      },
      /the cycle "b" → "c" → "b" has no way in/,
    ],
    [
      'a dead end',
      (g) => g.edge(line(g, 'a').a as Node, g.node('b', same)),
      /node "b" has no way to the end. Add an edge from it, to g.end for one/,
    ],
    [
      'a cycle without a way out',
      (g) => {
        const { a } = line(g, 'a');
        const b = g.node('b', same);
        g.edge(a as Node, b);
        g.edge(b, b);
      },
      /node "b" has no way to the end. It is in a cycle that never ends/,
    ],
    [
      'a cycle that also leads to the end, without a branch',
      (g) => {
        const { a } = line(g, 'a');
        const [b, c] = [g.node('b', same), g.node('c', same)];
        g.edge(a as Node, b);
        g.edge(b, c);
        g.edge(c, b);
        g.edge(c, g.end);
      },
      /the cycle "b" → "c" → "b" never ends, because no branch leaves it. Lead out of it by g.branch/,
    ],
    [
      'a node that leads to itself and to the end',
      (g) => {
        const b = g.node('b', same);
        g.edge(g.start, b);
        g.edge(b, b);
        g.edge(b, g.end);
      },
      /the cycle "b" → "b" never ends/,
    ],
    [
      'a cycle behind a branch that does not leave it',
      (g) => {
        const [b, c, d] = [g.node('b', same), g.node('c', same), g.node('d', same)];
        g.branch(g.start, { b, end: g.end }, first);
        g.edge(b, c);
        g.branch(b, { d, end: g.end }, first);
        g.edge(c, b);
        g.edge(d, g.end);
      },
      /the cycle "b" → "c" → "b" never ends/,
    ],
    ['no routes', (g) => g.branch(g.start, {}, first), /the branch at "start" needs an object with at least one route/],
    [
      'a route that is a step',
      (g) => g.branch(g.start, { a: step('s', same) as Untyped }, first),
      /received the step "s". Add it with g.node/,
    ],
    [
      'a chooser that is no function',
      (g) => g.branch(g.start, { end: g.end }, 'end' as Untyped),
      /"choose" must be a function; received "end"/,
    ],
    [
      'an edge to a step',
      (g) => g.edge(g.start, step('s', same) as Untyped),
      /an edge from "start" needs a node, as g.node\(…\) gives it; received the step "s"/,
    ],
    [
      'an edge to a node of another graph',
      (g) => {
        draw((inner) => {
          outer = line(inner, 'x').x;
        });
        g.edge(g.start, outer);
      },
      /Graph "g": "x" is a node of another graph/,
    ],
    [
      'a join beside an edge',
      (g) => g.join({ a: g.start }, line(g, 'a').a as Node),
      /"a" gets its whole input from a join, so an edge from "start" cannot lead there/,
    ],
    [
      'an edge beside a join',
      (g) => {
        const a = g.node('a', same);
        g.join({ in: g.start }, a);
        g.edge(g.start, a);
      },
      /so an edge from "start" cannot lead there/,
    ],
    [
      'a route beside a join',
      (g) => {
        const a = g.node('a', same);
        g.join({ in: g.start }, a);
        g.branch(g.start, { a }, first);
      },
      /so the route "a" cannot lead there/,
    ],
    [
      'two joins',
      (g) => {
        const a = g.node('a', same);
        g.join({ in: g.start }, a);
        g.join({ out: g.start }, a);
      },
      /so another join cannot lead there/,
    ],
    ['an empty join', (g) => g.join({}, g.end), /the join at "end" needs an object with at least one part/],
    [
      'a join that runs at every arrival',
      (g) => {
        const a = g.node('a', same, { trigger: 'any' });
        g.join({ in: g.start }, a);
        g.edge(a, g.end);
      },
      /node "a" cannot join its parts and run at each of them/,
    ],
    ['an async builder', async (g) => line(g, 'a'), /its function is async, but a graph is drawn at once/],
  ];

  it.each(cases)('%s', (_, build, message) => {
    expect(() => draw(build)).toThrow(invalid(message));
  });

  it('a change after it was built', () => {
    let late: Untyped;
    let node: Untyped;
    draw((g) => {
      node = line(g, 'a').a;
      late = g;
    });
    const message = invalid(/Graph "g": .* after it was built/);
    expect(() => late.node('b', same)).toThrow(message);
    expect(() => late.edge(late.start, node)).toThrow(message);
    expect(() => late.join({ node }, late.end)).toThrow(message);
    expect(() => late.branch(node, { end: late.end }, first)).toThrow(message);
  });

  it('a join at the end of a graph that ends with the first result', () => {
    expect(() => draw((g) => g.join({ a: g.start }, g.end), { endWith: 'first' })).toThrow(
      invalid(/its end joins several results, so it cannot end with the first one/),
    );
  });

  it('an invalid name of the graph itself', () => {
    expect(() => graph('a/b', () => {})).toThrow(invalid(/A graph cannot be called "a\/b"/));
  });

  it('limits of a node that are none', () => {
    const none: Untyped[] = [
      { timeoutMs: 0 },
      { retry: { attempts: 0 } },
      { edge: { size: 0 } },
      { edge: { whenFull: 'drop' } },
    ];
    for (const options of [...none, { trigger: 'some' }]) {
      expect(() => draw((g) => g.node('a', same, options))).toThrow(
        expect.objectContaining({ code: 'OPTION_INVALID' }),
      );
    }
  });
});

describe('hasToolCall', () => {
  const text = { content: 'let me see' };
  const call = { content: '', toolCalls: [{ index: 0, name: 'search' }] };
  const part = { parts: [{ type: 'tool-call' }] };
  const server = { parts: [{ type: 'server-tool-call' }, { type: 'text' }] };

  it.each<[string, readonly object[], boolean, string | undefined]>([
    ['waits at the first text', [text], false, undefined],
    ['takes the call behind a text', [text, call], false, 'tools'],
    ['takes a call that comes first', [call], false, 'tools'],
    ['takes a call among the parts', [text, part], false, 'tools'],
    ['leaves tools of the provider to it', [server], true, 'end'],
    ['ends with a message that ended without a call', [text, text], true, 'end'],
    ['ends with an empty message', [], true, 'end'],
    ['finds a call in the middle of a message that came whole', [text, call, text], true, 'tools'],
    ['waits while calls are an empty list', [{ toolCalls: [] }], false, undefined],
  ])('%s', (_, chunks, isLast, chosen) => {
    expect(hasToolCall()(chunks, isLast)).toBe(chosen);
  });

  it('decides at the first text when it is told that no call comes behind it', () => {
    const choose = hasToolCall({ decideAt: 'text', tools: 'act', end: 'say' });
    expect([choose([{ content: '' }], false), choose([text], false), choose([call], false)]).toEqual([
      undefined,
      'say',
      'act',
    ]);
    expect(() => hasToolCall({ decideAt: 'soon' as Untyped })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});
