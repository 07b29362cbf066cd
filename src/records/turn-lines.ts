/** Logs of agents' turns as texts: the port of what keeps them. What the texts mean is the matter of `src/agents/runner`. */

/** A turn of a session of a tenant. */
export interface TurnKey {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
}

/** A line of a log: a snapshot or an event, as JSON. */
export interface TurnLine {
  readonly isSnapshot: boolean;
  readonly text: string;
}

/** Lines that one writer stores in one step, all or none. */
export interface TurnLinesBatch {
  /** Number of the writer. */
  readonly epoch: number;
  /** Number of the first line among those of the writer: the same lines have the same numbers when they are stored again. */
  readonly from: number;
  /** A snapshot can only be the first one: it takes the place of every line before it. */
  readonly lines: readonly TurnLine[];
  readonly leaseMs: number;
}

/** The lines of turns. Of several writers of a turn only the newest stores anything. */
export interface TurnLines {
  /** Makes the caller the writer of a turn; gives its number, and what the newest writer with a snapshot has stored. */
  claim(key: TurnKey, leaseMs: number): Promise<{ readonly epoch: number; readonly lines: readonly TurnLine[] }>;
  /** False when another writer has claimed the turn, or it was deleted. Without lines it is a sign of life. */
  store(key: TurnKey, batch: TurnLinesBatch): Promise<boolean>;
  /** Milliseconds until the writer counts as lost, by the clock of the store; 0 when none holds the turn. */
  heldFor(key: TurnKey): Promise<number>;
  /** Ends the lease of a writer, if it is the newest one. */
  release(key: TurnKey, epoch: number): Promise<void>;
  delete(key: TurnKey): Promise<void>;
  /** Deletes at most `limit` logs of a tenant whose last lease ended before a time, in milliseconds since 1970; how many. */
  prune(tenant: string, before: number, limit: number): Promise<number>;
}
