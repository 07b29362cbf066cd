/** How large what is drawn is, in pixels at full size. The style sheets draw to these sizes, and the layout relies on them. */
import type { DrawnNode } from './drawing.js';

export const CARD_WIDTH = 248;
/** Head and two lines: what it does, or what it writes. */
export const CARD_HEIGHT = 100;
export const ROW_HEIGHT = 24;
/** Below the last row. */
const ROWS_END = 6;
const START_WIDTH = 150;
const START_HEIGHT = 44;
/** Tools that a card lists; the others are counted. */
export const MAX_TOOLS = 5;

/** Around the body of a container. */
export const BODY = { top: 64, side: 24, bottom: 24, minWidth: 320, minHeight: 150 } as const;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Size of a card or start; that of a container comes of its body. */
export function sizeOf(node: DrawnNode): Size {
  if (node.shape === 'start') return { width: START_WIDTH, height: START_HEIGHT };
  const rows = toolRows(node) + node.branches.length + (node.hasExceptions ? 1 : 0);
  return { width: CARD_WIDTH, height: CARD_HEIGHT + (rows > 0 ? rows * ROW_HEIGHT + ROWS_END : 0) };
}

/** Rows that its tools take. */
export function toolRows({ tools }: DrawnNode): number {
  return tools.length > MAX_TOOLS ? MAX_TOOLS + 1 : tools.length;
}

/** Where an edge leaves its node, from the node's top: the middle of a branch's row, of the row for errors, or of its head. */
export function exitHeight(node: DrawnNode, branch: number | 'exception' | undefined, height: number): number {
  if (node.shape === 'container') return branch === 'exception' ? height - ROW_HEIGHT / 2 : BODY.top / 2;
  if (node.shape === 'start') return START_HEIGHT / 2;
  if (branch === undefined) return ENTRY_HEIGHT;
  const row = toolRows(node) + (branch === 'exception' ? node.branches.length : branch);
  return CARD_HEIGHT + (row + 0.5) * ROW_HEIGHT;
}

/** Where edges come to a card, from its top. */
export const ENTRY_HEIGHT = 30;

/** Where edges come to a node, from its top. */
export function entryHeight(node: DrawnNode): number {
  if (node.shape === 'container') return BODY.top / 2;
  return node.shape === 'start' ? START_HEIGHT / 2 : ENTRY_HEIGHT;
}
