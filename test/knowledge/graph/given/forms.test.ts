import { describe, expect, it } from 'vitest';
import { readGraph, writeGraph } from '../../../../src/knowledge/graph/given/forms.js';
import type { GraphDocument } from '../../../../src/knowledge/graph/given/graph-document.js';
import { GRAPH_FORMS, type GraphForm } from '../../../../src/knowledge/graph/given/graph-forms.js';
import { seededRandom } from '../../../../src/knowledge/graph/seeded-random.js';

const ODD = [
  'Orion',
  'a & b',
  '"<tag>"',
  "l'été",
  '红楼梦',
  '😀 party',
  'R&D "x"',
  'שלום',
  '[1]',
  'x'.repeat(120),
  '|',
];
const SENTENCES = [
  'It is said.',
  'line\nbreak\ttab\r\nend',
  '  spaces  ',
  '<b>&amp;</b>',
  ']]>',
  '["a"]',
  '\u000b\u0085\u2028',
];

/** A graph with all that may stand in one. */
function randomGraph(seed: number): GraphDocument {
  const random = seededRandom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const some = (all: readonly string[], most: number): string[] => [
    ...new Set(Array.from({ length: below(most + 1) }, () => all[below(all.length)] as string)),
  ];
  const nodes = Array.from({ length: 1 + below(9) }, (_, at) => {
    const chunks = some(['c1', 'c2', 'c 3 & "4"'], 3).map((id) => ({ id, count: 1 + below(3) }));
    return {
      id: `${ODD[below(ODD.length)]?.slice(0, 20)} ${at}`.trim(),
      name: `${at} ${ODD[at % ODD.length]}`.slice(0, 120),
      type: ['concept', 'a "type"', '类型'][below(3)] as string,
      aliases: some(ODD, 2).map((alias) => `${alias} of ${at}`.slice(-120)),
      descriptions: some(SENTENCES, 5),
      chunks,
      titles: chunks.slice(0, below(2)).map(({ id }) => id),
    };
  });
  const edges = Array.from({ length: below(12) }, () => {
    const explicit = random() < 0.7;
    return {
      source: (nodes[below(nodes.length)] as { id: string }).id,
      target: (nodes[below(nodes.length)] as { id: string }).id,
      relation: explicit ? (['uses', 'is "a"', '使用'][below(3)] as string) : 'co_occurs',
      explicit,
      weight: below(5_000) / 1_024,
      descriptions: some(SENTENCES, 5),
      chunks: some(['c1', 'c2'], 2),
    };
  });
  return { nodes, edges: edges.filter(({ source, target }) => source !== target) };
}

const seeds = Array.from({ length: 60 }, (_, at) => at + 1);

describe.each(GRAPH_FORMS)('a graph as %s', (form) => {
  it.each(seeds)('reads as what was written (seed %i)', (seed) => {
    const graph = randomGraph(seed);
    const { nodes, edges } = readGraph(form, writeGraph(form, graph));
    expect({ nodes, edges }).toEqual(graph);
  });
});

describe('graphs of other programs', () => {
  it('are read from GraphML, whose other keys are passed over', () => {
    const text = `<?xml version="1.0"?><g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns" xmlns:y="urn:y">
      <g:key id="d0" for="node" attr.name="label" attr.type="string"/><g:key id="d1" for="node" attr.name="size" attr.type="int"/>
      <g:key id="d2" for="edge" attr.name="weight" attr.type="double"/>
      <g:graph edgedefault="undirected"><g:node id="1"><g:data key="d0">Orion<y:x>no</y:x></g:data><g:data key="d1">9</g:data></g:node>
      <g:node id="2"/><g:edge source="1" target="2"><g:data key="d2">2.5</g:data></g:edge></g:graph></g:graphml>`;
    const { nodes, edges } = readGraph('graphml', text);
    expect(nodes.map(({ id, name, type }) => [id, name, type])).toEqual([
      ['1', 'Orion', 'concept'],
      ['2', '2', 'concept'],
    ]);
    expect(edges).toMatchObject([{ source: '1', target: '2', relation: 'related_to', weight: 2.5, explicit: true }]);
  });

  it('are read from GEXF, whose labels are names and relations', () => {
    const text = `<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph><attributes class="node">
      <attribute id="0" title="type" type="string"/><attribute id="1" title="Modularity Class" type="integer"/></attributes>
      <nodes><node id="a" label="Orion"><attvalues><attvalue for="0" value="tool"/><attvalue for="1" value="3"/></attvalues></node>
      <node id="b" label=""/></nodes><edges><edge id="0" source="a" target="b" label="uses" weight="3"/></edges></graph></gexf>`;
    const { nodes, edges } = readGraph('gexf', text);
    expect(nodes.map(({ name, type }) => [name, type])).toEqual([
      ['Orion', 'tool'],
      ['b', 'concept'],
    ]);
    expect(edges).toMatchObject([{ relation: 'uses', weight: 3 }]);
  });
});

describe('a graph that cannot be taken', () => {
  const node = (id: string, more = {}) => ({ id, ...more });
  const json = (nodes: readonly unknown[], edges: readonly unknown[] = []): string => JSON.stringify({ nodes, edges });
  const entities = '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';

  it.each<[string, GraphForm, string, string]>([
    ['no JSON', 'json', '{"nodes": [', 'the text: it is not valid JSON (line 1, column 12)'],
    ['a list', 'json', '[]', 'the text: an object with "nodes" and "edges"'],
    ['another part', 'json', '{"links": []}', 'links: there are "nodes" and "edges" alone'],
    ['a node that is none', 'json', json([1]), 'nodes[0]: an object'],
    ['a node without an id', 'json', json([{}]), 'nodes[0]: id: it is missing'],
    ['another field', 'json', json([node('a', { nmae: 'A' })]), 'nodes[0]: nmae: there is no such field'],
    ['an id that comes twice', 'json', json([node('a'), node('a')]), 'nodes[1]: id: "a" is that of nodes[0], too'],
    ['a name that is too long', 'json', json([node('a', { name: 'x'.repeat(121) })]), 'nodes[0]: name: it has 121'],
    ['a control character', 'json', json([node('a', { name: 'a\u0001b' })]), 'nodes[0]: name: it holds a control'],
    ['half of a character', 'json', json([node('a', { name: 'a\ud800' })]), 'nodes[0]: name: it holds a control'],
    [
      'the alias of another',
      'json',
      json([node('a'), node('b', { aliases: ['A'] })]),
      'nodes[1]: aliases[0]: "A" is a',
    ],
    [
      'six descriptions',
      'json',
      json([node('a', { descriptions: [...'abcdef'] })]),
      'nodes[0]: descriptions: 6 of them',
    ],
    ['a count of none', 'json', json([node('a', { chunks: [{ id: 'c', count: 0 }] })]), 'nodes[0]: chunks[0].count'],
    [
      'a title elsewhere',
      'json',
      json([node('a', { titles: ['c'] })]),
      'nodes[0]: titles[0]: "c" is none of its chunks',
    ],
    [
      'an end that is not there',
      'json',
      json([node('a')], [{ source: 'a', target: 'b' }]),
      'edges[0]: target: there is no',
    ],
    [
      'an edge to itself',
      'json',
      json([node('a')], [{ source: 'a', target: 'a' }]),
      'edges[0]: target: an entity has no',
    ],
    [
      'a weight below 0',
      'json',
      json([node('a'), node('b')], [{ source: 'a', target: 'b', weight: -1 }]),
      'edges[0]: weight: a number from 0',
    ],
    ['many nodes', 'json', json(Array.from({ length: 20_001 }, (_, at) => node(`n${at}`))), 'nodes: 20001 of them'],
    ['an XML that ends', 'graphml', '<graphml><graph>', 'the XML ends too early'],
    ['another element', 'graphml', '<gexf/>', '<graphml> is needed first; received <gexf>'],
    ['no XML', 'gexf', 'nodes', 'line and column: 1:'],
    ['a document type', 'graphml', `${entities}<graphml>&b;</graphml>`, 'it declares a document type'],
    ['an entity', 'gexf', '<gexf>&b;</gexf>', 'undefined entity'],
    ['a deep one', 'gexf', `<gexf>${'<a>'.repeat(40)}`, 'deeper than 32'],
    [
      'a node of GraphML',
      'graphml',
      '<graphml>\n<graph>\n<node id="n1"/><edge source="n1" target="n2"/></graph></graphml>',
      'line 3, edge: target: there is no node "n2"',
    ],
    [
      'a weight of GEXF',
      'gexf',
      '<gexf>\n<node id="a"/><node id="b"/><edge source="a" target="b" weight="x"/></gexf>',
      'weight',
    ],
  ])('%s', (_, form, text, why) => {
    expect(() => readGraph(form, text)).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringContaining(why) }),
    );
  });

  it('is refused with 20 of its problems, and says how many more there are', () => {
    const text = json(Array.from({ length: 30 }, () => ({})));
    expect(() => readGraph('json', text)).toThrow(/(?:\n.*){20}\nand \d+ more$/);
  });
});
