/** A document as a picture: its nodes, edges and notes, and how a run goes through them. Nothing can be changed in it. */
import '@xyflow/react/dist/base.css';
import { useEffect, useId, useMemo, useState } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { Board } from './board.js';
import { useUnknownTypes } from './catalogue.js';
import { readDrawing } from './drawing.js';
import { LiveProvider, LiveRun } from './live/live-run.js';
import { SurroundingsProvider } from './nodes/surroundings.js';

export interface CanvasViewProps {
  /** The JSON document as the API gives it; the same object as long as nothing changed. */
  readonly document: unknown;
  /** How the run stands; undefined: none is shown. May come at every event: the screen takes ten of them a second. */
  readonly picture?: RunPicture | undefined;
  /** The run goes on at this moment, so times of nodes at work go on between two events. @default false */
  readonly isLive?: boolean | undefined;
  /** Id of the chosen component. */
  readonly selected?: string | undefined;
  readonly onSelect?: ((id: string | undefined) => void) | undefined;
}

/** Fills the element that it is in, which needs a height. */
export function CanvasView({ document, picture, isLive = false, selected, onSelect }: CanvasViewProps) {
  const drawing = useMemo(() => readDrawing(document), [document]);
  const [live] = useState(() => new LiveRun());
  const scope = useId();
  const unknownTypes = useUnknownTypes(drawing);
  const surroundings = useMemo(() => ({ scope, unknownTypes }), [scope, unknownTypes]);
  useEffect(() => live.show(picture, isLive), [live, picture, isLive]);
  return (
    <SurroundingsProvider value={surroundings}>
      <LiveProvider value={live}>
        <Board drawing={drawing} selected={selected} onSelect={onSelect} scope={scope} />
      </LiveProvider>
    </SurroundingsProvider>
  );
}
