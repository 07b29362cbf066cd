import { expect, it } from 'vitest';
import { readDrawing } from '../../../web/canvas/drawing.js';

const component = (type: string, params: object, downstream: string[] = [], more: object = {}) => ({
  obj: { component_name: type, params },
  downstream,
  ...more,
});

const edgesOf = (components: object) =>
  readDrawing({ components }).edges.map(({ from, to, kind, branch }) => [from, to, kind, branch]);

it('draws an edge for each way of a Switch, and one for each target', () => {
  const edges = edgesOf({
    begin: component('Begin', {}, ['Switch:A']),
    'Switch:A': component(
      'Switch',
      {
        conditions: [
          { items: [{ cpn_id: 'sys.query', operator: '=', value: 'x' }], to: ['Message:X', 'message_y'] },
          { items: [], to: ['Message:Y'] },
        ],
        end_cpn_ids: ['Message:Y'],
      },
      ['Message:X', 'Message:Y'],
    ),
    'Message:X': component('Message', {}),
    'Message:Y': component('Message', {}),
  });
  expect(edges).toEqual([
    ['begin', 'Switch:A', 'way', undefined],
    ['Switch:A', 'Message:X', 'branch', 0],
    // As the engine finds it: in any spelling.
    ['Switch:A', 'Message:Y', 'branch', 0],
    ['Switch:A', 'Message:Y', 'branch', 1],
    ['Switch:A', 'Message:Y', 'branch', 2],
  ]);
});

it('says what each branch asks for', () => {
  const { nodes } = readDrawing({
    components: {
      'Switch:A': component('Switch', {
        conditions: [
          {
            logical_operator: 'or',
            items: [
              { cpn_id: 'sys.query', operator: 'contains', value: 'refund' },
              { cpn_id: 'begin@n', operator: '>', value: 3 },
            ],
            to: ['Message:A'],
          },
        ],
        end_cpn_ids: ['Message:A'],
      }),
      'Categorize:B': component('Categorize', {
        llm_id: 'gpt-4o@OpenAI',
        category_description: { billing: { to: ['Message:A'] }, other: { to: 'Message:A' } },
      }),
      'Message:A': component('Message', {}),
    },
  });
  expect(nodes[0]?.branches).toEqual([
    { kind: 'case', condition: 'sys.query contains refund or begin@n > 3', targets: ['Message:A'] },
    { kind: 'else', condition: '', targets: ['Message:A'] },
  ]);
  expect(nodes[1]?.branches.map(({ label, targets }) => [label, targets])).toEqual([
    ['billing', ['Message:A']],
    ['other', ['Message:A']],
  ]);
  expect(nodes[1]?.summary).toBe('gpt-4o');
});

it('draws ways out of errors apart, where they are taken', () => {
  const goto = { exception_goto: ['Message:A'] };
  expect(
    edgesOf({
      'LLM:A': component('LLM', { ...goto, exception_method: 'goto' }, ['Message:A']),
      'LLM:B': component('LLM', goto, ['Message:A']),
      'Message:A': component('Message', {}),
    }),
  ).toEqual([
    ['LLM:A', 'Message:A', 'exception', undefined],
    ['LLM:B', 'Message:A', 'way', undefined],
  ]);
});

it('draws containers around their bodies, without edges to what lies in them', () => {
  const { nodes, edges } = readDrawing({
    components: {
      'Loop:A': component('Loop', {}, ['LoopItem:A', 'Message:A']),
      'LoopItem:A': component('LoopItem', {}, ['LLM:A'], { parent_id: 'Loop:A' }),
      'LLM:A': component('LLM', {}, ['Loop:A'], { parent_id: 'Loop:A' }),
      'Custom:A': component('Custom', {}),
      'LLM:B': component('LLM', {}, [], { parent_id: 'Custom:A' }),
      'Message:A': component('Message', {}),
    },
  });
  expect(nodes.map(({ id, shape, parent }) => [id, shape, parent])).toEqual([
    ['Loop:A', 'container', undefined],
    ['LoopItem:A', 'start', 'Loop:A'],
    ['LLM:A', 'card', 'Loop:A'],
    ['Custom:A', 'container', undefined],
    ['LLM:B', 'card', 'Custom:A'],
    ['Message:A', 'card', undefined],
  ]);
  expect(edges.map(({ from, to }) => [from, to])).toEqual([
    ['Loop:A', 'Message:A'],
    ['LoopItem:A', 'LLM:A'],
  ]);
});

it('cuts a circle of containers', () => {
  const { nodes } = readDrawing({
    components: {
      'Loop:A': component('Loop', {}, [], { parent_id: 'Loop:B' }),
      'Loop:B': component('Loop', {}, [], { parent_id: 'Loop:A' }),
    },
  });
  expect(nodes.map(({ parent }) => parent)).toEqual(['Loop:B', undefined]);
});

it('lists tools, sub-agents and servers of an Agent', () => {
  const { nodes } = readDrawing({
    components: {
      'Agent:A': component('Agent', {
        tools: ['TavilySearch', { component_name: 'Agent', name: 'Historian', params: { tools: [] } }],
        mcp: [{ mcp_id: 'maps', tools: { route: {}, place: {} } }, { mcp_id: 'mail' }],
      }),
    },
  });
  expect(nodes[0]?.tools).toEqual([
    { type: 'TavilySearch', kind: 'tool', name: 'TavilySearch' },
    { type: 'Agent', kind: 'agent', name: 'Historian' },
    { type: 'MCP', kind: 'server', name: 'route, place' },
    { type: 'MCP', kind: 'server', name: 'mail' },
  ]);
});

it.each([
  [
    { llm_id: 'm@F', sys_prompt: 'You  are\nhelpful.', prompts: [{ role: 'user', content: '{sys.query}' }] },
    'm · You are helpful.',
  ],
  [{ llm_id: 'm', prompts: [{ role: 'user', content: 'Translate {x}' }] }, 'm · Translate {x}'],
  [{ content: ['Hello {sys.query}', 'Hi'] }, 'Hello {sys.query}'],
  [{ loop_termination_condition: [{ variable: 'n', operator: '=', value: '1' }] }, 'n = 1'],
  [{ inputs: { city: {}, date: {} } }, 'city, date'],
  [{}, ''],
])('says in a line what %j does', (params, summary) => {
  expect(readDrawing({ components: { 'X:A': component('X', params) } }).nodes[0]?.summary).toBe(summary);
});

it('draws version 2 and notes, and nothing of what is no document', () => {
  const two = { version: 2, components: { begin_: { name: 'Begin', downstream: [], params: {} } } };
  expect(readDrawing(two).nodes.map(({ type }) => type)).toEqual(['Begin']);
  const note = {
    id: 'Note:A',
    position: { x: 0, y: 0 },
    data: { label: 'Note', name: 'Why', form: { text: 'Because' } },
  };
  const noted = { components: { begin: component('Begin', {}) }, graph: { nodes: [note], edges: [] } };
  expect(readDrawing(noted).notes).toEqual([{ id: 'Note:A', name: 'Why', text: 'Because' }]);
  for (const nothing of [undefined, null, 'x', [], { version: 9 }]) expect(readDrawing(nothing).nodes).toEqual([]);
});
