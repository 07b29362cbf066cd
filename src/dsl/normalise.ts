import type { Json, JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import { compareText, copyJson, omitKeys, ownList, ownObject, ownText, ownTexts } from './json-copy.js';
import { nodeTypeOf } from './node-types.js';

/** References to the outputs of an IterationItem, which a folded body knows by short names; bounded, so linear. */
const ITEM_REFERENCE = /IterationItem:[A-Za-z0-9_:-]{1,200}@(item|index|result)\b/g;

const FOLDED_CLASSES: ReadonlySet<string> = new Set(['LoopItem', 'IterationItem']);

/**
 * Prepares a stored version 1 document for an editor: edge handles in their one spelling, a layout where there is
 * none, and `Parallel` (a name of RAGFlow's Go runtime) back to `Iteration`.
 *
 * Gives a deep copy, leaves out nothing it does not understand, never throws; doing it twice changes nothing more.
 * null and undefined come back as they are.
 */
export function normaliseForCanvas(dsl: JsonObject): JsonObject;
export function normaliseForCanvas<T extends null | undefined>(dsl: T): T;
export function normaliseForCanvas(dsl: JsonObject | null | undefined): JsonObject | null | undefined;
export function normaliseForCanvas(dsl: JsonObject | null | undefined): JsonObject | null | undefined {
  if (dsl === null || dsl === undefined) return dsl;
  const copy = copyJson(dsl);
  return isJsonObject(copy) ? renameClasses(deriveGraph(repairHandles(copy)), 'Parallel', 'Iteration') : dsl;
}

/**
 * Prepares a stored version 1 document the way RAGFlow's Go compiler sees it: as for an editor, then start nodes of
 * bodies are folded into their Loop or Iteration, `Iteration` is called `Parallel`, and references to a folded
 * IterationItem become `item` and `index`.
 *
 * Gives a deep copy, never throws; doing it twice changes nothing more. null and undefined come back as they are.
 */
export function normaliseForRun(dsl: JsonObject): JsonObject;
export function normaliseForRun<T extends null | undefined>(dsl: T): T;
export function normaliseForRun(dsl: JsonObject | null | undefined): JsonObject | null | undefined;
export function normaliseForRun(dsl: JsonObject | null | undefined): JsonObject | null | undefined {
  if (dsl === null || dsl === undefined) return dsl;
  const drawn = normaliseForCanvas(dsl);
  const folded = renameClasses(foldStartNodes(drawn), 'Iteration', 'Parallel');
  return copyJson(folded, { rewrite: shortenItemReferences }) as JsonObject;
}

function shortenItemReferences(text: string): string {
  return text.replace(ITEM_REFERENCE, (_, name: string) => (name === 'index' ? 'index' : 'item'));
}

function repairHandles(dsl: JsonObject): JsonObject {
  return mapGraph(dsl, 'edges', (edge) => {
    const repaired: Record<string, Json> = { ...edge };
    if (isPlainHandle(edge.sourceHandle)) repaired.sourceHandle = 'start';
    if (isPlainHandle(edge.targetHandle)) repaired.targetHandle = 'end';
    return repaired;
  });
}

/** Handles of cases, tools and sub-agents carry meaning; these two are only the sides of a node. */
function isPlainHandle(handle: Json | undefined): boolean {
  return handle === 'start' || handle === 'end';
}

function deriveGraph(dsl: JsonObject): JsonObject {
  if (ownList(ownObject(dsl, 'graph'), 'nodes').length > 0) return dsl;
  const components = ownObject(dsl, 'components') ?? {};
  const nodes: Json[] = [];
  const edges: Json[] = [];
  const flat: Record<string, Json> = {};
  for (const id of Object.keys(components).sort(compareText)) {
    const entry = ownObject(components, id);
    if (entry === undefined) continue;
    const component = flatten(id, entry);
    nodes.push(drawNode(component, nodes.length));
    for (const target of new Set(component.downstream)) edges.push(drawEdge(id, target));
    flat[id] = { ...component };
  }
  // Entries that are no objects cannot be drawn, and stay where they are.
  const rest = omitKeys(components, new Set(Object.keys(flat)));
  return nodes.length === 0 ? dsl : { ...dsl, graph: { nodes, edges }, components: { ...rest, ...flat } };
}

interface FlatComponent {
  readonly [key: string]: Json;
  readonly id: string;
  readonly name: string;
  readonly downstream: readonly string[];
  readonly upstream: readonly string[];
  readonly params: JsonObject;
}

function flatten(id: string, entry: JsonObject): FlatComponent {
  const obj = ownObject(entry, 'obj');
  const parent = ownText(entry, 'parent_id');
  return {
    id,
    name: classOf(entry) ?? id,
    downstream: successorsOf(entry),
    upstream: ownTexts(entry, 'upstream'),
    params: ownObject(obj, 'params') ?? ownObject(entry, 'params') ?? {},
    ...(parent === undefined ? {} : { parent_id: parent }),
  };
}

function drawNode(component: FlatComponent, position: number): Json {
  return {
    id: component.id,
    type: nodeTypeOf(component.name),
    position: { x: 50 + position * 350, y: 200 },
    data: { label: component.name, name: component.name, form: component.params },
    sourcePosition: 'right',
    targetPosition: 'left',
    ...(component.parent_id === undefined ? {} : { parentId: component.parent_id }),
  };
}

function drawEdge(source: string, target: string): Json {
  return { id: `xy-edge__${source}-${target}`, source, target, sourceHandle: 'start', targetHandle: 'end' };
}

/** Renames a class in components and in the layout: names, labels and node types. */
function renameClasses(dsl: JsonObject, from: string, to: string): JsonObject {
  const drawn = mapGraph(dsl, 'nodes', (node) => {
    const data = ownObject(node, 'data');
    const isDrawnSo = node.type === nodeTypeOf(from);
    const renamed = isDrawnSo ? { ...node, type: nodeTypeOf(to) } : node;
    return data === undefined ? renamed : { ...renamed, data: swap(swap(data, 'label', from, to), 'name', from, to) };
  });
  return mapComponents(drawn, (entry) => {
    const obj = ownObject(entry, 'obj');
    const renamed = swap(entry, 'name', from, to);
    return obj === undefined ? renamed : { ...renamed, obj: swap(obj, 'component_name', from, to) };
  });
}

function foldStartNodes(dsl: JsonObject): JsonObject {
  const components = ownObject(dsl, 'components') ?? {};
  const drawnParents = new Map<string, string>();
  for (const node of ownList(ownObject(dsl, 'graph'), 'nodes')) {
    const id = ownText(node, 'id');
    const parent = ownText(node, 'parentId');
    if (id !== undefined && parent !== undefined) drawnParents.set(id, parent);
  }
  const folded = new Map<string, Set<string>>();
  const removed = new Set<string>();
  for (const [id, entry] of Object.entries(components)) {
    if (!FOLDED_CLASSES.has(classOf(entry) ?? '')) continue;
    const parent = ownText(entry, 'parent_id') ?? drawnParents.get(id);
    if (parent === undefined || parent === id) continue;
    removed.add(id);
    const targets = folded.get(parent) ?? new Set<string>();
    for (const target of successorsOf(entry)) targets.add(target);
    folded.set(parent, targets);
  }
  if (removed.size === 0) return dsl;
  const kept: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(components)) {
    if (removed.has(id)) continue;
    kept[id] = isJsonObject(entry) ? foldInto(entry, folded.get(id) ?? NOTHING, removed) : entry;
  }
  return { ...dsl, components: kept };
}

const NOTHING: ReadonlySet<string> = new Set();

/** An edge back to a node that was folded away means the end of a pass, which needs no edge. */
function foldInto(entry: JsonObject, targets: ReadonlySet<string>, removed: ReadonlySet<string>): JsonObject {
  const successors = successorsOf(entry);
  if (targets.size === 0 && !successors.some((id) => removed.has(id))) return entry;
  const merged = new Set([...successors, ...targets]);
  return { ...entry, downstream: [...merged].filter((id) => !removed.has(id)) };
}

function successorsOf(entry: JsonObject | Json): string[] {
  const outer = ownTexts(entry, 'downstream');
  return outer.length > 0 ? outer : ownTexts(ownObject(entry, 'obj'), 'downstream');
}

function classOf(entry: Json): string | undefined {
  return ownText(ownObject(entry, 'obj'), 'component_name') ?? ownText(entry, 'name');
}

function swap(source: JsonObject, key: string, from: string, to: string): JsonObject {
  return ownText(source, key) === from ? { ...source, [key]: to } : source;
}

function mapComponents(dsl: JsonObject, map: (entry: JsonObject) => JsonObject): JsonObject {
  const components = ownObject(dsl, 'components');
  if (components === undefined) return dsl;
  const result: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(components)) result[id] = isJsonObject(entry) ? map(entry) : entry;
  return { ...dsl, components: result };
}

function mapGraph(dsl: JsonObject, key: 'nodes' | 'edges', map: (part: JsonObject) => JsonObject): JsonObject {
  const graph = ownObject(dsl, 'graph');
  const parts = ownList(graph, key);
  if (graph === undefined || parts.length === 0) return dsl;
  return { ...dsl, graph: { ...graph, [key]: parts.map((part) => (isJsonObject(part) ? map(part) : part)) } };
}
