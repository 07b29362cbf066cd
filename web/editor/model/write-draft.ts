/** An edited document as JSON: what no edit concerned stays as its author wrote it. */
import { toV1, toV2 } from '../../../src/dsl/convert.js';
import type { Document, DocumentComponent } from '../../../src/dsl/document.js';
import { ownObject, ownValue } from '../../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';

/** A document as it was loaded: its JSON, and what was read from it. */
export interface LoadedDraft {
  readonly dsl: JsonObject;
  readonly document: Document;
}

/** Parts of version 1 that a document has, too. */
const PARTS = ['globals', 'variables', 'history', 'retrieval', 'memory', 'path', 'graph'] as const;

/** The JSON of a document that was edited. The same object when nothing was. @throws EngineError DOCUMENT_NOT_CONVERTIBLE. */
export function writeDraft(loaded: LoadedDraft, after: Document): JsonObject {
  const { dsl, document: before } = loaded;
  if (after === before) return dsl;
  const whole = wholeOf(after);
  const had = ownObject(wholeOf(before), 'components');
  const entries = ownObject(dsl, 'components') ?? {};
  const components: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(ownObject(whole, 'components') ?? {})) {
    const [old, now] = [before.components[id], after.components[id]];
    const written = Object.hasOwn(entries, id) ? entries[id] : undefined;
    if (!isJsonObject(written) || !isJsonObject(entry) || old === undefined || now === undefined) {
      components[id] = entry;
      continue;
    }
    const upstream = upstreamOf(written, { before: ownValue(had, id), after: entry });
    components[id] = old === now ? { ...written, ...upstream } : { ...changedEntry(written, entry, old), ...upstream };
  }
  const parts = after.version === 1 ? changedParts(before, after, whole) : {};
  return { ...dsl, ...parts, components };
}

function wholeOf(document: Document): JsonObject {
  return document.version === 1 ? toV1(document) : toV2(document).canvas;
}

/** What leads to a component, which files write as well: as it is written, as long as nothing else leads to it. */
function upstreamOf(
  written: JsonObject,
  { before, after }: { readonly before: Json | undefined; readonly after: JsonObject },
): JsonObject {
  if (!('upstream' in after)) return {};
  const isSame = JSON.stringify(ownValue(before, 'upstream')) === JSON.stringify(after.upstream);
  if (!isSame) return { upstream: after.upstream ?? [] };
  return 'upstream' in written ? { upstream: written.upstream ?? [] } : {};
}

/** An entry of which all that the engine knows is new. */
function changedEntry(written: JsonObject, entry: JsonObject, before: DocumentComponent): JsonObject {
  const [old, obj] = [ownObject(written, 'obj'), ownObject(entry, 'obj')];
  const next = {
    ...written,
    ...entry,
    ...(old && obj && { obj: { ...old, ...obj } }),
    ...withoutParent(written, entry),
  };
  return withOldParams(next, written, before);
}

/** A component that left its body names none any more. */
function withoutParent(written: JsonObject, entry: JsonObject): JsonObject {
  return 'parent_id' in written && !('parent_id' in entry) ? { parent_id: null } : {};
}

/** Notes that RAGFlow keeps among the parameters, and that the reader leaves out, stay. */
function withOldParams(entry: JsonObject, written: JsonObject, before: DocumentComponent): JsonObject {
  const inner = ownObject(entry, 'obj');
  const owner = inner ?? entry;
  const old = ownObject(ownObject(written, 'obj') ?? written, 'params') ?? {};
  const unread = Object.entries(old).filter(([name]) => name !== 'parent_id' && !(name in before.params));
  if (unread.length === 0) return entry;
  const params = { ...Object.fromEntries(unread), ...(ownObject(owner, 'params') ?? {}) };
  return inner === undefined ? { ...entry, params } : { ...entry, obj: { ...inner, params } };
}

function changedParts(before: Document, after: Document, whole: JsonObject): JsonObject {
  const changed = PARTS.filter((part) => before[part] !== after[part]);
  return Object.fromEntries(changed.flatMap((part) => (whole[part] === undefined ? [] : [[part, whole[part]]])));
}
