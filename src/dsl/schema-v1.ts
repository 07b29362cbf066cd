/** Version 1 documents: detected and read. */

import * as z from 'zod/mini';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { nameHalf } from './component-id.js';
import type { Document } from './document.js';
import { completeGlobals } from './globals.js';
import { checkShape, describeValue, type IssueList } from './issues.js';
import { omitKeys, ownList, ownObject, ownText, ownTexts, ownValue } from './json-copy.js';
import { optionalObject } from './json-shapes.js';
import { type ComponentDraft, LEGACY_SETS, linkComponents, readLayout, stripParams } from './link.js';

const list = z.nullish(z.array(z.unknown()));
const ids = z.nullish(z.array(z.string()));
const text = z.nullish(z.string());

/** An object, or the empty list that RAGFlow's editor writes for a document without variables. */
const objectOrEmpty = z.nullish(
  z.custom((value) => isJsonObject(value) || (Array.isArray(value) && value.length === 0), 'expected an object'),
);

const topLevel = z.looseObject({
  components: optionalObject,
  path: list,
  history: list,
  retrieval: z.optional(z.custom((value) => value === undefined || typeof value === 'object', 'expected a list')),
  memory: list,
  globals: optionalObject,
  variables: objectOrEmpty,
  graph: optionalObject,
});

const layout = z.looseObject({ nodes: list, edges: list });

const variable = z.looseObject({ type: text });

const classPart = z.looseObject({
  component_name: text,
  params: optionalObject,
  downstream: ids,
  upstream: ids,
});

const entryShape = z.looseObject({
  obj: z.nullish(classPart),
  params: optionalObject,
  downstream: ids,
  upstream: ids,
  parent_id: text,
});

const KNOWN_TOP = new Set([...Object.keys(topLevel.shape), 'task_id']);
const KNOWN_ENTRY = new Set(['obj', 'downstream', 'upstream', 'parent_id', ...LEGACY_SETS]);
const KNOWN_FLAT = new Set([...KNOWN_ENTRY, 'id', 'name', 'params']);
const KNOWN_OBJ = new Set(['component_name', 'params', 'downstream', 'upstream', ...LEGACY_SETS]);

/** A version 1 document, and the predecessors its file claims (they are never used to run, only compared). */
export interface V1Reading {
  readonly document: Document;
  readonly upstreams: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a version 1 document from a copy made by `copyJson`.
 *
 * Everything of a wrong type is reported and read as if it were absent, so that a draft still gives a document.
 */
export function readV1(value: JsonObject, issues: IssueList): V1Reading {
  checkShape(topLevel, value, [], issues);
  const graph = ownObject(value, 'graph');
  if (graph !== undefined) checkShape(layout, graph, ['graph'], issues);
  const variables = readVariables(value, issues);
  const upstreams = new Map<string, readonly string[]>();
  const drafts: ComponentDraft[] = [];
  for (const [id, entry] of Object.entries(ownObject(value, 'components') ?? {})) {
    const draft = readEntry(id, entry, issues);
    if (draft === undefined) continue;
    drafts.push(draft);
    upstreams.set(id, [...ownTexts(entry, 'upstream'), ...ownTexts(ownObject(entry, 'obj'), 'upstream')]);
  }
  if (drafts.length === 0) {
    issues.error('no-components', ['components'], 'there are no components; a canvas needs at least a Begin');
  }
  const document: Document = {
    version: 1,
    components: linkComponents(drafts, readLayout(graph), issues, { exact: false }),
    ...readState(value),
    variables,
    ...(graph === undefined ? {} : { graph }),
    extra: omitKeys(value, KNOWN_TOP),
  };
  return { document, upstreams };
}

/** Reads what a conversation leaves in a document; what is missing or of a wrong type is empty. */
export function readState(value: unknown): Pick<Document, 'globals' | 'history' | 'retrieval' | 'memory' | 'path'> {
  const retrieval = ownValue(value, 'retrieval');
  return {
    globals: completeGlobals(ownObject(value, 'globals')),
    history: ownList(value, 'history'),
    retrieval: typeof retrieval === 'object' && retrieval !== null ? retrieval : [],
    memory: ownList(value, 'memory'),
    path: ownTexts(value, 'path'),
  };
}

/** Reads declared variables; those that are no objects are reported and left out. */
export function readVariables(value: unknown, issues: IssueList): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, entry] of Object.entries(ownObject(value, 'variables') ?? {})) {
    checkShape(variable, entry, ['variables', name], issues);
    if (isJsonObject(entry)) result[name] = entry;
  }
  return result;
}

function readEntry(id: string, entry: Json, issues: IssueList): ComponentDraft | undefined {
  const path = ['components', id];
  if (id === '') issues.error('id-invalid', path, 'a component has the empty text as its id; give it a name', id);
  checkShape(entryShape, entry, path, issues, id);
  if (!isJsonObject(entry)) return undefined;
  const flat = isFlatEntry(entry);
  const inner = flat ? entry : ownObject(entry, 'obj');
  const outerTargets = ownTexts(entry, 'downstream');
  return {
    id,
    type: readType(id, entry, flat, issues),
    params: stripParams(ownObject(inner, 'params') ?? {}),
    downstream: outerTargets.length > 0 ? outerTargets : ownTexts(inner, 'downstream'),
    parent: ownText(entry, 'parent_id'),
    extra: readExtra(entry, flat),
  };
}

function readType(id: string, entry: JsonObject, flat: boolean, issues: IssueList): string {
  const path = flat ? ['components', id, 'name'] : ['components', id, 'obj', 'component_name'];
  const written = flat ? ownValue(entry, 'name') : ownValue(ownObject(entry, 'obj'), 'component_name');
  if (typeof written === 'string' && written.trim() !== '') return written;
  const guess = nameHalf(id);
  if (written === undefined || written === null) {
    issues.warn('name-missing', path, `there is no class name; ${JSON.stringify(guess)} is taken from the id`, id);
  } else if (typeof written === 'string') {
    issues.error('name-empty', path, `the class name is ${describeValue(written)}; write one such as "LLM"`, id);
  }
  return guess;
}

function readExtra(entry: JsonObject, flat: boolean): JsonObject | undefined {
  const extra = omitKeys(entry, flat ? KNOWN_FLAT : KNOWN_ENTRY);
  const obj = omitKeys(ownObject(entry, 'obj') ?? {}, KNOWN_OBJ);
  if (Object.keys(obj).length > 0) extra.obj = obj;
  return Object.keys(extra).length > 0 ? extra : undefined;
}

/** The kind of a JSON value: version 1, version 2, an editor's export with only a layout, or unknown. */
export type DocumentKind = 1 | 2 | 'graph-only' | undefined;

/**
 * Tells which version a parsed document is written in.
 *
 * `version: 2` decides at once, even for a document that is wrong otherwise. Else one component with a class name in
 * `obj.component_name` makes version 1; so does the flat form `{name, params}` that RAGFlow's Go server writes. A file
 * with a graph and no components is an editor's export. Everything else, also `version: 99`, is undefined.
 */
export function detectVersion(value: unknown): DocumentKind {
  if (!isJsonObject(value)) return undefined;
  if (ownValue(value, 'version') === 2) return 2;
  const components = ownObject(value, 'components') ?? {};
  const mayBeFlat = ownValue(value, 'version') === undefined;
  for (const key of Object.keys(components)) {
    const entry = ownObject(components, key);
    if (ownText(ownObject(entry, 'obj'), 'component_name') !== undefined) return 1;
    if (mayBeFlat && isFlatEntry(entry)) return 1;
  }
  const isEmpty = Object.keys(components).length === 0;
  return isEmpty && ownList(ownObject(value, 'graph'), 'nodes').length > 0 ? 'graph-only' : undefined;
}

/** Whether a component's entry is in the flat form `{id, name, downstream, upstream, params}`. */
function isFlatEntry(entry: JsonObject | undefined): boolean {
  if (entry === undefined || ownObject(entry, 'obj') !== undefined) return false;
  return ownText(entry, 'name') !== undefined && ownObject(entry, 'params') !== undefined;
}

/** Explains what a document lacks to be of a known version. */
export function explainUnknownVersion(value: JsonObject): string {
  const version = ownValue(value, 'version');
  const claim = version === undefined ? 'there is no "version"' : `"version" is ${JSON.stringify(version)}, not 2`;
  const components = ownObject(value, 'components');
  if (components === undefined) return `${claim}, and there is no "components" object`;
  if (Object.keys(components).length === 0) return `${claim}, and "components" is empty`;
  return `${claim}, and no component has a class name in "obj.component_name"`;
}
