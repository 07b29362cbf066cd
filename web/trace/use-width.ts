/** How wide an element is. */
import { type RefObject, useEffect, useState } from 'react';

/** The inner width in CSS pixels, 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const found = element.current;
    if (found === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(found);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
