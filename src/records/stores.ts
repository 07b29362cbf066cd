/**
 * What a service around the engine asks of the outside: agents, conversations, runs and their events, files.
 *
 * The tenant is a parameter of every call, so that no caller can forget whose data it is. What another tenant owns does not
 * exist. Records are immutable values; an implementation may hand out the very object that it was given.
 */
import type { ErrorCode } from '../errors.js';
import type { Variables } from '../graph/plan.js';
import type { Checkpoint } from '../graph/state.js';
import type { Json, JsonObject } from '../json.js';

/** A part of a list, and how long the whole is. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Which part of a list. */
export interface PageRequest {
  /** Items to leave out at the beginning. */
  readonly offset: number;
  /** Items at most. */
  readonly limit: number;
}

/** A stored canvas with what its owner says about it. Times are milliseconds since 1970. */
export interface AgentRecord {
  readonly id: string;
  /** Unique per tenant and category, without regard to case. */
  readonly title: string;
  readonly description: string | null;
  readonly avatar: string | null;
  readonly permission: 'me' | 'team';
  readonly canvasType: string | null;
  readonly canvasCategory: string;
  /** Comma-separated. */
  readonly tags: string;
  /** The draft, as its author wrote it. */
  readonly dsl: JsonObject;
  /** The document that was published last. */
  readonly published?: { readonly dsl: JsonObject; readonly at: number };
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What of an agent can change. */
export type AgentChange = Partial<Omit<AgentRecord, 'id' | 'createdAt'>>;

/** Which agents; every condition that is given must hold. */
export interface AgentQuery extends PageRequest {
  readonly id?: string;
  readonly title?: string;
  /** Part of the title or of a tag, without regard to case. */
  readonly keywords?: string;
  readonly categories?: readonly string[];
  readonly canvasType?: string;
  /** At least one of them. */
  readonly tags?: readonly string[];
  readonly orderBy: 'createdAt' | 'updatedAt' | 'title';
  readonly descending: boolean;
}

export interface AgentStore {
  /** @throws EngineError CONFLICT when the title is taken, LIMIT_REACHED when the store is full. */
  insert(tenant: string, agent: AgentRecord): Promise<void>;
  find(tenant: string, id: string): Promise<AgentRecord | undefined>;
  /** The agent as changed; undefined when there is none. @throws EngineError as `insert`. */
  update(tenant: string, id: string, change: AgentChange): Promise<AgentRecord | undefined>;
  /** Whether there was one. */
  delete(tenant: string, id: string): Promise<boolean>;
  list(tenant: string, query: AgentQuery): Promise<Page<AgentRecord>>;
}

/** What one side said. */
export interface SessionMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Id of the turn; question and answer share it. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly files?: readonly Json[];
}

/** A conversation between two of its runs, as the canvas layer leaves it. */
export interface ConversationState {
  readonly version: 1;
  readonly variables: Variables;
  /** Where the last run waits for answers. */
  readonly waiting?: Checkpoint;
  /** Ids of the nodes that ran, in the order in which they started; while the last run waits, those that wait. */
  readonly path?: readonly string[];
}

/** A conversation with an agent. Times are milliseconds since 1970. */
export interface SessionRecord {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  /** Whatever the client calls its user; no key to anything. */
  readonly userId: string;
  /** `workflow`: made by its first run; `agent`: made on its own. */
  readonly source: 'workflow' | 'agent';
  readonly messages: readonly SessionMessage[];
  /** One entry per answer: what it cites. */
  readonly references: readonly JsonObject[];
  /** The document that its runs use, whatever becomes of the agent. */
  readonly dsl: JsonObject;
  /** Absent before the first run. */
  readonly conversation?: ConversationState;
  /** Id of the last run. */
  readonly lastRun?: string;
  /** Id of the last run whose end is in here. */
  readonly keptRun?: string;
  readonly tokens: number;
  /** Milliseconds that its runs took together. */
  readonly durationMs: number;
  /** Number of its runs. */
  readonly round: number;
  /** Why its last run failed. */
  readonly errors: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which sessions of an agent; every condition that is given must hold. */
export interface SessionQuery extends PageRequest {
  readonly id?: string;
  readonly userId?: string;
  /** Part of the id, the name or a message, without regard to case. */
  readonly keywords?: string;
  /** Bounds of `createdAt`, inclusive. */
  readonly from?: number;
  readonly to?: number;
  readonly orderBy: 'createdAt' | 'updatedAt' | 'name';
  readonly descending: boolean;
}

export interface SessionStore {
  /** Inserts or replaces. @throws EngineError LIMIT_REACHED when it is larger than the store takes. */
  save(tenant: string, session: SessionRecord): Promise<void>;
  find(tenant: string, id: string): Promise<SessionRecord | undefined>;
  /** Whether there was one. */
  delete(tenant: string, id: string): Promise<boolean>;
  deleteOfAgent(tenant: string, agentId: string): Promise<void>;
  list(tenant: string, agentId: string, query: SessionQuery): Promise<Page<SessionRecord>>;
}

export type RunStatus = 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';

/** Tokens and calls of all models in a run. */
export interface RunUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
}

/** What is known about a run. Times are milliseconds since 1970. */
export interface RunRecord {
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Id of the turn. */
  readonly messageId: string;
  /** The run that this one goes on from. */
  readonly parentRun?: string;
  /** Number of the event of that run behind which this one goes on, when it is a fork. */
  readonly forkedAt?: number;
  readonly status: RunStatus;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The form that it waits with, while it is `waiting`. */
  readonly pending?: JsonObject;
  readonly startedAt: number;
  readonly finishedAt?: number;
  readonly usage: RunUsage;
  /** Number of its last event; 0 while it runs. */
  readonly lastSeq: number;
  /** How it was started, for whoever takes it over; only while it runs. */
  readonly launch?: RunLaunch;
}

/** What of the request that started a run matters for as long as it goes on. */
export interface RunLaunch {
  /** It goes on without clients for as long as it takes. */
  readonly isDetached: boolean;
  /** Headers for tools that declare them. */
  readonly headers: JsonObject;
  /** Crash count: how often its process was lost since another node had finished. @default 0 */
  readonly crashes?: number;
  /** How often nodes had finished when its process was lost last. @default 0 */
  readonly finished?: number;
}

/** Which runs of an agent, newest first; every condition that is given must hold. */
export interface RunQuery extends PageRequest {
  readonly sessionId?: string;
  readonly status?: RunStatus;
  /** Bounds of `startedAt`, inclusive. */
  readonly from?: number;
  readonly to?: number;
}

export interface RunStore {
  /** Inserts or replaces. */
  save(tenant: string, run: RunRecord): Promise<void>;
  find(tenant: string, id: string): Promise<RunRecord | undefined>;
  list(tenant: string, agentId: string, query: RunQuery): Promise<Page<RunRecord>>;
  /** Ids of what was deleted. */
  deleteOfAgent(tenant: string, agentId: string): Promise<readonly string[]>;
}

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

/** What a run did since the last batch. */
export interface LogBatch {
  /** Follow the stored events without a gap. */
  readonly events: readonly LoggedEvent[];
  /** The state of the run; its `seq` is the number of the last event, of this batch or of an earlier one. */
  readonly snapshot?: Checkpoint;
}

/** Bounds of one reading. */
export interface LogBounds {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/**
 * The events of runs, in order, and snapshots of their states: the first and the newest one of each run, so that the state behind any
 * event can be folded. Writes of one run are carried out in the order of the calls, awaited or not.
 */
export interface RunLog {
  /** Gone with the process: when that stops, runs end rather than wait for another one. @default false */
  readonly isVolatile?: boolean;
  /**
   * Stores a batch as a whole or not at all; durable when the promise resolves. May be synchronous.
   *
   * @throws EngineError CONFLICT when the events do not follow the stored ones, or the snapshot is not one of the last event: another
   * process has written meanwhile. LIMIT_REACHED when the store is full.
   */
  append(tenant: string, run: string, batch: LogBatch): Promise<void> | void;
  /**
   * Events after the one numbered `after`, as many as `bounds` allow, at least one if there is any; undefined when nothing of that run
   * is stored.
   */
  read(tenant: string, run: string, after: number, bounds: LogBounds): Promise<readonly LoggedEvent[] | undefined>;
  /** The newest stored snapshot whose `seq` is at most `atMost`; undefined when there is none. @param atMost default: no bound */
  snapshot(tenant: string, run: string, atMost?: number): Promise<Checkpoint | undefined>;
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
