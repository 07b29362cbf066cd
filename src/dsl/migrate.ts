/** Renamed classes of old version 1 documents. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { copyJson, ownList, ownObject, ownText } from './json-copy.js';

/** Classes that RAGFlow renamed: old name to new name. */
const COMPONENT_RENAMES: ReadonlyMap<string, string> = new Map([
  ['Splitter', 'TokenChunker'],
  ['HierarchicalMerger', 'TitleChunker'],
  ['PDFGenerator', 'DocGenerator'],
]);

const NODE_TYPE_RENAMES: ReadonlyMap<string, string> = new Map([['splitterNode', 'chunkerNode']]);

/** A reference in braces; starts at one brace only, so that a run of braces is read once. */
const REFERENCE = /(\{\s*)([A-Za-z0-9:_-]+)(@[A-Za-z0-9_.-]+)(?=\s*\})/g;

/** Top-level keys besides components whose texts may name components. */
const TALKING_KEYS = ['history', 'messages', 'reference'] as const;

type Rewrite = (text: string) => string;

/** Whether a version 1 document names a class that was renamed, in a component or in its layout. */
export function needsMigration(value: JsonObject): boolean {
  for (const [id, entry] of Object.entries(ownObject(value, 'components') ?? {})) {
    if (renamedId(id) !== id) return true;
    if (COMPONENT_RENAMES.has(ownText(ownObject(entry, 'obj'), 'component_name') ?? '')) return true;
    if (COMPONENT_RENAMES.has(ownText(entry, 'name') ?? '')) return true;
  }
  return ownList(ownObject(value, 'graph'), 'nodes').some((node) => {
    const data = ownObject(node, 'data');
    const words = [ownText(data, 'label'), ownText(data, 'name')];
    return (
      NODE_TYPE_RENAMES.has(ownText(node, 'type') ?? '') || words.some((word) => COMPONENT_RENAMES.has(word ?? ''))
    );
  });
}

/**
 * Gives renamed classes their present names: in components, ids, references and the layout (as RAGFlow's
 * agent/dsl_migration.py does on load). Parameters keep their meaning; display names that people chose stay.
 *
 * Does not change `value`, which is plain JSON as `copyJson` gives it, and shares with it what is not renamed. Without
 * components nothing is renamed. An id whose new spelling is taken already keeps the old one.
 */
export function migrateLegacy(value: JsonObject): JsonObject {
  const components = ownObject(value, 'components');
  if (components === undefined) return value;
  const ids = renamedIds(Object.keys(components));
  const rewrite: Rewrite = (text) =>
    ids.get(text) ??
    (ids.size === 0
      ? text
      : text.replace(REFERENCE, (_, open: string, id: string, rest: string) => `${open}${ids.get(id) ?? id}${rest}`));
  const parts = Object.entries(value).map(([key, part]) => [key, migratePart(key, part, ids, rewrite)]);
  return Object.fromEntries(parts) as JsonObject;
}

function migratePart(key: string, part: Json, ids: ReadonlyMap<string, string>, rewrite: Rewrite): Json {
  if (key === 'components') return migrateComponents(part as JsonObject, ids, rewrite);
  if (key === 'graph') return migrateGraph(part, ids, rewrite);
  if (key === 'path')
    return Array.isArray(part) ? part.map((id: Json) => (typeof id === 'string' ? (ids.get(id) ?? id) : id)) : part;
  return (TALKING_KEYS as readonly string[]).includes(key) ? copyJson(part, { rewrite }) : part;
}

function renamedIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(ids);
  const renamed = new Map<string, string>();
  for (const id of ids) {
    const next = renamedId(id);
    if (next === id || taken.has(next)) continue;
    taken.add(next);
    renamed.set(id, next);
  }
  return renamed;
}

function renamedId(id: string): string {
  const colon = id.indexOf(':');
  const next = colon < 0 ? undefined : COMPONENT_RENAMES.get(id.slice(0, colon));
  return next === undefined ? id : `${next}${id.slice(colon)}`;
}

function migrateComponents(components: JsonObject, ids: ReadonlyMap<string, string>, rewrite: Rewrite): JsonObject {
  const result: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(components)) {
    const copy = copyJson(entry, { rewrite });
    result[ids.get(id) ?? id] = isJsonObject(copy) ? renameClass(copy) : copy;
  }
  return result;
}

function renameClass(entry: JsonObject): JsonObject {
  const obj = ownObject(entry, 'obj');
  if (obj !== undefined) return { ...entry, obj: renameKey(obj, 'component_name', COMPONENT_RENAMES) };
  return ownObject(entry, 'params') === undefined ? entry : renameKey(entry, 'name', COMPONENT_RENAMES);
}

function migrateGraph(graph: Json, ids: ReadonlyMap<string, string>, rewrite: Rewrite): Json {
  if (!isJsonObject(graph)) return graph;
  const result: Record<string, Json> = { ...graph };
  if (Array.isArray(graph.nodes)) result.nodes = graph.nodes.map((node: Json) => migrateNode(node, ids, rewrite));
  if (Array.isArray(graph.edges)) result.edges = graph.edges.map((edge: Json) => migrateEdge(edge, ids));
  return result;
}

function migrateNode(node: Json, ids: ReadonlyMap<string, string>, rewrite: Rewrite): Json {
  if (!isJsonObject(node)) return node;
  const result = renameKey(renameKey(renameKey(node, 'id', ids), 'parentId', ids), 'type', NODE_TYPE_RENAMES);
  const data = ownObject(node, 'data');
  if (data === undefined) return result;
  let renamed = renameKey(renameKey(data, 'label', COMPONENT_RENAMES), 'name', COMPONENT_RENAMES);
  if (data.form !== undefined) renamed = { ...renamed, form: copyJson(data.form, { rewrite }) };
  return { ...result, data: renamed };
}

/** An edge's id is made of the ids at its ends; the longer one is replaced first, as it may contain the other. */
function migrateEdge(edge: Json, ids: ReadonlyMap<string, string>): Json {
  if (!isJsonObject(edge)) return edge;
  const result = renameKey(renameKey(edge, 'source', ids), 'target', ids);
  let id = ownText(edge, 'id');
  if (id === undefined) return result;
  const ends = [ownText(edge, 'source') ?? '', ownText(edge, 'target') ?? ''];
  for (const end of ends.sort((left, right) => right.length - left.length)) {
    const next = ids.get(end);
    if (next !== undefined) id = id.replaceAll(end, next);
  }
  return { ...result, id };
}

function renameKey(source: JsonObject, key: string, names: ReadonlyMap<string, string>): JsonObject {
  const next = names.get(ownText(source, key) ?? '');
  return next === undefined ? source : { ...source, [key]: next };
}
