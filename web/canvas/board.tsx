/** The canvas itself. It is drawn anew when the document or the choice changes, not when a run goes on. */
import { Background, MiniMap, type NodeChange, ReactFlow, ReactFlowProvider } from '@xyflow/react';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { EmptyNote, LoadingNote } from '../parts/notes.js';
import { useChoices } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './board.module.css';
import type { Drawing } from './drawing.js';
import { type FlowNode, flowEdges, flowNodes } from './flow.js';
import type { Placement } from './layout/scene.js';
import { Card } from './nodes/card.js';
import { Container, Start } from './nodes/container.js';
import { Note } from './nodes/note.js';
import { Way } from './nodes/way.js';
import { usePlacement } from './placement.js';
import { Tools } from './tools.js';
import { usePanning } from './use-panning.js';
import { wayNames } from './way-names.js';

const texts = defineTexts({
  en: {
    empty: 'This canvas has no components yet.',
    canvas: 'Canvas',
    minimap: 'Overview of the canvas',
    node: 'Enter chooses the node, Escape gives it up.',
  },
  zh: {
    empty: '此画布还没有组件。',
    canvas: '画布',
    minimap: '画布概览',
    node: '按回车键选择节点，按 Esc 取消选择。',
  },
});

const NODE_TYPES = { card: Card, container: Container, start: Start, note: Note };
const EDGE_TYPES = { way: Way };
/** How a canvas is fitted into what is seen of it: with a border, and not enlarged. */
export const FIT = { padding: 0.12, maxZoom: 1 };
const MIN_ZOOM = 0.1;
/** Smaller canvases are seen as a whole. */
const MIN_FOR_MINIMAP = 8;

interface BoardProps {
  readonly drawing: Drawing;
  readonly selected: string | undefined;
  readonly onSelect: ((id: string | undefined) => void) | undefined;
  readonly onOpen: ((id: string) => void) | undefined;
  readonly scope: string;
}

export const Board = memo(function Board(props: BoardProps) {
  const { drawing } = props;
  const [isTidied, setIsTidied] = useState(false);
  const placement = usePlacement(drawing, isTidied);
  const words = useTexts(texts);
  if (drawing.nodes.length === 0) return <EmptyNote title={words.empty} />;
  if (placement === undefined) return <LoadingNote />;
  return (
    <ReactFlowProvider>
      <Placed {...props} placement={placement} isTidied={isTidied} onTidy={setIsTidied} />
    </ReactFlowProvider>
  );
});

function Placed(
  props: BoardProps & {
    readonly placement: Placement;
    readonly isTidied: boolean;
    readonly onTidy: (isTidied: boolean) => void;
  },
) {
  const { drawing, placement, selected, onSelect, onOpen, scope, isTidied, onTidy } = props;
  const words = useTexts(texts);
  const { theme } = useChoices();
  const drawn = useMemo(() => flowNodes(drawing, placement, scope), [drawing, placement, scope]);
  const nodes = useMemo(() => withChoice(drawn, selected), [drawn, selected]);
  const ways = useTexts(wayNames);
  const edges = useMemo(() => flowEdges(drawing, ways), [drawing, ways]);
  const panning = usePanning();
  const choose = useRef(onSelect);
  useEffect(() => {
    choose.current = onSelect;
  });
  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const choices = changes.filter((change) => change.type === 'select');
    const chosen = choices.find((change) => change.selected);
    if (chosen !== undefined) choose.current?.(chosen.id);
    else if (choices.length > 0) choose.current?.(undefined);
  }, []);
  return (
    <ReactFlow
      className={style.board}
      aria-label={words.canvas}
      colorMode={theme}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onNodesChange={onNodesChange}
      {...panning}
      onKeyDown={({ key, target }) => {
        const id = nodeOf(target);
        if (id !== undefined && key === 'Enter') onOpen?.(id);
      }}
      onNodeDoubleClick={(_, { id }) => onOpen?.(id)}
      zoomOnDoubleClick={false}
      ariaLabelConfig={{ 'node.a11yDescription.default': words.node, 'minimap.ariaLabel': words.minimap }}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      elevateNodesOnSelect={false}
      deleteKeyCode={null}
      selectionKeyCode={null}
      multiSelectionKeyCode={null}
      minZoom={MIN_ZOOM}
      fitView
      fitViewOptions={FIT}
    >
      <Background gap={24} />
      {drawing.nodes.length >= MIN_FOR_MINIMAP && (
        <MiniMap pannable className={style.minimap} nodeClassName={minimapClass} />
      )}
      <Tools isTidied={isTidied} onTidy={onTidy} fit={FIT} />
    </ReactFlow>
  );
}

/** Id of the node that an event is told of by its own element, which has the focus. */
function nodeOf(target: EventTarget): string | undefined {
  const element = target as HTMLElement;
  return element.classList.contains('react-flow__node') ? element.dataset.id : undefined;
}

function minimapClass({ type }: FlowNode): string {
  return style[`mini-${type}`] ?? '';
}

/** Only the nodes that are or were chosen are new objects. */
function withChoice(nodes: readonly FlowNode[], selected: string | undefined): FlowNode[] {
  return nodes.map((node) =>
    node.id === selected
      ? ({ ...node, selected: true, domAttributes: { ...node.domAttributes, 'aria-current': true } } as FlowNode)
      : node,
  );
}
