import { isJsonObject, type Json } from '../json.js';

/** A value inside of a template: JSON, undefined, or {@link Names}. */
export type HandlebarsValue = Json | undefined | Names;

/** Names that are looked up when they are asked for, such as those of a canvas. */
export class Names {
  constructor(readonly get: (name: string) => HandlebarsValue) {}
}

/** The data of a block (`@index`, `@key`, `@root` …) and that around it. */
export interface Data {
  readonly values: ReadonlyMap<string, HandlebarsValue>;
  readonly parent: Data | undefined;
}

/** Where a program runs: its context, its data, the names that its blocks gave, and the partials that it can see. */
export interface Frame {
  readonly context: HandlebarsValue;
  readonly parent: Frame | undefined;
  readonly data: Data;
  readonly blockNames: ReadonlyMap<string, HandlebarsValue>;
  readonly partials: ReadonlyMap<string, Partial>;
}

/** A piece of the template that was given a name, with the partials that it can see itself. */
export interface Partial {
  readonly program: hbs.AST.Program;
  readonly partials: ReadonlyMap<string, Partial>;
}

/** Follows a path such as `../user.[first name]` or `@index`; own keys, positions and `length` only. */
export function readHandlebarsPath(path: hbs.AST.PathExpression, frame: Frame): HandlebarsValue {
  const [first, ...rest] = path.parts;
  if (path.data) {
    let data: Data | undefined = frame.data;
    for (let i = 0; i < path.depth; i++) data = data?.parent;
    return follow(findData(data, first ?? ''), rest);
  }
  if (path.depth === 0 && first !== undefined && !isScoped(path) && frame.blockNames.has(first)) {
    return follow(frame.blockNames.get(first), rest);
  }
  let outer: Frame | undefined = frame;
  for (let i = 0; i < path.depth; i++) outer = outer?.parent;
  return follow(outer?.context, path.parts);
}

/** Reads one own key or position. */
export function readMember(object: HandlebarsValue, key: string): HandlebarsValue {
  if (object instanceof Names) return object.get(key);
  if (Array.isArray(object) || typeof object === 'string') {
    if (key === 'length') return object.length;
    return /^\d{1,15}$/.test(key) ? object[Number(key)] : undefined;
  }
  return isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether a path is bound to the context on purpose: `./if` and `this.if` are never helpers. */
export function isScoped(path: hbs.AST.PathExpression): boolean {
  return /^(?:\.|this\b)/.test(path.original);
}

/** Handlebars' truth for `if`: empty texts and lists, zero, null and undefined are false. */
export function isEmpty(value: HandlebarsValue, includeZero = false): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !value && !(includeZero && value === 0);
}

function findData(from: Data | undefined, name: string): HandlebarsValue {
  for (let data = from; data !== undefined; data = data.parent) {
    if (data.values.has(name)) return data.values.get(name);
  }
  return undefined;
}

function follow(root: HandlebarsValue, parts: readonly string[]): HandlebarsValue {
  return parts.reduce(readMember, root);
}
