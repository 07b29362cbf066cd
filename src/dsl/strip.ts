import type { Json, JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import { ownObject } from './json-copy.js';

/** Sets in which RAGFlow's Python classes keep notes about parameters; they mean nothing outside that process. */
export const LEGACY_SETS: ReadonlySet<string> = new Set([
  '_feeded_deprecated_params',
  '_deprecated_params',
  '_user_feeded_params',
  '_is_raw_conf',
]);

/**
 * Takes RAGFlow's bookkeeping out of parameters, at every level, and `custom_header` out of a component's own
 * parameters and those of its tools: headers belong to one run and are never stored.
 *
 * The input must be a copy already (`copyJson`): parts that need no change are shared.
 */
export function stripParams(params: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(params)) {
    if (LEGACY_SETS.has(key) || key === 'custom_header') continue;
    result[key] =
      key === 'tools' && Array.isArray(value) ? (value as readonly Json[]).map(stripTool) : stripSets(value);
  }
  return result;
}

function stripTool(tool: Json): Json {
  const params = ownObject(tool, 'params');
  const stripped = stripSets(tool);
  return params === undefined || !isJsonObject(stripped) ? stripped : { ...stripped, params: stripParams(params) };
}

function stripSets(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(stripSets);
  if (!isJsonObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!LEGACY_SETS.has(key)) result[key] = stripSets(item);
  }
  return result;
}
