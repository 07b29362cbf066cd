/** Arguments of a tool as a model wrote them. */
import { jsonrepair } from 'jsonrepair';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, jsonExcess, parseJson } from '../json.js';

/** Longest text of arguments that is repaired, in UTF-16 units. */
const MAX_REPAIRED = 65_536;

/** How arguments are read. */
export interface ReadArgumentsOptions {
  /** Whether text that nearly is JSON is made JSON: quotes, commas and brackets that are missing, comments, cut ends. @default true */
  readonly repair?: boolean;
}

/**
 * Arguments as a model wrote them: JSON, repaired where it nearly is; an empty text is no arguments.
 *
 * @throws EngineError TOOL_ARGUMENTS, in words for the model.
 */
export function readArguments(name: string, text: string, { repair = true }: ReadArgumentsOptions = {}): JsonObject {
  if (text.trim() === '') return {};
  const excess = jsonExcess(text);
  if (excess !== undefined) throw new EngineError('TOOL_ARGUMENTS', `The text of the arguments of ${name} ${excess}.`);
  const value = parseJson(text) ?? (repair && text.length <= MAX_REPAIRED ? repaired(text) : undefined);
  if (isJsonObject(value)) return value;
  const got = value === undefined ? 'text that is no JSON' : Array.isArray(value) ? 'a list' : typeof value;
  throw new EngineError('TOOL_ARGUMENTS', `The arguments of ${name} must be one JSON object; received ${got}.`);
}

function repaired(text: string): Json | undefined {
  try {
    return parseJson(jsonrepair(text));
  } catch {
    return undefined;
  }
}
