/** Draws a graph by WebGL: nodes that are dragged, hovered and chosen, edges of two looks, the way that is looked at. */
import { MultiDirectedGraph } from 'graphology';
import { Sigma } from 'sigma';
import type { DrawnEdge, DrawnPart } from './drawn-part.js';
import { colourOf, shortName } from './entity-kinds.js';
import { labelBox } from './label-box.js';

/** How a node or an edge looks. */
interface Look {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly color: string;
  readonly label: string;
}

interface EdgeLook {
  readonly size: number;
  readonly color: string;
  readonly type: 'arrow' | 'line';
  readonly zIndex: number;
}

/** A drawing, as long as it is open. */
export interface GraphDrawing {
  /** Marks an entity; undefined: none. */
  choose(id: string | undefined): void;
  zoom(how: 'in' | 'out' | 'all'): void;
  close(): void;
}

export interface DrawOptions {
  /** Called with the id of an entity that was clicked. */
  readonly onChoose: (id: string) => void;
  /** Value of a custom property of the page, such as `--text`. */
  readonly colour: (name: string) => string;
}

/** Milliseconds of a movement of the view; none where the user wants little of it. */
const MOVE_MS = 200;

/** Draws in an element, which has a size. @throws Error where the browser has no WebGL */
export function drawGraph(element: HTMLElement, part: DrawnPart, { onChoose, colour }: DrawOptions): GraphDrawing {
  const graph = graphOf(part, colour);
  const faint = colour('--line');
  let chosen: string | undefined;
  let hovered: string | undefined;
  const middle = (): string | undefined => hovered ?? chosen;
  const isNear = (node: string): boolean => {
    const at = middle();
    return at === undefined || !graph.hasNode(at) || node === at || graph.areNeighbors(node, at);
  };
  const renderer = new Sigma(graph, element, {
    allowInvalidContainer: true,
    zIndex: true,
    // Names beside nodes at the edge have a place.
    stagePadding: 60,
    labelColor: { color: colour('--text') },
    labelFont: colour('--font'),
    labelSize: 12,
    labelRenderedSizeThreshold: 5,
    defaultDrawNodeHover: labelBox({ ground: colour('--raised'), line: colour('--line'), text: colour('--text') }),
    nodeReducer: (node, look) => ({
      ...look,
      highlighted: node === chosen,
      ...(part.way.has(node) && { forceLabel: true, zIndex: 2 }),
      ...(!isNear(node) && { color: faint, label: null, zIndex: 0 }),
    }),
    edgeReducer: (edge, look) => {
      const at = middle();
      const isFaint = at !== undefined && graph.hasNode(at) && !graph.hasExtremity(edge, at);
      return isFaint ? { ...look, hidden: true } : look;
    },
  });
  renderer.on('enterNode', ({ node }) => {
    hovered = node;
    renderer.refresh({ skipIndexation: true });
  });
  renderer.on('leaveNode', () => {
    hovered = undefined;
    renderer.refresh({ skipIndexation: true });
  });
  const wasDragged = letDrag(renderer, graph);
  renderer.on('clickNode', ({ node }) => {
    if (!wasDragged()) onChoose(node);
  });
  return {
    choose(id) {
      chosen = id;
      renderer.refresh({ skipIndexation: true });
    },
    zoom(how) {
      const camera = renderer.getCamera();
      const duration = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1 : MOVE_MS;
      if (how === 'all') void camera.animatedReset({ duration });
      else if (how === 'in') void camera.animatedZoom({ duration });
      else void camera.animatedUnzoom({ duration });
    },
    close: () => renderer.kill(),
  };
}

type DrawnGraph = MultiDirectedGraph<Look, EdgeLook>;

function graphOf({ nodes, edges }: DrawnPart, colour: DrawOptions['colour']): DrawnGraph {
  const graph: DrawnGraph = new MultiDirectedGraph();
  const most = nodes.reduce((found, { mentions }) => Math.max(found, mentions), 1);
  for (const { id, name, type, mentions, x, y } of nodes) {
    const size = 4 + 10 * Math.sqrt(mentions / most);
    graph.addNode(id, { x, y, size, color: colour(`--entity-${colourOf(type)}`), label: shortName(name) });
  }
  for (const edge of edges) {
    if (graph.hasNode(edge.source) && graph.hasNode(edge.target)) {
      graph.addDirectedEdge(edge.source, edge.target, edgeLook(edge, colour));
    }
  }
  return graph;
}

/** What a text says is an arrow; what only stands near is a thin line. */
function edgeLook({ isExplicit, isOnWay, weight }: DrawnEdge, colour: DrawOptions['colour']): EdgeLook {
  const type = isExplicit ? 'arrow' : 'line';
  if (isOnWay) return { type, size: 5, color: colour('--accent'), zIndex: 2 };
  if (!isExplicit) return { type, size: 0.7, color: colour('--line'), zIndex: 0 };
  return { type, size: 1.5 + Math.min(2, Math.log1p(weight) / 2), color: colour('--line-strong'), zIndex: 1 };
}

/** Pixels by which a pointer may move in a click. */
const STILL = 4;

/** Nodes follow the pointer; the view stays where it is meanwhile. Gives whether the last press moved a node: the end of it is a click, too. */
function letDrag(renderer: Sigma<Look, EdgeLook>, graph: DrawnGraph): () => boolean {
  let dragged: string | undefined;
  let from = { x: 0, y: 0 };
  let hasMoved = false;
  renderer.on('downNode', ({ node, event: { x, y } }) => {
    dragged = node;
    from = { x, y };
    hasMoved = false;
    renderer.setCustomBBox(renderer.getBBox());
  });
  // The end of a drag and a click soon after it are no wish to zoom.
  renderer.on('doubleClickNode', ({ preventSigmaDefault }) => preventSigmaDefault());
  renderer.on('moveBody', ({ event }) => {
    if (dragged === undefined) return;
    event.preventSigmaDefault();
    event.original.preventDefault();
    hasMoved ||= Math.hypot(event.x - from.x, event.y - from.y) > STILL;
    if (hasMoved) graph.mergeNodeAttributes(dragged, renderer.viewportToGraph(event));
  });
  const drop = (): void => {
    dragged = undefined;
  };
  renderer.on('upNode', drop);
  renderer.on('upStage', drop);
  return () => hasMoved;
}
