/** An edited document as JSON: what no edit concerned stays as its author wrote it. */
import { toV1, toV2 } from '../../../src/dsl/convert.js';
import type { Document, DocumentComponent } from '../../../src/dsl/document.js';
import { ownObject } from '../../../src/dsl/json-copy.js';
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
  const whole = after.version === 1 ? toV1(after) : toV2(after).canvas;
  const entries = ownObject(dsl, 'components') ?? {};
  const components: Record<string, Json> = {};
  for (const [id, entry] of Object.entries(ownObject(whole, 'components') ?? {})) {
    const [old, now] = [before.components[id], after.components[id]];
    const written = Object.hasOwn(entries, id) ? entries[id] : undefined;
    components[id] =
      isJsonObject(written) && isJsonObject(entry) ? entryOf(written, entry, old === now) : (entry as Json);
    if (isJsonObject(written) && old !== undefined && now !== undefined && old !== now)
      components[id] = withOldParams(components[id] as JsonObject, written, [old, now]);
  }
  const parts = after.version === 1 ? changedParts(before, after, whole) : {};
  return { ...dsl, ...parts, components };
}

/** An entry as it is written, with what leads to it now; of one that changed all that the engine knows is new. */
function entryOf(written: JsonObject, entry: JsonObject, isSame: boolean): JsonObject {
  if (isSame) {
    const isFollowed = 'upstream' in written && JSON.stringify(written.upstream) !== JSON.stringify(entry.upstream);
    return isFollowed ? { ...written, upstream: entry.upstream ?? [] } : written;
  }
  const [old, obj] = [ownObject(written, 'obj'), ownObject(entry, 'obj')];
  return { ...written, ...entry, ...(old && obj && { obj: { ...old, ...obj } }), ...withoutParent(written, entry) };
}

/** A component that left its body names none any more. */
function withoutParent(written: JsonObject, entry: JsonObject): JsonObject {
  return 'parent_id' in written && !('parent_id' in entry) ? { parent_id: null } : {};
}

/** Notes that RAGFlow keeps among the parameters, and that the reader leaves out, stay. */
function withOldParams(
  entry: JsonObject,
  written: JsonObject,
  [before]: readonly [DocumentComponent, DocumentComponent],
): JsonObject {
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
