import type { Json, JsonObject } from '../json.js';
import { createIssueList, type IssueList } from './issues.js';
import { EXCEPTION_SOURCE, readTables, SUB_AGENT_TARGET } from './layout-tables.js';
import { paramsFromForm } from './rebuild-params.js';

/** Labels that never execute: remarks, tool sockets and drop targets. */
const SILENT_LABELS: ReadonlySet<string> = new Set(['Note', 'Tool', 'Placeholder']);

/**
 * Builds version 1 components from the editor's layout, as RAGFlow's editor does when it saves or imports a canvas.
 *
 * Parameters come from each node's form; edges that start at a case of a Switch or Categorize become its `to`,
 * sub-agents become tools of their Agent, exception edges its `exception_goto`. What cannot be rebuilt is reported.
 */
export function rebuildComponents(graph: JsonObject | undefined, issues: IssueList = createIssueList()): JsonObject {
  const tables = readTables(graph, issues);
  const subAgents = new Set<string>();
  for (const edges of tables.outgoing.values()) {
    for (const edge of edges) if (edge.targetHandle === SUB_AGENT_TARGET) subAgents.add(edge.target);
  }
  const isComponent = (id: string): boolean => {
    const node = tables.nodes.get(id);
    return node !== undefined && !SILENT_LABELS.has(node.label) && !subAgents.has(id);
  };
  const components: Record<string, Json> = {};
  for (const node of tables.nodes.values()) {
    if (!isComponent(node.id)) continue;
    const edges = (tables.outgoing.get(node.id) ?? []).filter((edge) => isComponent(edge.target));
    components[node.id] = {
      downstream: edges.filter((edge) => edge.sourceHandle !== EXCEPTION_SOURCE).map((edge) => edge.target),
      obj: { component_name: node.label, params: paramsFromForm(node, edges, tables, issues) },
      ...(node.parent === undefined ? {} : { parent_id: node.parent }),
    };
  }
  return components;
}
