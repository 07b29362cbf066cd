import type { Document } from '../../dsl/document.js';
import { firstBegin } from '../../dsl/introspect.js';
import type { JsonObject } from '../../json.js';

/** Parameters of the component that runs start at; undefined without one. */
export function beginParams(document: Document): JsonObject | undefined {
  const id = firstBegin(document);
  return id === undefined ? undefined : document.components[id]?.params;
}
