import { describe, expect, it } from 'vitest';
import { drawDocument } from '../../src/canvas/draw.js';
import { readDocument } from '../../src/dsl/read.js';
import type { Json } from '../../src/json.js';

const node = (type: string, downstream: string[] = [], params: Json = {}, parent?: string): Json => ({
  obj: { component_name: type, params },
  downstream,
  upstream: [],
  ...(parent === undefined ? {} : { parent_id: parent }),
});

function draw(components: Json, names: Record<string, string> = {}): string[] {
  const nodes = Object.entries(names).map(([id, name]) => ({ id, data: { name, label: 'x' } }));
  const { document } = readDocument({ components, graph: { nodes, edges: [] } });
  if (document === undefined) throw new Error('not a document');
  return drawDocument(document).trimEnd().split('\n');
}

describe('drawDocument', () => {
  it('draws a box for each component and a line for each edge', () => {
    expect(draw({ begin: node('Begin', ['m', 'n']), m: node('Message'), n: node('Message') }, { m: 'Greet' })).toEqual([
      'flowchart TD',
      '  n0["Begin"]',
      '  n1["Greet<br/><small>Message</small>"]',
      '  n2["Message"]',
      '  n0 --> n1',
      '  n0 --> n2',
    ]);
  });

  it('draws a body as a frame, bodies within bodies too', () => {
    const lines = draw({
      begin: node('Begin', ['a']),
      a: node('Loop', []),
      ai: node('LoopItem', ['b'], {}, 'a'),
      b: node('Iteration', [], {}, 'a'),
      bi: node('IterationItem', [], {}, 'b'),
    });
    expect(lines).toEqual([
      'flowchart TD',
      '  n0["Begin"]',
      '  n1[["Loop"]]',
      '  subgraph n1_body["Loop: body"]',
      '    n2["LoopItem"]',
      '    n3[["Iteration"]]',
      '    subgraph n3_body["Iteration: body"]',
      '      n4["IterationItem"]',
      '    end',
      '    n3 --- n3_body',
      '  end',
      '  n1 --- n1_body',
      '  n0 --> n1',
      '  n2 --> n3',
    ]);
  });

  it('draws a dotted line where parameters lead and no edge does', () => {
    const params = { conditions: [{ logical_operator: 'and', items: [], to: ['m'] }], end_cpn_ids: ['N'] };
    const lines = draw({
      begin: node('Begin', ['s']),
      s: node('Switch', ['m'], params),
      m: node('Message', [], { exception_method: 'goto', exception_goto: ['n', 'ghost'] }),
      n: node('Message'),
    });
    expect(lines.slice(5)).toEqual(['  n0 --> n1', '  n1 --> n2', '  n1 -.-> n3', '  n2 -.-> n3']);
  });

  it.each([
    ['a quote', 'a"]; click b', 'a#34;#93;#59; click b'],
    ['markup', '<b>&amp;', '#60;b#62;#38;amp#59;'],
    ['a line end', 'a\nb', 'a#10;b'],
    ['backticks and entities', '`#35;`', '#96;#35;35#59;#96;'],
    ['letters of any script', '审批 café – 1.2', '审批 café #8211; 1.2'],
  ])('lets %s stay inside its box', (_name, name, label) => {
    expect(draw({ begin: node('Begin') }, { begin: name })[1]).toBe(`  n0["${label}<br/><small>Begin</small>"]`);
  });
});
