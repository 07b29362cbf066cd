import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { difference, jsonDifferences } from './compare-json.js';

/** What a node ended with. */
export interface NodeEnd {
  readonly outputs: JsonObject;
  readonly error: string | null;
}

/**
 * Compares how a node ended: whether there was an error, and otherwise its outputs.
 *
 * Texts of errors are Python's own and not compared, except that an error which the scripted model was told to give
 * (`modelErrors`) must be mentioned.
 */
export function endDifferences(
  expected: NodeEnd,
  received: NodeEnd,
  type: string,
  path: string,
  modelErrors: readonly string[] = [],
): readonly string[] {
  const { error } = expected;
  if ((error === null) !== (received.error === null)) {
    return [difference(`${path}.error`, error, received.error)];
  }
  if (error === null) return outputDifferences(expected.outputs, received.outputs, type, `${path}.outputs`);
  const told = modelErrors.find((message) => error.includes(message));
  return told === undefined || received.error?.includes(told) === true
    ? []
    : [
        `${path}.error: expected a text that mentions ${JSON.stringify(told)}, received ${JSON.stringify(received.error)}`,
      ];
}

/** Compares the outputs of a node; `type` is undefined for those of a whole run, whose node is not known. */
export function outputDifferences(
  expected: JsonObject | null,
  received: JsonObject | null,
  type: string | undefined,
  path: string,
): readonly string[] {
  if (expected === null || received === null) return jsonDifferences(expected, received, path);
  const wanted = comparable(expected, type);
  const shown = comparable(received, type);
  // Display names are a courtesy; `_next` holds the ids.
  if (!Object.hasOwn(shown, 'next') && Object.hasOwn(wanted, '_next')) delete wanted.next;
  return jsonDifferences(wanted, shown, path);
}

/** Outputs without what traces leave out; that there is an error counts, its text does not. */
function comparable(outputs: JsonObject, type: string | undefined): Record<string, Json> {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(outputs)) {
    if (value === null || (name.startsWith('_') && name !== '_next' && name !== '_ERROR')) continue;
    if (name === 'markdown' && type === 'ExcelProcessor') continue;
    if (name === 'downloads' && Array.isArray(value) && value.length === 0 && (type ?? 'Message') === 'Message')
      continue;
    result[name] = name === '_ERROR' ? true : withoutFileIds(value);
  }
  return result;
}

function withoutFileIds(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutFileIds);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'doc_id');
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutFileIds(inner)]));
}
