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

export function unlink(token: Token): void {
  const { frame, previous, next } = token;
  if (previous === undefined) frame.first = next;
  else previous.next = next;
  if (next === undefined) frame.last = previous;
  else next.previous = previous;
}
