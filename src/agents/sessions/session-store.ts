/**
 * Sessions of agents: conversations as logs that only grow. A log has facts, such as that a turn began; what it says altogether is folded
 * from them, see `foldSession`.
 */
import type { JsonObject } from '../../json.js';
import type { ContentPart } from '../../models/content-parts.js';
import type { ChatMessage } from '../../models/messages.js';

/** Something that a person says to an agent at work. */
export interface UserInput {
  /** Unique in its session: the same id counts once. At most 200 characters of any script. */
  readonly id: string;
  readonly content: string | readonly ContentPart[];
  /**
   * When it is told: at the next safe point of the turn; in a turn of its own behind this one; in a turn of its own, for which this one ends
   * at its next safe point; or at once, for which the model's call is dropped. @default 'safe-point'
   */
  readonly when?: 'safe-point' | 'next-turn' | 'preempt' | 'now';
  /** Name of the inner agent that it is for. @default the agent of the session */
  readonly to?: string;
}

/** What happened in a session. Ids of turns and runs have at most 200 characters of any script. */
export type SessionFact =
  | {
      readonly type: 'turn-started';
      readonly turn: string;
      readonly run: string;
      readonly input: readonly ChatMessage[];
    }
  | {
      readonly type: 'turn-ended';
      readonly turn: string;
      readonly status: 'succeeded' | 'waiting' | 'failed' | 'cancelled';
      /** What the turn said behind its input, from its beginning, also when it was resumed. */
      readonly messages: readonly ChatMessage[];
      /** What the next turn begins with in place of the history, when the agent made it shorter. @default the history */
      readonly context?: readonly ChatMessage[];
      /** Values of the session that changed. @default none did */
      readonly values?: JsonObject;
      /** Id of the run's checkpoint, when the turn may go on. @default it may not */
      readonly checkpoint?: string;
    }
  /** A turn goes on, as a run of its own. */
  | { readonly type: 'turn-resumed'; readonly turn: string; readonly run: string }
  | { readonly type: 'input-accepted'; readonly input: UserInput }
  | {
      readonly type: 'input-delivered';
      readonly id: string;
      readonly turn: string;
      readonly round: number;
      readonly agent: string;
    }
  | { readonly type: 'input-dropped'; readonly id: string; readonly reason: string }
  /** `turn` is the last turn that stays; '' for none. */
  | { readonly type: 'rolled-back'; readonly turn: string };

/** A fact at its place: `at` is its number in the session, 1, 2, 3 … without gaps; `time` is in milliseconds since 1970. */
export type SessionEntry = { readonly at: number; readonly time: number } & SessionFact;

/** What is known of a session without reading it. */
export interface SessionSummary {
  readonly session: string;
  /** Number of its newest entry. */
  readonly newest: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** When its newest entry was stored, in milliseconds since 1970. */
  readonly changedAt: number;
  /** Names its place in the list; given as `after`, it asks for the page behind. */
  readonly cursor: string;
}

/** Which entries of a session. */
export interface ReadSessionOptions {
  /** Those behind this number. @default 0, all */
  readonly after?: number;
  /** Entries at most. @default 1,000 */
  readonly limit?: number;
}

/** Which sessions of the list. */
export interface ListSessionsOptions {
  /** Sessions at most, up to 1,000. @default 100 */
  readonly limit?: number;
  /** Those behind the summary with this cursor. @default the newest ones */
  readonly after?: string;
}

/** Which sessions have had their time. */
export interface PruneSessionsOptions {
  /** Those whose newest entry is older, in milliseconds since 1970. @default none */
  readonly before?: number;
  /** All but so many that changed last. @default none */
  readonly keep?: number;
}

/** The sessions of one tenant. Ids of sessions have 1 to 200 characters of any script, none of them a control character. */
export interface SessionLog {
  /**
   * Appends facts, all or none, if the session's newest entry is number `after` (0: there is none); gives the new entries.
   *
   * @throws EngineError SESSION_BUSY when another writer was faster; SESSION_INVALID for what is no fact or no id; LIMIT_REACHED when an
   * entry, the session or the store is full.
   */
  append(session: string, facts: readonly SessionFact[], after: number): Promise<readonly SessionEntry[]>;
  /**
   * The entries behind `after`, the oldest first; none of a session that is not there. Large ones make the page shorter: the end is where
   * there is none.
   *
   * @throws EngineError SESSION_INVALID for what is no id, and for an entry that was damaged; OPTION_INVALID
   */
  read(session: string, options?: ReadSessionOptions): Promise<readonly SessionEntry[]>;
  /** Deletes a session, if it is there; its numbers begin anew. */
  delete(session: string): Promise<void>;
  /** The sessions that changed last first. One that changes meanwhile moves to the front, and is in none of the pages behind. */
  list(options?: ListSessionsOptions): Promise<readonly SessionSummary[]>;
  /**
   * Deletes sessions that have had their time, and none that changes meanwhile; how many.
   *
   * @throws EngineError OPTION_INVALID
   */
  prune(options: PruneSessionsOptions): Promise<number>;
}

/** Sessions of tenants; itself those of one. What another tenant owns does not exist. */
export interface SessionStore extends SessionLog {
  readonly tenant: string;
  /** The sessions of another tenant in the same store. */
  forTenant(tenant: string): SessionStore;
}

/** The tenant of programs that have only one. */
export const LOCAL_TENANT = 'local';
