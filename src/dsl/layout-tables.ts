import type { Json, JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import type { IssueList } from './issues.js';
import { ownList, ownObject, ownText } from './json-copy.js';

/** A node of the layout that stands for a component. */
export interface LayoutNode {
  readonly id: string;
  readonly label: string;
  readonly name: string | undefined;
  readonly form: JsonObject;
  readonly parent: string | undefined;
}

/** An edge of the layout; handles say which side, case or tool socket it starts and ends at. */
export interface LayoutEdge {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle: string;
  readonly targetHandle: string;
}

/** A layout as look-up tables. */
export interface LayoutTables {
  readonly nodes: ReadonlyMap<string, LayoutNode>;
  readonly outgoing: ReadonlyMap<string, readonly LayoutEdge[]>;
}

/** Handle at the top of an Agent that serves as a tool of another Agent. */
export const SUB_AGENT_TARGET = 'agentTop';
/** Handle at the bottom of an Agent, from which edges lead to its sub-agents. */
export const SUB_AGENT_SOURCE = 'agentBottom';
/** Handle of an Agent's way out of an error. */
export const EXCEPTION_SOURCE = 'agentException';

/** Reads a layout; nodes without id or label and edges to nowhere are reported and left out. */
export function readTables(graph: JsonObject | undefined, issues: IssueList): LayoutTables {
  const nodes = new Map<string, LayoutNode>();
  for (const [index, raw] of ownList(graph, 'nodes').entries()) {
    const node = readNode(raw);
    if (node === undefined) {
      issues.error(
        'graph-not-rebuilt',
        ['graph', 'nodes', index],
        'a node needs an "id" and a "data.label" to be rebuilt',
      );
    } else if (nodes.has(node.id)) {
      const message = `two nodes have the id ${JSON.stringify(node.id)}; the first one is used`;
      issues.error('id-duplicate', ['graph', 'nodes', index, 'id'], message, node.id);
    } else {
      nodes.set(node.id, node);
    }
  }
  const outgoing = new Map<string, LayoutEdge[]>();
  for (const [index, raw] of ownList(graph, 'edges').entries()) {
    const edge = readEdge(raw);
    if (edge === undefined || !nodes.has(edge.source) || !nodes.has(edge.target)) {
      const message = 'an edge needs a "source" and a "target" that are nodes; it was left out';
      issues.warn('graph-not-rebuilt', ['graph', 'edges', index], message);
      continue;
    }
    const known = outgoing.get(edge.source);
    if (known === undefined) outgoing.set(edge.source, [edge]);
    else known.push(edge);
  }
  return { nodes, outgoing };
}

function readNode(raw: Json): LayoutNode | undefined {
  const data = ownObject(raw, 'data');
  const id = ownText(raw, 'id');
  const label = ownText(data, 'label');
  if (id === undefined || label === undefined) return undefined;
  return {
    id,
    label,
    name: ownText(data, 'name'),
    form: ownObject(data, 'form') ?? {},
    parent: ownText(raw, 'parentId'),
  };
}

function readEdge(raw: Json): LayoutEdge | undefined {
  const source = ownText(raw, 'source');
  const target = ownText(raw, 'target');
  if (!isJsonObject(raw) || source === undefined || target === undefined) return undefined;
  const sourceHandle = ownText(raw, 'sourceHandle') ?? 'start';
  return { source, target, sourceHandle, targetHandle: ownText(raw, 'targetHandle') ?? 'end' };
}
