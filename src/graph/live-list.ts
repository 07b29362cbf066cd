/**
 * Lists through the tokens themselves. A short array beside each token would come to lie in V8's old space, where it keeps its run
 * alive until the next full collection.
 *
 * The live tokens of a frame stand in the order in which they may run: adding and removing cost nothing, however many there are, and
 * a resumed run goes the same way as one that was never stopped. The watchers of a token are those that wait for it at joins.
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

/** From now on `held` waits for `witness`. */
export function watch(held: Token, witness: Token): void {
  held.witness = witness;
  held.nextWatcher = witness.firstWatcher;
  witness.firstWatcher = held;
}

/** Ends that; does nothing when it waits for nobody. */
export function unwatch(held: Token): void {
  const { witness, nextWatcher } = held;
  held.witness = undefined;
  held.nextWatcher = undefined;
  if (witness?.firstWatcher === held) {
    witness.firstWatcher = nextWatcher;
    return;
  }
  let before = witness?.firstWatcher;
  while (before !== undefined && before.nextWatcher !== held) before = before.nextWatcher;
  if (before !== undefined) before.nextWatcher = nextWatcher;
}

/** Ends all watching of a witness; gives the held tokens in the order in which they came, in which a resumed run finds them too. */
export function takeWatchers(witness: Token): readonly Token[] {
  const watchers: Token[] = [];
  for (let held = witness.firstWatcher; held !== undefined; ) {
    const next: Token | undefined = held.nextWatcher;
    held.witness = undefined;
    held.nextWatcher = undefined;
    watchers.push(held);
    held = next;
  }
  witness.firstWatcher = undefined;
  return watchers.sort((left, right) => left.id - right.id);
}
