/** Graphs as GEXF, the form of Gephi. */
import type { XmlAttributes } from '../../../documents/spreadsheets/xml-reader.js';
import type { GraphDocument, GraphEdge, GraphNode, RawGraph, RawItem } from './graph-document.js';
import { EDGE_ATTRIBUTES, escapeXml, NODE_ATTRIBUTES, rawItem, readXml, type TextItem, textsOf } from './xml-items.js';

type Kind = 'node' | 'edge';

/** Attributes of elements, and the fields that they are. */
const OWN: Readonly<Record<Kind, readonly (readonly [attribute: string, field: string])[]>> = {
  node: [
    ['id', 'id'],
    ['label', 'name'],
  ],
  edge: [
    ['source', 'source'],
    ['target', 'target'],
    ['weight', 'weight'],
    ['label', 'relation'],
  ],
};

/**
 * Reads a text: the label of a node is its name, the label of an edge its relation; attributes are known by their titles, and those of other programs are
 * passed over.
 *
 * @throws EngineError BAD_REQUEST
 */
export function readGexf(text: string): RawGraph {
  const nodes: RawItem[] = [];
  const edges: RawItem[] = [];
  const titles: Readonly<Record<Kind, Map<string, string>>> = { node: new Map(), edge: new Map() };
  const open: (TextItem & { readonly kind: Kind })[] = [];
  let declared: Kind = 'node';
  readXml(text, 'gexf', (line) => ({
    open(name, attributes) {
      if (name === 'attributes') declared = attributes.get('class') === 'edge' ? 'edge' : 'node';
      else if (name === 'attribute') {
        const id = attributes.get('id') ?? '';
        titles[declared].set(id, attributes.get('title') ?? id);
      } else if (name === 'node' || name === 'edge') open.push({ ...begun(name, attributes, line()), kind: name });
      else if (name === 'attvalue') {
        const item = open.at(-1);
        const id = attributes.get('for') ?? attributes.get('id') ?? '';
        const value = attributes.get('value');
        if (item !== undefined && value !== undefined) item.fields.set(titles[item.kind].get(id) ?? id, value);
      }
    },
    close(name) {
      if (name !== 'node' && name !== 'edge') return;
      const item = open.pop();
      if (item !== undefined) (item.kind === 'node' ? nodes : edges).push(rawItem(item, item.kind));
    },
  }));
  return { nodes, edges };
}

function begun(kind: Kind, attributes: XmlAttributes, line: number): TextItem {
  const fields = new Map<string, string>();
  for (const [attribute, field] of OWN[kind]) {
    const value = attributes.get(attribute);
    if (value !== undefined) fields.set(field, value);
  }
  const id = attributes.get('id')?.slice(0, 100);
  return { at: `line ${line}, ${kind}${id === undefined ? '' : ` "${id}"`}`, fields };
}

/** Writes a graph. */
export function writeGexf({ nodes, edges }: GraphDocument): string {
  const declare = (kind: Kind, names: readonly string[]): string => {
    const each = names.map((name) => {
      const type = name === 'explicit' ? 'boolean' : 'string';
      return `      <attribute id="${name}" title="${name}" type="${type}"/>\n`;
    });
    return `    <attributes class="${kind}">\n${each.join('')}    </attributes>\n`;
  };
  const values = (item: GraphNode | GraphEdge, names: readonly string[]): string => {
    const each = textsOf(item, names).map(([name, value]) => `<attvalue for="${name}" value="${escapeXml(value)}"/>`);
    return `<attvalues>${each.join('')}</attvalues>`;
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n',
    '  <graph mode="static" defaultedgetype="directed">\n',
    declare('node', NODE_ATTRIBUTES),
    declare('edge', EDGE_ATTRIBUTES),
    '    <nodes>\n',
    ...nodes.map((node) => {
      const head = `id="${escapeXml(node.id)}" label="${escapeXml(node.name)}"`;
      return `      <node ${head}>${values(node, NODE_ATTRIBUTES)}</node>\n`;
    }),
    '    </nodes>\n    <edges>\n',
    ...edges.map((edge, at) => {
      const ends = `source="${escapeXml(edge.source)}" target="${escapeXml(edge.target)}"`;
      const head = `id="${at}" ${ends} label="${escapeXml(edge.relation)}" weight="${edge.weight}"`;
      return `      <edge ${head}>${values(edge, EDGE_ATTRIBUTES)}</edge>\n`;
    }),
    '    </edges>\n  </graph>\n</gexf>\n',
  ].join('');
}
