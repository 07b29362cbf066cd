/** Copying components as JSON, and pasting such JSON, also from another document. */
import * as z from 'zod/mini';
import type { JsonObject } from '../../json.js';
import { indexIds } from '../component-id.js';
import type { Document, DocumentComponent } from '../document.js';
import { createIssueList } from '../issues.js';
import { copyJson, MAX_VALUES, ownList, ownObject, ownText } from '../json-copy.js';
import { objectShape } from '../json-shapes.js';
import { stripParams } from '../link.js';
import {
  type Edit,
  isBodyStart,
  isContainer,
  isEntryType,
  refuse,
  refuseUnknown,
  typeKey,
  withBodies,
} from './edit.js';
import { withComponents } from './follow-layout.js';
import type { Place } from './layout-parts.js';
import { freeName, MAX_NAME, NewIds, withOwnSubAgents } from './new-ids.js';
import { rewriteComponent } from './rewrite-ids.js';
import { filterTargets, type Resolve } from './ways.js';

const KIND = 'runnel/components';

/** Most components that are pasted at once. */
const MAX_PASTED = 500;

const name = z.string().check(z.minLength(1), z.maxLength(MAX_NAME));

const componentShape = z.looseObject({
  id: name,
  type: name,
  name,
  params: objectShape,
  downstream: z.array(z.string()),
  parent: z.optional(z.string()),
  extra: z.optional(objectShape),
  place: z.optional(z.looseObject({ x: z.number(), y: z.number() })),
});

const clipShape = z.looseObject({
  kind: z.literal(KIND),
  components: z.array(componentShape).check(z.minLength(1), z.maxLength(MAX_PASTED)),
});

/** Components as JSON, for the clipboard. */
export interface Clip {
  readonly kind: typeof KIND;
  /** Those of the top level of the clip first; each with its place in the layout. */
  readonly components: readonly (DocumentComponent & { readonly place?: Place })[];
}

/** Where components are pasted. */
export interface Pasting {
  /** The container in whose body they are to lie. @default none */
  readonly parent?: string;
  /** How far from where they stood. @default 40 to the right and down */
  readonly offset?: Place;
}

/** Components with their bodies, for another place. Starts of documents are left out; a start of a body goes with its container. */
export function copyComponents(document: Document, ids: readonly string[]): Clip {
  const chosen = new Set(withBodies(document, ids));
  const places = placesOf(document);
  const components = [...chosen].flatMap((id) => {
    const component = document.components[id] as DocumentComponent;
    const { parent, ...rest } = component;
    if (isEntryType(component.type) && parent === undefined) return [];
    if (isBodyStart(component) && !chosen.has(parent as string)) return [];
    const place = places.get(id);
    const inside = parent !== undefined && chosen.has(parent) ? { parent } : {};
    return [{ ...rest, ...inside, ...(place && { place }) }];
  });
  return { kind: KIND, components };
}

/**
 * Pastes what {@link copyComponents} gave, under new ids: what the components say of each other follows, ways to others are left out, references
 * to others stay. The ids of the edit are those of the new components.
 */
export function pasteComponents(
  document: Document,
  clip: unknown,
  { parent, offset = { x: 40, y: 40 } }: Pasting = {},
): Edit {
  const issues = createIssueList();
  const parsed = clipShape.safeParse(copyJson(clip, { issues }));
  if (issues.list().some(({ code }) => code === 'too-large'))
    return refuse('too-large', `What is pasted has more than ${MAX_VALUES} values, which is the most.`);
  if (!parsed.success) return refuse('clip-invalid', 'This is not what copying components gives.');
  const container = parent === undefined ? undefined : document.components[parent];
  if (parent !== undefined && container === undefined) return refuseUnknown(parent);
  if (container !== undefined && !isContainer(document, container))
    return refuse('not-a-container', `"${container.name}" has no body.`);
  const sources = parsed.data.components.filter(
    ({ type, parent: inside }) => inside !== undefined || !isEntryType(type),
  );
  const fresh = new NewIds(document);
  const ids = new Map(sources.map(({ id, type }) => [id, fresh.next(type)]));
  if (sources.length === 0 || ids.size < sources.length)
    return refuse('clip-invalid', 'This is not what copying components gives.');
  const parents = new Map(sources.map(({ id, parent: inside }) => [id, inside]));
  if (sources.some(({ id }) => isLost(id, parents)))
    return refuse('clip-invalid', 'A component in it lies in a body that is not there.');
  const index = indexIds(ids.keys());
  const resolve: Resolve = (id) => index.resolve(id) ?? id;
  let next = document.components;
  const places: Record<string, Place> = {};
  for (const source of sources) {
    const inside = source.parent ?? undefined;
    const { id, type, params, downstream, extra } = source;
    const component: DocumentComponent = {
      id,
      type,
      name: source.name,
      params: typeKey(type) === 'agent' ? withOwnSubAgents(stripParams(params), fresh) : stripParams(params),
      downstream: downstream.filter((one) => ids.has(one)),
      ...(inside === undefined ? {} : { parent: inside }),
      ...(extra === undefined || document.version === 2 ? {} : { extra }),
    };
    const alone = filterTargets(component, (one) => ids.has(one), resolve);
    const moved = rewriteComponent(alone, ids, resolve);
    const placed: DocumentComponent = inside === undefined && parent !== undefined ? { ...moved, parent } : moved;
    const named = { ...placed, name: nameIn({ ...document, components: next }, placed) };
    next = Object.assign(Object.create(null) as Record<string, DocumentComponent>, next, { [named.id]: named });
    const { place } = source;
    if (place !== undefined)
      places[named.id] = inside === undefined ? { ...place, x: place.x + offset.x, y: place.y + offset.y } : place;
  }
  return { document: withComponents(document, next, places), ids: [...ids.values()] };
}

/** Whether the body that a component lies in is not in the clip, or lies in itself. */
function isLost(id: string, parents: ReadonlyMap<string, string | undefined>): boolean {
  const seen = new Set<string>();
  let at: string | undefined = id;
  while (at !== undefined && !seen.has(at) && parents.has(at)) {
    seen.add(at);
    at = parents.get(at);
  }
  return at !== undefined;
}

/** The name that it had, or one that is free. */
function nameIn(document: Document, { name, type }: DocumentComponent): string {
  if (document.version === 2 && document.graph === undefined) return type;
  const isTaken = Object.values(document.components).some((other) => other.name === name);
  return isTaken ? freeName(document, type) : name;
}

function placesOf({ graph }: Document): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const node of ownList(graph, 'nodes')) {
    const id = ownText(node, 'id');
    const { x, y } = ownObject(node, 'position') ?? ({} as JsonObject);
    if (id === undefined || typeof x !== 'number' || typeof y !== 'number') continue;
    const { width, height } = node as JsonObject;
    const size = typeof width === 'number' && typeof height === 'number' ? { width, height } : {};
    places.set(id, { x, y, ...size });
  }
  return places;
}
