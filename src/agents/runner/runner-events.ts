/** What a runner reports: the events of its runs, and what happens between them. */

import type { Question } from '../../compose/resume.js';
import type { ErrorInfo, RunEvent } from '../../graph/events.js';
import type { AnswerReason } from '../loop/agent-end.js';

/** How far a cancelled turn went: at once, or up to a safe point. */
export type CancelMode = 'now' | 'after-model' | 'after-tools' | 'after-round';

/** A turn begins; the events of its run follow. */
export interface TurnStarted {
  readonly type: 'turn-started';
  readonly session: string;
  readonly turn: string;
  readonly run: string;
}

/** An input is stored: it will be delivered, or dropped with a reason. */
export interface InputAccepted {
  readonly type: 'input-accepted';
  readonly session: string;
  readonly id: string;
}

/** An agent has an input from this round on; round 0 is the beginning of a turn. */
export interface InputDelivered {
  readonly type: 'input-delivered';
  readonly session: string;
  readonly id: string;
  readonly turn: string;
  /** Path of the agent. */
  readonly agent: string;
  readonly round: number;
}

/** An input comes to nothing. */
export interface InputDropped {
  readonly type: 'input-dropped';
  readonly session: string;
  readonly id: string;
  readonly reason: string;
}

/** A turn is over, or waits for answers. */
export type TurnEnded = {
  readonly type: 'turn-ended';
  readonly session: string;
  readonly turn: string;
  readonly run: string;
} & (
  | { readonly status: 'succeeded'; readonly text: string; readonly value: unknown; readonly reason: AnswerReason }
  | { readonly status: 'waiting'; readonly questions: readonly Question[] }
  | { readonly status: 'failed'; readonly error: ErrorInfo }
  /** `mode`: what took hold. */
  | { readonly status: 'cancelled'; readonly mode: CancelMode }
);

/** Every event of a runner. Those of a run are the engine's, with paths that begin with the name of the agent. */
export type RunnerEvent = RunEvent | TurnStarted | InputAccepted | InputDelivered | InputDropped | TurnEnded;
