import { jsonrepair } from 'jsonrepair';
import { EngineError } from '../errors.js';
import { isJsonObject, isTooDeep, type JsonObject } from '../json.js';

/** Longest text of arguments that is repaired, in UTF-16 units. */
const MAX_REPAIRED = 262_144;

/**
 * Arguments as a model wrote them: JSON, repaired where it nearly is; an empty text is no arguments.
 *
 * @throws EngineError TOOL_ARGUMENTS, in words for the model.
 */
export function readArguments(name: string, text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parse(text) ?? (text.length > MAX_REPAIRED ? undefined : parse(text, jsonrepair));
  if (isJsonObject(value) && !isTooDeep(value)) return value;
  const got = value === undefined ? 'text that is no JSON' : Array.isArray(value) ? 'a list' : typeof value;
  throw new EngineError('TOOL_ARGUMENTS', `The arguments of ${name} must be one JSON object; received ${got}.`);
}

function parse(text: string, repair: (text: string) => string = (given) => given): unknown {
  try {
    return JSON.parse(repair(text));
  } catch {
    return undefined;
  }
}
