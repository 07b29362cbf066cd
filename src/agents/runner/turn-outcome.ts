/** How a turn ended, and why it could not begin: for its session and for its reader. */
import { EngineError, toEngineError } from '../../errors.js';
import { infoOf, type TerminalEvent } from '../../graph/events.js';
import type { JsonObject } from '../../json.js';
import type { SessionState, SessionTurn } from '../sessions/fold-session.js';
import type { CancelMode, TurnEnded } from './runner-events.js';
import type { TurnResult } from './turn-graph.js';

/** What is known of a turn at its end. */
export interface EndedTurn {
  /** The turn as it was before it was resumed. */
  readonly before: SessionTurn | undefined;
  readonly mode: CancelMode;
  readonly end: TerminalEvent | undefined;
}

/** What was wrong with the answers that a turn was resumed with. */
export function refusedAnswer({ before, end }: EndedTurn, error: unknown): EngineError | undefined {
  if (before === undefined || end !== undefined || !EngineError.is(error)) return undefined;
  return error.code === 'ANSWER_UNKNOWN' || error.code === 'ANSWER_INVALID' ? error : undefined;
}

/** How a turn ended, for the session and for its reader. */
export interface TurnOutcome {
  readonly status: TurnEnded['status'];
  readonly told: object;
  readonly result?: TurnResult;
  /** Whether its checkpoint is of use. */
  readonly mayGoOn: boolean;
}

/** What the last event of a run, or its failure, means. */
export function outcomeOf({ end, mode }: EndedTurn, error: unknown): TurnOutcome {
  const failed = (told: unknown): TurnOutcome => {
    const info = infoOf(toEngineError(told, 'INTERNAL'));
    return { status: 'failed', told: { status: 'failed', error: info }, mayGoOn: false };
  };
  switch (end?.type) {
    case 'run-settled': {
      const result = end.value as TurnResult;
      const { end: ended } = result;
      if (ended.type !== 'answered')
        return failed(new EngineError('NODE_PROTOCOL', `The agent ended without an answer (${ended.type}).`));
      const { text, value, reason } = ended;
      return { status: 'succeeded', told: { status: 'succeeded', text, value, reason }, result, mayGoOn: false };
    }
    case 'run-interrupted':
      return { status: 'waiting', told: { status: 'waiting', questions: end.questions ?? [] }, mayGoOn: true };
    case 'run-cancelled':
      return { status: 'cancelled', told: { status: 'cancelled', mode }, mayGoOn: true };
    case 'run-failed':
      return { status: 'failed', told: { status: 'failed', error: end.error }, mayGoOn: false };
    case undefined:
      return failed(error ?? new EngineError('INTERNAL', 'The run ended without a last event.'));
  }
}

/** Values that are others than those of the session. */
export function changedValues(
  { values: before }: SessionState,
  values: TurnResult['values'] | undefined,
): JsonObject | undefined {
  const changed = Object.entries(values ?? {}).filter(([name, value]) => before[name] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Why an input is dropped. */
export function full(maxWaiting: number): string {
  return `${maxWaiting} inputs wait already.`;
}

/** @throws EngineError SESSION_BUSY while the process of a turn counts as alive */
export function requireLost(session: string, turn: string, heldFor: number): void {
  if (heldFor <= 0) return;
  const until = Number.isFinite(heldFor) ? ` It may be taken over in ${heldFor} ms unless it tells of itself.` : '';
  throw new EngineError('SESSION_BUSY', `Turn "${turn}" of session "${session}" is at work.${until}`, {
    details: { session, turn },
  });
}

/** A session whose turn is at work, or waits. */
export function busy(session: string, { open }: SessionState): EngineError {
  const what =
    open?.status === 'waiting'
      ? 'waits for answers: give them with resume, or roll it back'
      : 'is at work: say more with input$, or wait for its end; when its process was lost, go on with resume, or roll it back';
  return new EngineError('SESSION_BUSY', `A turn of session "${session}" ${what}.`, { details: { session, ...open } });
}
