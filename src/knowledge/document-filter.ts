import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type KnowledgeDocument, metadataValue } from './knowledge-document.js';
import type { DocumentFilter } from './ports.js';

/** Deepest value that is compared; what lies below counts as unlike. */
const MAX_DEPTH = 32;

/** A filter as a function; undefined for none. See {@link DocumentFilter} for its rule. */
export function documentTest(
  filter: DocumentFilter | undefined,
): ((document: KnowledgeDocument) => boolean) | undefined {
  if (filter === undefined || typeof filter === 'function') return filter;
  const wanted = Object.entries(filter);
  return ({ metadata }) => wanted.every(([name, value]) => fits(metadata, name, value));
}

function fits(metadata: JsonObject, name: string, wanted: Json): boolean {
  const own = metadataValue(metadata, name);
  if (own === undefined) return false;
  const choices: readonly Json[] = Array.isArray(wanted) ? (wanted as readonly Json[]) : [wanted];
  const values: readonly Json[] = Array.isArray(own) ? [own, ...(own as readonly Json[])] : [own];
  return isAlike(own, wanted, 0) || choices.some((choice) => values.some((value) => isAlike(value, choice, 0)));
}

function isAlike(left: Json, right: Json, depth: number): boolean {
  if (left === right) return true;
  if (depth >= MAX_DEPTH) return false;
  if (Array.isArray(left)) {
    const items: readonly Json[] = left;
    const others = Array.isArray(right) ? (right as readonly Json[]) : undefined;
    return others?.length === items.length && items.every((item, at) => isAlike(item, others[at] ?? null, depth + 1));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isAlike(left[key] ?? null, right[key] ?? null, depth + 1))
  );
}
