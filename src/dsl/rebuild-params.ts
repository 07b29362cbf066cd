import type { Json, JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import type { IssueList } from './issues.js';
import { omitKeys, ownList, ownObject, ownText, ownValue } from './json-copy.js';
import {
  EXCEPTION_SOURCE,
  type LayoutEdge,
  type LayoutNode,
  type LayoutTables,
  SUB_AGENT_SOURCE,
} from './layout-tables.js';

/** Deepest chain of sub-agents, and most sub-agents written out for one Agent. */
const MAX_AGENT_DEPTH = 16;
const MAX_SUB_AGENTS = 500;

/** Handle of a Switch that is taken when no case holds; also the parameter it fills. */
const ELSE_HANDLE = 'end_cpn_ids';
const CASE_HANDLE = /^Case (\d{1,4})$/;

/** Model settings of a form and the switch that turns each on; a setting that is off is not saved. */
const OPTIONAL_SETTINGS: Readonly<Record<string, string>> = {
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
export function paramsFromForm(
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
