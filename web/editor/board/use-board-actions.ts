/** What nodes and edges of one board can have done, and the key that takes a chosen edge away. */
import { type MouseEvent, useEffect, useMemo, useRef } from 'react';
import type { Drawing } from '../../canvas/drawing.js';
import { useEditor } from '../editor-context.js';
import { leastSizeOf } from '../model/bodies.js';
import { removeConnection } from '../model/commands.js';
import { connectionOf } from '../model/ways.js';
import type { BoardActions } from './board-actions.js';

/** The same object from one drawing to the next. */
export function useActions(drawing: Drawing, target$: BoardActions['target$']): BoardActions {
  const { store, ask } = useEditor();
  const shown = useRef(drawing);
  useEffect(() => {
    shown.current = drawing;
  });
  return useMemo(() => {
    const connectionAt = (id: string) => {
      const { nodes, edges } = shown.current;
      const edge = edges.find((one) => one.id === id);
      return (
        edge &&
        connectionOf(
          edge,
          nodes.find((node) => node.id === edge.from),
        )
      );
    };
    return {
      target$,
      leastSizeOf: (container) => leastSizeOf(store, container),
      insertInto: (id: string, { clientX: x, clientY: y }: MouseEvent) => {
        const behind = connectionAt(id);
        if (behind !== undefined) ask({ behind, screen: { x, y } });
      },
      removeEdge: (id: string) => {
        const connection = connectionAt(id);
        if (connection !== undefined) removeConnection(store, connection);
      },
    };
  }, [store, ask, target$]);
}

/** Delete takes the chosen edge away when no node is chosen. */
export function useEdgeDeletion(edge: string | undefined, { removeEdge }: BoardActions): void {
  const { store } = useEditor();
  useEffect(() => {
    if (edge === undefined) return undefined;
    const press = ({ key, target }: KeyboardEvent) => {
      const isField = (target as Element).closest?.('input, textarea, select, dialog') != null;
      if ((key === 'Delete' || key === 'Backspace') && !isField && store.state.selection.length === 0) removeEdge(edge);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [edge, removeEdge, store]);
}
