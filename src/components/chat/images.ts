import { isJsonObject, type Json, type JsonObject } from '../../json.js';

const PREFIX = 'data:image/';

/** Deepest nesting that is searched. */
const MAX_DEPTH = 64;

/** Images that a model is shown with one request; more only cost. */
const MAX_IMAGES = 64;

/**
 * Gathers the images (`data:image/…`) in a value, each once and in order, at any depth.
 *
 * Of an object with a `content` only that is searched. At most 64 are kept.
 */
export function collectImages(value: Json | undefined, into: Set<string>, depth = 0): void {
  if (typeof value === 'string') {
    if (isImage(value) && into.size < MAX_IMAGES) into.add(value);
    return;
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return;
  if (Array.isArray(value)) for (const item of value) collectImages(item, into, depth + 1);
  else if (isJsonObject(value) && Object.hasOwn(value, 'content')) collectImages(value.content, into, depth + 1);
  else for (const item of Object.values(value)) collectImages(item, into, depth + 1);
}

/** A value without its images, for texts; lists and objects that held nothing else disappear with them. */
export function withoutImages(value: Json): Json {
  return strip(value, 0) ?? null;
}

function strip(value: Json, depth: number): Json | undefined {
  if (typeof value === 'string') return isImage(value) ? undefined : value;
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  return Array.isArray(value) ? stripList(value, depth) : stripObject(value as JsonObject, depth);
}

function stripList(list: readonly Json[], depth: number): Json | undefined {
  const kept: Json[] = [];
  for (const item of list) {
    const rest = strip(item, depth + 1);
    if (rest !== undefined) kept.push(rest);
  }
  return kept.length === 0 && list.length > 0 ? undefined : kept;
}

function stripObject(object: JsonObject, depth: number): Json | undefined {
  const entries = Object.entries(object);
  const kept: [string, Json][] = [];
  for (const [key, item] of entries) {
    const rest = strip(item, depth + 1);
    if (rest !== undefined) kept.push([key, rest]);
  }
  // Of a part of a message in the form of a request only `type: image_url` is left: it says nothing.
  const isEmptied = kept.length === 0 || (kept.length === 1 && kept[0]?.[0] === 'type');
  return isEmptied && kept.length < entries.length ? undefined : Object.fromEntries(kept);
}

function isImage(text: string): boolean {
  return text.startsWith(PREFIX);
}
