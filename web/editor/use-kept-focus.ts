/** The focus on a canvas that another one takes the place of: it goes on to the same node, or the same tool. */
import { useEffect, useState } from 'react';

/** Called while the canvas before is still there; `isDrawn` once this one has its nodes. */
export function useKeptFocus(isDrawn: boolean): void {
  const [kept] = useState(focusedOnCanvas);
  useEffect(() => {
    if (!isDrawn || kept === undefined || document.activeElement !== document.body) return undefined;
    // Behind the library's own drawing of the nodes.
    const frame = requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        document.querySelector<HTMLElement>(kept)?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [isDrawn, kept]);
}

/** Finds in another canvas what has the focus in this one. */
function focusedOnCanvas(): string | undefined {
  const focused = document.activeElement;
  if (focused?.closest('.react-flow') == null) return undefined;
  const node = focused.closest('.react-flow__node')?.getAttribute('data-id');
  if (node != null) return `.react-flow__node[data-id="${CSS.escape(node)}"]`;
  const name = focused.getAttribute('aria-label');
  return name === null ? undefined : `.react-flow [aria-label="${CSS.escape(name)}"]`;
}
