/** Zoom, the whole canvas, and a tidy layout, which can be undone. */
import { type FitViewOptions, useReactFlow } from '@xyflow/react';
import { useEffect, useState } from 'react';
import type { Drawing } from '../../canvas/drawing.js';
import { usePlacement } from '../../canvas/placement.js';
import { Tools } from '../../canvas/tools.js';
import { useEditor } from '../editor-context.js';
import { tidy } from '../model/commands.js';

interface ViewToolsProps {
  readonly drawing: Drawing;
  readonly fit: FitViewOptions;
}

export function ViewTools({ drawing, fit }: ViewToolsProps) {
  const [wanted, setWanted] = useState<Drawing>();
  return (
    <>
      <Tools isTidied={false} onTidy={() => setWanted(drawing)} fit={fit} />
      {wanted !== undefined && <Tidying drawing={wanted} fit={fit} onEnd={() => setWanted(undefined)} />}
    </>
  );
}

/** There until the layout is found. */
function Tidying({ drawing, fit, onEnd }: ViewToolsProps & { readonly onEnd: () => void }) {
  const { store } = useEditor();
  const { fitView } = useReactFlow();
  const placement = usePlacement(drawing, true);
  useEffect(() => {
    if (placement === undefined) return;
    tidy(store, placement);
    onEnd();
    // Once the library has the new places.
    requestAnimationFrame(() => void fitView(fit));
  }, [placement, store, onEnd, fitView, fit]);
  return null;
}
