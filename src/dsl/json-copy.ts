import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { IssueList, PathStep } from './issues.js';

/** Deepest nesting of lists and objects a document may have. */
const MAX_DEPTH = 200;

/** Most values (of any kind, at any depth) a document may have; one of 2 MiB with more has fewer than 42 characters for each. */
export const MAX_VALUES = 50_000;

/** What to do while copying; both are optional. */
export interface CopyOptions {
  /** Collects everything that could not be copied. */
  readonly issues?: IssueList;
  /** Applied to every text value (never to keys). */
  readonly rewrite?: (text: string) => string;
}

/**
 * Copies a value deeply into plain JSON; the input is never changed and never shared.
 *
 * A key `__proto__` is left out, what is no JSON (functions, `NaN`, circles) becomes null, and so does everything
 * below `MAX_DEPTH` levels; each is reported. What follows `MAX_VALUES` values is left out, which is reported once. Never throws;
 * linear in the size of the value.
 */
export function copyJson(value: unknown, options: CopyOptions = {}): Json {
  const { issues, rewrite } = options;
  const trail: PathStep[] = [];
  const ancestors = new Set<object>();
  let values = 0;

  const copy = (source: unknown): Json => {
    values += 1;
    if (values > MAX_VALUES) {
      if (values === MAX_VALUES + 1)
        issues?.error('too-large', [], `the document has more than ${MAX_VALUES} values, which is the most`);
      return null;
    }
    if (typeof source === 'string') return rewrite === undefined ? source : rewrite(source);
    if (source === null || typeof source === 'boolean') return source;
    if (typeof source === 'number' && Number.isFinite(source)) return source;
    if (typeof source !== 'object') {
      issues?.error('not-json-value', trail, `a ${typeof source} that JSON cannot hold was read as null`);
      return null;
    }
    return copyContainer(source);
  };

  const copyContainer = (source: object): Json => {
    if (ancestors.has(source)) {
      issues?.error('not-json-value', trail.slice(0, 5), 'a value contains itself; the inner one was read as null');
      return null;
    }
    if (trail.length >= MAX_DEPTH) {
      issues?.error('too-deep', trail.slice(0, 5), `the value nests deeper than ${MAX_DEPTH} levels; flatten it`);
      return null;
    }
    ancestors.add(source);
    const result = Array.isArray(source) ? copyList(source) : copyObject(source);
    ancestors.delete(source);
    return result;
  };

  const copyList = (source: readonly unknown[]): Json => {
    const result: Json[] = [];
    for (let index = 0; index < source.length && values <= MAX_VALUES; index += 1) {
      trail.push(index);
      result.push(copy(source[index]));
      trail.pop();
    }
    return result;
  };

  const copyObject = (source: object): Json => {
    const result: Record<string, Json> = {};
    for (const key of Object.keys(source)) {
      if (values > MAX_VALUES) break;
      const item = (source as Record<string, unknown>)[key];
      if (item === undefined) continue;
      trail.push(key);
      if (key === '__proto__') issues?.error('unsafe-key', trail, 'the key "__proto__" is not allowed; rename it');
      else result[key] = copy(item);
      trail.pop();
    }
    return result;
  };

  return copy(value);
}

/** The value of an own key, or undefined. */
export function ownValue(source: unknown, key: string): Json | undefined {
  return isJsonObject(source) && Object.hasOwn(source, key) ? source[key] : undefined;
}

/** The value of an own key when it is an object, else undefined. */
export function ownObject(source: unknown, key: string): JsonObject | undefined {
  const value = ownValue(source, key);
  return isJsonObject(value) ? value : undefined;
}

/** The value of an own key when it is a list, else an empty one. */
export function ownList(source: unknown, key: string): readonly Json[] {
  const value = ownValue(source, key);
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** The value of an own key when it is a text that is not empty, else undefined. */
export function ownText(source: unknown, key: string): string | undefined {
  const value = ownValue(source, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The texts of a list that are not empty. */
export function ownTexts(source: unknown, key: string): string[] {
  return ownList(source, key).filter((item): item is string => typeof item === 'string' && item !== '');
}

/** All texts in a value, at any depth, in order; without recursion, because documents may be deep. */
export function textsIn(value: Json): string[] {
  const texts: string[] = [];
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) open.push(...Object.values(next).reverse());
  }
  return texts;
}

/** A shallow copy without the named keys. */
export function omitKeys(source: JsonObject, keys: ReadonlySet<string>): Record<string, Json> {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(source)) {
    if (!keys.has(key) && key !== '__proto__') result[key] = value;
  }
  return result;
}

/** A deep copy whose object keys are in alphabetical order at every level. */
export function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortKeys);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}
