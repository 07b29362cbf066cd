/** Conversion between version 1 and version 2 documents. */
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { v1KeyToV2Id, v2IdToV1Key } from './component-id.js';
import type { Document, DocumentComponent } from './document.js';
import { createIssueList, describeValue, type IssueList } from './issues.js';
import { copyJson, ownText, sortKeys } from './json-copy.js';
import { PARENT_PARAM } from './link.js';
import { readV1 } from './schema-v1.js';
import { type DocumentSidecar, readV2 } from './schema-v2.js';
import { wrongValue } from './wrong-value.js';

/** A version 2 document, and beside it what version 2 has no room for. */
export interface V2Conversion {
  /** The strict version 2 document. */
  readonly canvas: JsonObject;
  /** Variables, layout, conversation and the original keys; give it back to `readDocument` or `v2ToV1`. */
  readonly sidecar: DocumentSidecar;
}

/** Options of `v2ToV1`; all optional. */
export interface V2ToV1Options {
  /**
   * Gives `{components}` alone, parameters in alphabetical order and an entry called `Begin`: the form that RAGFlow's
   * own converter gave. Default: false, a whole document that RAGFlow can load.
   */
  readonly componentsOnly?: boolean;
  /** What a conversion to version 2 set aside; with it the original keys come back. */
  readonly sidecar?: DocumentSidecar;
}

/**
 * Converts a version 1 document to version 2.
 *
 * Parameters keep their text: references in them still spell version 1 keys, which `findComponent` resolves. Body
 * membership, for which version 2 has no field, goes into `params.parent_id`.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` for anything that version 2 cannot say; `details.issues` lists it.
 */
export function v1ToV2(value: unknown): V2Conversion {
  const issues = createIssueList();
  const { document } = readV1(requireObject(value, issues), issues);
  refuseErrors('version 1', issues);
  return toV2(document);
}

/**
 * Converts a version 2 document to version 1.
 *
 * Components are ordered: the entry first, then by key, so equal input gives equal bytes. Without a sidecar the case of
 * a class name within a key is lost (`Llm:x`), never the class itself.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` when the input is no valid version 2 document.
 */
export function v2ToV1(value: unknown, options: V2ToV1Options = {}): JsonObject {
  if (options === null) throw wrongValue('v2ToV1', 'options', 'an object', options);
  const issues = createIssueList();
  const canvas = requireObject(value, issues);
  if (canvas.version !== 2) {
    issues.error('unknown-version', ['version'], `expected the number 2, received ${describeValue(canvas.version)}`);
  }
  const document = readV2(canvas, issues, options.sidecar);
  refuseErrors('version 2', issues);
  const keys = v1Keys(document, options.componentsOnly === true ? 'Begin' : 'begin');
  const components = writeV1Components(document, keys, true);
  const sorted = sortComponents(components);
  return options.componentsOnly === true ? { components: sortParams(sorted) } : writeV1(document, sorted, keys);
}

/**
 * Writes a document as RAGFlow stores it: a whole version 1 envelope with predecessors computed and unknown keys unchanged.
 *
 * Components stay in their order; those of a version 2 document get version 1 keys.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` for version 2 ids that have no version 1 key.
 */
export function toV1(document: Document): JsonObject {
  requireDocument('toV1', document);
  const keys = v1Keys(document, 'begin');
  return writeV1(document, writeV1Components(document, keys, document.version === 2), keys);
}

/**
 * Writes a document as version 2, with a sidecar for what version 2 has no room for.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` for a document without components, keys without a version 2 id, and
 * keys that differ only in spelling.
 */
export function toV2(document: Document): V2Conversion {
  requireDocument('toV2', document);
  const sources = Object.values(document.components);
  if (sources.length === 0) throw new EngineError('DOCUMENT_NOT_CONVERTIBLE', 'the document has no components');
  const ids = convertIds(sources, (id) => (document.version === 2 ? id : v1KeyToV2Id(id)));
  const components: Record<string, Json> = {};
  const keys: Record<string, Json> = {};
  for (const source of sources) {
    const id = mapped(ids, source.id);
    const parent = source.parent === undefined ? {} : { [PARENT_PARAM]: mapped(ids, source.parent) };
    components[id] = {
      id,
      name: source.type,
      downstream: source.downstream.map((target) => mapped(ids, target)),
      params: { ...source.params, ...parent },
    };
    if (document.version === 1) keys[id] = source.id;
  }
  return { canvas: { version: 2, components }, sidecar: writeSidecar(document, document.v1Keys ?? keys) };
}

/** Writes JSON the way document files are written: two spaces, one line end at the end. */
export function formatDocument(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function requireDocument(owner: string, document: Document): void {
  if (!isJsonObject(document?.components)) throw wrongValue(owner, 'document', 'what parseDocument(…) gives', document);
}

function requireObject(value: unknown, issues: IssueList): JsonObject {
  const copy = copyJson(value, { issues });
  if (isJsonObject(copy)) return copy;
  throw new EngineError('DOCUMENT_NOT_CONVERTIBLE', `expected a JSON object, received ${describeValue(value)}`);
}

function refuseErrors(version: string, issues: IssueList): void {
  const errors = issues.list().filter((issue) => issue.severity === 'error');
  if (errors.length === 0) return;
  const lines = errors.map((issue) => `\n- ${issue.path}: ${issue.message}`).join('');
  const message = `the ${version} document cannot be converted:${lines}`;
  throw new EngineError('DOCUMENT_NOT_CONVERTIBLE', message, { details: { issues: issues.list() } });
}

function writeSidecar(document: Document, keys: JsonObject): DocumentSidecar {
  const { globals, variables, history, retrieval, memory, path, graph, extra } = document;
  return { keys, globals, variables, history, retrieval, memory, path, ...(graph && { graph }), extra };
}

/** Old id to new id for every component; two that become one id are refused, never merged. */
function convertIds(
  sources: readonly DocumentComponent[],
  convert: (id: string) => string,
): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const { id } of sources) {
    const next = convert(id);
    const other = origins.get(next);
    if (other !== undefined) {
      const message = `${JSON.stringify(other)} and ${JSON.stringify(id)} would both become ${JSON.stringify(next)}; rename one`;
      throw new EngineError('DOCUMENT_NOT_CONVERTIBLE', message, { node: id });
    }
    ids.set(id, next);
    origins.set(next, id);
  }
  return ids;
}

/** Version 1 keys: the id itself, the key a sidecar remembers, or one restored from the id. */
function v1Keys(document: Document, entryKey: 'begin' | 'Begin'): ReadonlyMap<string, string> {
  return convertIds(Object.values(document.components), (id) => {
    if (document.version === 1) return id;
    const remembered = ownText(document.v1Keys, id);
    if (remembered !== undefined) return remembered;
    const key = v2IdToV1Key(id);
    // RAGFlow starts every run at the literal key "begin".
    return key === 'Begin' ? entryKey : key;
  });
}

function writeV1Components(
  document: Document,
  keys: ReadonlyMap<string, string>,
  doubled: boolean,
): Record<string, Json> {
  const components: Record<string, Json> = {};
  for (const source of Object.values(document.components)) {
    const { obj, ...rest } = source.extra ?? {};
    const downstream = source.downstream.map((target) => mapped(keys, target));
    components[mapped(keys, source.id)] = {
      downstream,
      obj: {
        component_name: source.type,
        params: source.params,
        ...(doubled ? { downstream } : {}),
        ...(isJsonObject(obj) ? obj : {}),
      },
      ...(source.parent === undefined ? {} : { parent_id: mapped(keys, source.parent) }),
      ...rest,
    };
  }
  return components;
}

function writeV1(document: Document, components: JsonObject, keys: ReadonlyMap<string, string>): JsonObject {
  const { history, retrieval, globals, variables, memory, graph, extra } = document;
  const state = { history, retrieval, globals, variables, memory, ...(graph && { graph }), ...extra };
  return { components: withUpstreams(components), path: document.path.map((id) => keys.get(id) ?? id), ...state };
}

function withUpstreams(components: JsonObject): JsonObject {
  const upstreams = new Map<string, string[]>(Object.keys(components).map((id) => [id, []]));
  for (const [id, entry] of Object.entries(components)) {
    for (const target of (entry as { downstream: readonly string[] }).downstream) upstreams.get(target)?.push(id);
  }
  const result: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(components)) {
    result[id] = { ...(entry as JsonObject), upstream: upstreams.get(id) ?? [] };
  }
  return result;
}

function sortComponents(components: JsonObject): JsonObject {
  const rank = (key: string): number => (/^[bB]egin(:|$)/.test(key) ? 0 : 1);
  const keys = Object.keys(components)
    .sort()
    .sort((left, right) => rank(left) - rank(right));
  return Object.fromEntries(keys.map((key) => [key, components[key] as Json]));
}

function sortParams(components: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, entry] of Object.entries(components)) {
    const { obj, ...rest } = entry as { readonly [key: string]: Json; readonly obj: JsonObject };
    const { downstream, ...head } = rest;
    result[key] = { downstream: downstream ?? [], obj: { ...obj, params: sortKeys(obj.params ?? {}) }, ...head };
  }
  return result;
}

function mapped(ids: ReadonlyMap<string, string>, id: string): string {
  const next = ids.get(id);
  if (next === undefined)
    throw new EngineError('DOCUMENT_NOT_CONVERTIBLE', `there is no component ${JSON.stringify(id)}`);
  return next;
}
