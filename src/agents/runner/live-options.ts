/** Long conversations: which inputs open a turn, and how they end. */
import type { UserInput } from '../sessions/session-store.js';

/** Ends a long conversation. What waits then stays in the session, and opens the first turn of the next conversation. */
export interface LiveStop {
  /**
   * `after-turn`: behind the answer of the turn at work; `at-safe-point`: at the next place where it can be stopped so that nothing is lost, whichever
   * that is; `now`: at once; `when-idle`: when everything that waits has had its turn. The turn that was stopped goes on with `resume`.
   */
  readonly mode: 'after-turn' | 'at-safe-point' | 'now' | 'when-idle';
  /** Milliseconds for which a safe point is waited for; then it is `now`. @default for ever */
  readonly withinMs?: number;
}

/** Picks those that open the next turn together, at least one of those that wait; the others wait for the turn behind it. */
export type NextTurn = (waiting: readonly UserInput[]) => readonly UserInput[];
