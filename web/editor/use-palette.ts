/** Whether the palette is open: as it was left, and folded while a run is shown and both have too little room. */
import { useReactFlow, useStoreApi } from '@xyflow/react';
import { useLayoutEffect, useRef, useState } from 'react';
import { FIT } from '../canvas/board.js';
import { useMedia } from '../parts/use-media.js';

/** Where the choice is kept. */
const PLACE = 'runnel.palette';

/** From this width of the window on there is room for the palette, the canvas and a run. */
const ROOM = '(min-width: 1600px)';

export interface PaletteChoice {
  readonly isOpen: boolean;
  readonly turn: (isOpen: boolean) => void;
}

/** @param isRunShown beside the canvas there is a run, for which the canvas is more important than what can be added to it */
export function usePalette(isRunShown: boolean): PaletteChoice {
  const [isKept, setIsKept] = useState(() => localStorage.getItem(PLACE) !== 'closed');
  const [isWanted, setIsWanted] = useState(false);
  const isShort = !useMedia(ROOM) && isRunShown;
  const isOpen = isShort ? isWanted : isKept;
  useFilledCanvas(isOpen);
  const turn = (opens: boolean) => {
    if (isShort) setIsWanted(opens);
    else {
      localStorage.setItem(PLACE, opens ? 'open' : 'closed');
      setIsKept(opens);
    }
  };
  return { isOpen, turn };
}

/** A canvas that was seen whole is seen whole, too, when its width changes with the palette. */
function useFilledCanvas(isPaletteOpen: boolean): void {
  const { fitView, getNodes, getNodesBounds } = useReactFlow();
  const flow = useStoreApi();
  const before = useRef(isPaletteOpen);
  useLayoutEffect(() => {
    if (before.current === isPaletteOpen) return undefined;
    before.current = isPaletteOpen;
    // The library learns of the new width later than the page.
    const { width, height, transform } = flow.getState();
    const [left, top, zoom] = transform;
    const { x, y, width: wide, height: high } = getNodesBounds(getNodes());
    const isWhole =
      x * zoom + left >= 0 &&
      y * zoom + top >= 0 &&
      (x + wide) * zoom + left <= width &&
      (y + high) * zoom + top <= height;
    if (!isWhole) return undefined;
    const request = requestAnimationFrame(() => void fitView(FIT));
    return () => cancelAnimationFrame(request);
  }, [isPaletteOpen, flow, fitView, getNodes, getNodesBounds]);
}
