/** Graphs as GraphML, the form of yEd, Gephi, networkx and others. */
import type { GraphDocument, RawGraph, RawItem } from './graph-document.js';
import { EDGE_ATTRIBUTES, escapeXml, NODE_ATTRIBUTES, rawItem, readXml, type TextItem, textsOf } from './xml-items.js';

/** Names of attributes that other programs give to ours. */
const NAMES_ELSEWHERE: Readonly<Record<string, string>> = { label: 'name' };

/**
 * Reads a text: keys are known by their `attr.name`, `label` is a name, too; those of other programs are passed over.
 *
 * @throws EngineError BAD_REQUEST
 */
export function readGraphml(text: string): RawGraph {
  const nodes: RawItem[] = [];
  const edges: RawItem[] = [];
  const keys = new Map<string, string>();
  const open: (TextItem & { readonly kind: 'node' | 'edge' })[] = [];
  let data: { readonly name: string; readonly depth: number; text: string } | undefined;
  let depth = 0;
  readXml(text, 'graphml', (line) => ({
    open(name, attributes) {
      depth += 1;
      if (name === 'key') {
        const id = attributes.get('id') ?? '';
        keys.set(id, attributes.get('attr.name') ?? id);
      } else if (name === 'node' || name === 'edge') {
        const fields = new Map<string, string>();
        for (const field of name === 'node' ? ['id'] : ['source', 'target']) {
          const value = attributes.get(field);
          if (value !== undefined) fields.set(field, value);
        }
        const shown = attributes.get('id')?.slice(0, 100);
        const at = `line ${line()}, ${name}${shown === undefined ? '' : ` "${shown}"`}`;
        open.push({ at, fields, kind: name });
      } else if (name === 'data') {
        const key = keys.get(attributes.get('key') ?? '') ?? attributes.get('key') ?? '';
        data = { name: key, depth, text: '' };
      }
    },
    text(content) {
      // What stands in elements inside of it belongs to other programs.
      if (data?.depth === depth) data.text += content;
    },
    close(name) {
      if (name === 'data' && data?.depth === depth) {
        const fields = open.at(-1)?.fields;
        const own = NAMES_ELSEWHERE[data.name] ?? data.name;
        // Its own name goes before the one of other programs.
        if (fields !== undefined && (own === data.name || !fields.has(own))) fields.set(own, data.text);
        data = undefined;
      } else if (name === 'node' || name === 'edge') {
        const item = open.pop();
        if (item !== undefined) (item.kind === 'node' ? nodes : edges).push(rawItem(item, item.kind));
      }
      depth -= 1;
    },
  }));
  return { nodes, edges };
}

/** Writes a graph. */
export function writeGraphml({ nodes, edges }: GraphDocument): string {
  const key = (kind: 'node' | 'edge', name: string): string => {
    const type = name === 'weight' ? 'double' : name === 'explicit' ? 'boolean' : 'string';
    return `  <key id="${kind}-${name}" for="${kind}" attr.name="${name}" attr.type="${type}"/>\n`;
  };
  const data = (kind: 'node' | 'edge', texts: readonly (readonly [string, string])[]): string =>
    texts.map(([name, value]) => `<data key="${kind}-${name}">${escapeXml(value)}</data>`).join('');
  const [nodeNames, edgeNames] = [
    ['name', ...NODE_ATTRIBUTES],
    ['weight', ...EDGE_ATTRIBUTES],
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n',
    ...nodeNames.map((name) => key('node', name)),
    ...edgeNames.map((name) => key('edge', name)),
    '  <graph edgedefault="directed">\n',
    ...nodes.map((node) => `    <node id="${escapeXml(node.id)}">${data('node', textsOf(node, nodeNames))}</node>\n`),
    ...edges.map((edge) => {
      const ends = `source="${escapeXml(edge.source)}" target="${escapeXml(edge.target)}"`;
      return `    <edge ${ends}>${data('edge', textsOf(edge, edgeNames))}</edge>\n`;
    }),
    '  </graph>\n</graphml>\n',
  ].join('');
}
