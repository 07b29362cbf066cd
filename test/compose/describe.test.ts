import { expect, it, describe as suite } from 'vitest';
import { z } from 'zod';
import { branch } from '../../src/compose/branch.js';
import { chain } from '../../src/compose/chain.js';
import { describe } from '../../src/compose/describe.js';
import { draw } from '../../src/compose/draw.js';
import { graph } from '../../src/compose/graph.js';
import { optional } from '../../src/compose/handles.js';
import { loop } from '../../src/compose/loop.js';
import { map } from '../../src/compose/map.js';
import { defineState } from '../../src/compose/state.js';
import { step } from '../../src/compose/steps.js';
import { workflow } from '../../src/compose/workflow.js';

const upper = (text: string): string => text.toUpperCase();
const query = z.object({ text: z.string() }).meta({ title: 'Query' });
const search = step('search', ({ text }: { text: string }) => [text], {
  input: query,
  output: z.array(z.string()),
  kind: 'retriever',
});

const review = graph<string, { a?: string; b: string; skip?: string }>(
  'review',
  (g) => {
    const a = g.node('a', upper);
    const b = g.node('b', chain(upper, upper), { trigger: 'any' });
    const skip = g.passthrough<string>('skip');
    g.edge(g.start, b);
    g.branch(b, { yes: a, of: a, no: skip }, () => 'yes');
    g.join({ a: optional(a), b, skip: optional(skip) }, g.end);
  },
  { state: defineState('notes', () => 0), maxSteps: 9, interruptBefore: ['a'] },
);

suite('describe', () => {
  it('gives the types of a step by the names of their schemas', () => {
    expect(describe(search)).toEqual({
      name: 'search',
      kind: 'retriever',
      type: 'function',
      input: 'Query',
      output: 'array',
    });
    const described = step('s', upper, { input: z.string().describe('a word'), output: z.string() });
    expect(describe(described)).toMatchObject({ input: 'a word', output: 'string' });
    expect(describe(upper)).toEqual({ name: 'upper', kind: 'function', type: 'function' });
    const withId = step('s', upper, { input: z.string().meta({ id: 'Word', description: 'a word' }) });
    expect(describe(withId).input).toBe('Word');
    const validate = (value: unknown) => ({ value: String(value) });
    const written = { '~standard': { version: 1 as const, vendor: 'own', validate }, expression: 'string > 3' };
    expect(describe(step('s', upper, { output: written })).output).toBe('string > 3');
  });

  it('gives nodes, edges with their labels, what fields come from, states and limits of a graph', () => {
    const { graph: made } = describe(step('outer', review));
    expect(made).toMatchObject({
      name: 'review',
      style: 'graph',
      states: ['notes'],
      maxSteps: 9,
      interruptBefore: ['a'],
      interruptAfter: [],
      pace: 'eager',
      endWith: 'all',
      end: [
        { to: 'a', from: 'a', path: '' },
        { to: 'b', from: 'b', path: '' },
        { to: 'skip', from: 'skip', path: '' },
      ],
    });
    expect(made?.nodes.map(({ id, branch: by, trigger }) => [id, by, trigger])).toEqual([
      ['a', undefined, 'all'],
      ['b', undefined, 'any'],
      ['skip', undefined, 'all'],
      ['b/branch', 'value', 'all'],
    ]);
    expect(made?.edges).toContainEqual({ from: 'b/branch', to: 'a', labels: ['yes', 'of'] });
    expect(made?.edges).toContainEqual({ from: 'start', to: 'b' });
  });

  it('tells branches on the beginning of a stream, and how a graph runs and stops', () => {
    const made = describe(
      graph<string, string>(
        'quick',
        (g) => {
          const a = g.node('a', upper);
          g.edge(g.start, a);
          g.streamBranch(a, { end: g.end }, () => 'end');
        },
        { pace: 'lockstep', endWith: 'first', interruptAfter: ['a'] },
      ),
    ).graph;
    expect(made).toMatchObject({ pace: 'lockstep', endWith: 'first', interruptAfter: ['a'], states: [] });
    expect(made).not.toHaveProperty('maxSteps');
    expect(made).not.toHaveProperty('end');
    expect(made?.nodes.map(({ id, branch: by }) => [id, by])).toEqual([
      ['a', undefined],
      ['a/branch', 'prefix'],
    ]);
  });

  it('is apart from the step: lists that were given, and those that it gives, can change without changing the graph', () => {
    const interruptBefore = ['a'];
    const states = [defineState('notes', () => 0)];
    const made = graph<string, string>(
      'apart',
      (g) => {
        const a = g.node('a', upper);
        g.edge(g.start, a);
        g.edge(a, g.end);
      },
      { interruptBefore, state: states },
    );
    interruptBefore.push('nowhere');
    states.push(defineState('other', () => 0));
    const given = describe(made).graph?.interruptBefore as string[];
    given.push('elsewhere');
    expect(describe(made).graph).toMatchObject({ interruptBefore: ['a'], states: ['notes'] });
  });

  it('has a list of nodes to stop at, and no single id', () => {
    expect(() =>
      graph<string, string>('single', (g) => g.edge(g.start, g.end), { interruptBefore: 'a' as never }),
    ).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('a list of ids') }));
  });

  it('refuses what is no step', () => {
    expect(() => describe(5 as never)).toThrow(expect.objectContaining({ code: 'PLAN_INVALID' }));
  });

  it('goes into graphs, chains, maps and loops', () => {
    const made = describe(
      chain(review, map(upper, { concurrency: 2 }) as never, loop(upper, { until: () => true, maxRounds: 3 })),
    );
    expect(made.graph?.nodes.map(({ step: { type } }) => type)).toEqual(['graph', 'map', 'loop']);
    expect(made.graph?.nodes[0]?.step.graph?.nodes[1]?.step.graph?.style).toBe('chain');
    expect(made.graph?.nodes[1]?.step).toMatchObject({ concurrency: 2, body: { name: 'upper', type: 'function' } });
    expect(made.graph?.nodes[2]?.step).toMatchObject({ maxRounds: 3, body: { name: 'upper' } });
  });

  it('gives the fields of a workflow, its values, and what is read without an edge', () => {
    const made = describe(
      workflow<{ id: string }, string>('w', (input, w) => {
        const a = w.node('a', (at: { id: string; tone: string }) => at.id, { id: input.id, tone: 'brief' });
        const b = w.branch('b', a, () => 'x', { x: () => w.node('c', upper, w.map(a, upper)) });
        w.end(b);
      }),
    ).graph;
    const inputOf = (id: string) => made?.nodes.find((node) => node.id === id);
    expect(inputOf('a')?.input).toEqual([
      { to: 'id', from: 'start', path: 'id' },
      { to: 'tone', value: 'brief' },
    ]);
    expect(inputOf('c')).toMatchObject({ input: [{ to: '', from: 'a', path: '', isMapped: true }], reads: ['a'] });
    expect(made?.end).toEqual([{ to: '', from: 'b', path: '' }]);
  });

  it('is handed to a callback when a graph or a workflow is built', () => {
    const seen: unknown[] = [];
    const onBuilt = (made: unknown) => seen.push(made);
    const one = graph<string, string>('one', (g) => g.edge(g.start, g.end), { onBuilt });
    const two = workflow<string, string>('two', (input, w) => w.end(input), { onBuilt });
    expect(seen).toEqual([describe(one), describe(two)]);
  });
});

suite('draw', () => {
  it('draws boxes, diamonds with labels, and frames around graphs', () => {
    expect(draw(chain(upper, review))).toBe(`flowchart TD
  n0(["start"])
  n1["upper"]
  subgraph n2["review"]
    n3(["start"])
    n4["a<br/><small>upper</small>"]
    subgraph n5["b<br/><small>chain</small>"]
      n6(["start"])
      n7["upper"]
      n8["upper_2<br/><small>upper</small>"]
      n9(["end"])
      n6 --> n7
      n7 --> n8
      n8 --> n9
    end
    n10["skip"]
    n11{"b#47;branch"}
    n12(["end"])
    n3 --> n5
    n5 --> n11
    n11 -->|"yes, of"| n4
    n11 -->|"no"| n10
    n4 -->|"a"| n12
    n5 -->|"b"| n12
    n10 -->|"skip"| n12
  end
  n13(["end"])
  n0 --> n1
  n1 --> n2
  n2 --> n13
`);
  });

  it('names the fields of a workflow on its lines, and dots what is data alone', () => {
    const drawn = draw(
      workflow<{ id: string; n: { m: string } }, string>('w', (input, w) => {
        const a = w.node('a', (at: Record<'k' | 'l' | 'm' | 'o' | 'id', string>) => at.id, {
          id: input.id,
          k: input.n.m,
          l: input.id,
          m: input.id,
          o: input.id,
        });
        w.end(w.branch('b', a, () => 'x', { x: () => w.node('c', upper, a) }));
      }),
      { direction: 'right' },
    );
    expect(drawn).toContain('flowchart LR');
    expect(drawn).toContain('n0 -->|"id, n.m as k, id as l, 2 more"| n1');
    expect(drawn).toMatch(/n1 -.-> n4\n/);
  });

  it('draws a single step, its bound and what is inside', () => {
    expect(draw(search)).toBe('flowchart TD\n  n0["search<br/><small>retriever</small>"]\n');
    expect(draw(map(branch((_: string) => 'a', { a: upper })))).toContain(
      'map<br/><small>each branch, 8 at once</small>',
    );
    expect(draw(loop(upper, { until: () => true, maxRounds: 3 }))).toContain('again upper, at most 3 rounds');
  });

  it('draws a graph that a loop inside a map goes through', () => {
    const drawn = draw(map(loop(chain(upper, upper), { until: () => true, maxRounds: 3 })));
    expect(drawn).toContain('["map<br/><small>each again chain, 8 at once, at most 3 rounds</small>"]');
    expect(drawn).toContain('n2["upper"]');
    expect(draw(map(map(upper, { concurrency: 2 })))).toContain('each each upper, 8 at once, 2 at once');
  });

  it('lets no text out of its box', () => {
    const drawn = draw(chain(step('a"}; click b "x', upper), step('<img>', upper)));
    expect(drawn).not.toMatch(/<img|"\}; click/);
    expect(drawn).toContain('#60;img#62;');
    const odd = draw(branch((_: string) => '"| x' as const, { '"| x': upper }));
    expect(odd).toContain('|"#34;#124; x"|');
    expect(odd).not.toContain('""');
  });
});
