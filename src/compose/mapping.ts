/** How an input is put together of references and values: read once when a workflow is built, carried out when it runs. */
import { EngineError } from '../errors.js';
import { planError } from './graph-options.js';
import { isStep } from './make-step.js';
import { follow, type Place, pathOf, placeOf } from './reference.js';
import type { Arrived, FieldMapping, InputRule } from './step.js';

/** An input as it was written, in a form that is quick to carry out. */
export type Template =
  | { readonly type: 'reference'; readonly place: Place }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'object'; readonly entries: readonly (readonly [key: string, template: Template])[] }
  | { readonly type: 'list'; readonly items: readonly Template[] };

/** Objects in objects; deeper ones are a mistake. */
const MAX_DEPTH = 100;

/** A chunk that has no part in a piece. */
const ABSENT = Symbol('absent');

/**
 * Reads an input as it was written. `owner` begins messages: `Workflow "report", node "write"`.
 *
 * @throws EngineError PLAN_INVALID for a spread reference, a step or a promise in the place of a value, an object inside itself.
 */
export function readTemplate(owner: string, written: unknown): Template {
  return read(owner, written, [], new Set());
}

/** The places that a template refers to. */
export function placesIn(template: Template): readonly Place[] {
  if (template.type === 'reference') return [template.place];
  if (template.type === 'value') return [];
  const parts = template.type === 'list' ? template.items : template.entries.map(([, part]) => part);
  return parts.flatMap(placesIn);
}

/** The same template with other places. */
export function withPlaces(template: Template, change: (place: Place) => Place): Template {
  switch (template.type) {
    case 'value':
      return template;
    case 'reference':
      return { ...template, place: change(template.place) };
    case 'list':
      return { ...template, items: template.items.map((part) => withPlaces(part, change)) };
    case 'object':
      return { ...template, entries: template.entries.map(([key, part]) => [key, withPlaces(part, change)] as const) };
  }
}

/** The rule that a template is. `reads`: ids of the nodes whose values it takes without an edge. */
export function templateRule(owner: string, node: string, template: Template, reads: readonly string[]): InputRule {
  const whole = (arrived: Arrived): unknown => wholeOf(template, arrived, owner, node);
  const first = staticPart(template);
  return {
    whole,
    ...(isPiecewise(template) ? { piece: (from, chunk) => pieceOf(template, from, chunk) } : {}),
    ...(first === ABSENT ? {} : { first: () => [copyOf(first)] }),
    ...(reads.length === 0 ? {} : { reads }),
    mappings: mappingsOf(template, ''),
  };
}

/** The rule of a node that gets the value of whichever place has one. */
export function firstOfRule(owner: string, node: string, places: readonly Place[]): InputRule {
  const isLive = places.every((place) => place.moves.every((move) => 'key' in move));
  return {
    whole: (arrived) => {
      const place = places.find((one) => arrived.has(one.node));
      if (place !== undefined) return follow(place, arrived.get(place.node));
      throw inputMissing(owner, node, places.map(pathOf).join('" or "'), places.map((one) => one.node).join(', '));
    },
    ...(isLive ? { piece: (from, chunk) => piecesAt(places, from, chunk) } : {}),
    mappings: places.map((place) => mappingOf(place, '')),
  };
}

function read(owner: string, written: unknown, path: readonly string[], around: Set<object>): Template {
  const place = placeOf(written);
  if (place !== undefined) return { type: 'reference', place };
  if (typeof written !== 'object' || written === null) return { type: 'value', value: written };
  const at = path.length === 0 ? 'its input' : `"${path.join('.')}"`;
  if (isStep(written)) throw planError(owner, `${at} is the step "${written.name}"; it must be what w.node(…) gives.`);
  if (written instanceof Promise) {
    // Its failure would end the process otherwise.
    written.catch(() => {});
    throw planError(owner, `${at} is a promise. Wait for it before the workflow is built.`);
  }
  // A copy of its own: what is changed after the workflow was built does not change it.
  if (!Array.isArray(written) && !isPlain(written)) return { type: 'value', value: copyOf(written) };
  if (around.has(written) || path.length > MAX_DEPTH) {
    throw planError(owner, `${at} is inside itself, or deeper than ${MAX_DEPTH} levels. Write a value that ends.`);
  }
  refuseSpread(owner, at, written);
  around.add(written);
  const inside = (part: unknown, key: string): Template => read(owner, part, [...path, key], around);
  const template = Array.isArray(written)
    ? // Holes as well, so that items keep their places.
      ({ type: 'list', items: Array.from(written, (part, at) => inside(part, String(at))) } as const)
    : ({
        type: 'object',
        entries: Object.entries(written).map(([key, part]) => [key, inside(part, key)] as const),
      } as const);
  around.delete(written);
  return simplify(template);
}

/** What holds no reference is a value, a copy of its own. */
function simplify(template: Template & { readonly type: 'list' | 'object' }): Template {
  if (template.type === 'list') {
    const values = template.items.flatMap((part) => (part.type === 'value' ? [part.value] : []));
    return values.length === template.items.length ? { type: 'value', value: values } : template;
  }
  const values = template.entries.flatMap(([key, part]) => (part.type === 'value' ? [[key, part.value] as const] : []));
  return values.length === template.entries.length ? { type: 'value', value: Object.fromEntries(values) } : template;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** `{ ...user }` and `{ ...user, tone }` leave a mark of the reference behind. */
function refuseSpread(owner: string, at: string, written: object): void {
  const wholes = Object.getOwnPropertySymbols(written).flatMap((key) => {
    const place = placeOf((written as Record<symbol, unknown>)[key]);
    return place === undefined ? [] : [`"${pathOf(place)}"`];
  });
  if (wholes.length === 0) return;
  const [field] = Object.keys(written);
  if (wholes.length > 1) {
    throw planError(
      owner,
      `${at} has two sources for the same fields: ${wholes.join(' and ')}, both whole. Name the fields one by one.`,
    );
  }
  const rest = field === undefined ? 'Write the reference itself, without "...".' : 'Name its fields one by one.';
  const beside = field === undefined ? 'as a spread' : `beside the field "${field}"`;
  throw planError(owner, `${at} is the whole of ${wholes[0]} ${beside}. ${rest}`);
}

function wholeOf(template: Template, arrived: Arrived, owner: string, node: string): unknown {
  switch (template.type) {
    case 'value':
      return copyOf(template.value);
    case 'reference': {
      const { place } = template;
      if (!arrived.has(place.node)) throw inputMissing(owner, node, pathOf(place), place.node);
      return follow(place, arrived.get(place.node));
    }
    case 'list':
      return template.items.map((part) => wholeOf(part, arrived, owner, node));
    case 'object':
      return Object.fromEntries(template.entries.map(([key, part]) => [key, wholeOf(part, arrived, owner, node)]));
  }
}

/** A value for one activation: what that changes in it does not reach the next one. Objects of a class are what they are. */
function copyOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? copied(value, new Map()) : value;
}

/** @param copies of what is copied already: dates, maps and sets may hold each other */
function copied(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return new Date(value as Date);
  const inner = (part: unknown): unknown => copied(part, copies);
  if (prototype === Map.prototype) {
    const copy = new Map<unknown, unknown>();
    copies.set(value, copy);
    for (const [key, item] of value as Map<unknown, unknown>) copy.set(inner(key), inner(item));
    return copy;
  }
  if (prototype === Set.prototype) {
    const copy = new Set<unknown>();
    copies.set(value, copy);
    for (const item of value as Set<unknown>) copy.add(inner(item));
    return copy;
  }
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const item of value) copy.push(inner(item));
    return copy;
  }
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = {};
  copies.set(value, copy);
  for (const [key, item] of Object.entries(value)) {
    // Unlike an assignment, this makes an own property also of `__proto__`.
    Object.defineProperty(copy, key, { value: inner(item), enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** Whether chunks can be put in place one by one: no list with references, and no function, which needs the whole value. */
function isPiecewise(template: Template): boolean {
  if (template.type === 'value') return true;
  if (template.type === 'list') return false;
  if (template.type === 'reference') return template.place.moves.every((move) => 'key' in move);
  return template.entries.every(([, part]) => isPiecewise(part));
}

function pieceOf(template: Template, from: string, chunk: unknown): readonly unknown[] {
  const piece = partOf(template, from, chunk);
  return piece === ABSENT ? [] : [piece];
}

function partOf(template: Template, from: string, chunk: unknown): unknown {
  if (template.type === 'reference') return template.place.node === from ? partAt(template.place, chunk) : ABSENT;
  if (template.type !== 'object') return ABSENT;
  const parts = template.entries.flatMap(([key, part]) => {
    const value = partOf(part, from, chunk);
    return value === ABSENT ? [] : [[key, value] as const];
  });
  return parts.length === 0 ? ABSENT : Object.fromEntries(parts);
}

function partAt(place: Place, chunk: unknown): unknown {
  if (place.moves.length === 0) return chunk;
  const value = follow(place, chunk);
  return value === undefined ? ABSENT : value;
}

function piecesAt(places: readonly Place[], from: string, chunk: unknown): readonly unknown[] {
  const place = places.find(({ node }) => node === from);
  const piece = place === undefined ? ABSENT : partAt(place, chunk);
  return piece === ABSENT ? [] : [piece];
}

function staticPart(template: Template): unknown {
  if (template.type === 'value') return template.value;
  if (template.type !== 'object') return ABSENT;
  const parts = template.entries.flatMap(([key, part]) => {
    const value = staticPart(part);
    return value === ABSENT ? [] : [[key, value] as const];
  });
  return parts.length === 0 ? ABSENT : Object.fromEntries(parts);
}

function mappingsOf(template: Template, to: string): readonly FieldMapping[] {
  const below = (key: string | number): string => (to === '' ? String(key) : `${to}.${key}`);
  switch (template.type) {
    case 'value':
      return [{ to, value: copyOf(template.value) }];
    case 'reference':
      return [mappingOf(template.place, to)];
    case 'list':
      return template.items.flatMap((part, at) => mappingsOf(part, below(at)));
    case 'object':
      return template.entries.flatMap(([key, part]) => mappingsOf(part, below(key)));
  }
}

function mappingOf({ node, moves }: Place, to: string): FieldMapping {
  const path = moves.flatMap((move) => ('key' in move ? [move.key] : [])).join('.');
  return { to, from: node, path, ...(moves.some((move) => 'map' in move) ? { isMapped: true } : {}) };
}

function inputMissing(owner: string, node: string, path: string, source: string): EngineError {
  return new EngineError(
    'INPUT_MISSING',
    `${owner}, node "${node}": "${path}" is missing, because nothing came from "${source}".`,
    { node, details: { path, source } },
  );
}
