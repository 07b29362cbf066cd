/** Variables of documents: their initial values, and resetting a document. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { createComponentMap, type Document, type DocumentComponent } from './document.js';
import { ownObject, ownText, ownValue } from './json-copy.js';

/** The `sys.*` values of a document that brings none. `sys.date` is set by each run when it starts. */
export function defaultGlobals(): JsonObject {
  return {
    'sys.query': '',
    'sys.user_id': '',
    'sys.conversation_turns': 0,
    'sys.files': [],
    'sys.history': [],
    'sys.date': '',
  };
}

/** A document's globals with what every run relies on: the whole default set when absent, else history and date. */
export function completeGlobals(globals: JsonObject | undefined): JsonObject {
  if (globals === undefined || Object.keys(globals).length === 0) return defaultGlobals();
  return { ...globals, 'sys.history': globals['sys.history'] ?? [], 'sys.date': globals['sys.date'] ?? '' };
}

/**
 * The values with which a new conversation starts.
 *
 * Every `sys.*` value is emptied by the type it has (text, number, flag, list, object; anything else becomes null).
 * Every `env.*` value is the `value` of its variable or, without one, empty by the variable's declared type; a value
 * without a variable is the empty text. Variables that `globals` does not mention are added.
 */
export function initialVariables(document: Document): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(completeGlobals(document.globals))) {
    if (key.startsWith('env.')) result[key] = initialEnvironment(document.variables, key.slice(4));
    else result[key] = key.startsWith('sys.') ? emptyLike(value) : value;
  }
  for (const name of Object.keys(document.variables)) {
    const key = `env.${name}`;
    if (!Object.hasOwn(result, key)) result[key] = initialEnvironment(document.variables, name);
  }
  return result;
}

/** The empty value of a declared type: `number` 0, `boolean` false, `object` {}, `array…` [], anything else "". */
export function emptyOfType(type: string): Json {
  const name = type.trim().toLowerCase();
  if (name === 'number') return 0;
  if (name === 'boolean') return false;
  if (name === 'object') return {};
  return name.startsWith('array') ? [] : '';
}

function initialEnvironment(variables: JsonObject, name: string): Json {
  const variable = ownObject(variables, name);
  return ownValue(variable, 'value') ?? emptyOfType(ownText(variable, 'type') ?? '');
}

/** The empty value of the type that a value has: "", 0, false, [] or {}; null for null. */
export function emptyLike(value: Json): Json {
  if (typeof value === 'string') return '';
  if (typeof value === 'number') return 0;
  if (typeof value === 'boolean') return false;
  if (Array.isArray(value)) return [];
  return isJsonObject(value) ? {} : null;
}

/**
 * A copy without what conversations left in it: variables have their initial values, history, retrieval, memory and path are
 * empty, and parameters hold no values of a run.
 */
export function resetDocument(document: Document): Document {
  const components = createComponentMap();
  for (const [id, component] of Object.entries(document.components)) components[id] = clearValues(component);
  const globals = initialVariables(document);
  return { ...document, components, globals, history: [], retrieval: [], memory: [], path: [] };
}

function clearValues(component: DocumentComponent): DocumentComponent {
  const params: Record<string, Json> = { ...component.params };
  for (const key of ['inputs', 'outputs']) {
    const slots = ownObject(params, key);
    if (slots !== undefined) params[key] = clearSlots(slots);
  }
  if (ownObject(params, 'debug_inputs') !== undefined) params.debug_inputs = {};
  return { ...component, params };
}

function clearSlots(slots: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, slot] of Object.entries(slots)) {
    result[name] = isJsonObject(slot) && Object.hasOwn(slot, 'value') ? { ...slot, value: null } : slot;
  }
  return result;
}
