/** Components rebuilt from the editor's layout, for files that hold a layout only. */
import { addTo } from '../group-by.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { createIssueList, type IssueList } from './issues.js';
import { omitKeys, ownList, ownObject, ownText, ownValue } from './json-copy.js';

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

/** Deepest chain of sub-agents, and most sub-agents written out for one Agent. */
const MAX_AGENT_DEPTH = 16;
const MAX_SUB_AGENTS = 500;

/** Handle of a Switch that is taken when no case holds; also the parameter it fills. */
const ELSE_HANDLE = 'end_cpn_ids';
const CASE_HANDLE = /^Case (\d{1,4})$/;

/** Model settings of a form and the switch that turns each on; a setting that is off is not saved. */
export const OPTIONAL_SETTINGS: Readonly<Record<string, string>> = {
  temperatureEnabled: 'temperature',
  topPEnabled: 'top_p',
  presencePenaltyEnabled: 'presence_penalty',
  frequencyPenaltyEnabled: 'frequency_penalty',
  maxTokensEnabled: 'max_tokens',
};

type Builder = (node: LayoutNode, edges: readonly LayoutEdge[], tables: LayoutTables, issues: IssueList) => JsonObject;

/** Classes whose form differs from their parameters; for all others the form is the parameters. */
const BUILDERS: Readonly<Record<string, Builder>> = {
  Agent: buildAgent,
  Begin: ({ form }) => (form.mode === 'Webhook' ? buildWebhook(form) : form),
  Categorize: buildCategorize,
  DataOperations: ({ form }) => buildDataOperations(form),
  Switch: buildSwitch,
};

/** The parameters of a component, from its node's form and the edges that leave it. */
function paramsFromForm(
  node: LayoutNode,
  edges: readonly LayoutEdge[],
  tables: LayoutTables,
  issues: IssueList,
): JsonObject {
  const builder = Object.hasOwn(BUILDERS, node.label) ? BUILDERS[node.label] : undefined;
  return builder === undefined ? node.form : builder(node, edges, tables, issues);
}

function buildAgent(
  node: LayoutNode,
  edges: readonly LayoutEdge[],
  tables: LayoutTables,
  issues: IssueList,
): JsonObject {
  let written = 0;
  const toolsOf = (agent: LayoutNode, trail: readonly string[]): Json[] => {
    const tools: Json[] = [...ownList(agent.form, 'tools')];
    for (const edge of tables.outgoing.get(agent.id) ?? []) {
      const target = tables.nodes.get(edge.target);
      if (edge.sourceHandle !== SUB_AGENT_SOURCE || target === undefined) continue;
      written += 1;
      if (trail.includes(target.id) || trail.length >= MAX_AGENT_DEPTH || written > MAX_SUB_AGENTS) {
        const message = `the sub-agents of ${JSON.stringify(node.id)} form a circle or nest too deep; one was left out`;
        if (written <= MAX_SUB_AGENTS + 1) issues.error('graph-not-rebuilt', ['components', node.id], message, node.id);
        continue;
      }
      const params = { ...target.form, tools: toolsOf(target, [...trail, target.id]) };
      tools.push({ component_name: 'Agent', id: target.id, name: target.name ?? target.id, params });
    }
    return tools;
  };
  const exits = edges.filter((edge) => edge.sourceHandle === EXCEPTION_SOURCE).map((edge) => edge.target);
  return { ...node.form, tools: toolsOf(node, [node.id]), exception_goto: exits };
}

function buildCategorize(
  node: LayoutNode,
  edges: readonly LayoutEdge[],
  _: LayoutTables,
  issues: IssueList,
): JsonObject {
  const { form } = node;
  const off = Object.entries(OPTIONAL_SETTINGS).flatMap(([key, setting]) => (form[key] ? [key] : [key, setting]));
  const params = omitKeys(form, new Set([...off, 'parameter', 'items']));
  if (!Array.isArray(form.items)) return params;
  const byHandle = groupByHandle(edges);
  const categories: Record<string, Json> = {};
  for (const item of form.items as readonly Json[]) {
    const name = ownText(item, 'name');
    if (!isJsonObject(item) || name === undefined || name === '__proto__') {
      issues.error('graph-not-rebuilt', ['components', node.id], 'a category has no name; give it one', node.id);
      continue;
    }
    categories[name] = {
      ...omitKeys(item, new Set(['name', 'uuid'])),
      examples: unwrap(item, 'examples', 'value'),
      to: byHandle.get(ownText(item, 'uuid') ?? '') ?? [],
    };
  }
  return { ...params, category_description: categories };
}

function buildSwitch(node: LayoutNode, edges: readonly LayoutEdge[], _: LayoutTables, issues: IssueList): JsonObject {
  const conditions: Json[] = [...ownList(node.form, 'conditions')];
  const result: Record<string, Json> = { ...node.form };
  for (const [handle, targets] of groupByHandle(edges)) {
    const number = Number(CASE_HANDLE.exec(handle)?.[1] ?? 0);
    const condition = conditions[number - 1];
    if (handle === ELSE_HANDLE) {
      result[ELSE_HANDLE] = targets;
    } else if (isJsonObject(condition)) {
      conditions[number - 1] = { ...condition, to: targets };
    } else {
      const message = `an edge starts at ${JSON.stringify(handle)}, which is no case of ${JSON.stringify(node.id)}`;
      issues.warn('graph-not-rebuilt', ['components', node.id], `${message}; it is never taken`, node.id);
    }
  }
  return { ...result, conditions };
}

function buildDataOperations(form: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...form };
  for (const [key, inner] of [
    ['select_keys', 'name'],
    ['remove_keys', 'name'],
    ['query', 'input'],
  ] as const) {
    if (Array.isArray(form[key])) result[key] = unwrap(form, key, inner);
  }
  return result;
}

/** A webhook's form lists fields and values as rows; its parameters are JSON Schemas and plain lists. */
function buildWebhook(form: JsonObject): JsonObject {
  const schema: Record<string, Json> = {};
  for (const [part, rows] of Object.entries(ownObject(form, 'schema') ?? {})) {
    schema[part] = Array.isArray(rows) ? schemaOfRows(rows as readonly Json[]) : rows;
  }
  const security = ownObject(form, 'security') ?? {};
  const jwt = ownObject(security, 'jwt');
  const isOpen = security.auth_type === 'none' && security.allow_anonymous === true;
  return {
    ...form,
    schema,
    security: {
      ...(isOpen ? security : omitKeys(security, new Set(['allow_anonymous']))),
      ip_whitelist: unwrap(security, 'ip_whitelist', 'value'),
      ...(jwt === undefined ? {} : { jwt: { ...jwt, required_claims: unwrap(jwt, 'required_claims', 'value') } }),
    },
  };
}

function schemaOfRows(rows: readonly Json[]): JsonObject {
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const row of rows) {
    const key = ownText(row, 'key');
    if (key === undefined || key === '__proto__') continue;
    properties[key] = { type: ownText(row, 'type') ?? 'string' };
    if (ownValue(row, 'required') === true) required.push(key);
  }
  return { type: 'object', required, properties };
}

/** Turns a list of `{[inner]: x}` into a list of `x`; entries that are plain already stay. */
function unwrap(source: JsonObject, key: string, inner: string): Json[] {
  return ownList(source, key).flatMap((item) => {
    if (!isJsonObject(item)) return [item];
    const value = ownValue(item, inner);
    return value === undefined ? [] : [value];
  });
}

function groupByHandle(edges: readonly LayoutEdge[]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const edge of edges) {
    const targets = groups.get(edge.sourceHandle);
    if (targets === undefined) groups.set(edge.sourceHandle, [edge.target]);
    else if (!targets.includes(edge.target)) targets.push(edge.target);
  }
  return groups;
}

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
const SUB_AGENT_TARGET = 'agentTop';
/** Handle at the bottom of an Agent, from which edges lead to its sub-agents. */
const SUB_AGENT_SOURCE = 'agentBottom';
/** Handle of an Agent's way out of an error. */
const EXCEPTION_SOURCE = 'agentException';

/** Reads a layout; nodes without id or label and edges to nowhere are reported and left out. */
function readTables(graph: JsonObject | undefined, issues: IssueList): LayoutTables {
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
    addTo(outgoing, edge.source, edge);
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
