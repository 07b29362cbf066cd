/** The canvas of the editor. */
import { Background, MiniMap, type NodeTypes, ReactFlow, SelectionMode, useReactFlow } from '@xyflow/react';
import { memo } from 'react';
import { FIT } from '../../canvas/board.js';
import style from '../../canvas/board.module.css';
import type { Drawing } from '../../canvas/drawing.js';
import type { FlowNode } from '../../canvas/flow.js';
import type { Placement } from '../../canvas/layout/scene.js';
import { Card } from '../../canvas/nodes/card.js';
import { Start } from '../../canvas/nodes/container.js';
import { Note } from '../../canvas/nodes/note.js';
import { usePanning } from '../../canvas/use-panning.js';
import { useChoices } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor, useSelected } from '../editor-context.js';
import { BoardActionsProvider } from './board-actions.js';
import { boardTexts } from './board-texts.js';
import { EditedContainer } from './edited-container.js';
import { EditedWay } from './edited-way.js';
import { NodeTools } from './node-tools.js';
import { useBoard } from './use-board.js';
import { useActions, useEdgeDeletion } from './use-board-actions.js';
import { useConnecting } from './use-connecting.js';
import { useDropping, usePaletteDrop } from './use-dropping.js';
import { useInView } from './use-in-view.js';
import { ViewTools } from './view-tools.js';

const NODE_TYPES: NodeTypes = { card: Card, container: EditedContainer, start: Start, note: Note };
const EDGE_TYPES = { way: EditedWay };
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
  const selection = useSelected();
  const words = useTexts(boardTexts);
  const { theme } = useChoices();
  const { screenToFlowPosition } = useReactFlow();
  const { putDown, target$, ...dragging } = useDropping(drawing, placement);
  const look = { scope, selection };
  const { nodes, onNodesChange, edges, selectedEdge, onEdgesChange } = useBoard(drawing, placement, look, putDown);
  const connecting = useConnecting(drawing, screenToFlowPosition);
  const actions = useActions(drawing, target$);
  useEdgeDeletion(selectedEdge, actions);
  useInView(selection, opensForm);
  const panning = usePanning();
  const onDrop = usePaletteDrop(placement);
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
        {...dragging}
        {...panning}
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

function minimapClass({ type }: FlowNode): string {
  return style[`mini-${type}`] ?? '';
}
