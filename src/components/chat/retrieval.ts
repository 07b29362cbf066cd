import type { References } from '../../adapters/tool-event.js';
import { foundValue, type ValueSource } from '../../dsl/resolve.js';
import type { Write } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { mergeReferences, readReferences } from '../../tools/results.js';

/** What the run found in knowledge bases so far: the last entry of the variable `retrieval`, when there is anything in it. */
export function currentRetrieval(source: ValueSource): JsonObject | undefined {
  const last = listIn(source, 'retrieval').at(-1);
  return isJsonObject(last) && (holdsAnything(last.chunks) || holdsAnything(last.doc_aggs)) ? last : undefined;
}

/** Whether passages were found that an answer can cite. */
export function hasPassages(source: ValueSource): boolean {
  return holdsAnything(currentRetrieval(source)?.chunks);
}

/** Adds to what the turn found so far; to be computed right before it is written, so that results of concurrent nodes are not lost. */
export function registerReferences(source: ValueSource, found: References): Write {
  const entries = listIn(source, 'retrieval');
  const merged = mergeReferences(readReferences(entries.at(-1)), found);
  const value: Json = [...entries.slice(0, -1), { chunks: merged.chunks, doc_aggs: merged.doc_aggs }];
  return { to: { kind: 'variable', key: 'retrieval' }, value };
}

/** The list that a variable holds; empty without one. */
export function listIn(source: ValueSource, key: string): readonly Json[] {
  const list = foundValue(source.variable(key));
  return Array.isArray(list) ? list : [];
}

/** Passages and documents come as objects by id or as lists. */
function holdsAnything(found: Json | undefined): boolean {
  return typeof found === 'object' && found !== null && Object.keys(found).length > 0;
}
