/** The places that a file gives its nodes, opened just as far as our cards need more room than those of the editor that wrote it. */
import type { Size } from '../sizes.js';
import type { Box, Placed, Point } from './scene.js';

/** Least room beside and below a box, with its edges. */
const GAP = { x: 64, y: 32 } as const;
/** Boxes whose places differ by less stand in one row, or in one column, and stay so. */
const ALIGNED = 12;

/** A box on its way to its place. */
interface Moving extends Point, Size {
  readonly box: Box;
  readonly inFile: Placed;
}

/** Undefined when a box has no place, and when boxes lie on each other in the file already. */
export function placesInFile(boxes: readonly Box[]): ReadonlyMap<string, Point> | undefined {
  const moving: Moving[] = [];
  for (const box of boxes) {
    if (box.inFile === undefined) return undefined;
    moving.push({ box, inFile: box.inFile, x: box.inFile.x, y: box.inFile.y, width: box.width, height: box.height });
  }
  const across = open(moving, 'x', isBeside);
  const along = open(across, 'y', isAbove);
  const solid = along.filter(({ box }) => box.isNote !== true);
  if (solid.some((one, index) => solid.some((other, next) => next > index && doOverlap(one, other)))) return undefined;
  return new Map(along.map(({ box, x, y }) => [box.id, { x, y }]));
}

/** Whether `one` has to end before `other` begins. */
type IsBefore = (one: Moving, other: Moving) => boolean;

/** Moves boxes along an axis: each one, and all behind it, until what is before it has room. */
function open(boxes: readonly Moving[], axis: 'x' | 'y', isBefore: IsBefore): readonly Moving[] {
  const size = axis === 'x' ? 'width' : 'height';
  const sorted = boxes.toSorted((one, other) => one[axis] - other[axis]);
  const placed: Moving[] = [];
  let shift = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start + 1;
    while (end < sorted.length && sorted[end]![axis] - sorted[start]![axis] < ALIGNED) end += 1;
    const line = sorted.slice(start, end);
    for (const one of line) {
      for (const before of placed) {
        if (!isBefore(before, one)) continue;
        shift = Math.max(shift, before[axis] + before[size] + GAP[axis] - one[axis]);
      }
    }
    for (const one of line) placed.push({ ...one, [axis]: one[axis] + shift });
    start = end;
  }
  return placed;
}

/** In the file it stands more beside than above the other, and in its rows. */
function isBeside(
  { box, inFile: one, height }: Moving,
  { box: next, inFile: other, height: otherHeight }: Moving,
): boolean {
  if (box.isNote === true || next.isNote === true) return false;
  if (other.x < one.x + Math.max(ALIGNED, one.width / 2)) return false;
  return one.y < other.y + otherHeight + GAP.y && other.y < one.y + height + GAP.y;
}

/** It stands above the other, and in its columns. A note may lie on what it is about. */
function isAbove(one: Moving, other: Moving): boolean {
  const hasNote = one.box.isNote === true || other.box.isNote === true;
  if (hasNote && doOverlap(one.inFile, other.inFile)) return false;
  return one.x < other.x + other.width + GAP.y && other.x < one.x + one.width + GAP.y;
}

function doOverlap(one: Placed, other: Placed): boolean {
  const isApart =
    one.x >= other.x + other.width ||
    other.x >= one.x + one.width ||
    one.y >= other.y + other.height ||
    other.y >= one.y + one.height;
  return !isApart;
}
