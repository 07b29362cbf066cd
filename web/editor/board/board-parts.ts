/** Nodes and edges of the editor for the canvas library: what did not change is the same object, and is not drawn again. */
import type { Drawing } from '../../canvas/drawing.js';
import { type FlowEdge, type FlowNode, flowEdges, flowNodes, type WayNames } from '../../canvas/flow.js';
import type { Placement } from '../../canvas/layout/scene.js';

/** Makes nodes and edges, and keeps those of the last time. Belongs to one board. */
export class BoardParts {
  #known = new Map<string, FlowNode>();
  #edges = new Map<string, FlowEdge>();

  make(drawing: Drawing, placement: Placement, { scope, selection }: BoardLook): FlowNode[] {
    const chosen = new Set(selection);
    const next = new Map<string, FlowNode>();
    for (const node of flowNodes(drawing, placement, scope)) {
      const isChosen = chosen.has(node.id);
      const wanted = {
        ...node,
        selected: isChosen,
        selectable: true,
        focusable: true,
        draggable: true,
        ...(isChosen && { domAttributes: { ...node.domAttributes, 'aria-current': true } }),
      } as FlowNode;
      const before = this.#known.get(node.id);
      next.set(node.id, before !== undefined && isSame(before, wanted) ? before : wanted);
    }
    this.#known = next;
    return [...next.values()];
  }

  /** Edges that can be chosen; `selected`: the one that is. */
  makeEdges(drawing: Drawing, words: WayNames, selected: string | undefined): FlowEdge[] {
    const next = new Map<string, FlowEdge>();
    for (const edge of flowEdges(drawing, words)) {
      const wanted = { ...edge, selected: edge.id === selected };
      const before = this.#edges.get(edge.id);
      next.set(edge.id, before !== undefined && isSameEdge(before, wanted) ? before : wanted);
    }
    this.#edges = next;
    return [...next.values()];
  }
}

export interface BoardLook {
  readonly scope: string;
  readonly selection: readonly string[];
}

function isSame(one: FlowNode, other: FlowNode): boolean {
  return (
    one.position.x === other.position.x &&
    one.position.y === other.position.y &&
    one.width === other.width &&
    one.height === other.height &&
    one.selected === other.selected &&
    one.parentId === other.parentId &&
    one.type === other.type &&
    contentOf(one) === contentOf(other)
  );
}

function contentOf({ data }: FlowNode): unknown {
  return 'node' in data ? data.node : data.note.name + data.note.text;
}

/** Its ends and its kind are in its id. */
function isSameEdge(one: FlowEdge, other: FlowEdge): boolean {
  return (
    one.selected === other.selected &&
    one.ariaLabel === other.ariaLabel &&
    one.data?.label === other.data?.label &&
    one.sourceHandle === other.sourceHandle
  );
}
