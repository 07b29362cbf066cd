/**
 * Logs of turns, from which another process goes on when the one at work was lost.
 *
 * A turn has one writer. Opening its log takes it over: what the writer before stores from then on is refused, so that its run ends.
 */
import type { LoggedRun } from '../../compose/stored-run.js';
import { EngineError } from '../../errors.js';
import type { RunEvent } from '../../graph/events.js';
import type { EventLog } from '../../graph/log.js';
import type { Checkpoint } from '../../graph/state.js';

/** The log of a turn, held by its writer. */
export interface TurnLog extends EventLog {
  /** Stores what was taken, and holds the turn no longer. */
  close(): Promise<void>;
}

/** A log that was opened, with what writers before have stored. */
export interface OpenedTurnLog {
  readonly log: TurnLog;
  /** Undefined when nothing that a run could go on from. */
  readonly stored: LoggedRun | undefined;
}

/** Where runners keep the logs of their turns: one for all processes that share their sessions. */
export interface TurnLogs {
  /** Takes the log of a turn over from whatever wrote it before. */
  open(session: string, turn: string): Promise<OpenedTurnLog>;
  /** Milliseconds for which the writer of a turn counts as alive unless it tells of itself; 0 when none holds it. */
  heldFor(session: string, turn: string): Promise<number>;
  /** Deletes the log of a turn, if it is there. */
  delete(session: string, turn: string): Promise<void>;
  /**
   * Deletes the logs that no process holds and that nothing was stored in since a time, in milliseconds since 1970; how many. What a turn was that waits or
   * was stopped is lost with its log.
   */
  prune(before: number): Promise<number>;
}

/** What a log is told by a writer that another one has taken it from. */
export function takenOver(session: string, turn: string): EngineError {
  return new EngineError('SESSION_BUSY', `Turn "${turn}" of session "${session}" was taken over by another runner.`, {
    details: { session, turn },
  });
}

/** Lines of a log in their order: each a snapshot or an event, as JSON. */
export interface LogLine {
  readonly kind: 's' | 'e';
  readonly text: string;
}

/** What a run goes on from: the newest snapshot and the events; undefined without a snapshot. */
export function loggedRun(lines: readonly LogLine[]): LoggedRun | undefined {
  const snapshot = lines.findLast(({ kind }) => kind === 's');
  if (snapshot === undefined) return undefined;
  return { snapshot: snapshot.text, events: lines.flatMap(({ kind, text }) => (kind === 'e' ? [text] : [])) };
}

/**
 * Logs of the turns of one process, gone with it: for tests, and for runners of one process that share sessions. A turn is held until its log is
 * closed.
 */
export function memoryTurnLogs(): TurnLogs {
  const turns = new Map<string, { epoch: number; lines: LogLine[]; isHeld: boolean; changedAt: number }>();
  const keyOf = (session: string, turn: string): string => JSON.stringify([session, turn]);
  return {
    open: async (session, turn) => {
      const key = keyOf(session, turn);
      const before = turns.get(key);
      const epoch = (before?.epoch ?? 0) + 1;
      const opened = { epoch, lines: [...(before?.lines ?? [])], isHeld: true, changedAt: Date.now() };
      turns.set(key, opened);
      const taken: LogLine[] = [];
      const own = (): boolean => turns.get(key) === opened;
      const log: TurnLog = {
        append: (event: RunEvent) => void taken.push({ kind: 'e', text: JSON.stringify(event) }),
        snapshot: (checkpoint: Checkpoint) => void taken.push({ kind: 's', text: JSON.stringify(checkpoint) }),
        flush: async () => {
          if (!own()) throw takenOver(session, turn);
          const from = Math.max(
            0,
            taken.findLastIndex(({ kind }) => kind === 's'),
          );
          // What stands before a snapshot is in it.
          if (taken[from]?.kind === 's') opened.lines.length = 0;
          opened.lines.push(...taken.slice(from));
          opened.changedAt = Date.now();
          taken.length = 0;
        },
        close: async () => {
          if (own()) await log.flush();
          opened.isHeld = false;
        },
      };
      return { log, stored: loggedRun(before?.lines ?? []) };
    },
    heldFor: async (session, turn) => (turns.get(keyOf(session, turn))?.isHeld === true ? Number.POSITIVE_INFINITY : 0),
    delete: async (session, turn) => {
      turns.delete(keyOf(session, turn));
    },
    prune: async (before) => {
      const gone = [...turns].filter(([, { isHeld, changedAt }]) => !isHeld && changedAt < before);
      for (const [key] of gone) turns.delete(key);
      return gone.length;
    },
  };
}
