/**
 * The live tokens of a frame, as a linked list in the order in which they may run: adding and removing cost nothing, however many
 * there are, and a resumed run goes the same way as one that was never stopped.
 */
import type { Frame, Token } from './token.js';

export function appendToList(token: Token): void {
  const { frame } = token;
  token.previous = frame.last;
  token.next = undefined;
  if (frame.last === undefined) frame.first = token;
  else frame.last.next = token;
  frame.last = token;
}

export function unlink(token: Token): void {
  const { frame, previous, next } = token;
  if (previous === undefined) frame.first = next;
  else previous.next = next;
  if (next === undefined) frame.last = previous;
  else next.previous = previous;
  // A dead token that was promoted would otherwise keep every later one alive until the next full collection.
  token.previous = undefined;
  token.next = undefined;
}

/** The tokens that wait at joins, oldest first. */
export function heldTokens(frame: Frame): Token[] {
  const held: Token[] = [];
  for (let token = frame.first; token !== undefined; token = token.next) if (token.status === 'held') held.push(token);
  return held;
}
