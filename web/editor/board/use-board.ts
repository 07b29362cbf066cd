/** What the board draws, and how the canvas library's changes become edits of the document. */
import { applyNodeChanges, type EdgeChange, type NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Drawing } from '../../canvas/drawing.js';
import { type FlowEdge, type FlowNode, resized } from '../../canvas/flow.js';
import type { Placement, Point } from '../../canvas/layout/scene.js';
import { wayNames } from '../../canvas/way-names.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { type BoardLook, BoardParts } from './board-parts.js';
import type { Dropping } from './use-dropping.js';

export interface BoardChanges {
  readonly nodes: FlowNode[];
  readonly onNodesChange: (changes: NodeChange<FlowNode>[]) => void;
  readonly edges: FlowEdge[];
  readonly selectedEdge: string | undefined;
  readonly onEdgesChange: (changes: EdgeChange<FlowEdge>[]) => void;
}

export function useBoard(
  drawing: Drawing,
  placement: Placement,
  { scope, selection }: BoardLook,
  putDown: Dropping['putDown'],
): BoardChanges {
  const { store } = useEditor();
  const [maker] = useState(() => new BoardParts());
  const made = useMemo(
    () => maker.make(drawing, placement, { scope, selection }),
    [maker, drawing, placement, scope, selection],
  );
  // What is being dragged is drawn from here until it is put down.
  const [moving, setMoving] = useState<{ readonly from: FlowNode[]; readonly nodes: FlowNode[] }>();
  const nodes = moving?.from === made ? moving.nodes : made;
  const newest = useRef({ made, nodes });
  newest.current = { made, nodes };
  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      const put = new Map<string, Point>();
      const moves = changes.filter((change) => change.type === 'position');
      for (const { id, position, dragging } of moves) {
        if (position !== undefined && dragging !== true) put.set(id, position);
      }
      const chosen = changes.filter((change) => change.type === 'select');
      if (chosen.length > 0) {
        const gone = new Set(chosen.flatMap(({ id, selected }) => (selected ? [] : [id])));
        const came = chosen.flatMap(({ id, selected }) => (selected ? [id] : []));
        const kept = store.state.selection.filter((id) => !gone.has(id) && !came.includes(id));
        store.select([...kept, ...came]);
      }
      const now = newest.current;
      for (const { id, resizing, dimensions } of changes.filter((change) => change.type === 'dimensions')) {
        if (dimensions === undefined || resizing === undefined) continue;
        if (resizing)
          setMoving({
            from: now.made,
            nodes: now.nodes.map((one) => (one.id === id ? resized(one, dimensions) : one)),
          });
        else store.resize(id, dimensions);
      }
      if (put.size > 0 && putDown(put)) {
        setMoving(undefined);
        return;
      }
      const isElsewhere = [...put].some(([id, { x, y }]) => {
        const before = now.made.find((node) => node.id === id)?.position;
        return before === undefined || before.x !== x || before.y !== y;
      });
      if (isElsewhere) store.move(put);
      else if (moves.length > 0) setMoving({ from: now.made, nodes: applyNodeChanges(moves, now.nodes) });
    },
    [store, putDown],
  );
  const [selectedEdge, setSelectedEdge] = useState<string>();
  const onEdgesChange = useCallback((changes: EdgeChange<FlowEdge>[]) => {
    for (const change of changes) {
      if (change.type !== 'select') continue;
      setSelectedEdge((now) => (change.selected ? change.id : now === change.id ? undefined : now));
    }
  }, []);
  const ways = useTexts(wayNames);
  const edges = useMemo(() => maker.makeEdges(drawing, ways, selectedEdge), [maker, drawing, ways, selectedEdge]);
  return { nodes, onNodesChange, edges, selectedEdge, onEdgesChange };
}
