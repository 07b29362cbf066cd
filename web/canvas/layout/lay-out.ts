/** Places of what is drawn: those of the file where nothing would overlap, else a layout, container by container from inside out. */
import { BODY, type Size } from '../sizes.js';
import { placesInFile } from './places-in-file.js';
import type { Box, Placed, Placement, Point, Scene } from './scene.js';

/** A body or the canvas itself: boxes beside each other, each with its size. */
export interface Level {
  readonly boxes: readonly Box[];
  readonly edges: Scene['edges'];
}

/** Gives a level's boxes their places. */
export type Arrange = (level: Level) => ReadonlyMap<string, Point>;

/**
 * Places every box.
 *
 * A level whose places in the file would overlap, or that has none, is arranged by `arrange`; without it the answer is undefined then.
 */
export function layOut(scene: Scene, arrange?: Arrange): Placement | undefined {
  const levels = levelsOf(scene.boxes);
  const placement = new Map<string, Placed>();
  const place = (container: string | undefined): { readonly width: number; readonly height: number } | undefined => {
    const boxes: Box[] = [];
    for (const box of levels.get(container) ?? []) {
      const body = box.isContainer === true ? place(box.id) : box;
      if (body === undefined) return undefined;
      boxes.push({ ...box, ...(box.isContainer === true ? atLeast(body, box.inFile) : {}) });
    }
    const level = { boxes, edges: edgesWithin(scene, boxes) };
    const places = placesInFile(boxes) ?? arrange?.(level);
    if (places === undefined) return undefined;
    const origin = cornerOf(boxes, places);
    const inset = container === undefined ? { x: 0, y: 0 } : { x: BODY.side, y: BODY.top };
    let right = 0;
    let bottom = 0;
    for (const { id, width, height } of boxes) {
      const at = places.get(id) ?? origin;
      const x = Math.round(at.x - origin.x + inset.x);
      const y = Math.round(at.y - origin.y + inset.y);
      right = Math.max(right, x + width);
      bottom = Math.max(bottom, y + height);
      placement.set(id, { x, y, width, height });
    }
    return {
      width: Math.max(BODY.minWidth, right + BODY.side),
      height: Math.max(BODY.minHeight, bottom + BODY.bottom),
    };
  };
  return place(undefined) === undefined ? undefined : placement;
}

/** The room that a body needs, and more where its container was given more. */
export function atLeast(need: Size, given: Partial<Size> = {}): Size {
  return { width: Math.max(need.width, given.width ?? 0), height: Math.max(need.height, given.height ?? 0) };
}

/** The boxes of each container, and of the canvas itself. */
function levelsOf(boxes: readonly Box[]): ReadonlyMap<string | undefined, readonly Box[]> {
  const levels = new Map<string | undefined, Box[]>();
  for (const box of boxes) {
    const level = levels.get(box.parent);
    if (level === undefined) levels.set(box.parent, [box]);
    else level.push(box);
  }
  return levels;
}

/** Edges between boxes of a level; one that comes from deeper, or leads there, is one of the container around its end. */
function edgesWithin(scene: Scene, boxes: readonly Box[]): Scene['edges'] {
  const within = new Set(boxes.map(({ id }) => id));
  return scene.edges.filter(({ from, to }) => within.has(from) && within.has(to));
}

function cornerOf(boxes: readonly Box[], places: ReadonlyMap<string, Point>): Point {
  let x = Number.POSITIVE_INFINITY;
  let y = Number.POSITIVE_INFINITY;
  for (const { id } of boxes) {
    const at = places.get(id);
    if (at === undefined) continue;
    x = Math.min(x, at.x);
    y = Math.min(y, at.y);
  }
  return boxes.length === 0 ? { x: 0, y: 0 } : { x, y };
}
