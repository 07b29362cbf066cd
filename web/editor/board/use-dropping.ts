/** Dropping on the canvas, also into bodies of containers: new components from the palette, and those that are dragged. */
import { type OnNodeDrag, useReactFlow } from '@xyflow/react';
import { type DragEvent, type MouseEvent as ReactMouseEvent, useCallback, useMemo, useRef } from 'react';
import { BehaviorSubject, type Observable } from 'rxjs';
import type { Drawing } from '../../canvas/drawing.js';
import type { FlowNode } from '../../canvas/flow.js';
import type { Placement, Point } from '../../canvas/layout/scene.js';
import { useEditor } from '../editor-context.js';
import { containerAt, cornerOf, dropInto, movable } from '../model/bodies.js';
import { addOfType } from '../model/commands.js';
import type { Spots } from '../model/places.js';
import { DRAGGED_TYPE } from '../palette/palette-list.js';

/** What is being dragged, and over what. */
interface Drag {
  readonly ids: readonly string[];
  readonly over: string | undefined;
}

export interface Dropping {
  /** The container that would take what is dragged; undefined where it would stay in the body that it lies in. */
  readonly target$: Observable<string | undefined>;
  readonly onNodeDrag: OnNodeDrag<FlowNode>;
  readonly onSelectionDrag: (event: ReactMouseEvent, nodes: FlowNode[]) => void;
  /** Puts down what was dragged; false when it stays in its body, so that it only has to be moved. */
  readonly putDown: (places: Spots) => boolean;
}

/** Follows the pointer while nodes are dragged: where it lets go of them is where they come to lie. */
export function useDropping(drawing: Drawing, placement: Placement): Dropping {
  const { store } = useEditor();
  const { screenToFlowPosition } = useReactFlow();
  const shown = useRef({ drawing, placement });
  shown.current = { drawing, placement };
  return useMemo(() => {
    const target$ = new BehaviorSubject<string | undefined>(undefined);
    let drag: Drag | undefined;
    const isElsewhere = ({ ids, over }: Drag): boolean =>
      ids.some((id) => store.document.components[id]?.parent !== over);
    const follow = (event: unknown, nodes: readonly FlowNode[]): void => {
      const at = pointOf(event);
      if (at === undefined) return;
      const ids = movable(
        shown.current.drawing,
        nodes.map(({ id }) => id),
      );
      const over = containerAt(store.document, shown.current, { at: screenToFlowPosition(at), moved: new Set(ids) });
      drag = { ids, over };
      const target = isElsewhere(drag) ? over : undefined;
      if (target$.value !== target) target$.next(target);
    };
    return {
      target$,
      onNodeDrag: (event, _, nodes) => follow(event, nodes),
      onSelectionDrag: follow,
      putDown: (places) => {
        const ended = drag;
        drag = undefined;
        if (target$.value !== undefined) target$.next(undefined);
        if (ended === undefined || !isElsewhere(ended)) return false;
        dropInto(store, ended.ids, { parent: ended.over, places });
        return true;
      },
    };
  }, [store, screenToFlowPosition]);
}

function pointOf(event: unknown): Point | undefined {
  const { clientX: x, clientY: y, touches } = event as Partial<MouseEvent & TouchEvent>;
  if (x !== undefined && y !== undefined) return { x, y };
  const touch = touches?.[0];
  return touch && { x: touch.clientX, y: touch.clientY };
}

/** From the corner of a new card to where it was held. */
const HELD: Point = { x: 40, y: 24 };

/** Puts what the palette gave where it is dropped. */
export function usePaletteDrop(placement: Placement): (event: DragEvent) => void {
  const { store, catalogue, model } = useEditor();
  const { screenToFlowPosition } = useReactFlow();
  return useCallback(
    (event: DragEvent) => {
      const entry = catalogue.get(event.dataTransfer.getData(DRAGGED_TYPE).toLowerCase());
      if (entry === undefined) return;
      event.preventDefault();
      const at = screenToFlowPosition({ x: event.clientX - HELD.x, y: event.clientY - HELD.y });
      const over = (event.target as Element).closest?.('.react-flow__node-container')?.getAttribute('data-id');
      const parent = over ?? undefined;
      const corner = cornerOf(store.document, placement, parent);
      addOfType(store, entry, { at: { x: at.x - corner.x, y: at.y - corner.y }, parent, model });
    },
    [store, catalogue, model, placement, screenToFlowPosition],
  );
}
