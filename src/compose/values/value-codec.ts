import { isObservable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { ValueCodec } from '../../graph/typed.js';
import { isJsonObject, JSON_LIMITS, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../json.js';
import { invalidOption, requireList, requireObject, requireWhole } from '../../operators/invalid-option.js';
import { BY_PROTOTYPE, ERRORS, restoreBuiltIn, storedNumber } from './built-in-values.js';
import { type AnyValueDefinition, BUILT_IN_NAMES, type BuiltInName } from './define-value.js';

/** The most that one value may be. */
export interface ValueBounds {
  /** Levels of lists and objects. @default {@link MAX_JSON_DEPTH} */
  readonly maxDepth?: number;
  /** Values of any type in all; what several places share counts for each of them. @default {@link JSON_LIMITS}`.values` */
  readonly maxValues?: number;
  /** Characters of all texts and keys. @default 67,108,864 */
  readonly maxLength?: number;
}

const MAX_LENGTH = 64 * 1024 * 1024;

/** The key that says of an object that it stands for a value of a type. */
const TYPE = '$type';

/** A key that readers of JSON drop or refuse, since an assignment to it does not make a key. */
const PROTOTYPE = '__proto__';

/**
 * Makes a codec of definitions, which are tried in their order and before the built-in types.
 *
 * JSON stays as it is. A value of a type becomes `{ "$type": name, "value": … }`: undefined, NaN, infinities and -0 (`number`), `bigint`,
 * `date`, `map`, `set`, `bytes` (Uint8Array), `buffer`, `array-buffer`, `url`, `error`, and those with a definition. An object that has a key
 * `$type` of its own becomes one of type `object`, and one with a key `__proto__` the list of its entries under that type. Errors keep kind,
 * name, message, code, details and cause, without their stack.
 *
 * Everything else is refused, before anything is lost: instances of other classes, functions, symbols, promises, Observables, values that
 * contain themselves, and what is larger than the bounds. Values that several places share are stored for each of them.
 *
 * @throws EngineError `OPTION_INVALID` for two definitions with one name, for one with a built-in name, and for bounds that are none.
 */
export function valueCodec(definitions: readonly AnyValueDefinition[] = [], bounds: ValueBounds = {}): ValueCodec {
  requireList('valueCodec', 'definitions', definitions, 'a list of what defineValue(…) gives');
  requireObject('valueCodec', 'bounds', bounds);
  const byName = new Map<string, AnyValueDefinition>();
  for (const definition of definitions) {
    const { name } = definition;
    if (byName.has(name)) throw invalidOption('valueCodec', 'name', 'that of one definition only', name);
    if (isBuiltIn(name)) throw invalidOption('valueCodec', 'name', 'none of the built-in ones', name);
    byName.set(name, definition);
  }
  const { maxDepth = MAX_JSON_DEPTH, maxValues = JSON_LIMITS.values, maxLength = MAX_LENGTH } = bounds;
  for (const [name, bound] of Object.entries({ maxDepth, maxValues, maxLength })) {
    requireWhole('valueCodec', name, bound, 1);
  }
  const limits = { maxDepth, maxValues, maxLength };
  return {
    toJson(value, path = '$') {
      // What most edges carry beside objects stays as it is.
      if (typeof value === 'string' && value.length <= maxLength) return value;
      try {
        return new Storing(definitions, limits).store(value, 0) as Json;
      } catch (error) {
        throw withPath(error, path, 'VALUE_NOT_STORABLE');
      }
    },
    fromJson(json, path = '$') {
      try {
        // A number at the deepest level may have become an object.
        return restore(json, byName, limits.maxDepth + 1);
      } catch (error) {
        throw withPath(error, path, 'CHECKPOINT_INVALID');
      }
    },
  };
}

/** Something that cannot be stored or restored. Keys are added on the way up, so that the usual case pays nothing for paths. */
class Refusal extends Error {
  /** Innermost first. */
  readonly keys: (string | number)[] = [];
}

/** One value being stored. */
class Storing {
  private readonly definitions: readonly AnyValueDefinition[];
  private readonly limits: Required<ValueBounds>;
  private values = 0;
  private length = 0;

  constructor(definitions: readonly AnyValueDefinition[], limits: Required<ValueBounds>) {
    this.definitions = definitions;
    this.limits = limits;
  }

  store(value: unknown, depth: number): unknown {
    this.values += 1;
    if (this.values > this.limits.maxValues) throw new Refusal(`it has more than ${this.limits.maxValues} values`);
    switch (typeof value) {
      case 'string':
        this.count(value);
        return value;
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : typed('number', storedNumber(value));
      case 'object':
        if (value === null) return null;
        break;
      default:
    }
    if (depth >= this.limits.maxDepth) {
      throw new Refusal(`it has more than ${this.limits.maxDepth} levels, or contains itself`);
    }
    const { definitions } = this;
    for (let at = 0; at < definitions.length; at += 1) {
      const definition = definitions[at] as AnyValueDefinition;
      if (definition.is(value)) return this.storeDefined(definition, value, depth);
    }
    return typeof value === 'object' ? this.storeObject(value as object, depth) : storeRare(value);
  }

  private storeDefined(definition: AnyValueDefinition, value: unknown, depth: number): JsonObject {
    let json: unknown;
    try {
      json = definition.toJson(value);
    } catch (error) {
      throw refusalOf(`"toJson" of the definition "${definition.name}" failed`, error);
    }
    return typed(definition.name, this.store(json, depth + 1));
  }

  private storeObject(value: object, depth: number): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      const stored = this.storeFields(value as Readonly<Record<string, unknown>>, depth);
      if (Object.hasOwn(value, PROTOTYPE)) return typed('object', Object.entries(stored));
      return Object.hasOwn(value, TYPE) ? typed('object', stored) : stored;
    }
    if (prototype === Array.prototype) return this.storeItems(value as readonly unknown[], depth);
    const builtIn = BY_PROTOTYPE.get(prototype as object) ?? (value instanceof Error ? ERRORS : undefined);
    if (builtIn === undefined) throw new Refusal(describeObject(value));
    return typed(builtIn.name, this.store(builtIn.toStored(value as never), depth + 1));
  }

  private storeItems(items: readonly unknown[], depth: number): readonly unknown[] {
    let copy: unknown[] | undefined;
    let at = 0;
    try {
      for (; at < items.length; at += 1) {
        const item = items[at];
        const stored = this.store(item, depth + 1);
        if (copy !== undefined) copy.push(stored);
        else if (stored !== item || item === undefined) copy = [...items.slice(0, at), stored];
      }
    } catch (error) {
      throw inside(error, at);
    }
    return copy ?? items;
  }

  private storeFields(value: Readonly<Record<string, unknown>>, depth: number): object {
    const keys = Object.keys(value);
    let entries: [string, unknown][] | undefined;
    let key = '';
    try {
      for (let at = 0; at < keys.length; at += 1) {
        key = keys[at] as string;
        this.count(key);
        const field = value[key];
        const stored = this.store(field, depth + 1);
        if (entries !== undefined) entries.push([key, stored]);
        else if (stored !== field) {
          entries = keys.slice(0, at).map((before) => [before, value[before]]);
          entries.push([key, stored]);
        }
      }
    } catch (error) {
      throw inside(error, key);
    }
    const [symbol] = Object.getOwnPropertySymbols(value);
    if (symbol !== undefined) throw new Refusal(`it has a key that is a symbol, ${String(symbol)}`);
    // Defines each key, so that one called `__proto__` is a key like any other.
    return entries === undefined ? value : Object.fromEntries(entries);
  }

  private count(text: string): void {
    this.length += text.length;
    if (this.length > this.limits.maxLength) {
      throw new Refusal(`its texts have more than ${this.limits.maxLength} characters`);
    }
  }
}

function typed(name: string, value?: unknown): JsonObject {
  return (value === undefined ? { [TYPE]: name } : { [TYPE]: name, value }) as JsonObject;
}

/** Undefined, bigints, and what cannot be stored. */
function storeRare(value: unknown): JsonObject {
  if (value === undefined) return typed('undefined');
  if (typeof value === 'bigint') return typed('bigint', value.toString());
  if (typeof value === 'symbol') throw new Refusal(`it is ${String(value)}`);
  throw new Refusal(
    `it is a function${(value as { name: string }).name && ` called ${(value as { name: string }).name}`}`,
  );
}

function describeObject(value: object): string {
  if (isObservable(value)) return 'it is an Observable; store what it emits';
  if (typeof (value as { then?: unknown }).then === 'function') return 'it is a promise; await it first';
  const maker: unknown = Object.getPrototypeOf(value)?.constructor;
  const name = typeof maker === 'function' ? maker.name : '';
  return `it is an instance of ${name === '' ? 'a class without a name' : name}`;
}

function restore(json: unknown, definitions: ReadonlyMap<string, AnyValueDefinition>, depth: number): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (depth <= 0) throw new Refusal('it has too many levels');
  if (Array.isArray(json)) return restoreItems(json, definitions, depth);
  if (!Object.hasOwn(json, TYPE)) return restoreFields(json as JsonObject, definitions, depth);
  const { [TYPE]: name, value } = json as { readonly [TYPE]: unknown; readonly value?: unknown };
  if (name === 'object') {
    return restoreFields(fieldsOf(value), definitions, depth);
  }
  const definition = typeof name === 'string' ? definitions.get(name) : undefined;
  if (definition === undefined && !(typeof name === 'string' && isBuiltIn(name))) {
    throw new Refusal(`no value is defined under the name ${JSON.stringify(name)}; pass its definition`);
  }
  const stored = restore(value, definitions, depth - 1);
  try {
    return definition === undefined
      ? restoreBuiltIn(name as Exclude<BuiltInName, 'object'>, stored)
      : definition.fromJson(stored);
  } catch (error) {
    throw refusalOf(`what is stored cannot be made a value of type "${String(name)}"`, error);
  }
}

/** What is stored of an object by its type: its fields, or the list of its entries. */
function fieldsOf(stored: unknown): JsonObject {
  if (isJsonObject(stored)) return stored;
  if (Array.isArray(stored) && stored.every(isEntry)) return Object.fromEntries(stored);
  throw new Refusal('an object is stored there by its type, but there is none');
}

function isEntry(stored: unknown): stored is [string, Json] {
  return Array.isArray(stored) && stored.length === 2 && typeof stored[0] === 'string';
}

function restoreItems(
  items: readonly unknown[],
  definitions: ReadonlyMap<string, AnyValueDefinition>,
  depth: number,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  let at = 0;
  try {
    for (; at < items.length; at += 1) {
      const item = items[at];
      const restored = restore(item, definitions, depth - 1);
      if (copy !== undefined) copy.push(restored);
      else if (restored !== item) copy = [...items.slice(0, at), restored];
    }
  } catch (error) {
    throw inside(error, at);
  }
  return copy ?? items;
}

function restoreFields(
  value: JsonObject,
  definitions: ReadonlyMap<string, AnyValueDefinition>,
  depth: number,
): Readonly<Record<string, unknown>> {
  const keys = Object.keys(value);
  let entries: [string, unknown][] | undefined;
  let key = '';
  try {
    for (let at = 0; at < keys.length; at += 1) {
      key = keys[at] as string;
      const field = value[key];
      const restored = restore(field, definitions, depth - 1);
      if (entries !== undefined) entries.push([key, restored]);
      else if (restored !== field) {
        entries = keys.slice(0, at).map((before) => [before, value[before]]);
        entries.push([key, restored]);
      }
    }
  } catch (error) {
    throw inside(error, key);
  }
  return entries === undefined ? value : Object.fromEntries(entries);
}

const isBuiltIn = (name: string): boolean => (BUILT_IN_NAMES as readonly string[]).includes(name);

function inside(error: unknown, key: string | number): unknown {
  if (error instanceof Refusal) error.keys.push(key);
  return error;
}

function refusalOf(what: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const refusal = new Refusal(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  refusal.cause = error;
  return refusal;
}

function withPath(error: unknown, root: string, code: 'VALUE_NOT_STORABLE' | 'CHECKPOINT_INVALID'): unknown {
  if (!(error instanceof Refusal)) return error;
  const path = pathOf(root, error.keys);
  const message =
    code === 'VALUE_NOT_STORABLE'
      ? `${path} cannot be stored: ${error.message}. Store plain data there, or say how with defineValue({ name, is, toJson, fromJson }).`
      : `${path} cannot be restored: ${error.message}.`;
  return new EngineError(code, message, { details: { path }, cause: error.cause });
}

/** Keys of a path that is quoted; deeper ones are left out in the middle. */
const MAX_KEYS = 40;

function pathOf(root: string, keys: readonly (string | number)[]): string {
  let path = root;
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    if (keys.length > MAX_KEYS && at === keys.length - 1 - MAX_KEYS / 2) {
      path += '…';
      at = MAX_KEYS / 2 - 1;
    }
    const key = keys[at] as string | number;
    if (typeof key === 'number') path += `[${key}]`;
    else path += /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  }
  return path;
}
