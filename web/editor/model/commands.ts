/** What people do to a canvas, as edits of its store. */
import type { Document } from '../../../src/dsl/document.js';
import {
  addComponent,
  type Clip,
  type Connection,
  connect,
  copyComponents,
  disconnect,
  type Edit,
  pasteComponents,
  type Refusal,
  removeComponents,
  waysOf,
  wrapComponents,
} from '../../../src/dsl/edit/index.js';
import type { Placement, Point } from '../../canvas/layout/scene.js';
import type { CatalogueEntry } from './catalogue.js';
import { type EditorStore, editorDrawing, editorPlacement } from './editor-store.js';
import { addNote, noteIds, removeNotes } from './notes.js';
import { freeBeside, type Spots, spotsInContainer } from './places.js';
import { firstParams } from './starters.js';

/** Where a new component comes. */
export interface Spot {
  /** What is to lead to it, and what that leads to now and it shall be put in front of. */
  readonly behind?: Omit<Connection, 'to'> & { readonly to?: string };
  /** On the canvas, or in the body of `parent`. @default beside what it is behind, or beside all others */
  readonly at?: Point;
  readonly parent?: string | undefined;
}

const STEP: Point = { x: 40, y: 40 };

/** Adds a component of a type; `model` is what its model is at first. */
export function addOfType(
  store: EditorStore,
  entry: CatalogueEntry,
  { behind, at, parent, model }: Spot & { readonly model?: string | undefined } = {},
): Refusal | undefined {
  const { document } = store;
  const inside = parent ?? (behind && document.components[behind.from]?.parent);
  const place = at ?? freePlace(store, behind?.from, inside);
  return store.edit(
    (now) => {
      const edit = addComponent(now, {
        type: entry.name,
        params: firstParams(entry.parameters as never, model),
        ...(entry.has_body && { bodyStart: entry.body_start }),
        ...(inside !== undefined && { parent: inside }),
        ...(behind !== undefined && { behind }),
      });
      return behind?.to === undefined ? edit : goingOnElse(edit, behind.to);
    },
    {
      selects: true,
      move: (spots, [id, start]) => {
        const next = new Map(spots);
        if (id !== undefined) next.set(id, place);
        if (start !== undefined) next.set(start, { x: 24, y: 88 });
        return next;
      },
    },
  );
}

/** A component that chooses where to go on leads to what it was put in front of when nothing that it looks for holds. */
function goingOnElse(edit: Edit, to: string): Edit {
  if (edit.refused !== undefined) return edit;
  const [from = ''] = edit.ids;
  const component = edit.document.components[from];
  if (component === undefined || !waysOf(component).some(({ kind }) => kind === 'else')) return edit;
  const without = disconnect(edit.document, { from, to });
  const moved =
    without.refused === undefined ? connect(without.document, { from, to, way: { kind: 'else' } }) : without;
  return moved.refused === undefined ? { document: moved.document, ids: edit.ids } : edit;
}

function freePlace(store: EditorStore, behind: string | undefined, parent: string | undefined): Point {
  const { document, spots } = store.state;
  if (spots === undefined) return { x: 0, y: 0 };
  const siblings = Object.values(document.components).filter((one) => one.parent === parent);
  return freeBeside(
    editorPlacement(editorDrawing(document), spots),
    siblings.map(({ id }) => id),
    behind,
  );
}

export function addConnection(store: EditorStore, connection: Connection): Refusal | undefined {
  return store.edit((document) => connect(document, connection));
}

export function removeConnection(store: EditorStore, connection: Connection): Refusal | undefined {
  return store.edit((document) => disconnect(document, connection));
}

/** Adds a note where it is wanted. */
export function addNoteAt(store: EditorStore, at: Point, name: string): Refusal | undefined {
  return store.edit((document) => addNote(document, at, name), {
    selects: true,
    move: (spots, ids) => new Map([...spots, ...ids.map((id): [string, Point] => [id, at])]),
  });
}

/** Deletes components with their bodies, and notes. */
export function removeAll(store: EditorStore, ids: readonly string[]): Refusal | undefined {
  const notes = new Set(noteIds(store.document));
  const components = ids.filter((id) => !notes.has(id));
  return store.edit((document) => {
    const without = removeNotes(document, ids);
    if (components.length > 0) return removeComponents(without, components);
    return { document: without, ids: [] };
  });
}

/** The text for the clipboard; undefined when there is nothing to copy. */
export function clipText(document: Document, ids: readonly string[]): string | undefined {
  const known = ids.filter((id) => document.components[id] !== undefined);
  const clip = copyComponents(document, known);
  return clip.components.length === 0 ? undefined : JSON.stringify(clip, null, 2);
}

/** Pastes a text of the clipboard; undefined also when it is no such thing at all, which is no mistake. */
export function pasteText(store: EditorStore, text: string, parent?: string): Refusal | undefined {
  const clip = readClip(text);
  if (clip === undefined) return undefined;
  return store.edit((document) => pasteComponents(document, clip, parent === undefined ? {} : { parent }), {
    selects: true,
    move: (spots, ids) => pastedSpots(store.document, spots, clip, ids),
  });
}

/** Doubles components beside where they stand. */
export function duplicate(store: EditorStore, ids: readonly string[]): Refusal | undefined {
  const text = clipText(store.document, ids);
  const parent = ids.map((id) => store.document.components[id]?.parent).find((one) => one !== undefined);
  return text === undefined ? undefined : pasteText(store, text, parent);
}

function readClip(text: string): Clip | undefined {
  if (!text.includes('runnel/components')) return undefined;
  try {
    return JSON.parse(text) as Clip;
  } catch {
    return undefined;
  }
}

/** Beside where the copied ones stood; those that come from elsewhere are put where their layout had them. */
function pastedSpots(document: Document, spots: Spots, clip: Clip, ids: readonly string[]): Spots {
  const next = new Map(spots);
  const sources = clip.components.filter(({ id }) => typeof id === 'string');
  const inClip = new Set(sources.map(({ id }) => id));
  const entries = sources.length === ids.length ? sources : [];
  for (const [at, { id, parent, place }] of entries.entries()) {
    const stood = document.components[id] === undefined ? place : (spots.get(id) ?? place);
    if (stood === undefined) continue;
    const isInside = parent !== undefined && inClip.has(parent);
    next.set(ids[at] as string, isInside ? { x: stood.x, y: stood.y } : { x: stood.x + STEP.x, y: stood.y + STEP.y });
  }
  return next;
}

/** Puts components into a new container. */
export function wrapIn(store: EditorStore, ids: readonly string[], entry: CatalogueEntry): Refusal | undefined {
  const known = ids.filter((id) => store.document.components[id] !== undefined);
  const params = firstParams(entry.parameters as never, undefined);
  return store.edit(
    (document) => wrapComponents(document, known, { type: entry.name, params, bodyStart: entry.body_start }),
    {
      selects: true,
      move: (spots, [container = '', start]) => spotsInContainer(spots, known, { container, start }),
    },
  );
}

/** Puts everything where a layout wants it. */
export function tidy(store: EditorStore, placement: Placement): void {
  store.edit((document) => ({ document: { ...document }, ids: [...placement.keys()] }), {
    move: () => new Map([...placement].map(([id, { x, y }]) => [id, { x, y }])),
  });
}
