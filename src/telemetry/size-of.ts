import type { Json } from '../json.js';

/** Values that are looked at; a larger value is given as what was seen of it. */
const MAX_VALUES = 1_000;

/** About how many characters a value has as JSON: exact for texts but their escapes, never more work than a thousand values. */
export function sizeOf(value: Json | undefined): number {
  let left = MAX_VALUES;
  let size = 0;
  const open: Json[] = value === undefined ? [] : [value];
  while (open.length > 0 && left > 0) {
    left -= 1;
    const next = open.pop() as Json;
    if (typeof next === 'string') size += next.length + 2;
    else if (Array.isArray(next)) size += 2 + push(open, next, left);
    else if (typeof next === 'object' && next !== null) size += 2 + pushFields(open, next as object, left);
    else size += String(next).length;
  }
  return size;
}

function push(open: Json[], items: readonly Json[], most: number): number {
  const count = Math.min(items.length, most);
  for (let at = 0; at < count; at += 1) open.push(items[at] as Json);
  return count;
}

function pushFields(open: Json[], fields: object, most: number): number {
  let size = 0;
  let count = 0;
  for (const name in fields) {
    if (count >= most) break;
    if (!Object.hasOwn(fields, name)) continue;
    count += 1;
    size += name.length + 4;
    open.push((fields as Record<string, Json>)[name] as Json);
  }
  return size;
}
