/** Bodies of containers on the canvas: which one lies at a point, and how components get into one and out again. */
import type { Document } from '../../../src/dsl/document.js';
import { moveComponents, type Refusal } from '../../../src/dsl/edit/index.js';
import type { Drawing, DrawnNode } from '../../canvas/drawing.js';
import type { Placed, Placement, Point } from '../../canvas/layout/scene.js';
import type { Size } from '../../canvas/sizes.js';
import { type EditorStore, editorDrawing, editorPlacement } from './editor-store.js';
import { freeBeside, movedTo, type Spots } from './places.js';

/** Where the corner of a container lies on the canvas; that of the canvas itself without one. */
export function cornerOf(document: Document, placement: Placement, container: string | undefined): Point {
  let corner: Point = { x: 0, y: 0 };
  for (let id = container; id !== undefined; id = document.components[id]?.parent) {
    const { x = 0, y = 0 } = placement.get(id) ?? {};
    corner = { x: corner.x + x, y: corner.y + y };
  }
  return corner;
}

/** The innermost container at a point of the canvas; what is moved has no body to be moved into. */
export function containerAt(
  document: Document,
  { drawing, placement }: { readonly drawing: Drawing; readonly placement: Placement },
  { at, moved }: { readonly at: Point; readonly moved: ReadonlySet<string> },
): string | undefined {
  let found: { readonly id: string; readonly depth: number } | undefined;
  for (const { id, shape } of drawing.nodes) {
    const place = placement.get(id);
    if (shape !== 'container' || place === undefined) continue;
    const above = aboveOf(document, id);
    if (above.some((one) => moved.has(one)) || (found !== undefined && found.depth >= above.length)) continue;
    if (isIn(at, { ...place, ...cornerOf(document, placement, id) })) found = { id, depth: above.length };
  }
  return found?.id;
}

/** A container and those around it. */
function aboveOf({ components }: Pick<Document, 'components'>, id: string): readonly string[] {
  const above = [id];
  for (let at = components[id]?.parent; at !== undefined && !above.includes(at); at = components[at]?.parent)
    above.push(at);
  return above;
}

function isIn({ x, y }: Point, box: Placed): boolean {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** The size that the body of a container needs; undefined until it is known where everything stands. */
export function leastSizeOf({ state: { document, spots } }: EditorStore, container: string): Size | undefined {
  const { x, y } = spots?.get(container) ?? { x: 0, y: 0 };
  return spots && editorPlacement(editorDrawing(document), new Map([...spots, [container, { x, y }]])).get(container);
}

/** Components that a drag or a menu can move into another body: starts stay in theirs, notes in none. */
export function movable({ nodes }: Drawing, ids: readonly string[]): readonly string[] {
  const chosen = new Set(ids);
  return nodes.flatMap(({ id, shape }) => (chosen.has(id) && shape !== 'start' ? [id] : []));
}

/** Containers that components could be moved into, and the one that all of them lie in. */
export function otherBodies(
  { components }: Document,
  { nodes }: Drawing,
  ids: readonly string[],
): { readonly into: readonly DrawnNode[]; readonly outOf: DrawnNode | undefined } {
  const parents = new Set(ids.map((id) => components[id]?.parent));
  const [parent] = parents;
  const outOf = parents.size === 1 ? nodes.find(({ id }) => id === parent) : undefined;
  const around = outOf === undefined ? [] : aboveOf({ components }, outOf.id);
  const into =
    ids.length === 0
      ? []
      : nodes.filter(({ id, shape }) => {
          return (
            shape === 'container' &&
            !around.includes(id) &&
            !aboveOf({ components }, id).some((one) => ids.includes(one))
          );
        });
  return { into, outOf };
}

/** Moves components into a body, or out of all, to where they are put; `places` has all that was put, each seen from where it lay before. */
export function dropInto(
  store: EditorStore,
  ids: readonly string[],
  { parent, places }: { readonly parent: string | undefined; readonly places: Spots },
): Refusal | undefined {
  const { document, spots } = store.state;
  const placement = spots && editorPlacement(editorDrawing(document), spots);
  return store.edit((now) => moveComponents(now, ids, { parent }), {
    move: (before, moved) => {
      const next = new Map(movedTo(before, places));
      if (placement === undefined) return next;
      const to = cornerOf(document, placement, parent);
      for (const id of moved) {
        const at = next.get(id) ?? { x: 0, y: 0 };
        const from = cornerOf(document, placement, document.components[id]?.parent);
        next.set(id, { ...at, x: at.x + from.x - to.x, y: at.y + from.y - to.y });
      }
      return next;
    },
  });
}

/** Moves components into a body where there is room, or out of theirs beside it. */
export function moveInto(store: EditorStore, ids: readonly string[], parent: string | undefined): Refusal | undefined {
  const { document: before } = store;
  const edit = moveComponents(before, ids, { parent });
  return store.edit(() => edit, {
    move: (spots, moved) => {
      if (edit.refused !== undefined) return spots;
      const drawing = editorDrawing(edit.document);
      const siblings = drawing.nodes.flatMap((one) => (one.parent === parent && !moved.includes(one.id) ? one.id : []));
      const next = new Map(spots);
      for (const id of moved) {
        const left = aboveOf(before, id).find((one) => one !== id && siblings.includes(one));
        next.set(id, { ...next.get(id), ...freeBeside(editorPlacement(drawing, next), siblings, left) });
        siblings.push(id);
      }
      return next;
    },
  });
}
