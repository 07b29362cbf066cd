/**
 * What a service needs so that agents, runs and answers outlive a process: versions, the journal of a run, leases, signals.
 *
 * As in `service-ports.ts`, the tenant is a parameter of every call that touches somebody's data.
 */
import type { Observable } from 'rxjs';
import type { Checkpoint } from '../graph/state.js';
import type { JsonObject } from '../json.js';
import type { LoggedEvent } from './stores.js';

export type { CanvasRuntimeStore } from './canvas-runtimes.js';
export type { OwnedToken, TokenRecord, TokenStore } from './tokens.js';
export type { VersionRecord, VersionStore } from './versions.js';

/** What is kept of a run so that it can go on elsewhere. */
export interface JournalContents {
  /** The last snapshot; absent when the run has none yet. */
  readonly checkpoint?: Checkpoint;
  /** What happened since, in order; each one JSON text. */
  readonly records: readonly string[];
}

/** What a run did since it last said so: events for clients, and records that its state can be rebuilt from. */
export interface JournalBatch {
  /** Follow the events that are in the run's log without a gap. */
  readonly events: readonly LoggedEvent[];
  /** Each one JSON text; stores do not look into them. */
  readonly records: readonly string[];
}

/**
 * The journal of a run: a snapshot, and what happened since. It shares the run's event log: a batch is kept as a whole or not at
 * all, so that no event is ever told twice because its settlement was lost.
 */
export interface RunJournal {
  /** It is gone with the process: when that stops, runs end rather than wait for another one. @default false */
  readonly isVolatile?: boolean;
  /**
   * Adds events to the run's log and records behind those that are there, in one step; durable when the promise resolves.
   *
   * @throws EngineError CONFLICT when the events do not follow, because another process has written meanwhile.
   */
  append(tenant: string, run: string, batch: JournalBatch): Promise<void>;
  /**
   * Takes a snapshot: what was there before is dropped, in one step.
   *
   * @throws EngineError CONFLICT, where several processes write, when its `mark` is not the number of the log's last event.
   */
  snapshot(tenant: string, run: string, checkpoint: Checkpoint): Promise<void>;
  /** Undefined when nothing of that run is kept. */
  load(tenant: string, run: string): Promise<JournalContents | undefined>;
  delete(tenant: string, run: string): Promise<void>;
}

/** Somebody's right to something, for a time. */
export interface Lease {
  /** What is leased, such as `session:<id>` or `run:<id>`. */
  readonly name: string;
  /** Who holds it: one id per process and use. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** What a successor must know, such as the run of a session. */
  readonly data: JsonObject;
}

export interface LeaseStore {
  /** Takes a lease that nobody holds or that has expired; gives the holder otherwise. */
  acquire(
    tenant: string,
    lease: Omit<Lease, 'expiresAt'>,
    ttlMs: number,
  ): Promise<{ readonly holder: Lease; readonly isMine: boolean }>;
  /** Prolongs it; false when it is not held by this owner any more. */
  renew(tenant: string, name: string, owner: string, ttlMs: number): Promise<boolean>;
  /** Gives it back; does nothing when it is not held by this owner. */
  release(tenant: string, name: string, owner: string): Promise<void>;
  /** Leases of any tenant whose name begins with `prefix` and that have expired, for takeover. */
  expired(prefix: string, limit: number): Promise<readonly (Lease & { readonly tenant: string })[]>;
}

/** Messages between processes. */
export interface Signals {
  /** Asks that a run be cancelled, wherever it is at work; the flag stays until it is cleared or 24 h have passed. */
  requestCancel(task: string): Promise<void>;
  /** Forgets an old request, before a new run of the same task. */
  clearCancel(task: string): Promise<void>;
  /** Emits once when a cancel of `task` is requested, also one from before. Unsubscribing stops looking. */
  cancelOf(task: string): Observable<void>;
  /** Tells whoever listens, in any process. */
  publish(channel: string, message: string): Promise<void>;
  /** Messages from now on. */
  messages(channel: string): Observable<string>;
}

/** Counts events of a key within a span; the count starts anew when the span is over. */
export interface EventCounter {
  /** How many there were with this one, and when the count starts anew. */
  count(key: string): Promise<EventCount>;
}

export interface EventCount {
  readonly count: number;
  readonly resetMs: number;
}

/** Makes a counter; `name` tells it from others in a shared store. */
export type CreateCounter = (name: string, spanSeconds: number) => EventCounter;
