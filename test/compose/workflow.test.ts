import { describe, expect, it } from 'vitest';
import type { GraphOptions } from '../../src/compose/graph-options.js';
import { DEFINITION, type GraphBlueprint, type InputRule } from '../../src/compose/step.js';
import { step } from '../../src/compose/steps.js';
import { type WorkflowBuilder, workflow } from '../../src/compose/workflow.js';

// biome-ignore lint/suspicious/noExplicitAny: the shape of a workflow is tested here, its types are in test/compose/types
type Untyped = any;
const same = (value: Untyped): Untyped => value;
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringMatching(message) });

const PROTO = '__proto__';

type Build = (input: Untyped, w: WorkflowBuilder<Untyped>) => Untyped;

function draw(build: Build, options?: GraphOptions): GraphBlueprint {
  const definition = workflow<Untyped, Untyped>('w', build, options)[DEFINITION];
  if (definition.type !== 'graph') throw new Error('a graph was expected');
  return definition.graph;
}

const linesOf = (made: GraphBlueprint): string[] => made.edges.map(({ from, to }) => `${from}>${to}`).sort();
const arrived = (values: Record<string, unknown>): ReadonlyMap<string, unknown> => new Map(Object.entries(values));

/** The rule of a node `to` whose input is what `write` gives. */
function ruleFor(
  write: (nodes: { input: Untyped; a: Untyped; b: Untyped; w: WorkflowBuilder<Untyped> }) => unknown,
): InputRule {
  const made = draw((input, w) => {
    const [a, b] = [w.node('a', same, input), w.node('b', same, input)];
    w.end(w.node('to', same, write({ input, a, b, w })));
  });
  return made.nodes.find(({ id }) => id === 'to')?.input as InputRule;
}

describe('the input of a node in a workflow', () => {
  it('is put together of whole outputs, fields, paths, functions of them and values, at any depth', () => {
    const rule = ruleFor(({ input, a, b, w }) => ({
      whole: a,
      id: input.user.id,
      deep: {
        list: [b.items[1], 'fixed', { n: b.items.length }],
        count: w.map(b, (value: Untyped) => value.items.length + 1),
      },
      tone: 'brief',
      nothing: null,
    }));
    const values = { a: 7, b: { items: ['x', 'y'] }, start: { user: { id: 'u' } } };
    expect(rule.whole(arrived(values))).toEqual({
      whole: 7,
      id: 'u',
      deep: { list: ['y', 'fixed', { n: 2 }], count: 3 },
      tone: 'brief',
      nothing: null,
    });
  });

  it('may be one reference, one field, or a value without any', () => {
    expect(ruleFor(({ a }) => a).whole(arrived({ a: 1 }))).toBe(1);
    expect(ruleFor(({ a }) => a.x.y).whole(arrived({ a: { x: { y: 2 } } }))).toBe(2);
    expect(ruleFor(() => ({ n: [1, { m: 2 }] })).whole(arrived({ start: 0 }))).toEqual({ n: [1, { m: 2 }] });
    const date = new Date(0);
    expect(ruleFor(() => ({ date })).whole(arrived({}))).toEqual({ date });
  });

  it('may hold one value or reference in several places', () => {
    const shared = { n: 1 };
    const rule = ruleFor(({ a }) => ({ one: shared, two: [shared, a], three: a }));
    expect(rule.whole(arrived({ a: 2 }))).toEqual({ one: { n: 1 }, two: [{ n: 1 }, 2], three: 2 });
  });

  it('goes on behind a function with fields of what it gave', () => {
    const rule = ruleFor(({ a, w }) => ({ n: w.map(a.text, (text: string) => ({ size: text.length })).size }));
    expect(rule.whole(arrived({ a: { text: 'four' } }))).toEqual({ n: 4 });
  });

  it('is undefined where something optional is missing, and reads own properties only', () => {
    const rule = ruleFor(({ a }) => ({ x: a.x.y.z, inherited: a.constructor.name, proto: a[PROTO] }));
    for (const value of [{}, { x: null }, { x: { y: undefined } }]) {
      expect(rule.whole(arrived({ a: value }))).toEqual({ x: undefined, inherited: undefined, proto: undefined });
    }
    const own = JSON.parse('{"x":{"y":{"z":1}},"__proto__":2}');
    expect(rule.whole(arrived({ a: own }))).toEqual({ x: 1, inherited: undefined, proto: 2 });
  });

  it('fails with path and source when the source gave nothing, or something without fields', () => {
    const rule = ruleFor(({ a }) => ({ x: a.x.y }));
    expect(() => rule.whole(arrived({}))).toThrow(
      expect.objectContaining({
        code: 'INPUT_MISSING',
        message: expect.stringMatching(/Workflow "w", node "to": "a.x.y" is missing, because nothing came from "a"/),
        details: { path: 'a.x.y', source: 'a' },
      }),
    );
    expect(() => rule.whole(arrived({ a: { x: 'text' } }))).toThrow(
      expect.objectContaining({
        code: 'INPUT_MISSING',
        message: expect.stringMatching(
          /"a.x.y" cannot be read: "y" should be a field of an object, but "a" gave a string there/,
        ),
      }),
    );
  });

  it('keeps a copy of its values, so that later changes of them change nothing', () => {
    const written = { list: [1] };
    const rule = ruleFor(({ a }) => ({ a, written }));
    written.list.push(2);
    expect(rule.whole(arrived({ a: 0 }))).toEqual({ a: 0, written: { list: [1] } });
  });
});

describe('chunks of a workflow', () => {
  it('become pieces of the fields that they belong to; values come first', () => {
    const rule = ruleFor(({ a, b }) => ({ text: a.text, all: b, deep: { text: a.text }, tone: 'brief' }));
    expect(rule.first?.()).toEqual([{ tone: 'brief' }]);
    expect(rule.piece?.('a', { text: 'he' })).toEqual([{ text: 'he', deep: { text: 'he' } }]);
    expect(rule.piece?.('a', { other: 1 })).toEqual([]);
    expect(rule.piece?.('b', 'x')).toEqual([{ all: 'x' }]);
    expect(rule.piece?.('start', 'x')).toEqual([]);
  });

  it('of one reference are its pieces themselves', () => {
    const rule = ruleFor(({ a }) => a.text);
    expect(rule.piece?.('a', { text: 'he' })).toEqual(['he']);
    expect(rule.piece?.('a', {})).toEqual([]);
    expect(rule.first).toBeUndefined();
  });

  it('wait for the whole value where a function or a list needs it', () => {
    expect(ruleFor(({ a, w }) => ({ n: w.map(a, same) })).piece).toBeUndefined();
    expect(ruleFor(({ a }) => ({ n: [a] })).piece).toBeUndefined();
  });
});

describe('order in a workflow', () => {
  it('follows from what reads what; a node that reads nothing runs at once', () => {
    const made = draw((input, w) => {
      const a = w.node('a', same, input.x);
      const b = w.node('b', same, { a, again: a.x, at: input });
      w.node('alone', same, 5);
      w.end({ b });
    });
    expect(linesOf(made)).toEqual(['a>b', 'b>end', 'start>a', 'start>alone', 'start>b']);
  });

  it('can be written without reading', () => {
    const made = draw((input, w) => {
      const a = w.node('a', same, input);
      const b = w.node('b', same, 1, { after: [a], timeoutMs: 5 });
      w.end(b);
    });
    expect(linesOf(made)).toEqual(['a>b', 'b>end', 'start>a']);
    const b = made.nodes.find(({ id }) => id === 'b');
    expect(b).toMatchObject({ timeoutMs: 5 });
    expect(b).not.toHaveProperty('after');
    expect(b?.input?.piece?.('a', 'chunk')).toEqual([]);
  });

  it('ends with what the output reads, or with the start for an output without references', () => {
    expect(linesOf(draw((_, w) => w.end('fixed')))).toEqual(['start>end']);
    const made = draw((input, w) => w.end({ echo: input.x }));
    expect(made.end?.input?.whole(arrived({ start: { x: 1 } }))).toEqual({ echo: 1 });
  });

  it('takes the options of a graph', () => {
    const made = draw((input, w) => w.end(w.node('a', same, input)), { interruptBefore: ['a'], maxSteps: 4 });
    expect(made).toMatchObject({ style: 'workflow', isInline: false, interruptBefore: ['a'], maxSteps: 4 });
    expect(() => draw((_, w) => w.end(1), { interruptAfter: ['x'] })).toThrow(
      invalid(/Workflow "w": interruptAfter names "x", which is not a node of it/),
    );
  });
});

describe('a branch in a workflow', () => {
  const made = draw((input, w) => {
    const docs = w.node('docs', same, input);
    const user = w.node('user', same, input);
    const best = w.branch('enough', docs.count, (n: number) => (n > 0 ? 'yes' : 'no'), {
      yes: () => w.node('keep', same, { docs, name: user.name }),
      no: () => {
        const first = w.node('first', same, 1);
        return w.node('second', same, { first, input }).items;
      },
      maybe: () => docs,
    });
    w.end({ best: best.x });
  });
  const inputOf = (id: string) => made.nodes.find((node) => node.id === id)?.input;

  it('leads to a node per arm, in front of which everything is waited for that the arm reads from outside', () => {
    expect(linesOf(made).filter((line) => /^(start|docs|user|enough\/branch)>|>enough\/branch$/.test(line))).toEqual([
      'docs>enough/branch',
      'enough/branch>enough/maybe',
      'enough/branch>enough/no',
      'enough/branch>enough/yes',
      'start/input>enough/branch',
      'start>docs',
      'start>start/input',
      'start>user',
      'user>enough/branch',
    ]);
    expect(made.nodes.find(({ id }) => id === 'enough/branch')?.route?.routes).toEqual({
      yes: 'enough/yes',
      no: 'enough/no',
      maybe: 'enough/maybe',
    });
  });

  it('chooses by the value alone', () => {
    const values = arrived({ docs: { count: 3 }, user: 'u', start: 's' });
    expect(inputOf('enough/branch')?.whole(values)).toBe(3);
    expect(inputOf('enough/branch')?.piece?.('user', 'u')).toEqual([]);
    expect(inputOf('enough/branch')?.piece?.('docs', { count: 3 })).toEqual([3]);
  });

  it('reads what is outside as data, and has edges for what is inside alone', () => {
    expect(inputOf('keep')).toMatchObject({ reads: ['docs', 'user'] });
    expect(inputOf('keep')?.piece?.('user', { name: 'n' })).toEqual([{ name: 'n' }]);
    expect(inputOf('keep')?.whole(arrived({ docs: 1, user: { name: 'n' } }))).toEqual({ docs: 1, name: 'n' });
    expect(inputOf('second')).toMatchObject({ reads: ['start/input'] });
    expect(linesOf(made).filter((line) => />(keep|first|second)$/.test(line))).toEqual([
      'enough/no>first',
      'enough/yes>keep',
      'first>second',
    ]);
  });

  it('gives one reference to what the chosen arm gave', () => {
    expect(linesOf(made).filter((line) => line.endsWith('>enough'))).toEqual([
      'enough/maybe/result>enough',
      'keep>enough',
      'second>enough',
    ]);
    const result = inputOf('enough');
    expect(result?.whole(arrived({ second: { items: [1] } }))).toEqual([1]);
    expect(result?.whole(arrived({ keep: 'k' }))).toBe('k');
    expect(result?.piece?.('keep', 'k')).toEqual(['k']);
    expect(result?.piece?.('second', { items: [1] })).toEqual([[1]]);
    expect(() => result?.whole(arrived({}))).toThrow(expect.objectContaining({ code: 'INPUT_MISSING' }));
  });

  it('needs the whole value of an arm whose result is a function of something', () => {
    const mapped = draw((input, w) => {
      const arms = { x: () => w.map(w.node('a', same, 1), same), y: () => w.node('b', same, 2) };
      w.end(w.branch('chosen', input, () => 'x', arms));
    });
    const rule = mapped.nodes.find(({ id }) => id === 'chosen')?.input;
    expect(rule).not.toHaveProperty('piece');
    expect(rule?.whole(arrived({ a: 5 }))).toBe(5);
  });

  it('may stand in an arm of another one, and read from all arms around it', () => {
    const nested = draw((input, w) => {
      const a = w.node('a', same, input);
      const late = w.node('late', same, input);
      const outer = w.branch('outer', a, () => 'x', {
        x: () => {
          const b = w.node('b', same, 1);
          return w.branch('inner', b, () => 'y', { y: () => w.node('c', same, { a, b, late }) });
        },
        branch: () => 5,
      });
      w.end(outer);
    });
    expect(linesOf(nested).filter((line) => /branch/.test(line))).toEqual([
      'a>outer/branch_2',
      'b>inner/branch',
      'inner/branch>inner/y',
      'late>outer/branch_2',
      'outer/branch/result>outer',
      'outer/branch>outer/branch/result',
      'outer/branch_2>outer/branch',
      'outer/branch_2>outer/x',
    ]);
    expect(
      linesOf(nested).filter((line) => line.endsWith('>c') || line.endsWith('>inner') || line.endsWith('>outer')),
    ).toEqual(['c>inner', 'inner/y>c', 'inner>outer', 'outer/branch/result>outer']);
    expect(nested.nodes.find(({ id }) => id === 'c')?.input?.reads).toEqual(['a', 'b', 'late']);
  });
});

describe('a list with holes', () => {
  it('keeps the places of its items', () => {
    const made = draw((input, w) => {
      const items: Untyped[] = [];
      items[1] = input.name;
      items[3] = 'd';
      w.end(w.node('a', same, { items }));
    });
    const whole = made.nodes[0]?.input?.whole(new Map([['start', { name: 'b' }]]));
    expect(whole).toEqual({ items: [undefined, 'b', undefined, 'd'] });
  });
});

describe('a workflow that cannot run is refused', () => {
  const elsewhere = (): Untyped => {
    let found: Untyped;
    draw((input, w) => {
      found = w.node('far', same, input).field;
      w.end(1);
    });
    return found;
  };
  let nested: Untyped = {};
  for (let level = 0; level < 102; level += 1) nested = { nested };
  const cyclic: Untyped = { a: {} };
  cyclic.a.b = cyclic;
  const node = (w: WorkflowBuilder<Untyped>, id: string, input: unknown, options?: Untyped) =>
    w.node(id, same, input as Untyped, options);

  it.each<[string, Build, RegExp]>([
    ['an id twice', (_, w) => [node(w, 'a', 1), node(w, 'a', 1)], /Workflow "w": there are two nodes "a"/],
    ['a reserved id', (_, w) => node(w, 'end', 1), /a node cannot be called "end"/],
    ['an id with a slash', (_, w) => node(w, 'a/b', 1), /cannot be called "a\/b"/],
    [
      'a branch with the id of a node',
      (i, w) => [node(w, 'a', 1), w.branch('a', i, () => 'x', { x: () => 1 })],
      /two nodes "a"/,
    ],
    ['no output', (_, w) => node(w, 'a', 1), /it has no output. Call w.end\(…\)/],
    ['two outputs', (_, w) => [w.end(1), w.end(2)], /w.end was called twice/],
    [
      'an output in an arm',
      (i, w) => w.branch('b', i, () => 'x', { x: () => w.end(1) }),
      /w.end cannot stand inside an arm/,
    ],
    [
      'a whole output beside a field',
      (i, w) => node(w, 'a', { ...i.user, top: 5 }),
      /node "a": its input is the whole of "start.user" beside the field "top"/,
    ],
    [
      'a spread output',
      (i, w) => node(w, 'a', { x: { ...i } }),
      /"x" is the whole of "start" as a spread. Write the reference itself/,
    ],
    [
      'two sources for the same fields',
      (i, w) => node(w, 'a', { ...i.one, ...i.two }),
      /two sources for the same fields: "start.one" and "start.two", both whole/,
    ],
    [
      'a reference of another workflow',
      (_, w) => node(w, 'a', { x: elsewhere() }),
      /node "a" reads "far.field" of another workflow/,
    ],
    ['an output of another workflow', (_, w) => w.end(elsewhere()), /the end reads "far.field" of another workflow/],
    [
      'a node inside an arm, read from outside',
      (i, w) => {
        let inner: Untyped;
        w.branch('b', i, () => 'x', {
          x: () => {
            inner = node(w, 'in', 1);
            return inner;
          },
        });
        node(w, 'a', inner.text);
      },
      /node "a" reads "in.text", which is inside the arm "b\/x" and may not run. Read what w.branch\(…\) gives/,
    ],
    [
      'a node inside an arm, read from another arm',
      (i, w) => {
        let inner: Untyped;
        const x = () => {
          inner = node(w, 'in', 1);
          return inner;
        };
        w.branch('b', i, () => 'x', { x, y: () => node(w, 'a', inner) });
      },
      /node "a" reads "in", which is inside the arm "b\/x"/,
    ],
    [
      'a step as input',
      (_, w) => node(w, 'a', { s: step('s', same) }),
      /"s" is the step "s"; it must be what w.node\(…\) gives/,
    ],
    ['a promise as input', (_, w) => node(w, 'a', Promise.resolve(1)), /its input is a promise/],
    [
      'an async arm',
      (i, w) => w.branch('b', i, () => 'x', { x: async () => node(w, 'a', 1) }),
      /arm "b\/x": its input is a promise/,
    ],
    ['a value inside itself', (_, w) => node(w, 'a', cyclic), /"a.b" is inside itself/],
    ['a value that is too deep', (_, w) => node(w, 'a', nested), /is inside itself, or deeper than 100 levels/],
    [
      'an order that is no reference',
      (_, w) => node(w, 'a', 1, { after: ['b'] }),
      /"after" of node "a" needs a reference.*received "b"/,
    ],
    [
      'a branch by a value',
      (_, w) => w.branch('b', 5 as Untyped, () => 'x', { x: () => 1 }),
      /branch "b" needs a reference/,
    ],
    [
      'a branch without arms',
      (i, w) => w.branch('b', i, same, {}),
      /the branch "b" needs an object with at least one arm/,
    ],
    [
      'a branch without a chooser',
      (i, w) => w.branch('b', i, 'x' as Untyped, { x: () => 1 }),
      /"choose" must be a function/,
    ],
    [
      'an arm that is a node',
      (i, w) => w.branch('b', i, () => 'x', { x: node(w, 'a', 1) as Untyped }),
      /Workflow "w", an arm of "b": "x" must be a function; received the reference "a"/,
    ],
    [
      'a label with a slash',
      (i, w) => w.branch('b', i, () => 'x/y', { 'x/y': () => 1 }),
      /an arm of "b" cannot be called "x\/y"/,
    ],
    ['an async builder', async () => {}, /its function is async, but a workflow is drawn at once/],
    ['computing with a reference', (i, w) => node(w, 'a', `${i.name}`), /"start.name" stands for a value.* Use w.map/],
    [
      'a method of a list, called on a reference',
      (i, w) => node(w, 'a', { names: i.users.map((user: Untyped) => user.name) }),
      /"start.users.map" was called, but "start.users" is a path to a value that the workflow .* and not that value. Give it to a step, w.node\('id', \(value\) => value.map\(…\), reference\), or write w.map\(reference, \(value\) => value.map\(…\)\)/,
    ],
    ['a method of a text', (i, w) => w.end(i.name.trim()), /"start.name.trim" was called, but "start.name" is a path/],
    ['a method of an item', (i, w) => w.end(i.list[0].at(-1).name), /"start.list.0.at" was called/],
    [
      'a method of a mapped value',
      (i, w) => w.end((w.map(i, same) as Untyped).toFixed(2)),
      /"start \(mapped\).toFixed" was called, but "start \(mapped\)" is a path/,
    ],
    [
      'an output that is called',
      (_, w) => w.end((w.node('a', same, 1) as Untyped)()),
      /"a" was called, but it is a path/,
    ],
    [
      'a reference that is gone through',
      (i, w) => w.end([...i.list]),
      /"start.list" stands for .* it cannot be gone through/,
    ],
    [
      'a reference that is taken apart',
      (i, w) => {
        const [first] = i.list;
        w.end(first);
      },
      /"start.list" stands for .* it cannot be gone through/,
    ],
    ['a reference written as JSON', (i, w) => w.end(JSON.stringify({ i })), /"start.toJSON" was called/],
    [
      'a reference in the place of a step',
      (i, w) => w.node('a', i.load, 1),
      /"a" must be a function or a step; received the reference "start.load"/,
    ],
    [
      'changing a reference',
      (i) => {
        i.name = 1;
      },
      /"start.name" stands for|"start" stands for a value/,
    ],
  ])('%s', (_, build, message) => {
    expect(() => draw(build)).toThrow(invalid(message));
  });

  it('waiting for a reference', async () => {
    let late: Untyped;
    draw((input, w) => {
      late = input.user;
      w.end(input);
    });
    await expect((async () => await late)()).rejects.toEqual(invalid(/"start.user.then" was called/));
  });

  it('a change after it was built', () => {
    let late: Untyped;
    draw((input, w) => {
      late = [w, input];
      w.end(1);
    });
    const [w, input] = late;
    const message = invalid(/Workflow "w": .* after it was built/);
    expect(() => w.node('a', same, 1)).toThrow(message);
    expect(() => w.end(1)).toThrow(message);
    expect(() => w.branch('b', input, same, { x: () => 1 })).toThrow(message);
  });
});
