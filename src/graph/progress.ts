/** What a node wants kept while it is at work: outputs, items of lists that grow, a nodeState. */
import type { Json } from '../json.js';
import type { Outputs, Progress } from './node-events.js';
import type { Token } from './token.js';

/** Puts a progress where others read it, and where a resumed run finds it. */
export function keepProgress(token: Token, { outputs, append, nodeState }: Omit<Progress, 'type'>): void {
  const { cells } = token.frame.values;
  if (outputs !== undefined) cells.set(token.node, outputs);
  if (append !== undefined) cells.set(token.node, appended(token, cells.get(token.node) ?? {}, append));
  if (nodeState !== undefined) token.nodeState = nodeState;
}

function appended(token: Token, before: Outputs, append: Outputs): Outputs {
  const after = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(before)) as Outputs;
  token.lists ??= new Map();
  for (const [name, item] of Object.entries(append)) {
    const isOurs = Object.getOwnPropertyDescriptor(before, name)?.get !== undefined;
    let list = isOurs ? token.lists.get(name) : undefined;
    if (list === undefined) {
      const existing = Object.hasOwn(before, name) ? before[name] : undefined;
      list = Array.isArray(existing) ? [...(existing as readonly Json[])] : [];
      token.lists.set(name, list);
    }
    list.push(item);
    defineListSoFar(after, name, list);
  }
  return after;
}

/**
 * A property with the items that `list` holds now; the list only grows. The copy is made when the property is read: a copy at
 * every round would be five billion items for a hundred thousand rounds.
 */
function defineListSoFar(target: object, name: string, list: readonly Json[]): void {
  const { length } = list;
  Object.defineProperty(target, name, { enumerable: true, configurable: true, get: () => list.slice(0, length) });
}
