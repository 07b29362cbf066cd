/** Forms of RAGFlow's editor, from which it writes parameters anew when it saves: they follow the parameters that an edit changes. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { OPTIONAL_SETTINGS } from '../rebuild.js';
import { typeKey } from './edit.js';

/** Parameters before and after an edit. */
export interface ParamsChange {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

type Writer = (form: JsonObject, after: JsonObject, changed: ReadonlySet<string>) => JsonObject;

/** Types whose form says something otherwise than the parameters do; for all others the form has their very keys. */
const WRITERS: Readonly<Record<string, Writer>> = {
  categorize: categorizeForm,
  dataoperations: dataOperationsForm,
  agent: agentForm,
  begin: beginForm,
};

/** The form of a component whose parameters changed; what did not change stays as it is written. */
export function formAfter(type: string, form: JsonObject, { before, after }: ParamsChange): JsonObject {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = new Set([...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])));
  if (changed.size === 0) return form;
  const kept = Object.entries(form).filter(([name]) => !changed.has(name) || Object.hasOwn(after, name));
  const plain: Record<string, Json> = Object.fromEntries(kept);
  for (const name of changed) if (Object.hasOwn(after, name)) plain[name] = after[name] as Json;
  const key = typeKey(type);
  return Object.hasOwn(WRITERS, key) ? (WRITERS[key] as Writer)(plain, after, changed) : plain;
}

/** The handle at which edges of a category begin. */
export function categoryHandle(form: JsonObject | undefined, name: string): string {
  const item = ownList(form, 'items').find((one) => ownText(one, 'name') === name);
  return ownText(item, 'uuid') ?? name;
}

/** Categories are rows, each with an id at which its edges begin. */
function categorizeForm(given: JsonObject, after: JsonObject, changed: ReadonlySet<string>): JsonObject {
  const switches = Object.entries(OPTIONAL_SETTINGS).filter(([, setting]) => changed.has(setting));
  const form = { ...given, ...Object.fromEntries(switches.map(([name, key]) => [name, Object.hasOwn(after, key)])) };
  if (!changed.has('category_description')) return form;
  const rows = ownList(form, 'items');
  const items = Object.entries(ownObject(after, 'category_description') ?? {}).map(([name, category]): Json => {
    const row = rows.find((one) => ownText(one, 'name') === name);
    const { to: _, ...own } = isJsonObject(category) ? category : {};
    const examples = Array.isArray(own.examples) ? { examples: (own.examples as readonly Json[]).map(asValue) } : {};
    return { uuid: name, ...(isJsonObject(row) ? row : {}), ...own, ...examples, name };
  });
  const { category_description: _, ...rest } = form;
  return { ...rest, items };
}

function dataOperationsForm(form: JsonObject, _: JsonObject, changed: ReadonlySet<string>): JsonObject {
  const wrapped: Record<string, Json> = { ...form };
  for (const [name, inner] of [
    ['select_keys', 'name'],
    ['remove_keys', 'name'],
    ['query', 'input'],
  ] as const) {
    if (changed.has(name) && Array.isArray(form[name]))
      wrapped[name] = ownList(form, name).map((item) => (isJsonObject(item) ? item : { [inner]: item }));
  }
  return wrapped;
}

/** Sub-agents are nodes of the layout, not rows of the form. */
function agentForm(form: JsonObject, after: JsonObject, changed: ReadonlySet<string>): JsonObject {
  if (!changed.has('tools')) return form;
  return { ...form, tools: ownList(after, 'tools').filter((tool) => !isSubAgent(tool)) };
}

/** Whether a tool of an Agent is another Agent. */
export function isSubAgent(tool: Json): boolean {
  return typeKey(ownText(tool, 'component_name') ?? '') === 'agent';
}

/** A webhook's form lists fields and values as rows. */
function beginForm(form: JsonObject, after: JsonObject, changed: ReadonlySet<string>): JsonObject {
  if (after.mode !== 'Webhook') return form;
  const result: Record<string, Json> = { ...form };
  if (changed.has('schema')) {
    result.schema = Object.fromEntries(
      Object.entries(ownObject(after, 'schema') ?? {}).map(([part, schema]) => [part, rowsOf(schema)]),
    );
  }
  const security = ownObject(after, 'security');
  if (changed.has('security') && security !== undefined) {
    const jwt = ownObject(security, 'jwt');
    result.security = {
      ...security,
      ...(Array.isArray(security.ip_whitelist) && { ip_whitelist: ownList(security, 'ip_whitelist').map(asValue) }),
      ...(Array.isArray(jwt?.required_claims) && {
        jwt: { ...jwt, required_claims: ownList(jwt, 'required_claims').map(asValue) },
      }),
    };
  }
  return result;
}

function rowsOf(schema: Json): Json {
  const properties = ownObject(schema, 'properties');
  if (properties === undefined) return schema;
  const required = ownList(schema, 'required');
  return Object.entries(properties).map(([key, about]) => ({
    key,
    type: ownText(about, 'type') ?? 'string',
    required: required.includes(key),
  }));
}

function asValue(item: Json): Json {
  return isJsonObject(item) ? item : { value: item };
}
