import { describe, expect, it } from 'vitest';
import { normaliseForCanvas, normaliseForRun } from '../../src/dsl/normalise.js';
import { readDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';

const nested = (name: string, downstream: string[] = [], more: object = {}): JsonObject => ({
  obj: { component_name: name, params: { a: 1 } },
  downstream,
  upstream: [],
  ...more,
});

const drawn: JsonObject = {
  components: {
    begin: nested('Begin', ['Iteration:A']),
    'Iteration:A': nested('Iteration', ['Message:M', 'IterationItem:I']),
    'IterationItem:I': nested('IterationItem', ['LLM:L', 'Message:M']),
    'LLM:L': {
      obj: {
        component_name: 'LLM',
        params: {
          prompt: 'do {IterationItem:I@item} at {{IterationItem:I@index}} or IterationItem:I@result, not {X:I@item}',
        },
      },
      downstream: [],
    },
    'Message:M': nested('Message'),
    'LoopItem:Lost': nested('LoopItem', ['Message:M']),
  },
  graph: {
    nodes: [
      { id: 'Iteration:A', type: 'iterationNode', data: { label: 'Iteration', name: 'Each' } },
      { id: 'IterationItem:I', type: 'iterationStartNode', parentId: 'Iteration:A', data: { label: 'IterationItem' } },
      { id: 'LLM:L', parentId: 'Iteration:A', data: { label: 'LLM', name: 'L' } },
    ],
    edges: [
      { source: 'begin', target: 'Iteration:A', sourceHandle: 'end', targetHandle: 'start' },
      { source: 'begin', target: 'Iteration:A', sourceHandle: 'start', targetHandle: 'end' },
      { source: 'a', target: 'b', sourceHandle: 'agentBottom', targetHandle: 'agentTop' },
      { source: 'a', target: 'b', sourceHandle: 'Case 1', targetHandle: null },
    ],
  },
};

function graphOf(dsl: JsonObject): { nodes: JsonObject[]; edges: JsonObject[] } {
  return dsl.graph as unknown as { nodes: JsonObject[]; edges: JsonObject[] };
}

describe('normaliseForCanvas', () => {
  it('gives plain handles their one spelling and leaves the others alone', () => {
    const handles = graphOf(normaliseForCanvas(drawn)).edges.map((edge) => [edge.sourceHandle, edge.targetHandle]);
    expect(handles).toEqual([
      ['start', 'end'],
      ['start', 'end'],
      ['agentBottom', 'agentTop'],
      ['Case 1', null],
    ]);
  });

  it('derives a layout, sorted by id, and flat components', () => {
    const { components } = normaliseForCanvas({
      components: { 'B:b': nested('Switch', ['A:a', 'A:a']), 'A:a': nested('Odd', [], { parent_id: 'B:b' }) },
    });
    const result = normaliseForCanvas({
      components: { 'B:b': nested('Switch', ['A:a', 'A:a']), 'A:a': nested('Odd', [], { parent_id: 'B:b' }) },
    });
    expect(graphOf(result).nodes).toEqual([
      {
        id: 'A:a',
        type: 'agentNode',
        position: { x: 50, y: 200 },
        data: { label: 'Odd', name: 'Odd', form: { a: 1 } },
        sourcePosition: 'right',
        targetPosition: 'left',
        parentId: 'B:b',
      },
      {
        id: 'B:b',
        type: 'switchNode',
        position: { x: 400, y: 200 },
        data: { label: 'Switch', name: 'Switch', form: { a: 1 } },
        sourcePosition: 'right',
        targetPosition: 'left',
      },
    ]);
    expect(graphOf(result).edges).toEqual([
      { id: 'xy-edge__B:b-A:a', source: 'B:b', target: 'A:a', sourceHandle: 'start', targetHandle: 'end' },
    ]);
    expect(components).toEqual({
      'A:a': { id: 'A:a', name: 'Odd', downstream: [], upstream: [], params: { a: 1 }, parent_id: 'B:b' },
      'B:b': { id: 'B:b', name: 'Switch', downstream: ['A:a', 'A:a'], upstream: [], params: { a: 1 } },
    });
  });

  it('gives a flat form that reads like the nested one', () => {
    const source = {
      components: {
        begin: nested('Begin', ['X:x']),
        'X:x': nested('LLM', [], { parent_id: 'L:l' }),
        'L:l': nested('Loop'),
      },
    };
    const ids = (value: unknown) =>
      Object.values(readDocument(value).document?.components ?? {})
        .map(({ id, type, params, downstream, parent }) => ({ id, type, params, downstream, parent }))
        .sort((left, right) => (left.id < right.id ? -1 : 1));
    expect(ids(normaliseForCanvas(source))).toEqual(ids(source));
  });

  it('calls a leaked Parallel by its editor name', () => {
    const leaked: JsonObject = {
      components: { a: nested('Parallel'), b: { name: 'Parallel', params: {} } },
      graph: {
        nodes: [
          { id: 'a', type: 'parallelNode', data: { label: 'Parallel', name: 'Parallel' } },
          { id: 'c', type: 'parallelNode' },
        ],
      },
    };
    expect(normaliseForCanvas(leaked)).toMatchObject({
      components: { a: { obj: { component_name: 'Iteration' } }, b: { name: 'Iteration' } },
      graph: {
        nodes: [{ type: 'iterationNode', data: { label: 'Iteration', name: 'Iteration' } }, { type: 'iterationNode' }],
      },
    });
  });
});

describe('normaliseForRun', () => {
  const result = normaliseForRun(drawn);

  it('folds start nodes with a parent into it and keeps those without', () => {
    expect(Object.keys(result.components as JsonObject)).toEqual([
      'begin',
      'Iteration:A',
      'LLM:L',
      'Message:M',
      'LoopItem:Lost',
    ]);
    expect(result.components).toMatchObject({
      'Iteration:A': { obj: { component_name: 'Parallel' }, downstream: ['Message:M', 'LLM:L'] },
    });
    expect(graphOf(result).nodes[0]).toMatchObject({ type: 'parallelNode', data: { label: 'Parallel', name: 'Each' } });
  });

  it('folds by parent_id too', () => {
    const components = { 'Loop:L': nested('Loop'), 'LoopItem:I': nested('LoopItem', ['X'], { parent_id: 'Loop:L' }) };
    expect(normaliseForRun({ components }).components).toEqual({
      'Loop:L': { id: 'Loop:L', name: 'Loop', downstream: ['X'], upstream: [], params: { a: 1 } },
    });
  });

  it('shortens references to the folded item', () => {
    expect(result.components).toMatchObject({
      'LLM:L': { obj: { params: { prompt: 'do {item} at {{index}} or item, not {X:I@item}' } } },
    });
  });
});

describe('both', () => {
  it.each<[string, JsonObject]>([
    ['a drawn document', drawn],
    ['components alone', { components: drawn.components as JsonObject }],
    [
      'parts of wrong types',
      { components: { a: 3, b: null, c: { obj: 'x', downstream: 'y' } }, graph: { nodes: [7, {}], edges: [null] } },
    ],
    ['a graph that is a text', { components: { a: 3 }, graph: 'g' }],
    ['nothing', {}],
  ])('change nothing twice and nothing of their input: %s', (_, dsl) => {
    const before = JSON.stringify(dsl);
    for (const normalise of [normaliseForCanvas, normaliseForRun] as const) {
      const once = normalise(dsl);
      expect(normalise(once)).toEqual(once);
      expect(once).not.toBe(dsl);
    }
    expect(JSON.stringify(dsl)).toBe(before);
  });

  it('give null and undefined back', () => {
    expect([normaliseForCanvas(null), normaliseForCanvas(undefined)]).toEqual([null, undefined]);
    expect([normaliseForRun(null), normaliseForRun(undefined)]).toEqual([null, undefined]);
  });
});
