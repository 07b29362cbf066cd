/** Brings a node that was chosen, or added, to where it can be seen. */
import { useReactFlow } from '@xyflow/react';
import { useEffect, useRef } from 'react';

const EDGE = 24;

/** Width of the form, which may be on its way. */
const FORM = 388;

export function useInView(selection: readonly string[], opensForm: boolean): void {
  const { getViewport, setViewport } = useReactFlow();
  const chosen = selection.length === 1 ? selection[0] : undefined;
  const isHeld = usePointer();
  useEffect(() => {
    if (chosen === undefined) return undefined;
    let frame = 0;
    const show = () => {
      const node = document.querySelector(`.react-flow__node[data-id="${CSS.escape(chosen)}"]`);
      const canvas = node?.closest('.react-flow');
      if (node === null || canvas === null || canvas === undefined) return;
      const [own, all] = [node.getBoundingClientRect(), canvas.getBoundingClientRect()];
      const form = canvas.parentElement?.querySelector('aside')?.getBoundingClientRect();
      const left = form?.left ?? (opensForm ? all.right - FORM : all.right);
      const right = Math.max(all.left + 200, left);
      const across = shift(own.left, own.right, all.left + EDGE, right - EDGE);
      const along = shift(own.top, own.bottom, all.top + EDGE, all.bottom - EDGE);
      if (across === 0 && along === 0) return;
      const { x, y, zoom } = getViewport();
      void setViewport({ x: x + across, y: y + along, zoom });
    };
    // Behind the drawing of the node, and of the form beside it.
    const showSoon = () => {
      frame = requestAnimationFrame(show);
    };
    // A canvas that moved below a node that is held would put it down elsewhere.
    if (isHeld.current) addEventListener('pointerup', showSoon, { once: true });
    else showSoon();
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('pointerup', showSoon);
    };
  }, [chosen, opensForm, isHeld, getViewport, setViewport]);
}

/** Whether the pointer is held down. */
function usePointer() {
  const isHeld = useRef(false);
  useEffect(() => {
    const hold = () => {
      isHeld.current = true;
    };
    const letGo = () => {
      isHeld.current = false;
    };
    addEventListener('pointerdown', hold, true);
    addEventListener('pointerup', letGo, true);
    addEventListener('pointercancel', letGo, true);
    return () => {
      removeEventListener('pointerdown', hold, true);
      removeEventListener('pointerup', letGo, true);
      removeEventListener('pointercancel', letGo, true);
    };
  }, []);
  return isHeld;
}

/** How far a range has to go to lie in another; its beginning counts where it is too large. */
function shift(from: number, to: number, least: number, most: number): number {
  if (from < least || to - from > most - least) return least - from;
  return to > most ? most - to : 0;
}
