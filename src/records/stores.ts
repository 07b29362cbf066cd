/**
 * The ports of everything that a service stores, each with its records: the tenant is a parameter of every call, and what another
 * tenant owns does not exist. Records are immutable values.
 */
import type { AgentStore } from './agents.js';
import type { RunStore } from './runs.js';
import type { SessionStore } from './sessions.js';

export type { AgentChange, AgentQuery, AgentRecord, AgentStore } from './agents.js';
export type { Page, PageRequest } from './repository.js';
export type { RunLaunch, RunQuery, RunRecord, RunStatus, RunStore, RunUsage } from './runs.js';
export type { ConversationState, SessionMessage, SessionQuery, SessionRecord, SessionStore } from './sessions.js';

/** An event of a run as clients get it: serialised once, whatever the number of readers. */
export interface LoggedEvent {
  /** 1, 2, 3 … within the run. */
  readonly seq: number;
  /** Name of the event. */
  readonly event: string;
  /** The whole event as JSON text, without line ends. */
  readonly json: string;
  /** Size of `json` in UTF-8, where whoever made it knows. */
  readonly bytes?: number;
}

/** The events of runs, in order. */
export interface RunLog {
  /**
   * Keeps events that follow what is there without a gap; may be synchronous.
   *
   * @throws EngineError LIMIT_REACHED when the store is full.
   */
  append(tenant: string, run: string, events: readonly LoggedEvent[]): Promise<void> | void;
  /**
   * Events after the one numbered `after`, as many as `maxEvents` and `maxBytes` allow, at least one if there is any; undefined
   * when nothing of that run is kept.
   */
  read(
    tenant: string,
    run: string,
    after: number,
    bounds: { readonly maxEvents: number; readonly maxBytes: number },
  ): Promise<readonly LoggedEvent[] | undefined>;
  /** Says that no more events follow, so that the log may be dropped when room is needed. */
  end(tenant: string, run: string): Promise<void>;
  delete(tenant: string, run: string): Promise<void>;
}

/** A file of a user, or one that a component made. */
export interface FileRecord {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** From when on it counts as deleted, in milliseconds since 1970. @default never */
  readonly expiresAt?: number;
}

export interface FileStore {
  /** @throws EngineError LIMIT_REACHED when the store is full. */
  save(tenant: string, file: FileRecord): Promise<void>;
  find(tenant: string, id: string): Promise<FileRecord | undefined>;
}

/** Everything that a service keeps. */
export interface Stores {
  readonly agents: AgentStore;
  readonly sessions: SessionStore;
  readonly runs: RunStore;
  readonly log: RunLog;
  readonly files: FileStore;
}
