/** Putting components into the body of a new container. */
import type { JsonObject } from '../../json.js';
import type { Document, DocumentComponent } from '../document.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { placeComponents } from './change.js';
import {
  bodyStartOf,
  type Edit,
  isBodyStart,
  isEntryType,
  mapComponents,
  refuse,
  refuseUnknown,
  withBodies,
  withParent,
} from './edit.js';
import { withComponents } from './follow-layout.js';
import type { Place } from './layout-parts.js';
import { freeName, NewIds } from './new-ids.js';
import {
  allTargetsOf,
  isSameWay,
  mapTargets,
  type Resolve,
  resolverOf,
  targetsOf,
  waysOf,
  withTargets,
} from './ways.js';

/** The container that is put around components. */
export interface Wrapping {
  /** Its type, such as `Loop`. */
  readonly type: string;
  readonly params?: JsonObject;
  /** Type of the node that its body begins with; null: none. @default what the built-in type has */
  readonly bodyStart?: string | null;
  readonly place?: Place;
}

const START: Place = { x: 40, y: 90 };

/**
 * Puts components of one body, or of the top level, into a new container. What led to them leads to it; what they led to it leads to; rounds
 * start at those that something led to. The ids of the edit begin with that of the container.
 */
export function wrapComponents(document: Document, ids: readonly string[], wrapping: Wrapping): Edit {
  const chosen = new Set(ids);
  const members = Object.values(document.components).filter(({ id }) => chosen.has(id));
  const refused = problemOf(document, ids, members);
  if (refused !== undefined) return refused;
  const resolve = resolverOf(document);
  const isOutside = (id: string): boolean => !chosen.has(id);
  const leaving = leavingProblem(members, isOutside, resolve);
  if (leaving !== undefined) return leaving;
  const fresh = new NewIds(document);
  const startType = wrapping.bodyStart === undefined ? bodyStartOf(wrapping.type) : (wrapping.bodyStart ?? undefined);
  const parent = members[0]?.parent;
  const exits = new Set(members.flatMap((one) => targetsOf(one, { kind: 'next' }, resolve)).filter(isOutside));
  const id = fresh.next(wrapping.type);
  const named = document.version === 1 || document.graph !== undefined;
  const container: DocumentComponent = {
    id,
    type: wrapping.type,
    name: named ? freeName(document, wrapping.type) : wrapping.type,
    params: wrapping.params ?? {},
    downstream: [...exits],
    ...(parent === undefined ? {} : { parent }),
  };
  const start =
    startType && startOf(document, { id: fresh.next(startType), type: startType, parent: id }, members, resolve);
  const components = mapComponents(document.components, (component) => {
    if (chosen.has(component.id)) {
      const inner = targetsOf(component, { kind: 'next' }, resolve).filter((target) => chosen.has(target));
      return withParent(withTargets(component, { kind: 'next' }, inner, resolve), id);
    }
    const leads = [...allTargetsOf(component, resolve)].some((target) => chosen.has(target));
    if (!leads) return component;
    const withContainer: Resolve = (one) => (one === id ? id : resolve(one));
    return mapTargets(component, (target) => (chosen.has(target) ? id : target), withContainer);
  });
  components[id] = container;
  if (start) components[start.id] = start;
  const frame = frameOf(document, members, wrapping.place);
  const next = withComponents(document, components, {
    ...(frame && { [id]: frame.place }),
    ...(start && { [start.id]: START }),
  });
  const moved = frame === undefined ? undefined : placeComponents(next, frame.inside);
  return {
    document: moved?.refused === undefined ? (moved?.document ?? next) : next,
    ids: start ? [id, start.id] : [id],
  };
}

/** Room around the members of a new body, for its start and its title. */
const MARGIN = { left: 160, top: 80, right: 280, bottom: 160 } as const;

/** Where the container stands, and its members in it; undefined when the layout does not know where they stood. */
function frameOf(document: Document, members: readonly DocumentComponent[], given: Place | undefined) {
  const places = new Map<string, { readonly x: number; readonly y: number }>();
  for (const node of ownList(document.graph, 'nodes')) {
    const id = ownText(node, 'id');
    const { x, y } = ownObject(node, 'position') ?? {};
    if (id !== undefined && typeof x === 'number' && typeof y === 'number') places.set(id, { x, y });
  }
  const stood = members.flatMap(({ id }) => places.get(id) ?? []);
  if (stood.length < members.length) return undefined;
  const [left, top] = [Math.min(...stood.map(({ x }) => x)), Math.min(...stood.map(({ y }) => y))];
  const [right, bottom] = [Math.max(...stood.map(({ x }) => x)), Math.max(...stood.map(({ y }) => y))];
  const place: Place = given ?? {
    x: left - MARGIN.left,
    y: top - MARGIN.top,
    width: right - left + MARGIN.left + MARGIN.right,
    height: bottom - top + MARGIN.top + MARGIN.bottom,
  };
  const inside = members.map(({ id }): [string, Place] => {
    const { x, y } = places.get(id) as Place;
    return [id, { x: x - left + MARGIN.left, y: y - top + MARGIN.top }];
  });
  return { place, inside: Object.fromEntries(inside) };
}

function problemOf(
  document: Document,
  ids: readonly string[],
  members: readonly DocumentComponent[],
): Extract<Edit, { refused: object }> | undefined {
  const unknown = ids.find((id) => document.components[id] === undefined);
  if (unknown !== undefined) return refuseUnknown(unknown);
  const [first] = members;
  if (first === undefined) return refuse('nothing', 'Nothing is chosen.');
  const other = members.find(({ parent }) => parent !== first.parent);
  if (other !== undefined) return refuse('other-body', `"${first.name}" and "${other.name}" are not in the same body.`);
  const entry = members.find((one) => isEntryType(one.type) || isBodyStart(one));
  if (entry !== undefined)
    return refuse('second-entry', `"${entry.name}" is a start, which cannot lie in a body of its own.`);
  // Bodies go with their containers.
  return withBodies(document, ids).length > 0 ? undefined : refuse('nothing', 'Nothing is chosen.');
}

/** A container has one way out; a case that leads out of it would be lost. */
function leavingProblem(
  members: readonly DocumentComponent[],
  isOutside: (id: string) => boolean,
  resolve: Resolve,
): Extract<Edit, { refused: object }> | undefined {
  for (const member of members) {
    for (const way of waysOf(member)) {
      if (isSameWay(way, { kind: 'next' })) continue;
      const out = targetsOf(member, way, resolve).find(isOutside);
      if (out === undefined) continue;
      return refuse(
        'leads-out',
        `"${member.name}" chooses "${out}", which would lie outside of the body; choose both or neither.`,
      );
    }
  }
  return undefined;
}

/** Rounds start at what something outside led to; where nothing did, at what nothing inside leads to. */
function startOf(
  document: Document,
  { id, type, parent }: { readonly id: string; readonly type: string; readonly parent: string },
  members: readonly DocumentComponent[],
  resolve: Resolve,
): DocumentComponent {
  const chosen = new Set(members.map((one) => one.id));
  const fromOutside = new Set<string>();
  const fromInside = new Set<string>();
  for (const component of Object.values(document.components)) {
    const into = chosen.has(component.id) ? fromInside : fromOutside;
    for (const target of allTargetsOf(component, resolve)) if (chosen.has(target)) into.add(target);
  }
  const free = members.map((one) => one.id).filter((one) => !fromInside.has(one));
  const firsts = fromOutside.size > 0 ? [...fromOutside] : free.length > 0 ? free : [members[0]?.id as string];
  return { id, type, name: type, params: {}, downstream: firsts, parent };
}
