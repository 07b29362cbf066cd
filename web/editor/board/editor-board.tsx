/** The canvas of the editor. */
import { Background, MiniMap, type NodeTypes, ReactFlow, SelectionMode, useReactFlow } from '@xyflow/react';
import { type DragEvent, type MouseEvent, memo, useCallback, useEffect, useMemo, useRef } from 'react';
import style from '../../canvas/board.module.css';
import type { Drawing } from '../../canvas/drawing.js';
import type { FlowNode } from '../../canvas/flow.js';
import type { Placement } from '../../canvas/layout/scene.js';
import { Card } from '../../canvas/nodes/card.js';
import { Container, Start } from '../../canvas/nodes/container.js';
import { Note } from '../../canvas/nodes/note.js';
import { useChoices } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor, useEditorState } from '../editor-context.js';
import { addOfType, removeConnection } from '../model/commands.js';
import { connectionOf } from '../model/ways.js';
import { DRAGGED_TYPE } from '../palette/palette-list.js';
import { type BoardActions, BoardActionsProvider } from './board-actions.js';
import { boardTexts } from './board-texts.js';
import { EditedWay } from './edited-way.js';
import { NodeTools } from './node-tools.js';
import { useBoard } from './use-board.js';
import { useConnecting } from './use-connecting.js';
import { useInView } from './use-in-view.js';
import { ViewTools } from './view-tools.js';

const NODE_TYPES: NodeTypes = { card: Card, container: Container, start: Start, note: Note };
const EDGE_TYPES = { way: EditedWay };
const FIT = { padding: 0.12, maxZoom: 1 };
const MANY = ['Meta', 'Control', 'Shift'];
/** Smaller canvases are seen as a whole. */
const MIN_FOR_MINIMAP = 8;

export interface EditorBoardProps {
  readonly drawing: Drawing;
  readonly placement: Placement;
  readonly scope: string;
  /** Whether choosing a node opens its form. */
  readonly opensForm: boolean;
  /** A node was chosen twice, or by Enter. The same function from one drawing to the next. */
  readonly onOpen: () => void;
}

export const EditorBoard = memo(function EditorBoard({
  drawing,
  placement,
  scope,
  opensForm,
  onOpen,
}: EditorBoardProps) {
  const { store } = useEditor();
  const { selection } = useEditorState();
  const words = useTexts(boardTexts);
  const { theme } = useChoices();
  const { screenToFlowPosition } = useReactFlow();
  const { nodes, onNodesChange, edges, selectedEdge, onEdgesChange } = useBoard(drawing, placement, scope, selection);
  const connecting = useConnecting(drawing, screenToFlowPosition);
  const actions = useEdgeActions(drawing);
  useEdgeDeletion(selectedEdge, actions);
  useInView(selection, opensForm);
  const onDrop = useDrop(placement, screenToFlowPosition);
  return (
    <BoardActionsProvider value={actions}>
      <ReactFlow
        className={style.board}
        aria-label={words.canvas}
        colorMode={theme}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        {...connecting}
        onKeyDown={(event) => {
          const isNode = (event.target as Element).classList.contains('react-flow__node');
          if (isNode && event.key === 'Enter') onOpen();
        }}
        onNodeDoubleClick={onOpen}
        zoomOnDoubleClick={false}
        connectOnClick={false}
        connectionRadius={28}
        onPaneClick={() => store.select([])}
        onDrop={onDrop}
        onDragOver={(event) => event.preventDefault()}
        ariaLabelConfig={{
          'node.a11yDescription.default': words.node,
          'node.a11yDescription.keyboardDisabled': words.node,
          'edge.a11yDescription.default': words.edge,
          'minimap.ariaLabel': words.minimap,
        }}
        elevateNodesOnSelect={false}
        autoPanOnNodeFocus={false}
        deleteKeyCode={null}
        selectionKeyCode="Shift"
        selectionMode={SelectionMode.Partial}
        multiSelectionKeyCode={MANY}
        minZoom={0.1}
        fitView
        fitViewOptions={FIT}
      >
        <Background gap={24} />
        {drawing.nodes.length >= MIN_FOR_MINIMAP && (
          <MiniMap pannable className={style.minimap} nodeClassName={minimapClass} />
        )}
        <NodeTools drawing={drawing} />
        <ViewTools drawing={drawing} fit={FIT} />
      </ReactFlow>
    </BoardActionsProvider>
  );
});

function useEdgeActions(drawing: Drawing): BoardActions {
  const { store, ask } = useEditor();
  const shown = useRef(drawing);
  useEffect(() => {
    shown.current = drawing;
  });
  return useMemo(() => {
    const connectionAt = (id: string) => {
      const edge = shown.current.edges.find((one) => one.id === id);
      return (
        edge &&
        connectionOf(
          edge,
          shown.current.nodes.find((node) => node.id === edge.from),
        )
      );
    };
    return {
      insertInto: (id: string, { clientX: x, clientY: y }: MouseEvent) => {
        const behind = connectionAt(id);
        if (behind !== undefined) ask({ behind, screen: { x, y } });
      },
      removeEdge: (id: string) => {
        const connection = connectionAt(id);
        if (connection !== undefined) removeConnection(store, connection);
      },
    };
  }, [store, ask]);
}

/** Delete takes the chosen edge away when no node is chosen. */
function useEdgeDeletion(edge: string | undefined, { removeEdge }: BoardActions): void {
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

/** Puts what is dropped where it is dropped, also into the body of a container. */
function useDrop(placement: Placement, toCanvas: (screen: { x: number; y: number }) => { x: number; y: number }) {
  const { store, catalogue, model } = useEditor();
  return useCallback(
    (event: DragEvent) => {
      const entry = catalogue.get(event.dataTransfer.getData(DRAGGED_TYPE).toLowerCase());
      if (entry === undefined) return;
      event.preventDefault();
      const at = toCanvas({ x: event.clientX - 40, y: event.clientY - 24 });
      const over = (event.target as Element).closest?.('.react-flow__node-container')?.getAttribute('data-id');
      if (over === null || over === undefined) {
        addOfType(store, entry, { at, model });
        return;
      }
      let corner = { x: 0, y: 0 };
      for (let id: string | undefined = over; id !== undefined; id = store.document.components[id]?.parent) {
        const { x = 0, y = 0 } = placement.get(id) ?? {};
        corner = { x: corner.x + x, y: corner.y + y };
      }
      addOfType(store, entry, { at: { x: at.x - corner.x, y: at.y - corner.y }, parent: over, model });
    },
    [store, catalogue, model, placement, toCanvas],
  );
}

function minimapClass({ type }: FlowNode): string {
  return style[`mini-${type}`] ?? '';
}
