import { dictMethod } from './dict-methods.js';
import type { Runtime } from './runtime.js';
import { textMethod } from './text-methods.js';
import { isDict, isList, isSpecial, own, type Special, typeName, type Value } from './values.js';

/** Reads `object.name`: an own key, else a method; `called` says that a call follows, which turns the order round. */
export function getAttribute(object: Value, name: string, called: boolean, run: Runtime): Value {
  if (object === undefined) return run.budget.fail(`"${name}" cannot be read from a value that is undefined`);
  if (isSpecial(object)) return object.get?.(name);
  const method = called || !isDict(object) ? methodOf(object, name, run) : undefined;
  if (method !== undefined || !isDict(object)) return method;
  return Object.hasOwn(object, name) ? object[name] : methodOf(object, name, run);
}

/** Reads `object[key]`: an own key, or a position, negative ones from the end. */
export function getItem(object: Value, key: Value, run: Runtime): Value {
  if (object === undefined) return run.budget.fail(`an item of a value that is undefined cannot be read`);
  if (typeof key === 'string' && isSpecial(object) && object.get !== undefined) return object.get(key);
  if (isDict(object)) return typeof key === 'string' || typeof key === 'number' ? own(object, String(key)) : undefined;
  if (typeof key !== 'number' || !Number.isInteger(key)) return undefined;
  if (typeof object === 'string') return characterAt(object, key, run);
  const items = isSpecial(object) ? object.items : isList(object) ? object : undefined;
  return items?.[key < 0 ? key + items.length : key];
}

/** Reads a dotted path such as `user.names.0`, as the `attribute` argument of filters takes it. */
export function getPath(object: Value, path: Value, run: Runtime): Value {
  if (typeof path === 'number') return getItem(object, path, run);
  if (typeof path !== 'string') return run.budget.fail(`an attribute is named by a text, not by ${typeName(path)}`);
  let current = object;
  for (const part of path.split('.')) {
    if (current === undefined) return undefined;
    run.budget.spend();
    current = getItem(current, /^\d+$/.test(part) && !isDict(current) ? Number(part) : part, run);
  }
  return current;
}

function methodOf(object: Value, name: string, run: Runtime): Special | undefined {
  if (typeof object === 'string') return textMethod(object, name, run);
  return isDict(object) || isList(object) ? dictMethod(object, name, run) : undefined;
}

function characterAt(text: string, position: number, run: Runtime): Value {
  // Without surrogates a position in UTF-16 is a position in characters.
  if (!/[\ud800-\udfff]/.test(text)) return text[position < 0 ? position + text.length : position];
  run.budget.reserveItems(text.length);
  const characters = Array.from(text);
  return characters[position < 0 ? position + characters.length : position];
}
