/**
 * The entries of agents' sessions as texts, numbered from 1: the port of what keeps them. What the texts mean is the matter of
 * `src/agents/sessions`.
 */

/** Entries that are stored in one step, all or none. */
export interface EntryBatch {
  /** Number of the session's newest entry so far; 0: there is none. */
  readonly after: number;
  /** JSON texts of entries `after + 1`, `after + 2` …, at least one. */
  readonly entries: readonly string[];
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Whether a batch was stored, and the number of the newest entry that is stored now. */
export interface AppendResult {
  readonly isStored: boolean;
  readonly newest: number;
}

/** Which entries of a session. */
export interface EntryQuery {
  /** Those behind this number. */
  readonly after: number;
  readonly maxEntries: number;
  /** Of the texts together; the first one is given whatever its size. */
  readonly maxBytes: number;
}

/** What is known of a session without its entries. */
export interface SessionHead {
  readonly session: string;
  /** Number of its newest entry. */
  readonly newest: number;
  /** Time of its first batch, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Time of its newest batch, in milliseconds since 1970. */
  readonly changedAt: number;
  /** Names its place in the list, for the page behind it. */
  readonly cursor: string;
}

/** Which sessions of a list. */
export interface SessionPage {
  /** Sessions at most. */
  readonly limit: number;
  /** Those behind the session with this cursor. @default the newest ones */
  readonly after?: string;
}

/** Which sessions have had their time; without both none has. */
export interface SessionExpiry {
  /** Those whose newest entry is older, in milliseconds since 1970. */
  readonly before?: number;
  /** Those behind so many that changed last. */
  readonly keep?: number;
}

/**
 * The entries of sessions. The tenant is a parameter of every call; what another tenant owns does not exist.
 *
 * A session begins with its first batch. Of several batches behind one number one is stored, whichever process they come from.
 */
export interface SessionEntries {
  /**
   * Stores a batch if the newest entry is number `after`; durable when the promise resolves, where the store outlives its process.
   *
   * @throws EngineError LIMIT_REACHED when there is no room, STORE_UNAVAILABLE
   */
  append(tenant: string, session: string, batch: EntryBatch): Promise<AppendResult>;
  /** The values of the entries that are asked for, in order. */
  read(tenant: string, session: string, query: EntryQuery): Promise<readonly unknown[]>;
  delete(tenant: string, session: string): Promise<void>;
  /** Those that changed last first; one that changes meanwhile moves to the front, and is in none of the pages behind. */
  list(tenant: string, page: SessionPage): Promise<readonly SessionHead[]>;
  /** Deletes at most `limit` sessions of a tenant that have had their time, and none that changes meanwhile; how many. */
  prune(tenant: string, expiry: SessionExpiry, limit: number): Promise<number>;
}
