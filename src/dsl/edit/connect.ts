/** Connecting components, and the reasons why two cannot be connected. */
import type { Document, DocumentComponent } from '../document.js';
import { type Edit, isBodyStart, isEntryType, type Refusal, refuse, refuseUnknown } from './edit.js';
import { withComponents } from './follow-layout.js';
import { isSameWay, resolverOf, targetsOf, type Way, waysOf, withTargets } from './ways.js';

/** A connection: a way of one component to another one. */
export interface Connection {
  readonly from: string;
  readonly to: string;
  /** @default next */
  readonly way?: Way;
}

const NEXT: Way = { kind: 'next' };

/** Why a connection cannot be made; undefined when it can. */
export function whyNotConnected(document: Document, { from, to, way = NEXT }: Connection): Refusal | undefined {
  return whyNotConnectedFrom(document, { from, way })(to);
}

/** Why a way cannot lead to a component, told for one after the other: for lists of all that it could lead to. */
export function whyNotConnectedFrom(
  document: Document,
  { from, way = NEXT }: Omit<Connection, 'to'>,
): (to: string) => Refusal | undefined {
  const source = document.components[from];
  if (source === undefined) return () => refuseUnknown(from).refused;
  const noWay = wayProblem(source, way);
  if (noWay !== undefined) return (to) => (document.components[to] === undefined ? refuseUnknown(to).refused : noWay);
  const taken = new Set(targetsOf(source, way, resolverOf(document)));
  return (to) => {
    const target = document.components[to];
    if (target === undefined) return refuseUnknown(to).refused;
    const problem = endProblem(source, target);
    if (problem !== undefined || !taken.has(to)) return problem;
    return refuse('already-connected', `"${source.name}" leads to "${target.name}" already.`).refused;
  };
}

/** Connects two components; without effect on other ways. */
export function connect(document: Document, connection: Connection): Edit {
  const { from, to, way = NEXT } = connection;
  const refused = whyNotConnected(document, connection);
  if (refused !== undefined) return { refused };
  const source = document.components[from] as DocumentComponent;
  const resolve = resolverOf(document);
  const changed = withTargets(source, way, [...targetsOf(source, way, resolve), to], resolve);
  return { document: withComponents(document, replaced(document, changed)), ids: [from, to] };
}

/** Takes a connection away. */
export function disconnect(document: Document, { from, to, way = NEXT }: Connection): Edit {
  const source = document.components[from];
  if (source === undefined) return refuseUnknown(from);
  const resolve = resolverOf(document);
  const targets = targetsOf(source, way, resolve);
  if (!targets.includes(to)) return refuse('not-connected', `"${source.name}" does not lead to "${to}" this way.`);
  const left = targets.filter((id) => id !== to);
  const changed = withTargets(source, way, left, resolve);
  return { document: withComponents(document, replaced(document, changed)), ids: [from] };
}

/** The components with one in the place of that of its id. */
export function replaced({ components }: Document, changed: DocumentComponent): Document['components'] {
  const copy = Object.assign(Object.create(null) as Record<string, DocumentComponent>, components);
  copy[changed.id] = changed;
  return copy;
}

function wayProblem(source: DocumentComponent, way: Way): Refusal | undefined {
  if (waysOf(source).some((one) => isSameWay(one, way))) return undefined;
  return refuse('no-such-way', `"${source.name}" has no such way out.`).refused;
}

function endProblem(source: DocumentComponent, target: DocumentComponent): Refusal | undefined {
  if (source.id === target.id) return refuse('itself', `"${source.name}" would lead to itself, without end.`).refused;
  if (isEntryType(target.type) && target.parent === undefined)
    return refuse('into-entry', `Nothing can lead to "${target.name}": runs start there.`).refused;
  if (isBodyStart(target))
    return refuse('into-entry', `Nothing can lead to "${target.name}": rounds start there.`).refused;
  if (source.parent === target.parent) return undefined;
  return refuse(
    'other-body',
    `"${source.name}" and "${target.name}" are not in the same body; an edge cannot leave or enter one.`,
  ).refused;
}
