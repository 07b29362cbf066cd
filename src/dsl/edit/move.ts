/** Moving components into the body of a container, out of it, or into another one. */

import { canonicalId } from '../component-id.js';
import type { Document, DocumentComponent } from '../document.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { placeComponents } from './change.js';
import {
  type CutEdge,
  type Edit,
  isBodyStart,
  isContainer,
  isEntryType,
  mapComponents,
  refuse,
  refuseUnknown,
  withBodies,
  withParent,
} from './edit.js';
import { type Places, withComponents } from './follow-layout.js';
import type { Place } from './layout-parts.js';
import { allTargetsOf, filterTargets, type Resolve, resolverOf } from './ways.js';

/** Where components are moved. */
export interface Moving {
  /** The container in whose body they are to lie. @default none: beside all others */
  readonly parent?: string | undefined;
  /** Where they are to stand there. @default where they stood, seen from the corner of the container */
  readonly places?: Places;
}

/**
 * Moves components with their bodies into the body of a container, or out of all of them. No edge crosses the border of a body, so those
 * that would are cut: the edit names them. What the components lead to among themselves stays.
 */
export function moveComponents(document: Document, ids: readonly string[], { parent, places }: Moving = {}): Edit {
  const unknown = ids.find((id) => document.components[id] === undefined);
  if (unknown !== undefined) return refuseUnknown(unknown);
  const moved = outermost(document, ids).filter(({ parent: before }) => before !== parent);
  const refused = problemOf(document, moved, parent);
  if (refused !== undefined) return refused;
  const resolve = resolverOf(document);
  const chosen = new Set(moved.map(({ id }) => id));
  const inside = new Set(withBodies(document, [...chosen]));
  const parentOf = (id: string): string | undefined => (chosen.has(id) ? parent : document.components[id]?.parent);
  const doesCross = (from: string, to: string): boolean =>
    inside.has(from) !== inside.has(to) && parentOf(from) !== parentOf(to);
  const cut: CutEdge[] = [];
  const components = mapComponents(document.components, (component) => {
    const { id } = component;
    const crossing = edgesOf(component, resolve).filter(({ to }) => doesCross(id, to));
    cut.push(...crossing);
    const left =
      crossing.length === 0 ? component : filterTargets(component, (target) => !doesCross(id, target), resolve);
    return chosen.has(id) ? withParent(left, parent) : left;
  });
  const stands = { ...placesFrom(document, moved, parent), ...places };
  const next = withComponents(document, components, stands);
  const placed = placeComponents(next, stands);
  return { document: placed.refused === undefined ? placed.document : next, ids: [...chosen], cut };
}

/** Components that lie in the body of no other chosen one: bodies go with their containers. */
function outermost({ components }: Document, ids: readonly string[]): readonly DocumentComponent[] {
  const chosen = new Set(ids);
  const isInside = (id: string): boolean => {
    const seen = new Set([id]);
    for (let at = components[id]?.parent; at !== undefined && !seen.has(at); at = components[at]?.parent) {
      if (chosen.has(at)) return true;
      seen.add(at);
    }
    return false;
  };
  return Object.values(components).filter(({ id }) => chosen.has(id) && !isInside(id));
}

function problemOf(
  document: Document,
  moved: readonly DocumentComponent[],
  parent: string | undefined,
): Extract<Edit, { refused: object }> | undefined {
  const container = parent === undefined ? undefined : document.components[parent];
  if (parent !== undefined && container === undefined) return refuseUnknown(parent);
  const start = moved.find(isBodyStart);
  if (start !== undefined)
    return refuse('entry-needed', `"${start.name}" is where the rounds of its container start, so it stays there.`);
  const entry = moved.find(({ type }) => isEntryType(type));
  if (entry !== undefined) return refuse('second-entry', `A ${entry.type} cannot lie in a body.`);
  if (moved.length === 0) return refuse('nothing', 'Nothing is chosen that lies elsewhere.');
  if (container === undefined) return undefined;
  const around = moved.find(({ id }) => withBodies(document, [id]).includes(container.id));
  if (around !== undefined) return refuse('itself', `"${around.name}" cannot lie in its own body.`);
  return isContainer(document, container) ? undefined : refuse('not-a-container', `"${container.name}" has no body.`);
}

function edgesOf(component: DocumentComponent, resolve: Resolve): readonly CutEdge[] {
  return [...allTargetsOf(component, resolve)].map((to) => ({ from: component.id, to }));
}

/** Where components stand in the layout, seen from the corner of another body; those without a place are left out. */
function placesFrom(document: Document, moved: readonly DocumentComponent[], parent: string | undefined): Places {
  const nodes = new Map(ownList(document.graph, 'nodes').map((node) => [canonicalId(ownText(node, 'id') ?? ''), node]));
  const onCanvas = (id: string): Place | undefined => {
    let place: Place = { x: 0, y: 0 };
    const seen = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = document.components[at]?.parent) {
      const { x, y } = ownObject(nodes.get(canonicalId(at)), 'position') ?? {};
      if (typeof x !== 'number' || typeof y !== 'number') return undefined;
      place = { x: place.x + x, y: place.y + y };
      seen.add(at);
    }
    return place;
  };
  const corner = parent === undefined ? { x: 0, y: 0 } : onCanvas(parent);
  if (corner === undefined) return {};
  const places = moved.flatMap(({ id }): [string, Place][] => {
    const at = onCanvas(id);
    return at === undefined ? [] : [[id, { x: at.x - corner.x, y: at.y - corner.y }]];
  });
  return Object.fromEntries(places);
}
