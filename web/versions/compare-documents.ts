/** What differs between two documents: components, their parameters, and where they lead. */
import type { Document, DocumentComponent } from '../../src/dsl/document.js';
import { resolverOf, targetsOf, type Way, waysOf } from '../../src/dsl/edit/index.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';

/** A value that differs; undefined where there is none. */
export interface ValueChange {
  /** Names and numbers with dots. */
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export interface ComponentChange {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly values: readonly ValueChange[];
}

export interface EdgeChange {
  readonly from: string;
  readonly to: string;
  /** Its name, such as that of a category; empty for what comes next. */
  readonly way: string;
  readonly kind: 'added' | 'removed';
}

export interface DocumentChanges {
  readonly components: readonly ComponentChange[];
  readonly edges: readonly EdgeChange[];
  /** Variables of the canvas. */
  readonly variables: readonly ValueChange[];
}

/** Values of a component that are compared one by one; a component with more is one difference. */
const MAX_VALUES = 200;

/** Where things stand on the canvas is no difference. */
export function compareDocuments(before: Document, after: Document): DocumentChanges {
  const ids = [...new Set([...Object.keys(before.components), ...Object.keys(after.components)])];
  const components = ids.flatMap((id) => changeOf(before.components[id], after.components[id]) ?? []);
  const [had, has] = [edgesOf(before), edgesOf(after)];
  const removed = [...had]
    .filter(([key]) => !has.has(key))
    .map(([, edge]): EdgeChange => ({ ...edge, kind: 'removed' }));
  const added = [...has].filter(([key]) => !had.has(key)).map(([, edge]): EdgeChange => ({ ...edge, kind: 'added' }));
  return { components, edges: [...removed, ...added], variables: valueChanges(before.variables, after.variables) };
}

function changeOf(
  before: DocumentComponent | undefined,
  after: DocumentComponent | undefined,
): ComponentChange | undefined {
  const one = after ?? before;
  if (one === undefined) return undefined;
  const { id, name, type } = one;
  if (before === undefined || after === undefined) {
    return { id, name, type, kind: before === undefined ? 'added' : 'removed', values: [] };
  }
  const values = [
    ...valueChanges({ name: before.name, type: before.type }, { name: after.name, type: after.type }),
    ...valueChanges({ body: before.parent ?? null }, { body: after.parent ?? null }),
    ...valueChanges(before.params, after.params),
  ];
  return values.length === 0 ? undefined : { id, name, type, kind: 'changed', values };
}

/** Differences between two objects, as deep as they are objects. */
export function valueChanges(before: JsonObject, after: JsonObject): readonly ValueChange[] {
  const found: ValueChange[] = [];
  const compare = (one: Json | undefined, other: Json | undefined, path: readonly string[]): void => {
    if (found.length >= MAX_VALUES || one === other) return;
    const [own, next] = [partsOf(one), partsOf(other)];
    if (own === undefined || next === undefined || Array.isArray(one) !== Array.isArray(other)) {
      if (JSON.stringify(one) !== JSON.stringify(other))
        found.push({ path: path.join('.'), before: one, after: other });
      return;
    }
    for (const name of new Set([...own.keys(), ...next.keys()]))
      compare(own.get(name), next.get(name), [...path, name]);
  };
  compare(before, after, []);
  return found;
}

function partsOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (Array.isArray(value)) return new Map((value as readonly Json[]).map((one, at) => [String(at), one]));
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

function edgesOf(document: Document): ReadonlyMap<string, Omit<EdgeChange, 'kind'>> {
  const resolve = resolverOf(document);
  const nameOf = (id: string): string => document.components[id]?.name ?? id;
  const edges = new Map<string, Omit<EdgeChange, 'kind'>>();
  for (const component of Object.values(document.components)) {
    for (const way of waysOf(component)) {
      const name = wayName(way);
      for (const to of targetsOf(component, way, resolve)) {
        edges.set(JSON.stringify([component.id, name, to]), { from: component.name, to: nameOf(to), way: name });
      }
    }
  }
  return edges;
}

function wayName(way: Way): string {
  if (way.kind === 'case') return `case ${way.index + 1}`;
  if (way.kind === 'category') return way.name;
  return way.kind === 'next' ? '' : way.kind;
}
