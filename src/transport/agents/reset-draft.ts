import type { Document } from '../../dsl/document.js';
import { resetDocument } from '../../dsl/globals.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** Parameters in which runs leave values. */
const SLOTS = ['inputs', 'outputs', 'debug_inputs'] as const;

/** A draft without what conversations left in it. @throws EngineError DOCUMENT_INVALID. */
export function resetDraft(dsl: JsonObject): JsonObject {
  const { document, issues } = readDocument(dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read, so it cannot be reset.', {
      details: { issues },
    });
  }
  return withReset(dsl, resetDocument(document));
}

/** The document as its author wrote it, with the parts that conversations change taken from `reset`. */
function withReset(dsl: JsonObject, reset: Document): JsonObject {
  const components = isJsonObject(dsl.components) ? { components: cleared(dsl.components, reset) } : {};
  if (reset.version === 2) return { ...dsl, ...components };
  const { globals, history, retrieval, memory, path } = reset;
  return { ...dsl, ...components, globals, history, retrieval, memory, path };
}

function cleared(components: JsonObject, reset: Document): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([id, entry]): [string, Json] => {
      const clean = reset.components[id]?.params;
      return [id, clean === undefined ? entry : withParams(entry, clean)];
    }),
  );
}

/** Parameters lie under `obj`, or in the entry itself in the flat form. */
function withParams(entry: Json, clean: JsonObject): Json {
  if (!isJsonObject(entry)) return entry;
  if (isJsonObject(entry.obj)) return { ...entry, obj: withParams(entry.obj, clean) };
  const { params } = entry;
  if (!isJsonObject(params)) return entry;
  const slots = SLOTS.filter((name) => Object.hasOwn(params, name) && Object.hasOwn(clean, name));
  const values = Object.fromEntries(slots.map((name) => [name, clean[name] as Json]));
  return { ...entry, params: { ...params, ...values } };
}
