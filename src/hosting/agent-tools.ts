/** Published agents as tools: their names, and what they take. */
import { type Form, formParams } from '../components/form-fields.js';
import { beginParams } from '../dsl/introspect.js';
import { readDocument } from '../dsl/read.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type AgentRecord, type AgentStore, type AgentSummary, listAgentSummaries } from '../records/agents.js';
import { badArgument } from './refusals.js';

/** An agent as a tool. */
export interface AgentTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly properties: JsonObject; readonly required: string[] };
}

/** Agents that are looked at for one name. */
const PAGE = 50;
/** Longest name; providers of models take no more. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 4_096;

/** What a form's type is in JSON; any other is a text. */
const TYPES: Readonly<Record<string, JsonObject>> = {
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
};

/** The published agent behind a name. */
export async function findAgentTool(
  agents: AgentStore,
  tenant: string,
  name: string,
): Promise<AgentRecord | undefined> {
  const isIt = (agent: AgentSummary): boolean => agent.published !== undefined && nameOf(agent) === name;
  const { items } = await listAgentSummaries(agents, tenant, {
    title: name,
    offset: 0,
    limit: PAGE,
    orderBy: 'createdAt',
    descending: false,
  });
  const titled = items.find(isIt);
  if (titled !== undefined) return agents.find(tenant, titled.id);
  if (name.length > 2 * MAX_NAME) return undefined;
  // The id is the part behind some underscore, and may hold others.
  for (let at = name.indexOf('_'); at !== -1; at = name.indexOf('_', at + 1)) {
    const agent = await agents.find(tenant, name.slice(at + 1));
    if (agent !== undefined && isIt(agent)) return agent;
  }
  return undefined;
}

/** The form that a run of a document begins with. */
export function formOf(dsl: JsonObject): Form {
  const { document } = readDocument(dsl);
  const inputs = document === undefined ? undefined : beginParams(document)?.inputs;
  const parsed = formParams.inputs.safeParse(inputs);
  return parsed.success ? parsed.data : new Map();
}

/** What a call of a tool must have: the fields that are not optional, and the question where the form has no field. */
function requiredOf(form: Form): string[] {
  return form.size === 0 ? ['query'] : [...form].filter(([, { optional }]) => !optional).map(([name]) => name);
}

/**
 * Refuses a call without what its tool requires.
 *
 * @throws EngineError BAD_REQUEST that names what is missing, and what was received in its place.
 */
export function requireArguments(form: Form, args: JsonObject): void {
  const missing = requiredOf(form).filter((name) => args[name] === undefined || args[name] === null);
  if (missing.length === 0) return;
  const others = Object.keys(args).filter((name) => name !== 'query' && !form.has(name));
  const unknown = others.length === 0 ? '' : ` Unknown: ${others.map((name) => `\`${name}\``).join(', ')}.`;
  throw badArgument(`There is no ${missing.map((name) => `\`${name}\``).join(' and no ')}.${unknown}`);
}

/** An agent as a tool, by its published document. */
export function agentToolOf(agent: AgentRecord, dsl: JsonObject): AgentTool {
  const { title, description } = agent;
  const form = formOf(dsl);
  const fields = [...form].map(([name, field]): [string, JsonObject] => [
    name,
    schemaOf(name, field.type, field.declared),
  ]);
  const query: JsonObject = { type: 'string', description: 'What the user says.' };
  return {
    name: nameOf(agent),
    title,
    description: (description?.trim() || `The agent "${title}".`).slice(0, MAX_DESCRIPTION),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries([['query', query], ...fields]),
      required: requiredOf(form),
    },
  };
}

/**
 * The title, where it is a name: titles are unique. Any other is made one, with the id behind it, so that it stays what it is
 * regardless of other agents.
 */
function nameOf({ id, title }: Pick<AgentRecord, 'id' | 'title'>): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(title)) return title;
  const room = Math.max(0, MAX_NAME - id.length - 1);
  const words = title.normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '_');
  return `${words.replace(/^_+|_+$/g, '').slice(0, room) || 'agent'}_${id}`;
}

function schemaOf(name: string, type: string, declared: JsonObject): JsonObject {
  const title = typeof declared.name === 'string' && declared.name !== '' ? declared.name : name;
  if (type.includes('file')) {
    return { type: 'object', description: `${title}: a file that was uploaded, as {id, name, mime_type}.` };
  }
  const options = type === 'options' ? textsOf(declared.options) : [];
  const shape = Object.hasOwn(TYPES, type) ? TYPES[type] : { type: 'string' };
  return { ...shape, ...(options.length === 0 ? {} : { enum: options }), description: title };
}

function textsOf(options: Json | undefined): readonly string[] {
  if (!Array.isArray(options)) return [];
  const texts = (options as readonly Json[]).flatMap((one): string[] => {
    const value = isJsonObject(one) ? (one.value ?? one.label) : one;
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  return [...new Set(texts)];
}
