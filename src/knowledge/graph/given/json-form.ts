/** Graphs as JSON: `{"nodes": […], "edges": […]}`. */
import { isJsonObject, type JsonObject, parseJson, whyNotJson } from '../../../json.js';
import type { GraphDocument, RawGraph, RawItem } from './graph-document.js';
import { Problems } from './problems.js';

/** Reads a text. @throws EngineError BAD_REQUEST */
export function readJsonForm(text: string): RawGraph {
  const problems = new Problems();
  const value = parseJson(text);
  if (value === undefined) problems.add('the text', `it ${whyNotJson(text)}`);
  else if (!isJsonObject(value)) problems.add('the text', 'an object with "nodes" and "edges" is needed');
  problems.throwIfAny();
  const given = value as JsonObject;
  for (const name of Object.keys(given))
    if (name !== 'nodes' && name !== 'edges') problems.add(name.slice(0, 100), 'there are "nodes" and "edges" alone');
  const itemsOf = (part: 'nodes' | 'edges'): RawItem[] => {
    const list = Object.hasOwn(given, part) ? given[part] : [];
    if (!Array.isArray(list)) {
      problems.add(part, 'a list is needed');
      return [];
    }
    return list.map((fields: unknown, at): RawItem => {
      if (isJsonObject(fields)) return { at: `${part}[${at}]`, fields };
      problems.add(`${part}[${at}]`, 'an object is needed');
      return { at: `${part}[${at}]`, fields: {} };
    });
  };
  const raw = { nodes: itemsOf('nodes'), edges: itemsOf('edges') };
  problems.throwIfAny();
  return raw;
}

/** Writes a graph, a line for each node and edge; what is empty or the default is left out. */
export function writeJsonForm({ nodes, edges }: GraphDocument): string {
  const lines = (items: readonly object[]): string => items.map((one) => `\n    ${JSON.stringify(one)}`).join(',');
  const written = nodes.map(({ chunks, ...node }) =>
    withoutEmpty({ ...node, chunks: chunks.map(({ id, count }) => (count === 1 ? id : { id, count })) }),
  );
  return `{\n  "nodes": [${lines(written)}\n  ],\n  "edges": [${lines(edges.map(withoutEmpty))}\n  ]\n}\n`;
}

function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}
