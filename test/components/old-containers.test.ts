import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { execute } from '../../src/graph/run.js';
import type { Json, JsonObject } from '../../src/json.js';

const INPUT = { query: 'q', inputs: { list: ['a', 'b', 'c'], rows: [['a'], [], ['b', 'c']] } };

/** A node of a document: its type, parameters, successors, and the container it is in. */
type Written = readonly [type: string, params?: JsonObject, downstream?: readonly string[], parent?: string];

function write(nodes: Readonly<Record<string, Written>>, isDrawn = false): JsonObject {
  const components = Object.entries(nodes).map(([id, [type, params = {}, downstream = [], parent]]): [string, Json] => [
    id,
    {
      obj: { component_name: type, params },
      downstream,
      upstream: [],
      ...(parent === undefined || isDrawn ? {} : { parent_id: parent }),
    },
  ]);
  const drawn = Object.entries(nodes).map(([id, [label, , , parentId]]) => {
    return { id, data: { label, name: id }, ...(parentId === undefined ? {} : { parentId }) };
  });
  return {
    components: Object.fromEntries(components),
    path: [],
    history: [],
    retrieval: [],
    ...(isDrawn ? { graph: { nodes: drawn, edges: [] } } : {}),
  };
}

const join = (script: string): JsonObject => ({ method: 'merge', script, delimiters: [','] });
const say = (content: string): Written => ['Message', { content: [content] }];
const isB: JsonObject = {
  logical_operator: 'and',
  items: [{ cpn_id: 'IterationItem:I@item', operator: '=', value: 'b' }],
  to: ['StringTransform:Skip'],
};

/** Each item and its position, but for "b", which takes another way. */
const each = (type: string): Readonly<Record<string, Written>> => ({
  begin: ['Begin', {}, ['Iteration:A']],
  'Iteration:A': [
    type,
    {
      items_ref: 'begin@list',
      outputs: { all: { ref: 'StringTransform:S@result' }, at: { ref: 'IterationItem:I@index' } },
    },
    ['Message:M'],
  ],
  'IterationItem:I': ['IterationItem', {}, ['Switch:W'], 'Iteration:A'],
  'Switch:W': [
    'Switch',
    { conditions: [isB], end_cpn_ids: ['StringTransform:S'] },
    ['StringTransform:Skip', 'StringTransform:S'],
    'Iteration:A',
  ],
  'StringTransform:S': ['StringTransform', join('{IterationItem:I@result}{index}'), [], 'Iteration:A'],
  'StringTransform:Skip': ['StringTransform', join('-'), [], 'Iteration:A'],
  'Message:M': say('{Iteration:A@all} {Iteration:A@at}'),
});

const nested: Readonly<Record<string, Written>> = {
  begin: ['Begin', {}, ['Iteration:A']],
  'Iteration:A': [
    'Iteration',
    { items_ref: 'begin@rows', outputs: { all: { ref: 'Iteration:B@some' } } },
    ['Message:M'],
  ],
  'IterationItem:I': ['IterationItem', {}, ['Iteration:B'], 'Iteration:A'],
  'Iteration:B': [
    'Iteration',
    { items_ref: 'IterationItem:I@item', outputs: { some: { ref: 'StringTransform:S@result' } } },
    [],
    'Iteration:A',
  ],
  'IterationItem:J': ['IterationItem', {}, ['StringTransform:S'], 'Iteration:B'],
  'StringTransform:S': ['StringTransform', join('{IterationItem:J@item}!'), [], 'Iteration:B'],
  'Message:M': say('{Iteration:A@all}'),
};

/** Counts until its condition holds, or until an ExitLoop at 4. */
const loop = (maximum: number): Readonly<Record<string, Written>> => ({
  begin: ['Begin', {}, ['Loop:A']],
  'Loop:A': [
    'Loop',
    {
      maximum_loop_count: 10,
      loop_variables: [{ variable: 'n', input_mode: 'constant', value: 0, type: 'number' }],
      loop_termination_condition: [{ variable: 'Loop:A@n', operator: '≥', value: maximum, input_mode: 'constant' }],
    },
    ['Message:M'],
  ],
  'LoopItem:I': ['LoopItem', {}, ['VariableAssigner:V'], 'Loop:A'],
  'VariableAssigner:V': [
    'VariableAssigner',
    { variables: [{ variable: 'Loop:A@n', operator: '+=', parameter: 1 }] },
    ['Switch:W'],
    'Loop:A',
  ],
  'Switch:W': [
    'Switch',
    {
      conditions: [
        {
          logical_operator: 'and',
          items: [{ cpn_id: 'Loop:A@n', operator: '=', value: 4 }],
          to: ['ExitLoop:E'],
        },
      ],
      end_cpn_ids: ['StringTransform:S'],
    },
    ['ExitLoop:E', 'StringTransform:S'],
    'Loop:A',
  ],
  'ExitLoop:E': ['ExitLoop', {}, [], 'Loop:A'],
  'StringTransform:S': ['StringTransform', join('-'), [], 'Loop:A'],
  'Message:M': say('{Loop:A@n}'),
});

const documents: readonly (readonly [string, Readonly<Record<string, Written>>, string])[] = [
  ['an Iteration', each('Iteration'), '["a0", null, "c2"] [0, 1, 2]'],
  ['a Parallel', each('Parallel'), '["a0", null, "c2"] [0, 1, 2]'],
  ['an Iteration in an Iteration', nested, '[["a!"], [], ["b!", "c!"]]'],
  ['a Loop that ends by itself', loop(3), '3'],
  ['a Loop that is left', loop(9), '4'],
];

type Nodes = Readonly<Record<string, Written>>;

/** As RAGFlow's Go runtime writes it: item nodes are part of their container, and an Iteration is a Parallel. */
function folded(nodes: Nodes): Nodes {
  const items = new Set(Object.keys(nodes).filter((id) => /^(?:Loop|Iteration)Item:/.test(id)));
  const targetsOf = (container: string): readonly string[] =>
    [...items].flatMap((id) => (nodes[id]?.[3] === container ? (nodes[id]?.[2] ?? []) : []));
  const rest = Object.entries(nodes).filter(([id]) => !items.has(id));
  const kept = rest.map(([id, [type, params, downstream = [], parent]]) => {
    const targets = [...downstream, ...targetsOf(id)].filter((target) => !items.has(target));
    return [id, [type === 'Iteration' ? 'Parallel' : type, params, targets, parent]] as const;
  });
  const text = JSON.stringify(Object.fromEntries(kept), (_, value) => (value === undefined ? null : value));
  const short = text.replace(/IterationItem:\w+@(item|index|result)/g, (_, name) => (name === 'index' ? name : 'item'));
  return JSON.parse(short.replaceAll(',null]', ']')) as Nodes;
}

const forms: readonly (readonly [string, (nodes: Nodes) => Nodes])[] = [
  ['as it is written', (nodes) => nodes],
  ['with its item nodes folded away', folded],
];

async function saidBy(dsl: JsonObject): Promise<unknown> {
  const { outputs, error } = await execute(loadCanvas(dsl).plan, { input: INPUT });
  return outputs?.content ?? error;
}

describe.each(documents)('%s', (_, nodes, content) => {
  describe.each(forms)('%s', (_, form) => {
    it('runs', async () => {
      expect(await saidBy(write(form(nodes)))).toBe(content);
    });

    it('runs when only its layout tells what is in its body', async () => {
      expect(await saidBy(write(form(nodes), true))).toBe(content);
    });
  });
});

it.each(['Iteration', 'Parallel', 'Loop'])('a %s without a body is refused', (type) => {
  const dsl = write({ begin: ['Begin', {}, ['c']], c: [type, { items_ref: 'begin@list' }] });
  expect(() => loadCanvas(dsl)).toThrow(new RegExp(`${type}: an? ${type} needs .* in its body`));
});
