/**
 * The live tokens of a frame, as a linked list in the order in which they may run: adding and removing cost nothing, however many
 * there are, and a resumed run goes the same way as one that was never stopped.
 */
import type { Token } from './token.js';

export function appendToList(token: Token): void {
  const { frame } = token;
  token.previous = frame.last;
  token.next = undefined;
  if (frame.last === undefined) frame.first = token;
  else frame.last.next = token;
  frame.last = token;
}

/** Keeps the newest live token of each node, with the older ones behind it; for frames with joins. */
export function appendToNode(newestAt: Map<number, Token>, token: Token): void {
  token.older = newestAt.get(token.node);
  newestAt.set(token.node, token);
}

export function removeFromNode(newestAt: Map<number, Token>, token: Token): void {
  let newer = newestAt.get(token.node);
  if (newer === token) {
    if (token.older === undefined) newestAt.delete(token.node);
    else newestAt.set(token.node, token.older);
    return;
  }
  while (newer !== undefined && newer.older !== token) newer = newer.older;
  if (newer !== undefined) newer.older = token.older;
}

export function unlink(token: Token): void {
  const { frame, previous, next } = token;
  if (previous === undefined) frame.first = next;
  else previous.next = next;
  if (next === undefined) frame.last = previous;
  else next.previous = previous;
}
