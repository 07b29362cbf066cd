/** Values that `runnel run` is given as text. */
import type { Document } from '../dsl/document.js';
import { EngineError } from '../errors.js';
import { isJsonObject, isTooDeep, type Json, type JsonObject, MAX_JSON_DEPTH } from '../json.js';

/**
 * The value of `--inputs`.
 *
 * @throws EngineError USAGE when it is no JSON object.
 */
export function parseInputs(text: string): JsonObject {
  const value = parseJson(text);
  if (value !== undefined && isTooDeep(value)) {
    throw new EngineError('USAGE', `--inputs has more than ${MAX_JSON_DEPTH} levels of lists and objects.`);
  }
  if (value !== undefined && isJsonObject(value)) return value;
  throw new EngineError('USAGE', `--inputs takes a JSON object such as {"city": "Oslo"}; received ${text}`);
}

/**
 * The values of `--env`, under `env.NAME` and of the type that the document declares for the variable (text when it declares none).
 *
 * @throws EngineError USAGE for what is not NAME=VALUE, or a value of another type.
 */
export function parseVariables(pairs: readonly string[], { variables }: Pick<Document, 'variables'>): JsonObject {
  const entries = pairs.map((pair): [string, Json] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new EngineError('USAGE', `--env takes NAME=VALUE; received ${JSON.stringify(pair)}`);
    const name = pair.slice(0, at);
    const declared = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const type = declared !== undefined && isJsonObject(declared) ? declared.type : undefined;
    return [`env.${name}`, valueOfType(typeof type === 'string' ? type : '', name, pair.slice(at + 1))];
  });
  return Object.fromEntries(entries);
}

function valueOfType(type: string, name: string, text: string): Json {
  const isOfType = TYPES.find(([prefix]) => type.trim().toLowerCase().startsWith(prefix))?.[1];
  if (isOfType === undefined) return text;
  const value = parseJson(text);
  if (value !== undefined && isOfType(value)) return value;
  throw new EngineError(
    'USAGE',
    `--env ${name} takes a value of type ${type}, as JSON; received ${JSON.stringify(text)}`,
  );
}

/** Declared types that are not text, by how their names begin (`array<string>` …). */
const TYPES: readonly (readonly [prefix: string, isOfType: (value: Json) => boolean])[] = [
  ['number', (value) => typeof value === 'number'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', Array.isArray],
];

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
