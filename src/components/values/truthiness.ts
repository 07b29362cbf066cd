import type { Json } from '../../json.js';

/** Whether a value counts as there: everything but null, false, 0, empty texts, empty lists and empty objects. */
export function isTruthy(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}
