/** The canvas with what a run does on it, as soon as it is known where everything stands. */
import '@xyflow/react/dist/base.css';
import { type MouseEvent, useCallback, useEffect, useId, useMemo, useState } from 'react';
import { useUnknownTypes } from '../canvas/catalogue.js';
import type { Drawing } from '../canvas/drawing.js';
import { type KeptFocus, useLeftFocus, useTakenFocus } from '../canvas/kept-focus.js';
import { sceneOf } from '../canvas/layout/scene.js';
import { LiveProvider, type LiveRun } from '../canvas/live/live-run.js';
import { SurroundingsProvider } from '../canvas/nodes/surroundings.js';
import { usePlacement } from '../canvas/placement.js';
import { LoadingNote } from '../parts/notes.js';
import { EditorBoard } from './board/editor-board.js';
import { useEditor, useEditorState } from './editor-context.js';
import { editorDrawing, editorPlacement } from './model/editor-store.js';
import { firstSpots } from './model/places.js';
import { wayOfHandle } from './model/ways.js';

export interface CanvasProps {
  /** The run that is shown. */
  readonly live: LiveRun;
  /** Whether choosing a node opens its form. */
  readonly opensForm: boolean;
  /** Opens the form of what is selected. */
  readonly onOpen: () => void;
  readonly focus: KeptFocus;
}

export function Canvas({ live, opensForm, onOpen, focus }: CanvasProps) {
  const { document, spots } = useEditorState();
  const drawing = useMemo(() => editorDrawing(document), [document]);
  const placement = useMemo(() => spots && editorPlacement(drawing, spots), [drawing, spots]);
  useTakenFocus(focus);
  useLeftFocus(focus);
  const scope = useId();
  const unknownTypes = useUnknownTypes(drawing);
  const onPort = usePort(drawing);
  const surroundings = useMemo(() => ({ scope, unknownTypes, onPort }), [scope, unknownTypes, onPort]);
  if (placement === undefined) return <FirstPlacement drawing={drawing} />;
  return (
    <SurroundingsProvider value={surroundings}>
      <LiveProvider value={live}>
        <EditorBoard drawing={drawing} placement={placement} scope={scope} opensForm={opensForm} onOpen={onOpen} />
      </LiveProvider>
    </SurroundingsProvider>
  );
}

/** There until it is known where everything stands. */
function FirstPlacement({ drawing }: { readonly drawing: Drawing }) {
  const { store } = useEditor();
  const placement = usePlacement(drawing, false);
  useEffect(() => {
    if (placement !== undefined) store.setSpots(firstSpots(sceneOf(drawing, false), placement));
  }, [drawing, placement, store]);
  return <LoadingNote />;
}

/** A click on a way out asks what is to come behind it. */
function usePort(drawing: Drawing): (event: MouseEvent, handle: string) => void {
  const { ask } = useEditor();
  const [shown] = useState({ drawing });
  useEffect(() => {
    shown.drawing = drawing;
  });
  return useCallback(
    (event, handle) => {
      event.stopPropagation();
      const from = event.currentTarget.closest('.react-flow__node')?.getAttribute('data-id');
      if (from === null || from === undefined) return;
      const node = shown.drawing.nodes.find(({ id }) => id === from);
      ask({ behind: { from, way: wayOfHandle(node, handle) }, screen: { x: event.clientX, y: event.clientY } });
    },
    [ask, shown],
  );
}
