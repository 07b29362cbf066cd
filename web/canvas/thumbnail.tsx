/** A canvas as a small picture: shapes and colours, without words. */
import { useMemo } from 'react';
import { type Drawing, readDrawing } from './drawing.js';
import { kindOf } from './kinds.js';
import type { Placed, Placement } from './layout/scene.js';
import { usePlacement } from './placement.js';
import style from './thumbnail.module.css';

/** Says nothing to readers of the screen; what stands beside it has to. */
export function Thumbnail({ document }: { readonly document: unknown }) {
  const drawing = useMemo(() => readDrawing(document), [document]);
  const placement = usePlacement(drawing, false);
  if (placement === undefined || drawing.nodes.length === 0) return <div className={style.thumbnail} />;
  return <Shapes drawing={drawing} placement={placement} />;
}

const MARGIN = 40;
/** The picture is never enlarged beyond this width, in pixels of the canvas. */
const MIN_WIDTH = 900;

function Shapes({ drawing, placement }: { readonly drawing: Drawing; readonly placement: Placement }) {
  const places = useMemo(() => absolutePlaces(drawing, placement), [drawing, placement]);
  const { x, y, width, height } = boundsOf(places);
  return (
    <svg className={style.thumbnail} viewBox={`${x} ${y} ${width} ${height}`} aria-hidden="true">
      {drawing.nodes.map(({ id, type, shape }) => {
        const at = places.get(id);
        if (at === undefined) return null;
        const look = shape === 'container' ? style.container : style[kindOf(type).group];
        return <rect key={id} {...at} rx={14} className={look} />;
      })}
      {drawing.edges.map(({ id, from, to }) => {
        const start = places.get(from);
        const end = places.get(to);
        return start === undefined || end === undefined ? null : (
          <path key={id} d={wayOf(start, end)} className={style.way} />
        );
      })}
    </svg>
  );
}

/** Containers come first, so that what lies in them is drawn over them. */
function absolutePlaces({ nodes }: Drawing, placement: Placement): ReadonlyMap<string, Placed> {
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]));
  const places = new Map<string, Placed>();
  for (const { id } of nodes) {
    const own = placement.get(id);
    if (own === undefined) continue;
    let { x, y } = own;
    for (let above = parents.get(id); above !== undefined; above = parents.get(above)) {
      x += placement.get(above)?.x ?? 0;
      y += placement.get(above)?.y ?? 0;
    }
    places.set(id, { ...own, x, y });
  }
  return places;
}

function boundsOf(places: ReadonlyMap<string, Placed>): Placed {
  const all = [...places.values()];
  const left = Math.min(...all.map(({ x }) => x));
  const top = Math.min(...all.map(({ y }) => y));
  const wide = Math.max(...all.map(({ x, width }) => x + width)) - left;
  const high = Math.max(...all.map(({ y, height }) => y + height)) - top;
  const spare = Math.max(0, MIN_WIDTH - wide) / 2;
  return { x: left - spare - MARGIN, y: top - MARGIN, width: wide + 2 * (spare + MARGIN), height: high + 2 * MARGIN };
}

function wayOf(from: Placed, to: Placed): string {
  const [startX, startY] = [from.x + from.width, from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const bend = Math.max(40, Math.abs(endX - startX) / 2);
  return `M${startX},${startY} C${startX + bend},${startY} ${endX - bend},${endY} ${endX},${endY}`;
}
