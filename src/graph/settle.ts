/**
 * The transition of a run as a pure function: a state and what a node settled with give the next state and who may run.
 *
 * The driver applies the same two steps, `applyOutcome` and `Frontier.advance`, to its working copy; so a log of settlements
 * folded with `settle` gives the state that the run was in.
 */
import { EngineError } from '../errors.js';
import type { Frontier } from './frontier.js';
import type { Settled } from './node-events.js';
import type { Node, Plan } from './plan.js';
import { restore, type State, snapshot } from './state.js';
import type { Frame, Token } from './token.js';
import { applyWrites } from './values.js';

/**
 * Settles one token of a state. Pure: `state` is not changed.
 *
 * @param token id of a live token of the state, in any frame.
 * @returns the next state and the ids of the tokens that may run now because of this settlement.
 * @throws EngineError CHECKPOINT_INVALID for a token that the state does not have; NODE_TARGET_UNKNOWN; REFERENCE_UNRESOLVED.
 */
export function settle(plan: Plan, state: State, token: number, outcome: Settled): readonly [State, readonly number[]] {
  const { frontier, root } = restore(plan, state, { keepsStreams: true });
  const found = findToken(root, token);
  if (found === undefined) {
    throw new EngineError('CHECKPOINT_INVALID', `The state has no live token ${token}; it may have settled before.`);
  }
  const targets = applyOutcome(plan, frontier, found, outcome);
  const ready: Token[] = [];
  frontier.advance(found, targets, ready);
  const last = state.last === undefined || token >= state.last.token ? { token, outputs: outcome.outputs } : state.last;
  return [snapshot(frontier, root, last, state.usage), ready.map(({ id }) => id)];
}

/** Puts what a node settled with where others read it; gives the successors it chose, undefined for all of them. */
export function applyOutcome(
  plan: Plan,
  frontier: Frontier,
  token: Token,
  outcome: Settled,
): readonly number[] | undefined {
  const { frame } = token;
  const node = plan.nodes[token.node] as Node;
  const targets = outcome.next === undefined ? undefined : frontier.targetsOf(node, outcome.next);
  frame.values.cells.set(node.index, outcome.outputs);
  if (outcome.writes !== undefined) applyWrites(plan, frame, outcome.writes);
  return targets;
}

function findToken(frame: Frame, id: number): Token | undefined {
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.id === id) return token;
    if (token.frames === undefined) continue;
    for (const inner of token.frames.values()) {
      const found = findToken(inner, id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
