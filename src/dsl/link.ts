/** Linking of components: successors, parents and names, and the removal of bookkeeping from parameters. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type ComponentIndex, canonicalId, indexIds } from './component-id.js';
import { createComponentMap, type DocumentComponent } from './document.js';
import type { IssueList } from './issues.js';
import { omitKeys, ownList, ownObject, ownText } from './json-copy.js';

/** Parameter under which version 2 documents carry the body a component belongs to. */
export const PARENT_PARAM = 'parent_id';

/** A component as its entry declares it, before ids are resolved against the other entries. */
export interface ComponentDraft {
  readonly id: string;
  readonly type: string;
  readonly params: JsonObject;
  /** Successors as written: any spelling, perhaps twice. */
  readonly downstream: readonly string[];
  /** Enclosing body as the entry itself declares it (version 1). */
  readonly parent?: string | undefined;
  readonly extra?: JsonObject | undefined;
}

/** How ids are compared. */
export interface LinkOptions {
  /** Version 2: a successor must be spelled exactly as its key. */
  readonly exact: boolean;
}

/** Display names and body membership, as the editor's layout knows them. */
export interface Layout {
  nameOf(id: string): string | undefined;
  parentOf(id: string): string | undefined;
}

/** Reads names and parents from a layout; ids are found in either version's spelling. */
export function readLayout(graph: JsonObject | undefined): Layout {
  const names = new Map<string, string>();
  const parents = new Map<string, string>();
  for (const node of ownList(graph, 'nodes')) {
    const id = ownText(node, 'id');
    if (id === undefined) continue;
    const name = ownText(ownObject(node, 'data'), 'name');
    const parent = ownText(node, 'parentId');
    for (const key of [canonicalId(id), id]) {
      if (name !== undefined) names.set(key, name);
      if (parent !== undefined) parents.set(key, parent);
    }
  }
  return {
    nameOf: (id) => names.get(id) ?? names.get(canonicalId(id)),
    parentOf: (id) => parents.get(id) ?? parents.get(canonicalId(id)),
  };
}

/**
 * Links drafts: successors and parents get the spelling of the keys, each successor once.
 *
 * A successor or parent that does not exist is reported and left out, so that what follows can rely on every id.
 */
export function linkComponents(
  drafts: readonly ComponentDraft[],
  layout: Layout,
  issues: IssueList,
  options: LinkOptions,
): Record<string, DocumentComponent> {
  const ids = drafts.map((draft) => draft.id);
  const index = indexIds(ids);
  const known = new Set(ids);
  const resolve = options.exact ? (id: string) => (known.has(id) ? id : undefined) : index.resolve;
  const components = createComponentMap();
  for (const draft of drafts) {
    const parent = linkParent(draft, layout, index.resolve, issues, options);
    components[draft.id] = {
      id: draft.id,
      type: draft.type,
      name: layout.nameOf(draft.id) ?? draft.type,
      params: withoutParent(draft.params, parent, index.resolve),
      downstream: linkDownstream(draft, resolve, issues),
      ...(parent === undefined ? {} : { parent }),
      ...(draft.extra === undefined ? {} : { extra: draft.extra }),
    };
  }
  return components;
}

function linkDownstream(
  draft: ComponentDraft,
  resolve: ComponentIndex['resolve'],
  issues: IssueList,
): readonly string[] {
  const linked = new Set<string>();
  const missing = new Set<string>();
  for (const target of draft.downstream) {
    const id = resolve(target);
    if (id === undefined) missing.add(target);
    else linked.add(id);
  }
  for (const target of missing) {
    issues.error(
      'downstream-unknown',
      ['components', draft.id, 'downstream'],
      `${JSON.stringify(draft.id)} leads to ${JSON.stringify(target)}, which does not exist; add it or remove the edge`,
      draft.id,
    );
  }
  return [...linked];
}

/** Finds the body of a component; strongest first: its entry, its parameters, the layout. */
function linkParent(
  draft: ComponentDraft,
  layout: Layout,
  resolve: ComponentIndex['resolve'],
  issues: IssueList,
  options: LinkOptions,
): string | undefined {
  const inParams = ownText(draft.params, PARENT_PARAM);
  // In version 1 the name may belong to the component itself; in version 2 it has this one meaning.
  const isMeant = inParams !== undefined && (options.exact || resolve(inParams) !== undefined);
  const written = draft.parent ?? (isMeant ? inParams : undefined);
  const parent = written ?? layout.parentOf(draft.id);
  if (parent === undefined) return undefined;
  const id = resolve(parent);
  if (id !== undefined) return id;
  const path = ['components', draft.id, ...(options.exact ? ['params', PARENT_PARAM] : [PARENT_PARAM])];
  const message = `${JSON.stringify(draft.id)} belongs to ${JSON.stringify(parent)}, which does not exist; name its Loop or Iteration`;
  // A frame of the layout that is no component only groups nodes visually.
  if (written === undefined) issues.warn('parent-unknown', path, message, draft.id);
  else issues.error('parent-unknown', path, message, draft.id);
  return undefined;
}

/** Removes `parent_id` from parameters where it was read as the component's body. */
function withoutParent(params: JsonObject, parent: string | undefined, resolve: ComponentIndex['resolve']): JsonObject {
  const written = ownText(params, PARENT_PARAM);
  const isUsed = written !== undefined && parent !== undefined && resolve(written) === parent;
  return isUsed ? omitKeys(params, new Set([PARENT_PARAM])) : params;
}

/** Sets in which RAGFlow's Python classes keep notes about parameters; they mean nothing outside that process. */
export const LEGACY_SETS: ReadonlySet<string> = new Set([
  '_feeded_deprecated_params',
  '_deprecated_params',
  '_user_feeded_params',
  '_is_raw_conf',
]);

/**
 * Removes RAGFlow's bookkeeping from parameters, at every level, and `custom_header` out of a component's own
 * parameters and those of its tools: headers belong to one run and are never stored.
 *
 * The input must be a copy already (`copyJson`): parts that need no change are shared.
 */
export function stripParams(params: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(params)) {
    if (LEGACY_SETS.has(key) || key === 'custom_header') continue;
    result[key] =
      key === 'tools' && Array.isArray(value) ? (value as readonly Json[]).map(stripTool) : stripSets(value);
  }
  return result;
}

function stripTool(tool: Json): Json {
  const params = ownObject(tool, 'params');
  const stripped = stripSets(tool);
  return params === undefined || !isJsonObject(stripped) ? stripped : { ...stripped, params: stripParams(params) };
}

function stripSets(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(stripSets);
  if (!isJsonObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!LEGACY_SETS.has(key)) result[key] = stripSets(item);
  }
  return result;
}
