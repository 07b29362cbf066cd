/** A drawing with its places, in the form that the canvas library takes. */
import type { Edge, Node, NodeHandle } from '@xyflow/react';
import type { Branch } from './describe.js';
import type { Drawing, DrawnEdge, DrawnNode, DrawnNote, EdgeKind } from './drawing.js';
import type { Placed, Placement } from './layout/scene.js';
import { entryHeight, exitHeight, type Size } from './sizes.js';

export type CardFlowNode = Node<{ readonly node: DrawnNode }, 'card' | 'container' | 'start'>;
export type NoteFlowNode = Node<{ readonly note: DrawnNote }, 'note'>;
export type FlowNode = CardFlowNode | NoteFlowNode;
export type FlowEdge = Edge<{ readonly kind: EdgeKind; readonly label: string }, 'way'>;

export const ENTRY = 'entry';
export const EXIT = 'exit';
export const EXCEPTION = 'exception';

/** Handle of a branch, by its number. */
export function branchHandle(branch: number): string {
  return `branch-${branch}`;
}

/** Id of the element that names a node. */
export function nameId(scope: string, id: string): string {
  return `${scope}-name-${id}`;
}

/** Id of the element that says what a node does. */
export function summaryId(scope: string, id: string): string {
  return `${scope}-about-${id}`;
}

/** Containers come before what lies in them, as the library needs it. `scope` makes ids of elements unique in the page. */
export function flowNodes(drawing: Drawing, placement: Placement, scope: string): FlowNode[] {
  const notes = drawing.notes.flatMap((note): FlowNode[] => {
    const at = placement.get(note.id);
    return at === undefined ? [] : [noteNode(note, at)];
  });
  const cards = inOrder(drawing.nodes).flatMap((node): FlowNode[] => {
    const at = placement.get(node.id);
    return at === undefined ? [] : [cardNode(node, at, scope)];
  });
  return [...notes, ...cards];
}

/** Names of ways that have none in the document. */
export interface WayNames {
  readonly case: (number: number) => string;
  readonly else: string;
  readonly onError: string;
}

export function flowEdges(drawing: Drawing, words: WayNames): FlowEdge[] {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]));
  const nameOf = (id: string) => nodes.get(id)?.name ?? id;
  return drawing.edges.map((edge) => {
    const label = wayName(edge, nodes.get(edge.from), words);
    return flowEdge(edge, label, `${nameOf(edge.from)} → ${nameOf(edge.to)}${label === '' ? '' : `, ${label}`}`);
  });
}

function wayName({ kind, branch }: DrawnEdge, from: DrawnNode | undefined, words: WayNames): string {
  if (kind === 'exception') return words.onError;
  const one = branch === undefined ? undefined : from?.branches[branch];
  return one === undefined ? '' : branchName(one, branch!, words);
}

/** Name of a branch as its row and its edge say it. */
export function branchName(branch: Branch, number: number, words: Pick<WayNames, 'case' | 'else'>): string {
  if (branch.kind === 'else') return words.else;
  return branch.label ?? words.case(number + 1);
}

function flowEdge(edge: DrawnEdge, label: string, ariaLabel: string): FlowEdge {
  return {
    id: edge.id,
    type: 'way',
    source: edge.from,
    target: edge.to,
    sourceHandle: edge.kind === 'exception' ? EXCEPTION : edge.branch === undefined ? EXIT : branchHandle(edge.branch),
    targetHandle: ENTRY,
    ariaLabel,
    data: { kind: edge.kind, label },
  };
}

function inOrder(nodes: readonly DrawnNode[]): readonly DrawnNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depth = (node: DrawnNode): number => {
    const parent = node.parent === undefined ? undefined : byId.get(node.parent);
    return parent === undefined ? 0 : 1 + depth(parent);
  };
  return nodes
    .map((node) => ({ node, depth: depth(node) }))
    .sort((one, other) => one.depth - other.depth)
    .map(({ node }) => node);
}

function cardNode(node: DrawnNode, { x, y, width, height }: Placed, scope: string): CardFlowNode {
  return {
    id: node.id,
    type: node.shape,
    position: { x, y },
    width,
    height,
    // Known before it is drawn: nothing is measured, and edges are there at once.
    measured: { width, height },
    handles: handlesOf(node, width, height),
    ...(node.parent !== undefined && { parentId: node.parent }),
    // What is written on it changes all the time, and is not its name: a button would have to be named by it.
    ariaRole: 'group',
    domAttributes: {
      'aria-labelledby': nameId(scope, node.id),
      'aria-describedby': summaryId(scope, node.id),
      'aria-roledescription': undefined,
    },
    data: { node },
  };
}

/** A node while it is given another size: its edges follow. */
export function resized(node: FlowNode, { width, height }: Size): FlowNode {
  const size = { width, height, measured: { width, height } };
  return 'node' in node.data
    ? ({ ...node, ...size, handles: handlesOf(node.data.node, width, height) } as FlowNode)
    : { ...node, ...size };
}

function noteNode(note: DrawnNote, { x, y, width, height }: Placed): NoteFlowNode {
  return {
    id: note.id,
    type: 'note',
    position: { x, y },
    width,
    height,
    measured: { width, height },
    selectable: false,
    focusable: false,
    ariaRole: 'note',
    ...(note.name !== '' && { ariaLabel: note.name }),
    data: { note },
  };
}

const HANDLE = 8;

function handlesOf(node: DrawnNode, width: number, height: number): NodeHandle[] {
  const exit = (id: string, branch: number | 'exception' | undefined): NodeHandle => ({
    id,
    type: 'source',
    position: 'right' as NodeHandle['position'],
    x: width - HANDLE / 2,
    y: exitHeight(node, branch, height) - HANDLE / 2,
    width: HANDLE,
    height: HANDLE,
  });
  return [
    {
      ...exit(ENTRY, undefined),
      type: 'target',
      position: 'left' as NodeHandle['position'],
      x: -HANDLE / 2,
      y: entryHeight(node) - HANDLE / 2,
    },
    exit(EXIT, undefined),
    ...node.branches.map((_, branch) => exit(branchHandle(branch), branch)),
    ...(node.hasExceptions ? [exit(EXCEPTION, 'exception')] : []),
  ];
}
