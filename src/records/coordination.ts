/**
 * How the processes of one service agree: leases, signals, counters.
 *
 * The tenant is a parameter of every call that touches a tenant's data.
 */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../json.js';

/** An exclusive right of one owner, for a time. */
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

/** Leases of runs and sessions: the exclusive right to write, for a time. */
export interface LeaseStore {
  /** Takes a lease that is free or has expired; gives the holder otherwise. */
  acquire(
    tenant: string,
    lease: Omit<Lease, 'expiresAt'>,
    ttlMs: number,
  ): Promise<{ readonly holder: Lease; readonly isMine: boolean }>;
  /** Prolongs it; false when it is not held by this owner any more. */
  renew(tenant: string, name: string, owner: string, ttlMs: number): Promise<boolean>;
  /** Gives it back; does nothing when it is not held by this owner. */
  release(tenant: string, name: string, owner: string): Promise<void>;
  /** Leases of any tenant whose name begins with `prefix` and that have expired, for recovery. */
  expired(prefix: string, limit: number): Promise<readonly (Lease & { readonly tenant: string })[]>;
}

/** Messages between processes. */
export interface Signals {
  /** Asks that a run be cancelled, wherever it is at work; the flag stays until it is cleared or 24 h have passed. */
  requestCancel(task: string): Promise<void>;
  /** Forgets an old request, before a new run of the same task. */
  clearCancel(task: string): Promise<void>;
  /**
   * Emits once when a cancel of `task` is requested, also one from before. Unsubscribing stops looking.
   *
   * @param isNew nothing can have been requested before, so nothing is looked up at once. @default false
   */
  cancelOf(task: string, isNew?: boolean): Observable<void>;
  /** Sends to the listeners in all processes. */
  publish(channel: string, message: string): Promise<void>;
  /** Messages from now on. */
  messages(channel: string): Observable<string>;
}

/** Counts events of a key within a span; the count starts anew when the span is over. */
export interface EventCounter {
  /** How many there were with this one, and when the count starts anew. */
  count(key: string): Promise<EventCount>;
}

/** How many events there were, and when counting begins anew. */
export interface EventCount {
  readonly count: number;
  readonly resetMs: number;
}

/** Makes a counter; `name` distinguishes it from others in a shared store. */
export type CreateCounter = (name: string, spanSeconds: number) => EventCounter;
