/** Changing the parameters of a component, its place and its size. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalId } from '../component-id.js';
import type { Document } from '../document.js';
import { copyJson, omitKeys, ownList, ownObject, ownText } from '../json-copy.js';
import { PARENT_PARAM, stripParams } from '../link.js';
import { replaced } from './connect.js';
import { type Edit, isContainer, refuse, refuseUnknown, typeKey } from './edit.js';
import { type Places, withComponents } from './follow-layout.js';
import type { Place } from './layout-parts.js';
import { NewIds, withOwnSubAgents } from './new-ids.js';
import { subAgentIds } from './sub-agents.js';
import { resolverOf, withParams } from './ways.js';

/** Gives a component other parameters, all of them; where its choices lead, its edges follow. */
export function changeParams(document: Document, id: string, params: JsonObject): Edit {
  const component = document.components[id];
  if (component === undefined) return refuseUnknown(id);
  const copy = copyJson(params);
  // Which body a component belongs to is no parameter of it, though version 2 writes it there.
  const kept = omitKeys(stripParams(isJsonObject(copy) ? copy : {}), new Set([PARENT_PARAM]));
  const isAgent = typeKey(component.type) === 'agent';
  const own = new Set(subAgentIds(component.params));
  const next = isAgent ? withOwnSubAgents(kept, new NewIds(document), own) : kept;
  const changed = withParams(component, next, resolverOf(document));
  return { document: withComponents(document, replaced(document, changed)), ids: [id] };
}

/**
 * Puts components, and other nodes of the layout such as notes, where a layout says; what it does not name stays. Components without a place
 * get one, so that RAGFlow's editor shows all of them.
 */
export function placeComponents(document: Document, places: Places): Edit {
  if (document.version === 2 && document.graph === undefined)
    return refuse('no-names', 'Version 2 of the DSL has no layout.');
  const next = withComponents(document, document.components, places);
  const nodes = ownList(next.graph, 'nodes').map((node) => {
    const id = ownText(node, 'id');
    const place = id !== undefined && Object.hasOwn(places, id) ? places[id] : undefined;
    if (place === undefined || !isJsonObject(node)) return node;
    const { x, y } = place;
    return withSize({ ...node, position: { ...ownObject(node, 'position'), x, y } }, place);
  });
  return { document: { ...next, graph: { ...next.graph, nodes } }, ids: Object.keys(places) };
}

/** Gives a container another size in the layout, in pixels; what its body needs is not known here. Nothing else changes. */
export function resizeContainer(document: Document, id: string, size: Required<Pick<Place, 'width' | 'height'>>): Edit {
  const component = document.components[id];
  if (component === undefined) return refuseUnknown(id);
  if (!isContainer(document, component)) return refuse('not-a-container', `"${component.name}" has no body.`);
  if (document.version === 2 && document.graph === undefined)
    return refuse('no-names', 'Version 2 of the DSL has no layout.');
  const isOwn = (node: Json): boolean => canonicalId(ownText(node, 'id') ?? '') === canonicalId(id);
  const hasNode = ownList(document.graph, 'nodes').some(isOwn);
  const next = hasNode ? document : withComponents(document, document.components);
  const nodes = ownList(next.graph, 'nodes').map((node) =>
    isOwn(node) && isJsonObject(node) ? withSize(node, size) : node,
  );
  return { document: { ...next, graph: { ...next.graph, nodes } }, ids: [id] };
}

/** A node of another size, also where RAGFlow's editor wrote what it measured. */
function withSize(node: JsonObject, { width, height }: Pick<Place, 'width' | 'height'>): JsonObject {
  const size = { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
  const measured = ownObject(node, 'measured');
  const isMeasured = measured !== undefined && Object.keys(size).length > 0;
  return { ...node, ...size, ...(isMeasured && { measured: { ...measured, ...size } }) };
}
