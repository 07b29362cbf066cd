/** A document as a picture: its nodes, edges and notes, and how a run goes through them. Nothing can be changed in it. */
import '@xyflow/react/dist/base.css';
import { useId, useMemo } from 'react';
import { Board } from './board.js';
import { useUnknownTypes } from './catalogue.js';
import { readDrawing } from './drawing.js';
import { type KeptFocus, useLeftFocus } from './kept-focus.js';
import { LiveProvider, type LiveRun } from './live/live-run.js';
import { SurroundingsProvider } from './nodes/surroundings.js';

export interface CanvasViewProps {
  /** The JSON document as the API gives it; the same object as long as nothing changed. */
  readonly document: unknown;
  /** The run that is shown. The same object as long as the canvas is: it is not drawn anew when the run goes on. */
  readonly live: LiveRun;
  /** Id of the chosen component. */
  readonly selected?: string | undefined;
  readonly onSelect?: ((id: string | undefined) => void) | undefined;
  /** A node was chosen twice, or by Enter. */
  readonly onOpen?: ((id: string) => void) | undefined;
  /** Given what has the focus when this canvas goes, for the one that takes its place. */
  readonly focus?: KeptFocus | undefined;
}

/** Fills the element that it is in, which needs a height. */
export function CanvasView({ document, live, selected, onSelect, onOpen, focus }: CanvasViewProps) {
  useLeftFocus(focus);
  const drawing = useMemo(() => readDrawing(document), [document]);
  const scope = useId();
  const unknownTypes = useUnknownTypes(drawing);
  const surroundings = useMemo(() => ({ scope, unknownTypes }), [scope, unknownTypes]);
  return (
    <SurroundingsProvider value={surroundings}>
      <LiveProvider value={live}>
        <Board drawing={drawing} selected={selected} onSelect={onSelect} onOpen={onOpen} scope={scope} />
      </LiveProvider>
    </SurroundingsProvider>
  );
}
