import type { Json } from '../../json.js';

/** The six kinds of JSON value, as messages name them. */
export type JsonKind = 'null' | 'boolean' | 'number' | 'text' | 'list' | 'object';

/** Names the kind of a value. */
export function jsonKind(value: Json): JsonKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  return typeof value as 'boolean' | 'number' | 'object';
}
