import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';

/** Longest value that a difference shows, in characters. */
const MAX_SHOWN = 400;

/** Where two JSON values differ, one line each: `nodes.m.outputs.content: expected "a", received "b"`. */
export function jsonDifferences(
  expected: Json | undefined,
  received: Json | undefined,
  path: string,
): readonly string[] {
  if (Array.isArray(expected) && Array.isArray(received)) return listDifferences(expected, received, path);
  if (isJsonObject(expected) && isJsonObject(received)) return objectDifferences(expected, received, path);
  return expected === received ? [] : [difference(path, expected, received)];
}

/** One line about a value that is not as expected. */
export function difference(path: string, expected: Json | undefined, received: Json | undefined): string {
  return `${path}: expected ${show(expected)}, received ${show(received)}`;
}

/** Whether two values are the same JSON: the order of keys does not matter, nor how a number is written. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  return jsonDifferences(left, right, '').length === 0;
}

function listDifferences(expected: readonly Json[], received: readonly Json[], path: string): readonly string[] {
  if (expected.length !== received.length) return [difference(path, expected, received)];
  return expected.flatMap((value, index) => jsonDifferences(value, received[index], `${path}[${index}]`));
}

function objectDifferences(expected: JsonObject, received: JsonObject, path: string): readonly string[] {
  const keys = new Set([...Object.keys(expected), ...Object.keys(received)]);
  return [...keys].flatMap((key) => jsonDifferences(own(expected, key), own(received, key), `${path}.${key}`));
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function show(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
}
