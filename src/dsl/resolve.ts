/** Values by reference: reading, interpolating, and writing along a path. */
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json.js';
import { type AliasName, parseReference, type Reference, splitTemplate } from './reference.js';
import { renderValue } from './render-value.js';
import { wrongValue } from './wrong-value.js';

/**
 * What reading a reference gave.
 *
 * `unset`: declared, no value yet. `undeclared`: the component exists, the output does not.
 * `unresolved`: no such component, variable or alias here.
 */
export type Lookup =
  | { readonly status: 'found'; readonly value: Json }
  | { readonly status: 'unset' }
  | { readonly status: 'undeclared' }
  | { readonly status: 'unresolved' };

/** Where values come from; `variable` takes the exact key, such as `sys.query`. */
export interface ValueSource {
  output(component: string, name: string): Lookup;
  variable(key: string): Lookup;
  alias(name: AliasName): Lookup;
}

/** How references in texts are replaced. */
export interface InterpolateOptions {
  /** Gives the text of a value; default {@link renderValue}. */
  readonly render?: (value: Json, reference: Reference) => string;
  /** Called with every reference that names nothing (`unresolved`, `undeclared`), which then reads as empty text. */
  readonly onUnresolved?: (reference: Reference, lookup: Lookup) => void;
}

const UNRESOLVED: Lookup = { status: 'unresolved' };
const INTEGER = /^-?\d{1,15}$/;

/** Longest text that is parsed as JSON when a path leads into it, in UTF-16 units. */
const MAX_JSON_TEXT = 1_048_576;

/**
 * Reads a reference: the root value from `source`, then its path.
 *
 * A variable is looked up under its exact key first, then under ever shorter keys with the rest as a path
 * (`env.user.name` in `env.user`). A path that leads nowhere gives null.
 */
export function readReference(reference: Reference, source: ValueSource): Lookup {
  if (!isJsonObject(reference))
    throw wrongValue('readReference', 'reference', 'what parseReference(…) gives', reference);
  switch (reference.kind) {
    case 'output':
      return follow(source.output(reference.component, reference.name), reference.path);
    case 'alias':
      return follow(source.alias(reference.name), reference.path);
    case 'variable':
      return readVariable(reference.key, source);
  }
}

/**
 * Gives the value of a lookup for readers that need a value instead of a text: an output that its node does not have is the
 * empty text, as in RAGFlow; what has no value yet, and a path that leads nowhere, is null.
 */
export function typedValue(reference: Reference, lookup: Lookup): Json {
  if (lookup.status === 'found') return lookup.value;
  const isOutput = reference.kind === 'output' && reference.path.length === 0;
  return lookup.status === 'undeclared' && isOutput ? '' : null;
}

/** The value that was found; null without one. */
export function foundValue(lookup: Lookup | undefined): Json {
  return lookup?.status === 'found' ? lookup.value : null;
}

/** Reads a parameter that holds one reference and nothing else; `unresolved` when it does not. */
export function readText(text: string, source: ValueSource): Lookup {
  const reference = parseReference(text);
  return reference === undefined ? UNRESOLVED : readReference(reference, source);
}

/**
 * Walks dot segments from a value: own keys of objects, positions of lists (negative ones from the end), and texts
 * of up to 1 MiB that hold JSON. Gives null where the path leads nowhere.
 */
export function readPath(root: Json, path: readonly string[]): Json {
  let current = root;
  for (const segment of path) {
    if (typeof current === 'string') current = parseJsonText(current);
    if (Array.isArray(current)) current = itemAt(current, segment);
    else if (isJsonObject(current)) current = Object.hasOwn(current, segment) ? (current[segment] ?? null) : null;
    else return null;
  }
  return current;
}

/**
 * Gives the value of a parameter by the three-way rule: a text that is one reference keeps the type of what it names,
 * a text that contains references is interpolated, everything else is itself.
 *
 * Lists and objects are not searched. Aliases need braces here, as `item` alone is an ordinary word.
 */
export function resolveParam(value: Json, source: ValueSource, options: InterpolateOptions = {}): Json {
  if (typeof value !== 'string') return value;
  const whole = parseReference(value);
  if (whole === undefined || (whole.kind === 'alias' && !value.includes('{')))
    return interpolate(value, source, options);
  const lookup = readReference(whole, source);
  if (lookup.status === 'unresolved') return interpolate(value, source, options);
  if (lookup.status === 'undeclared') options.onUnresolved?.(whole, lookup);
  return typedValue(whole, lookup);
}

/** A copy of a value in which `read` has replaced the texts, at any depth; other values stay. */
export function mapTexts(value: Json, read: (text: string) => Json): Json {
  if (typeof value === 'string') return read(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, read));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, read)]));
}

/**
 * Replaces every reference in a text by the text of its value. A value is never searched for references again.
 *
 * What names nothing reads as empty text and is reported; an alias outside of a body stays as it is written.
 */
export function interpolate(text: string, source: ValueSource, options: InterpolateOptions = {}): string {
  if (typeof text !== 'string') throw wrongValue('interpolate', 'text', 'a text', text);
  let result = '';
  for (const part of splitTemplate(text)) {
    result += part.kind === 'text' ? part.text : textOf(part.reference, part.text, source, options);
  }
  return result;
}

/** Gives the text that stands for one reference; `written` is how it stands in the template. */
export function textOf(
  reference: Reference,
  written: string,
  source: ValueSource,
  options: InterpolateOptions = {},
): string {
  const lookup = readReference(reference, source);
  switch (lookup.status) {
    case 'found':
      return options.render === undefined ? renderValue(lookup.value) : options.render(lookup.value, reference);
    case 'unset':
      return '';
    case 'unresolved':
      if (reference.kind === 'alias') return written;
  }
  options.onUnresolved?.(reference, lookup);
  return '';
}

function readVariable(key: string, source: ValueSource): Lookup {
  const exact = source.variable(key);
  if (exact.status !== 'unresolved') return exact;
  // Below the second dot nothing is left of the key but its namespace.
  const firstDot = key.indexOf('.');
  for (let dot = key.lastIndexOf('.'); dot > firstDot; dot = key.lastIndexOf('.', dot - 1)) {
    const lookup = source.variable(key.slice(0, dot));
    if (lookup.status !== 'unresolved') return follow(lookup, key.slice(dot + 1).split('.'));
  }
  return exact;
}

function follow(lookup: Lookup, path: readonly string[]): Lookup {
  if (lookup.status !== 'found' || path.length === 0) return lookup;
  return { status: 'found', value: readPath(lookup.value, path) };
}

function itemAt(list: readonly Json[], segment: string): Json {
  if (!INTEGER.test(segment)) return null;
  const position = Number(segment);
  return list[position < 0 ? position + list.length : position] ?? null;
}

function parseJsonText(text: string): Json {
  return text.length > MAX_JSON_TEXT ? null : (parseJson(text) ?? null);
}

const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const POSITION = /^-?\d{1,9}$/;

/**
 * Gives a copy of `root` in which the value at `path` is `value`; everything beside the path is shared, nothing is mutated.
 *
 * Whatever on the way is neither an object nor a list is replaced by an empty object. A list takes an integer segment:
 * negative ones count from the end, the list's own length appends. An empty path gives `value` itself.
 *
 * @throws EngineError `REFERENCE_READ_ONLY` for the keys `__proto__`, `constructor` and `prototype`,
 * `REFERENCE_UNRESOLVED` for a list position that does not exist.
 */
export function writePath(root: Json | undefined, path: readonly string[], value: Json): Json {
  const refused = path.find((segment) => REFUSED_KEYS.has(segment));
  if (refused !== undefined) {
    throw new EngineError(
      'REFERENCE_READ_ONLY',
      `The path "${path.join('.')}" has the key "${refused}", which cannot be written. Use another name.`,
    );
  }
  return writeFrom(root, path, 0, value);
}

function writeFrom(current: Json | undefined, path: readonly string[], depth: number, value: Json): Json {
  const segment = path[depth];
  if (segment === undefined) return value;
  if (Array.isArray(current)) return writeItem(current, path, depth, value);
  const object: JsonObject = isJsonObject(current) ? current : {};
  const child = Object.hasOwn(object, segment) ? object[segment] : undefined;
  return { ...object, [segment]: writeFrom(child, path, depth + 1, value) };
}

function writeItem(list: readonly Json[], path: readonly string[], depth: number, value: Json): Json {
  const segment = path[depth] as string;
  const position = POSITION.test(segment) ? Number(segment) : Number.NaN;
  const index = position < 0 ? position + list.length : position;
  if (!(index >= 0 && index <= list.length)) {
    throw new EngineError(
      'REFERENCE_UNRESOLVED',
      `The path "${path.join('.')}" leads to a list of ${list.length} items, where "${segment}" is no position. Use 0 to ${list.length}.`,
    );
  }
  const copy = list.slice();
  copy[index] = writeFrom(list[index], path, depth + 1, value);
  return copy;
}
