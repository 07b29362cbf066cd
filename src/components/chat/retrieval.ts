import type { ValueSource } from '../../dsl/resolve.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** What the run found in knowledge bases so far: the last entry of the variable `retrieval`, when there is anything in it. */
export function currentRetrieval(source: ValueSource): JsonObject | undefined {
  const lookup = source.variable('retrieval');
  const last = lookup.status === 'found' && Array.isArray(lookup.value) ? lookup.value.at(-1) : undefined;
  if (!isJsonObject(last)) return undefined;
  return holdsAnything(last.chunks) || holdsAnything(last.doc_aggs) ? last : undefined;
}

/** Whether passages were found that an answer can cite. */
export function hasPassages(source: ValueSource): boolean {
  return holdsAnything(currentRetrieval(source)?.chunks);
}

/** Passages and documents come as objects by id or as lists. */
function holdsAnything(found: Json | undefined): boolean {
  return typeof found === 'object' && found !== null && Object.keys(found).length > 0;
}
