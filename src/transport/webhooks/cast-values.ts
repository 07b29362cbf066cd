import { isJsonObject, isTooDeep, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../json.js';
import { refuse } from './refusal.js';
import type { PartSchema } from './webhook-config.js';

/** One part of a call. */
export type PartName = 'query' | 'headers' | 'body';

/**
 * What a part of a call has of what its schema declares, each in its declared type: texts are cast, what is optional and
 * missing is empty by its type, everything else is dropped. Names of headers are compared without regard to case.
 *
 * @throws EngineError BAD_REQUEST naming the field.
 */
export function castValues(part: PartName, schema: PartSchema, given: JsonObject): JsonObject {
  const names = new Map(Object.keys(given).map((name) => [keyOf(part, name), name]));
  for (const name of schema.required) {
    if (!names.has(keyOf(part, name))) throw refuse(`${part} missing required field: ${name}`);
  }
  return Object.fromEntries(
    [...schema.types].map(([name, type]): [string, Json] => {
      const source = names.get(keyOf(part, name));
      if (source === undefined) return [name, emptyOf(type)];
      const value = cast(`${part}.${name}`, type, given[source] ?? null);
      return [name, checked(`${part}.${name}`, type, value)];
    }),
  );
}

function keyOf(part: PartName, name: string): string {
  return part === 'headers' ? name.toLowerCase() : name;
}

function emptyOf(type: string): Json {
  switch (type) {
    case 'object':
      return {};
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 0;
    case 'string':
      return '';
    default:
      return type === 'file' || type.startsWith('array') ? [] : null;
  }
}

/** Only texts are cast: everything else has a type already. */
function cast(where: string, type: string, value: Json): Json {
  // A name that was given several times, where one value is meant.
  if (Array.isArray(value) && !type.startsWith('array') && type !== 'file' && where.startsWith('query.')) {
    return cast(where, type, (value[0] as Json | undefined) ?? null);
  }
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return castBoolean(where, value);
  if (type === 'number' || type === 'integer') return castNumber(where, value);
  return type === 'object' || type.startsWith('array') ? castJson(where, value) : value;
}

function castBoolean(where: string, text: string): boolean {
  const word = text.trim().toLowerCase();
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  throw refuse(`${where} auto-cast failed: ${JSON.stringify(text)} is no boolean`);
}

function castNumber(where: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw refuse(`${where} auto-cast failed: ${JSON.stringify(text)} is no number`);
}

function castJson(where: string, text: string): Json {
  const value = parse(text);
  if (value !== undefined && !isTooDeep(value)) return value;
  const problem = value === undefined ? 'is not valid JSON' : `has more than ${MAX_JSON_DEPTH} levels`;
  throw refuse(`${where} auto-cast failed: the text ${problem}`);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function checked(where: string, type: string, value: Json): Json {
  if (fits(type, value)) return value;
  throw refuse(`${where} type mismatch: expected ${type}, got ${nameOf(value)}`);
}

function fits(type: string, value: Json): boolean {
  const inner = /^array<(.+)>$/.exec(type)?.[1]?.trim();
  if (inner !== undefined) return Array.isArray(value) && (value as Json[]).every((item) => fits(inner, item));
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    default:
      // A file was parsed into a list; a type that nobody knows cannot be checked.
      return true;
  }
}

function nameOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
