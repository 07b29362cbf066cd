/** Panning by pointer, whose cost does not grow with what lies on the canvas. */
import type { OnMove } from '@xyflow/react';
import { type PointerEvent as ReactPointerEvent, useMemo } from 'react';

/** The canvas library takes no click for one behind so many pixels. */
const NO_CLICK = 4;

/** Handlers of a canvas. */
export interface Panning {
  readonly onPointerDownCapture: (event: ReactPointerEvent) => void;
  readonly onMove: OnMove;
}

/**
 * While the canvas is panned its ground has the pointer. So the browser does not look for what lies below it at each movement, which takes as
 * long as all else that panning does, and no node takes part in what only passes over it.
 */
export function usePanning(): Panning {
  return useMemo((): Panning => {
    let pressed: { readonly id: number; readonly x: number; readonly y: number; readonly ground: Element } | undefined;
    return {
      onPointerDownCapture: ({ pointerId: id, pointerType, clientX: x, clientY: y, currentTarget }) => {
        const ground = currentTarget.querySelector('.react-flow__pane');
        // A finger keeps what it touched.
        pressed = ground === null || pointerType === 'touch' ? undefined : { id, x, y, ground };
      },
      onMove: (event) => {
        if (pressed === undefined || !(event instanceof MouseEvent) || event.buttons === 0) return;
        const { id, x, y, ground } = pressed;
        if (Math.hypot(event.clientX - x, event.clientY - y) < NO_CLICK) return;
        pressed = undefined;
        ground.setPointerCapture(id);
      },
    };
  }, []);
}
