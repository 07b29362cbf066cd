/** Where everything stands in the editor: as it was drawn first, and then where its user put it. */
import type { Place } from '../../../src/dsl/edit/index.js';
import { atLeast } from '../../canvas/layout/lay-out.js';
import type { Box, Placed, Placement, Point, Scene } from '../../canvas/layout/scene.js';
import { BODY, type Size } from '../../canvas/sizes.js';

/** Places of nodes and notes, of what lies in a body from the corner of its container; with the sizes that containers were given. */
export type Spots = ReadonlyMap<string, Point & Partial<Size>>;

/** Free room beside what stands already. */
const GAP = 72;

/** Where everything stands at first; containers have the sizes of their file. */
export function firstSpots({ boxes }: Scene, placement: Placement): Spots {
  const sized = new Set(boxes.flatMap(({ id, isContainer, inFile }) => (isContainer && inFile?.width ? [id] : [])));
  return new Map(
    [...placement].map(([id, { x, y, width, height }]) => [id, sized.has(id) ? { x, y, width, height } : { x, y }]),
  );
}

/** Places after some were changed; sizes stay. */
export function movedTo(spots: Spots, places: Spots): Spots {
  const next = new Map(spots);
  for (const [id, place] of places) next.set(id, { ...spots.get(id), ...place });
  return next;
}

/** The places and sizes of a scene whose nodes stand where they were put; containers are at least as large as their bodies need. */
export function placeScene({ boxes }: Scene, spots: Spots): Placement {
  const levels = new Map<string | undefined, Box[]>();
  for (const box of boxes) levels.set(box.parent, [...(levels.get(box.parent) ?? []), box]);
  const placement = new Map<string, Placed>();
  const place = (container: string | undefined): { readonly width: number; readonly height: number } => {
    const inset = container === undefined ? { x: 0, y: 0 } : { x: BODY.side, y: BODY.top };
    let [right, bottom, free] = [0, 0, inset.x];
    for (const box of levels.get(container) ?? []) {
      const spot: Point & Partial<Size> = spots.get(box.id) ?? { x: free, y: inset.y };
      const size = box.isContainer === true ? atLeast(place(box.id), spot) : box;
      const x = container === undefined ? spot.x : Math.max(inset.x, spot.x);
      const y = container === undefined ? spot.y : Math.max(inset.y, spot.y);
      placement.set(box.id, { x, y, width: size.width, height: size.height });
      right = Math.max(right, x + size.width);
      bottom = Math.max(bottom, y + size.height);
      free = Math.max(free, x + size.width + GAP);
    }
    return {
      width: Math.max(BODY.minWidth, right + BODY.side),
      height: Math.max(BODY.minHeight, bottom + BODY.bottom),
    };
  };
  place(undefined);
  return placement;
}

/** The places as edits of documents take them; containers with their sizes. */
export function placesOf(placement: Placement, containers: ReadonlySet<string>): Readonly<Record<string, Place>> {
  const places = [...placement].map(([id, { x, y, width, height }]): [string, Place] => [
    id,
    containers.has(id) ? { x: Math.round(x), y: Math.round(y), width, height } : { x: Math.round(x), y: Math.round(y) },
  ]);
  return Object.fromEntries(places);
}

/** Room around the members of a new body. */
const MARGIN = { left: 200, top: BODY.top + 16 } as const;

/** Places after components were put into a new container, whose body begins with `start`. */
export function spotsInContainer(
  spots: Spots,
  members: readonly string[],
  { container, start }: { readonly container: string; readonly start: string | undefined },
): Spots {
  const stood = members.flatMap((id) => spots.get(id) ?? []);
  if (stood.length === 0) return spots;
  const left = Math.min(...stood.map(({ x }) => x));
  const top = Math.min(...stood.map(({ y }) => y));
  const next = new Map(spots);
  next.set(container, { x: left - MARGIN.left, y: top - MARGIN.top });
  if (start !== undefined) next.set(start, { x: BODY.side, y: MARGIN.top + 8 });
  for (const id of members) {
    const { x, y } = spots.get(id) ?? { x: left, y: top };
    next.set(id, { ...spots.get(id), x: x - left + MARGIN.left, y: y - top + MARGIN.top });
  }
  return next;
}

/** A place to the right of a node that nothing stands on; `size` is what will stand there. */
export function freeBeside(placement: Placement, siblings: readonly string[], behind: string | undefined): Point {
  const last = behind ?? siblings.toSorted((one, other) => edge(placement, other) - edge(placement, one))[0];
  const at = last === undefined ? undefined : placement.get(last);
  if (at === undefined) return { x: BODY.side, y: BODY.top };
  const spot = { x: at.x + at.width + GAP, y: at.y };
  const size = { width: 248, height: 130 };
  const others = siblings.flatMap((id) => placement.get(id) ?? []);
  // Downwards until there is room; each step passes something that is in the way, so there are no more than there are others.
  for (let tries = 0; tries <= others.length; tries += 1) {
    const inTheWay = others.find((one) => doOverlap(one, { ...spot, ...size }));
    if (inTheWay === undefined) break;
    spot.y = inTheWay.y + inTheWay.height + GAP / 2;
  }
  return spot;
}

function edge(placement: Placement, id: string): number {
  const at = placement.get(id);
  return at === undefined ? Number.NEGATIVE_INFINITY : at.x + at.width;
}

function doOverlap(one: Placed, other: Placed): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
