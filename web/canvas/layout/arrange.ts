/** Arranges a level from left to right, in layers (dagre). Takes long for many boxes: it runs in a worker. */
import { Graph, layout } from '@dagrejs/dagre';
import type { Level } from './lay-out.js';
import type { Box, Point } from './scene.js';

const GAPS = { ranksep: 88, nodesep: 36, edgesep: 16, marginx: 0, marginy: 0 } as const;
/** Between notes, and between them and the graph. */
const NOTE_GAP = 32;

/** Gives each box a place; notes stand above the graph, in a row. */
export function arrange({ boxes, edges }: Level): ReadonlyMap<string, Point> {
  const graph = new Graph({ multigraph: true }).setGraph({ rankdir: 'LR', ...GAPS }).setDefaultEdgeLabel(() => ({}));
  const shown = boxes.filter(({ isNote }) => isNote !== true);
  for (const { id, width, height } of shown) graph.setNode(id, { width, height });
  for (const [number, { from, to }] of edges.entries()) graph.setEdge(from, to, {}, String(number));
  layout(graph);
  const places = new Map<string, Point>();
  for (const { id, width, height } of shown) {
    const { x, y } = graph.node(id);
    places.set(id, { x: (x ?? 0) - width / 2, y: (y ?? 0) - height / 2 });
  }
  placeNotes(boxes, places);
  return places;
}

function placeNotes(boxes: readonly Box[], places: Map<string, Point>): void {
  let x = 0;
  for (const { id, isNote, width, height } of boxes) {
    if (isNote !== true) continue;
    places.set(id, { x, y: -height - NOTE_GAP });
    x += width + NOTE_GAP;
  }
}
