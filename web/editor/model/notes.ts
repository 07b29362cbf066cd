/** Notes: remarks in the layout, which are no components. */
import type { Document } from '../../../src/dsl/document.js';
import { type Edit, placeComponents } from '../../../src/dsl/edit/index.js';
import { ownList, ownObject, ownText } from '../../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import type { Point } from '../../canvas/layout/scene.js';

/** What a note says. */
export interface NoteText {
  readonly name: string;
  readonly text: string;
}

const SIZE = { width: 240, height: 120 } as const;

/** Adds an empty note. Version 2 of the DSL has no place for one. */
export function addNote(document: Document, { x, y }: Point, name: string): Edit {
  const placed = placeComponents(document, {});
  if (placed.refused !== undefined) return placed;
  const nodes = ownList(placed.document.graph, 'nodes');
  const id = freeId(nodes);
  const note: JsonObject = {
    id,
    type: 'noteNode',
    position: { x, y },
    data: { label: 'Note', name, form: { text: '' } },
    sourcePosition: 'right',
    targetPosition: 'left',
    dragHandle: '.note-drag-handle',
    ...SIZE,
  };
  return { document: withNodes(placed.document, [...nodes, note]), ids: [id] };
}

/** Gives a note another title or text. */
export function changeNote(document: Document, id: string, change: Partial<NoteText>): Edit {
  const nodes = ownList(document.graph, 'nodes').map((node): Json => {
    if (ownText(node, 'id') !== id || !isJsonObject(node)) return node;
    const data = ownObject(node, 'data') ?? {};
    const form = ownObject(data, 'form') ?? {};
    const { name, text } = change;
    return {
      ...node,
      data: { ...data, ...(name !== undefined && { name }), form: { ...form, ...(text !== undefined && { text }) } },
    };
  });
  return { document: withNodes(document, nodes), ids: [id] };
}

/** Takes notes away; the same document when none of the ids is one of a note. */
export function removeNotes(document: Document, ids: readonly string[]): Document {
  const nodes = ownList(document.graph, 'nodes');
  const gone = new Set(ids);
  const left = nodes.filter((node) => !(isNote(node) && gone.has(ownText(node, 'id') ?? '')));
  return left.length === nodes.length ? document : withNodes(document, left);
}

/** Ids of all notes. */
export function noteIds(document: Document): readonly string[] {
  return ownList(document.graph, 'nodes').flatMap((node) => (isNote(node) ? (ownText(node, 'id') ?? []) : []));
}

/** Those of some ids that the document has as components or notes; the same list when it has all. */
export function thoseIn(document: Document, ids: readonly string[]): readonly string[] {
  const notes = ids.every((id) => document.components[id] !== undefined) ? [] : noteIds(document);
  const isThere = (id: string): boolean => document.components[id] !== undefined || notes.includes(id);
  return ids.every(isThere) ? ids : ids.filter(isThere);
}

function isNote(node: Json): boolean {
  return ownText(ownObject(node, 'data'), 'label') === 'Note';
}

function withNodes(document: Document, nodes: readonly Json[]): Document {
  return { ...document, graph: { ...document.graph, nodes: [...nodes] } };
}

function freeId(nodes: readonly Json[]): string {
  const taken = new Set(nodes.map((node) => ownText(node, 'id')));
  for (let count = 1; ; count += 1) if (!taken.has(`Note:${count}`)) return `Note:${count}`;
}
