import { describe, expect, it } from 'vitest';
import { readDocument } from '../../src/dsl/read.js';
import { rebuildComponents } from '../../src/dsl/rebuild.js';
import type { JsonObject } from '../../src/json.js';
import { documentText } from './load-document.js';

describe('a layout without components', () => {
  const { document, issues } = readDocument(documentText('parcel-layout.json'));
  const components = document?.components ?? {};

  it('is rebuilt with one warning', () => {
    expect(issues).toMatchObject([{ code: 'rebuilt-from-graph', severity: 'warning' }]);
  });

  it('leaves out remarks, tool sockets, drop targets and sub-agents', () => {
    expect(Object.keys(components)).toEqual([
      'begin',
      'Categorize:Sort',
      'Switch:Weight',
      'Agent:Chief',
      'DataOperations:Trim',
      'Loop:All',
      'Message:Done',
      'Message:Help',
    ]);
  });

  it('takes successors from plain and case edges, not from tools and exceptions', () => {
    const downstream = Object.fromEntries(Object.values(components).map((c) => [c.id, c.downstream]));
    expect(downstream).toMatchObject({
      begin: ['Categorize:Sort'],
      'Categorize:Sort': ['Switch:Weight', 'Agent:Chief'],
      'Switch:Weight': ['Agent:Chief', 'Loop:All'],
      'Agent:Chief': ['Message:Done'],
    });
  });

  it('fills cases, categories, tools, exceptions and bodies', () => {
    expect(components['Categorize:Sort']?.params).toEqual({
      llm_id: 'scripted',
      top_p: 0.5,
      category_description: {
        late: { description: 'is late', examples: ['still nothing'], to: ['Switch:Weight'] },
        lost: { description: 'is lost', examples: [], to: ['Agent:Chief'] },
      },
    });
    expect(components['Switch:Weight']?.params).toMatchObject({
      conditions: [{ to: ['Agent:Chief'] }],
      end_cpn_ids: ['Loop:All'],
    });
    expect(components['Agent:Chief']?.params).toEqual({
      tools: [
        { component_name: 'Retrieval', params: {} },
        {
          component_name: 'Agent',
          id: 'Agent:Clerk',
          name: 'Clerk',
          params: {
            description: 'files claims',
            tools: [{ component_name: 'Agent', id: 'Agent:Runner', name: 'Runner', params: { tools: [] } }],
          },
        },
      ],
      exception_goto: ['Message:Help'],
    });
    expect(components['DataOperations:Trim']).toMatchObject({
      parent: 'Loop:All',
      params: { query: ['begin@x'], select_keys: ['id', 'city'] },
    });
  });
});

describe('rebuildComponents', () => {
  const node = (id: string, label: string, form: JsonObject = {}): JsonObject => ({ id, data: { label, form } });

  it('writes the schemas and lists of a webhook', () => {
    const form = {
      mode: 'Webhook',
      schema: { query: [{ key: 'id', type: 'number', required: true }, { key: 'note' }], body: { type: 'object' } },
      security: {
        auth_type: 'jwt',
        allow_anonymous: true,
        ip_whitelist: [{ value: '::1' }],
        jwt: { required_claims: [{ value: 'sub' }] },
      },
    };
    expect(rebuildComponents({ nodes: [node('begin', 'Begin', form)] })).toMatchObject({
      begin: {
        obj: {
          params: {
            schema: {
              query: {
                type: 'object',
                required: ['id'],
                properties: { id: { type: 'number' }, note: { type: 'string' } },
              },
              body: { type: 'object' },
            },
            security: { auth_type: 'jwt', ip_whitelist: ['::1'], jwt: { required_claims: ['sub'] } },
          },
        },
      },
    });
  });

  it.each<[string, JsonObject, string[]]>([
    ['a node without a label', { nodes: [node('begin', 'Begin'), { id: 'x', data: {} }] }, ['error $.graph.nodes[1]']],
    [
      'a node without an id',
      { nodes: [node('begin', 'Begin'), { data: { label: 'LLM' } }] },
      ['error $.graph.nodes[1]'],
    ],
    ['two nodes of one id', { nodes: [node('begin', 'Begin'), node('begin', 'LLM')] }, ['error $.graph.nodes[1].id']],
    [
      'an edge to nowhere',
      { nodes: [node('begin', 'Begin')], edges: [{ source: 'begin', target: 'x' }] },
      ['warning $.graph.edges[0]'],
    ],
    [
      'a case that does not exist',
      {
        nodes: [node('begin', 'Begin'), node('s', 'Switch'), node('m', 'Message')],
        edges: [{ source: 's', target: 'm', sourceHandle: 'Case 4' }],
      },
      ['warning $.components.s'],
    ],
    [
      'a category without a name',
      { nodes: [node('begin', 'Begin'), node('c', 'Categorize', { items: [{ uuid: 'u' }] })] },
      ['error $.components.c'],
    ],
    [
      'sub-agents in a circle',
      {
        nodes: [node('begin', 'Begin'), node('a', 'Agent'), node('b', 'Agent')],
        edges: ['ab', 'bb'].map(([source, target]) => ({
          source: source ?? '',
          target: target ?? '',
          sourceHandle: 'agentBottom',
          targetHandle: 'agentTop',
        })),
      },
      ['error $.components.a'],
    ],
  ])('reports %s', (_, graph, expected) => {
    const issues = readDocument({ graph }).issues.filter((issue) => issue.code !== 'rebuilt-from-graph');
    expect(issues.map((issue) => `${issue.severity} ${issue.path}`)).toEqual(expected);
  });

  it('bounds what sub-agents of sub-agents add up to', () => {
    const names = Array.from({ length: 14 }, (_, index) => `a${index}`);
    const edges = names
      .slice(1)
      .flatMap((target, index) =>
        [0, 1, 2].map(() => ({ source: `a${index}`, target, sourceHandle: 'agentBottom', targetHandle: 'agentTop' })),
      );
    const graph = { nodes: [node('begin', 'Begin'), ...names.map((name) => node(name, 'Agent'))], edges };
    const { document, issues } = readDocument({ graph });
    expect(issues.filter((issue) => issue.severity === 'error')).toHaveLength(1);
    expect(JSON.stringify(document?.components).length).toBeLessThan(100_000);
  });

  it('gives nothing for no layout', () => expect(rebuildComponents(undefined)).toEqual({}));
});
