/** Types of values, as the contract of a script's result names them. */
import type { Json } from '../../../json.js';

/** The type of a value: `String`, `Number`, `Boolean`, `Object`, `Null` or `Array<…>`; mixed and empty lists are `Array<Any>`. */
export function inferType(value: Json): string {
  if (value === null) return 'Null';
  if (!Array.isArray(value)) return NAMES[typeof value] ?? 'Any';
  const types = new Set(value.map(inferType));
  const [only] = types;
  return `Array<${types.size === 1 ? only : 'Any'}>`;
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'String',
  number: 'Number',
  boolean: 'Boolean',
  object: 'Object',
};

/**
 * Says where a value is not of the expected type; undefined when it is.
 *
 * Names are read without regard to case; an empty one and `Any` accept everything. Unknown names accept nothing.
 */
export function findMismatch(value: Json, expected: string, path = ''): string | undefined {
  const type = expected.trim().toLowerCase();
  if (type === '' || type === 'any') return undefined;
  const [, item] = /^(?:array|list)<(.*)>$/.exec(type) ?? (type === 'array' ? ['', 'any'] : []);
  if (item === undefined) {
    return inferType(value).toLowerCase() === type ? undefined : mismatch(path, expected, value);
  }
  if (!Array.isArray(value)) return mismatch(path, expected, value);
  for (const [at, entry] of value.entries()) {
    const found = findMismatch(entry, item, `${path}[${at}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function mismatch(path: string, expected: string, value: Json): string {
  const where = path === '' ? 'value' : path;
  return `CodeExec contract mismatch at ${where}: expected type ${canonical(expected)}, got ${inferType(value)}`;
}

const CANONICAL: Readonly<Record<string, string>> = {
  string: 'String',
  number: 'Number',
  boolean: 'Boolean',
  object: 'Object',
  null: 'Null',
  any: 'Any',
  array: 'Array<Any>',
};

/** A type as it is written: `array<string>` is `Array<String>`. */
function canonical(type: string): string {
  const name = type.trim().toLowerCase();
  const [, item] = /^(?:array|list)<(.*)>$/.exec(name) ?? [];
  if (item !== undefined) return `Array<${canonical(item)}>`;
  return Object.hasOwn(CANONICAL, name) ? (CANONICAL[name] as string) : type.trim();
}
