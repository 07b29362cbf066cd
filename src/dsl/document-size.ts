/** How large a document may be where the time to check it depends on more than its length. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { IssueList } from './issues.js';
import { ownList, ownObject } from './json-copy.js';
import { LONGEST_REFERENCE, measureReferences } from './reference.js';

/** Most components of a document that is read, so that a draft can be stored, shown and mended; fewer can run. */
export const MAX_COMPONENTS = 6_000;

/** Most components of a document that runs; the canvases that RAGFlow ships have fewer than 100. */
export const MAX_NODES = 1_000;

/** Most entries in all `downstream` and `upstream` lists of a document together, and most edges of a layout that stands for components. */
export const MAX_CONNECTIONS = 10_000;

/**
 * Most values in the parameters of all components together: lists, objects and what is in them. Each that a schema refuses is a problem of its
 * own, which takes 10 us and 6 KB. The largest canvas that RAGFlow ships has 2,900 values in all.
 */
export const MAX_PARAMETER_VALUES = 10_000;

/** Most references in braces in the parameters of all components together. */
export const MAX_REFERENCES = 10_000;

/** Most groups of opening braces there, which each may begin a reference. */
export const MAX_BRACES = 50_000;

/**
 * Reports the first measure by which a document is too large, as `too-large`; gives back whether there is one. Linear in the size of
 * the value, and ends where a bound is exceeded.
 *
 * @param value a copy made by `copyJson`
 */
export function checkSize(value: JsonObject, issues: IssueList): boolean {
  const components = Object.entries(ownObject(value, 'components') ?? {});
  const isTooLarge = (what: string, count: number, most: number, path: string): boolean => {
    if (count <= most) return false;
    issues.error(
      'too-large',
      [path],
      `the document has ${count} ${what}; at most ${most} are allowed, split the canvas`,
    );
    return true;
  };
  if (isTooLarge('components', components.length, MAX_COMPONENTS, 'components')) return true;
  const connections = components.reduce((sum, [, entry]) => sum + connectionsOf(entry), 0);
  if (isTooLarge('entries in "downstream" and "upstream"', connections, MAX_CONNECTIONS, 'components')) return true;
  if (components.length === 0) {
    const graph = ownObject(value, 'graph');
    if (isTooLarge('nodes', ownList(graph, 'nodes').length, MAX_COMPONENTS, 'graph')) return true;
    if (isTooLarge('edges', ownList(graph, 'edges').length, MAX_CONNECTIONS, 'graph')) return true;
  }
  const holders =
    components.length > 0 ? components.map(([, entry]) => ownObject(entry, 'obj') ?? entry) : formsOf(value);
  const values = holders.reduce<number>((sum, holder) => sum + valuesIn(ownObject(holder, 'params')), 0);
  if (isTooLarge('values in parameters', values, MAX_PARAMETER_VALUES, 'components')) return true;
  return hasManyReferences(components.length > 0 ? components : [['graph', value.graph ?? null]], issues);
}

/** The forms of a layout that stands for components, as holders of parameters. */
function formsOf(value: JsonObject): readonly JsonObject[] {
  const nodes = ownList(ownObject(value, 'graph'), 'nodes');
  return nodes.map((node) => ({ params: ownObject(ownObject(node, 'data'), 'form') ?? {} }));
}

function valuesIn(value: Json | undefined): number {
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, one) => sum + valuesIn(one), 1);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one), 1);
  return value === undefined ? 0 : 1;
}

function connectionsOf(entry: Json): number {
  return [entry, ownObject(entry, 'obj')]
    .flatMap((holder) => [ownList(holder, 'downstream'), ownList(holder, 'upstream')])
    .reduce((sum, { length }) => sum + length, 0);
}

function hasManyReferences(parts: readonly (readonly [string, Json])[], issues: IssueList): boolean {
  let references = 0;
  let braces = 0;
  let longest = 0;
  const look = (value: Json): void => {
    if (typeof value === 'string') {
      const measures = measureReferences(value, MAX_BRACES - braces);
      references += measures.found;
      braces += measures.groups;
      longest = Math.max(longest, measures.longest);
    } else if (Array.isArray(value)) for (const item of value as readonly Json[]) look(item);
    else if (isJsonObject(value)) for (const item of Object.values(value)) look(item);
  };
  const isTooLarge = (path: readonly string[], excess: string): boolean => {
    issues.error('too-large', path, excess);
    return true;
  };
  for (const [id, entry] of parts) {
    look(entry);
    const path = id === 'graph' ? [id] : ['components', id];
    if (longest > LONGEST_REFERENCE) {
      return isTooLarge(path, `a reference has ${longest} characters; at most ${LONGEST_REFERENCE} are allowed`);
    }
    if (references > MAX_REFERENCES) {
      const count = `up to here there are ${references} references in texts; a document may have ${MAX_REFERENCES}`;
      return isTooLarge(path, `${count}, refer to a whole list instead`);
    }
    if (braces > MAX_BRACES) {
      const count = `up to here there are more than ${MAX_BRACES} groups of opening braces in texts`;
      return isTooLarge(path, `${count}; a document may have ${MAX_BRACES}`);
    }
  }
  return false;
}
