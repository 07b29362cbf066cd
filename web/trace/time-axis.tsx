/** Round times above the waterfall, and the moment that the scrubber shows. Dragging over it zooms; the wheel does too. */
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { formatMs, formatTick } from '../../src/canvas/timeline-rows.js';
import { type Strip, ticksIn, xOf } from './draw-bars.js';
import style from './waterfall.module.css';

export interface TimeAxisProps {
  readonly strip: Strip;
  readonly startMs: number;
  readonly atMs: number | undefined;
  readonly onZoom: (factor: number, aroundMs: number) => void;
}

const HEIGHT = 24;
/** A drag that is shorter is a click. */
const LEAST_DRAG_PX = 6;

export function TimeAxis({ strip, startMs, atMs, onZoom }: TimeAxisProps) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<readonly [number, number]>();
  const span = strip.toMs - strip.fromMs;
  const timeAt = (x: number) => strip.fromMs + (x / Math.max(1, strip.width)) * span;
  useWheel(svg, (factor, x) => onZoom(factor, timeAt(x)));
  const xAt = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    clientX - currentTarget.getBoundingClientRect().left;
  const drop = () => {
    setDrag(undefined);
    if (drag === undefined) return;
    const [from, to] = [Math.min(...drag), Math.max(...drag)];
    if (to - from < LEAST_DRAG_PX) return;
    const part = (to - from) / strip.width;
    // The moment that keeps its place when the part that was dragged over fills the strip.
    onZoom(part, timeAt(from / (1 - part)));
  };
  return (
    <svg
      ref={svg}
      width={strip.width}
      height={HEIGHT}
      className={style.ticks}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag([xAt(event), xAt(event)]);
      }}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], xAt(event)])}
      onPointerUp={drop}
    >
      {ticksIn(strip, startMs).map((tick) => {
        const x = xOf(startMs + tick, strip);
        return (
          <g key={tick}>
            <line x1={x} x2={x} y1={HEIGHT - 6} y2={HEIGHT} />
            <text x={x + 3} y={HEIGHT - 8}>
              {formatTick(tick)}
            </text>
          </g>
        );
      })}
      {drag !== undefined && (
        <rect className={style.drag} x={Math.min(...drag)} width={Math.abs(drag[1] - drag[0])} y={0} height={HEIGHT} />
      )}
      {atMs !== undefined && atMs >= strip.fromMs && atMs <= strip.toMs && (
        <path className={style.now} d={`M${xOf(atMs, strip)} ${HEIGHT}l-5 -8h10z`}>
          <title>{formatMs(atMs - startMs)}</title>
        </path>
      )}
    </svg>
  );
}

const WHEEL_FACTOR = 1.25;

/** React listens to wheels passively, so that the page would scroll as well. */
function useWheel(
  element: { readonly current: SVGSVGElement | null },
  turn: (factor: number, x: number) => void,
): void {
  const newest = useRef(turn);
  useEffect(() => {
    newest.current = turn;
  });
  useEffect(() => {
    const found = element.current;
    if (found === null) return undefined;
    const listen = (event: WheelEvent) => {
      if (event.deltaY === 0) return;
      event.preventDefault();
      newest.current(
        event.deltaY > 0 ? WHEEL_FACTOR : 1 / WHEEL_FACTOR,
        event.clientX - found.getBoundingClientRect().left,
      );
    };
    found.addEventListener('wheel', listen, { passive: false });
    return () => found.removeEventListener('wheel', listen);
  }, [element]);
}
