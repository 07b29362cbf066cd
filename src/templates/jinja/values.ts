import { renderJson, renderNumber } from '../../dsl/render-value.js';
import { isJsonObject, type Json } from '../../json.js';
import type { Budget } from '../template-budget.js';

/** Marks what is not JSON; JSON data has no symbols, so no document can forge it. */
const SPECIAL = Symbol('special');

/** A value inside of a template: JSON, undefined for a name without a value, or a special value. */
export type Value = undefined | null | boolean | number | string | readonly Value[] | Dict | Special;

/** An object. */
export interface Dict {
  readonly [key: string]: Value;
}

/** The arguments of a call. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly keyword: ReadonlyMap<string, Value>;
}

/** A function, a namespace, `loop` or a group: what a template can hold besides JSON. It gives no access to the host. */
export interface Special {
  readonly [SPECIAL]: true;
  readonly name: string;
  readonly get?: (name: string) => Value;
  readonly set?: (name: string, value: Value) => void;
  readonly call?: (args: Arguments) => Value;
  readonly items?: readonly Value[];
}

/** Builds a special value. */
export function special(name: string, parts: Omit<Special, typeof SPECIAL | 'name'>): Special {
  return { [SPECIAL]: true, name, ...parts };
}

export function isSpecial(value: Value): value is Special {
  return typeof value === 'object' && value !== null && SPECIAL in value;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isDict(value: Value): value is Dict {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isSpecial(value);
}

/** Builds an object from entries; every key is an own property, `__proto__` too. */
export function dict(entries: Iterable<readonly [string, Value]>): Dict {
  return Object.fromEntries(entries);
}

/** Reads an own key; undefined when there is none. */
export function own(object: Dict, key: string): Value {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The keys and values of an object, charged for. */
export function entriesOf(object: Dict, budget: Budget): [string, Value][] {
  const entries = Object.entries(object);
  budget.visit(entries.length);
  return entries;
}

/** Names the type of a value in messages. */
export function typeName(value: Value): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'none';
  if (isSpecial(value)) return value.name;
  if (isList(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Python's truth: empty texts, lists and objects, zero, none and undefined are false. */
export function isTrue(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  if (isSpecial(value)) return value.items === undefined || value.items.length > 0;
  return isList(value) ? value.length > 0 : Object.keys(value).length > 0;
}

/** Gives the text of a value: nothing for none and undefined, JSON for lists, objects and booleans. */
export function toText(value: Value, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return renderNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (isSpecial(value) && value.items === undefined) return `<${value.name}>`;
  return budget.text(renderJson(toJson(value, budget)));
}

/** Gives a value as JSON; what is not JSON becomes null. Shared parts are charged at every occurrence. */
export function toJson(value: Value, budget: Budget): Json {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (isSpecial(value)) return value.items === undefined ? null : toJson(value.items, budget);
  return budget.nest(() => {
    if (isList(value)) {
      budget.visit(value.length);
      return value.map((item) => toJson(item, budget));
    }
    return Object.fromEntries(entriesOf(value, budget).map(([key, item]) => [key, toJson(item, budget)]));
  });
}

/** Gives the items that a loop over a value sees: items, keys of an object, characters of a text. */
export function toItems(value: Value, budget: Budget): readonly Value[] {
  if (value === undefined) return [];
  if (typeof value === 'string') {
    budget.reserve(value.length);
    budget.visit(value.length);
    return Array.from(value);
  }
  const items = isSpecial(value)
    ? value.items
    : isList(value)
      ? value
      : isJsonObject(value)
        ? Object.keys(value)
        : undefined;
  if (items === undefined) return budget.fail(`${typeName(value)} cannot be gone through item by item`);
  budget.visit(items.length);
  return items;
}

/** Counts characters of a text, items of a list or keys of an object, without going through items. */
export function sizeOf(value: Value, budget: Budget): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return countCharacters(budget.text(value));
  if (isList(value)) return value.length;
  if (isDict(value)) return Object.keys(value).length;
  if (isSpecial(value) && value.items !== undefined) return value.items.length;
  return budget.fail(`${typeName(value)} has no length`);
}

/** Characters as Python counts them: a pair of surrogates is one. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
      i++;
    }
  }
  return count;
}

/** Deep equality; numbers, booleans and texts are never equal to each other. */
export function isEqual(left: Value, right: Value, budget: Budget): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const leftItems = listOf(left);
  const rightItems = listOf(right);
  if (leftItems !== undefined && rightItems !== undefined) {
    if (leftItems.length !== rightItems.length) return false;
    budget.visit(leftItems.length);
    return budget.nest(() => leftItems.every((item, i) => isEqual(item, rightItems[i], budget)));
  }
  if (!isDict(left) || !isDict(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  budget.visit(keys.length);
  return budget.nest(() => keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key], budget)));
}

/** Orders numbers, texts and lists; negative when `left` comes first. Other pairs cannot be ordered. */
export function compareValues(left: Value, right: Value, budget: Budget): number {
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  const leftItems = listOf(left);
  const rightItems = listOf(right);
  if (leftItems !== undefined && rightItems !== undefined) return compareLists(leftItems, rightItems, budget);
  if (isNumeric(left) && isNumeric(right)) return Number(left) - Number(right);
  return budget.fail(`${typeName(left)} and ${typeName(right)} cannot be ordered`);
}

export function isNumeric(value: Value): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

function compareLists(left: readonly Value[], right: readonly Value[], budget: Budget): number {
  budget.visit(Math.min(left.length, right.length));
  return budget.nest(() => {
    for (let i = 0; i < left.length && i < right.length; i++) {
      const order = isEqual(left[i], right[i], budget) ? 0 : compareValues(left[i], right[i], budget);
      if (order !== 0) return order;
    }
    return left.length - right.length;
  });
}

function listOf(value: Value): readonly Value[] | undefined {
  if (isSpecial(value)) return value.items;
  return isList(value) ? value : undefined;
}
