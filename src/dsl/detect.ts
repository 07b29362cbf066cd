import type { JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import { ownList, ownObject, ownText, ownValue } from './json-copy.js';

/** What a JSON value is: version 1, version 2, an editor's export with a layout alone, or nothing we know. */
export type DocumentKind = 1 | 2 | 'graph-only' | undefined;

/**
 * Tells which version a parsed document is written in.
 *
 * `version: 2` decides at once, even for a document that is wrong otherwise. Else one component with a class name in
 * `obj.component_name` makes version 1; so does the flat form `{name, params}` that RAGFlow's Go server writes. A file
 * with a graph and no components is an editor's export. Everything else, also `version: 99`, is undefined.
 */
export function detectVersion(value: unknown): DocumentKind {
  if (!isJsonObject(value)) return undefined;
  if (ownValue(value, 'version') === 2) return 2;
  const components = ownObject(value, 'components') ?? {};
  const mayBeFlat = ownValue(value, 'version') === undefined;
  for (const key of Object.keys(components)) {
    const entry = ownObject(components, key);
    if (ownText(ownObject(entry, 'obj'), 'component_name') !== undefined) return 1;
    if (mayBeFlat && isFlatEntry(entry)) return 1;
  }
  const isEmpty = Object.keys(components).length === 0;
  return isEmpty && ownList(ownObject(value, 'graph'), 'nodes').length > 0 ? 'graph-only' : undefined;
}

/** Whether a component's entry is in the flat form `{id, name, downstream, upstream, params}`. */
export function isFlatEntry(entry: JsonObject | undefined): boolean {
  if (entry === undefined || ownObject(entry, 'obj') !== undefined) return false;
  return ownText(entry, 'name') !== undefined && ownObject(entry, 'params') !== undefined;
}

/** Says what a document lacks to be of a known version. */
export function explainUnknownVersion(value: JsonObject): string {
  const version = ownValue(value, 'version');
  const claim = version === undefined ? 'there is no "version"' : `"version" is ${JSON.stringify(version)}, not 2`;
  const components = ownObject(value, 'components');
  if (components === undefined) return `${claim}, and there is no "components" object`;
  if (Object.keys(components).length === 0) return `${claim}, and "components" is empty`;
  return `${claim}, and no component has a class name in "obj.component_name"`;
}
