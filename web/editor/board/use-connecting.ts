/** Drawing edges by pointer: which are allowed, why others are not, and what a loose end asks for. */
import type { FinalConnectionState, Connection as FlowConnection, IsValidConnection } from '@xyflow/react';
import { useCallback, useRef } from 'react';
import { type Connection, whyNotConnected } from '../../../src/dsl/edit/index.js';
import type { Drawing } from '../../canvas/drawing.js';
import type { FlowEdge } from '../../canvas/flow.js';
import { useEditor } from '../editor-context.js';
import { addConnection } from '../model/commands.js';
import { wayOfHandle } from '../model/ways.js';

export interface Connecting {
  readonly isValidConnection: IsValidConnection<FlowEdge>;
  readonly onConnect: (connection: FlowConnection) => void;
  readonly onConnectEnd: (event: MouseEvent | TouchEvent, state: FinalConnectionState) => void;
}

export function useConnecting(
  drawing: Drawing,
  toCanvas: (screen: { x: number; y: number }) => { x: number; y: number },
): Connecting {
  const { store, ask } = useEditor();
  const shown = useRef(drawing);
  shown.current = drawing;
  const wayFrom = useCallback((from: string, handle: string | null | undefined): Omit<Connection, 'to'> => {
    const node = shown.current.nodes.find(({ id }) => id === from);
    return { from, way: wayOfHandle(node, handle) };
  }, []);
  const isValidConnection = useCallback<IsValidConnection<FlowEdge>>(
    ({ source, target, sourceHandle }) =>
      whyNotConnected(store.document, { ...wayFrom(source, sourceHandle), to: target }) === undefined,
    [store, wayFrom],
  );
  const onConnect = useCallback(
    ({ source, target, sourceHandle }: FlowConnection) => {
      addConnection(store, { ...wayFrom(source, sourceHandle), to: target });
    },
    [store, wayFrom],
  );
  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, { isValid, fromNode, fromHandle, toNode, pointer }: FinalConnectionState) => {
      if (isValid === true || fromNode === null || fromHandle === null || pointer === null) return;
      if (toNode !== null) {
        const isForward = fromHandle.type === 'source';
        const [from, to] = isForward ? [fromNode.id, toNode.id] : [toNode.id, fromNode.id];
        const handle = isForward ? fromHandle.id : undefined;
        store.refuse(whyNotConnected(store.document, { ...wayFrom(from, handle), to }));
        return;
      }
      if (fromHandle.type !== 'source' || !('clientX' in event)) return;
      const screen = { x: event.clientX, y: event.clientY };
      const { parent } = store.document.components[fromNode.id] ?? {};
      // In a body the free place beside it is taken: where the pointer is may lie outside.
      const at = parent === undefined ? { at: toCanvas(screen) } : {};
      ask({ behind: wayFrom(fromNode.id, fromHandle.id), ...at, screen });
    },
    [store, ask, wayFrom, toCanvas],
  );
  return { isValidConnection, onConnect, onConnectEnd };
}
