/** Other ids for components, wherever a document names them. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalId } from '../component-id.js';
import type { Document, DocumentComponent } from '../document.js';
import { createComponentMap } from '../document.js';
import { ownList, ownText } from '../json-copy.js';
import { findReferences, parseReference } from '../reference.js';
import { mapFormTexts, mapTexts } from './map-texts.js';
import type { Resolve } from './ways.js';

/** Keys under which parameters name components in any spelling. */
const TARGET_KEYS: ReadonlySet<string> = new Set(['to', 'end_cpn_ids', 'exception_goto']);

/** New ids by the old ones. */
export type NewIds = ReadonlyMap<string, string>;

/** The document whose components have other ids: in references, ways, bodies, the path and the layout. Ids that are not new stay as they are written. */
export function rewriteIds(document: Document, ids: NewIds, resolve: Resolve): Document {
  const components = createComponentMap();
  for (const component of Object.values(document.components)) {
    const changed = rewriteComponent(component, ids, resolve);
    components[changed.id] = changed;
  }
  const { graph, v1Keys, path } = document;
  return {
    ...document,
    components,
    path: path.map((id) => ids.get(id) ?? id),
    ...(graph && { graph: rewriteGraph(graph, ids, resolve) }),
    ...(v1Keys && { v1Keys: Object.fromEntries(Object.entries(v1Keys).filter(([id]) => !ids.has(id))) }),
  };
}

/** A component whose own id and whose words for others are new. */
export function rewriteComponent(component: DocumentComponent, ids: NewIds, resolve: Resolve): DocumentComponent {
  const { id, parent, params, downstream } = component;
  return {
    ...component,
    id: ids.get(id) ?? id,
    params: mapTexts(params, (text, key) => rewriteText(text, ids, resolve, key)) as JsonObject,
    downstream: downstream.map((target) => ids.get(target) ?? target),
    ...(parent === undefined ? {} : { parent: ids.get(parent) ?? parent }),
  };
}

function rewriteText(text: string, ids: NewIds, resolve: Resolve, key: string): string {
  const whole = ids.get(text) ?? (TARGET_KEYS.has(key) ? ids.get(resolve(text) ?? '') : undefined);
  if (whole !== undefined) return whole;
  if (!text.includes('@')) return text;
  const bare = text.includes('{') ? undefined : rewriteBare(text, ids, resolve);
  return bare ?? rewriteBraced(text, ids, resolve);
}

/** A whole parameter that is a reference without braces, such as `LLM:A@content`. */
function rewriteBare(text: string, ids: NewIds, resolve: Resolve): string | undefined {
  const reference = parseReference(text);
  const next = reference?.kind === 'output' ? ids.get(resolve(reference.component) ?? '') : undefined;
  return next === undefined ? undefined : `${next}${text.slice(text.indexOf('@'))}`;
}

function rewriteBraced(text: string, ids: NewIds, resolve: Resolve): string {
  let result = '';
  let from = 0;
  for (const { reference, start, end, text: written } of findReferences(text)) {
    const next = reference.kind === 'output' ? ids.get(resolve(reference.component) ?? '') : undefined;
    if (next === undefined || reference.kind !== 'output') continue;
    result += text.slice(from, start) + written.replace(`${reference.component}@`, () => `${next}@`);
    from = end;
  }
  return from === 0 ? text : result + text.slice(from);
}

/** Ids of the layout may have either version's spelling. */
function rewriteGraph(graph: JsonObject, ids: NewIds, resolve: Resolve): JsonObject {
  const canonical = new Map([...ids].map(([id, next]) => [canonicalId(id), next]));
  const nextOf = (id: string): string | undefined => ids.get(id) ?? canonical.get(canonicalId(id));
  return {
    ...graph,
    ...(Array.isArray(graph.nodes) && {
      nodes: ownList(graph, 'nodes').map((node) => rewriteNode(node, nextOf, ids, resolve)),
    }),
    ...(Array.isArray(graph.edges) && { edges: ownList(graph, 'edges').map((edge) => rewriteEdge(edge, nextOf)) }),
  };
}

/** A node of a layout with new ids. */
function rewriteNode(node: Json, nextOf: (id: string) => string | undefined, ids: NewIds, resolve: Resolve): Json {
  if (!isJsonObject(node)) return node;
  const renamed = withNewId(withNewId(node, 'id', nextOf), 'parentId', nextOf);
  return mapFormTexts(renamed, (text, key) => rewriteText(text, ids, resolve, key));
}

/** The id of an edge is made of the ids at its ends. */
function rewriteEdge(edge: Json, nextOf: (id: string) => string | undefined): Json {
  if (!isJsonObject(edge)) return edge;
  const source = ownText(edge, 'source') ?? '';
  const target = ownText(edge, 'target') ?? '';
  const renamed = withNewId(withNewId(edge, 'source', nextOf), 'target', nextOf);
  const id = ownText(edge, 'id');
  if (renamed === edge || id === undefined) return renamed;
  const start = `xy-edge__${source}${ownText(edge, 'sourceHandle') ?? ''}-`;
  if (!id.startsWith(start)) return renamed;
  const end = id.slice(start.length).replace(target, () => ownText(renamed, 'target') ?? target);
  return { ...renamed, id: `xy-edge__${ownText(renamed, 'source')}${ownText(edge, 'sourceHandle') ?? ''}-${end}` };
}

function withNewId(source: JsonObject, key: string, nextOf: (id: string) => string | undefined): JsonObject {
  const id = ownText(source, key);
  const next = id === undefined ? undefined : nextOf(id);
  return next === undefined ? source : { ...source, [key]: next };
}
