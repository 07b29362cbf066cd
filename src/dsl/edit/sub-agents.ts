/** Agents that are tools of an Agent: in parameters they are tools, in the layout nodes of their own. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { DocumentComponent } from '../document.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { formAfter, isSubAgent } from './forms.js';

/** Deepest chain of sub-agents that is followed. */
const MAX_DEPTH = 16;

/** The parts of a layout. */
export interface LayoutLists {
  readonly nodes: readonly Json[];
  readonly edges: readonly Json[];
}

/** An Agent whose tools changed, and the node that stands for it. */
export interface AgentChange {
  readonly id: string;
  readonly before: Pick<DocumentComponent, 'params'>;
  readonly after: Pick<DocumentComponent, 'params'>;
  /** Whether a node is a component of its own, which no tool brings or takes away. */
  readonly isComponent: (id: string) => boolean;
}

/** The layout whose sub-agents are those that the Agent has now. Those without an id are in the parameters alone. */
export function followSubAgents(
  layout: LayoutLists,
  { id, before, after, isComponent }: AgentChange,
  depth = 0,
): LayoutLists {
  if (depth > MAX_DEPTH) return layout;
  const [had, has] = [subAgentsOf(before.params), subAgentsOf(after.params)];
  let { nodes, edges } = layout;
  const gone = new Set([...had.keys()].filter((one) => !has.has(one) && !isComponent(one)));
  if (gone.size > 0) {
    nodes = nodes.filter((node) => !gone.has(ownText(node, 'id') ?? ''));
    edges = edges.filter(
      (edge) => ![ownText(edge, 'source'), ownText(edge, 'target')].some((end) => gone.has(end ?? '')),
    );
  }
  for (const [tool, { name, params }] of has) {
    if (isComponent(tool)) continue;
    const old = had.get(tool)?.params ?? {};
    const known = nodes.find((node) => ownText(node, 'id') === tool);
    if (known === undefined) {
      nodes = [...nodes, nodeOf(tool, name, params)];
      edges = [...edges, edgeOf(id, tool)];
    } else if (JSON.stringify(old) !== JSON.stringify(params)) {
      nodes = nodes.map((node) =>
        node === known ? changedNode(node as JsonObject, name, { before: old, after: params }) : node,
      );
    }
    const lists = { nodes, edges };
    ({ nodes, edges } = followSubAgents(
      lists,
      { id: tool, before: { params: old }, after: { params }, isComponent },
      depth + 1,
    ));
  }
  return { nodes, edges };
}

interface SubAgent {
  readonly name: string;
  readonly params: JsonObject;
}

function subAgentsOf(params: JsonObject): ReadonlyMap<string, SubAgent> {
  const found = new Map<string, SubAgent>();
  for (const tool of ownList(params, 'tools')) {
    const id = ownText(tool, 'id');
    if (id === undefined || !isSubAgent(tool)) continue;
    found.set(id, { name: ownText(tool, 'name') ?? id, params: ownObject(tool, 'params') ?? {} });
  }
  return found;
}

/** Ids of sub-agents in parameters, however deep. */
export function subAgentIds(params: JsonObject, depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  const subAgents = ownList(params, 'tools').filter(isSubAgent);
  return subAgents.flatMap((tool) => [
    ...(ownText(tool, 'id') === undefined ? [] : [ownText(tool, 'id') as string]),
    ...subAgentIds(ownObject(tool, 'params') ?? {}, depth + 1),
  ]);
}

function nodeOf(id: string, name: string, params: JsonObject): JsonObject {
  const form = formAfter('Agent', {}, { before: {}, after: params });
  return {
    id,
    type: 'agentNode',
    position: { x: 0, y: 400 },
    data: { label: 'Agent', name, form },
    sourcePosition: 'right',
    targetPosition: 'left',
  };
}

function changedNode(
  node: JsonObject,
  name: string,
  change: { readonly before: JsonObject; readonly after: JsonObject },
) {
  const data = ownObject(node, 'data') ?? {};
  const form = ownObject(data, 'form') ?? {};
  return { ...node, data: { ...data, name, form: formAfter('Agent', isJsonObject(form) ? form : {}, change) } };
}

function edgeOf(source: string, target: string): JsonObject {
  return {
    id: `xy-edge__${source}agentBottom-${target}agentTop`,
    source,
    sourceHandle: 'agentBottom',
    target,
    targetHandle: 'agentTop',
    type: 'buttonEdge',
    markerEnd: 'logo',
    data: { isHovered: false },
    zIndex: 1001,
  };
}
