/** Ids of components in both versions, and looking them up in any spelling. */
import { EngineError } from '../errors.js';
import type { Document, DocumentComponent } from './document.js';

/** Finds the spelling of a component's id that a document declares. */
export interface ComponentIndex {
  /** The declared id equal to `id`, else the first one with the same canonical form, else undefined. */
  resolve(id: string): string | undefined;
}

/**
 * The form in which ids of version 1 and version 2 agree: lower case, `:` as `_`, no `_` at the end.
 *
 * `Agent:SmartCats` and `agent_smartcats` are one component, and so are `begin`, `Begin` and `begin_`.
 */
export function canonicalId(id: string): string {
  const text = lowerAscii(id).replaceAll(':', '_');
  let end = text.length;
  while (end > 0 && text[end - 1] === '_') end -= 1;
  return text.slice(0, end);
}

/** Builds an index over ids; use it for many look-ups, `findComponent` for a single one. */
export function indexIds(ids: Iterable<string>): ComponentIndex {
  const exact = new Set<string>();
  const canonical = new Map<string, string>();
  for (const id of ids) {
    exact.add(id);
    const form = canonicalId(id);
    if (!canonical.has(form)) canonical.set(form, id);
  }
  return { resolve: (id) => (exact.has(id) ? id : canonical.get(canonicalId(id))) };
}

/** The component called `id`: the exact spelling first, then the canonical form. */
export function findComponent(document: Document, id: string): DocumentComponent | undefined {
  const exact = document.components[id];
  if (exact !== undefined) return exact;
  const form = canonicalId(id);
  for (const key of Object.keys(document.components)) {
    if (canonicalId(key) === form) return document.components[key];
  }
  return undefined;
}

/** The class name that a version 1 key suggests: the part before the first colon, or the whole key. */
export function nameHalf(key: string): string {
  const colon = key.indexOf(':');
  return colon < 0 ? key : key.slice(0, colon);
}

/**
 * Turns a version 1 key into a version 2 id: `Agent:Foo` into `agent_foo`, `begin` into `begin_`.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` for an empty key and for one with nothing before or after its colon.
 */
export function v1KeyToV2Id(key: string): string {
  if (key === '') throw notConvertible('an empty key has no version 2 id; give the component a key such as "Agent:A"');
  const colon = key.indexOf(':');
  if (colon < 0) return `${lowerAscii(key)}_`;
  const name = key.slice(0, colon);
  const suffix = key.slice(colon + 1);
  if (name === '') throw notConvertible(`the key ${JSON.stringify(key)} has no name before its colon`);
  if (suffix === '') throw notConvertible(`the key ${JSON.stringify(key)} has nothing after its colon`);
  return `${lowerAscii(name)}_${lowerAscii(suffix).replaceAll(':', '_')}`;
}

/**
 * Turns a version 2 id into a version 1 key: `agent_foo` into `Agent:foo`; `begin_` and `begin` into `Begin`.
 *
 * The case of the original key is lost (`llm_x` gives `Llm:x`); the canonical form is not.
 *
 * @throws EngineError `DOCUMENT_NOT_CONVERTIBLE` for an id with nothing before its first `_`.
 */
export function v2IdToV1Key(id: string): string {
  const cut = id.indexOf('_');
  const name = cut < 0 ? id : id.slice(0, cut);
  const suffix = cut < 0 ? '' : id.slice(cut + 1);
  if (name === '') throw notConvertible(`the id ${JSON.stringify(id)} has no name before its first "_"`);
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return suffix === '' ? capital : `${capital}:${suffix}`;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function notConvertible(message: string): EngineError {
  return new EngineError('DOCUMENT_NOT_CONVERTIBLE', message);
}
