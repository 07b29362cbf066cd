/**
 * What a service needs so that agents, runs and answers outlive a process: versions, the journal of a run, leases, signals.
 *
 * As in `service-ports.ts`, the tenant is a parameter of every call that touches somebody's data.
 */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../json.js';
import type { Page, PageRequest } from './stores.js';

/** A published document; never changed after it was inserted. Times are milliseconds since 1970. */
export interface VersionRecord {
  readonly id: string;
  readonly agentId: string;
  readonly title: string;
  readonly description: string | null;
  readonly dsl: JsonObject;
  readonly createdAt: number;
}

export interface VersionStore {
  insert(tenant: string, version: VersionRecord): Promise<void>;
  find(tenant: string, agentId: string, id: string): Promise<VersionRecord | undefined>;
  /** The newest one. */
  latest(tenant: string, agentId: string): Promise<VersionRecord | undefined>;
  /** Newest first. */
  list(tenant: string, agentId: string, page: PageRequest): Promise<Page<VersionRecord>>;
  /** Whether there was one; others stay as they are. */
  delete(tenant: string, agentId: string, id: string): Promise<boolean>;
  deleteOfAgent(tenant: string, agentId: string): Promise<void>;
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

/** A pair of keys that a tenant made for itself. */
export interface TokenRecord {
  /** Opens the whole API. */
  readonly token: string;
  /** Opens chat pages alone, so that it may stand in them. */
  readonly beta: string;
  /** The one agent that `beta` opens; absent: all of the tenant's. */
  readonly agentId?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** A token and whose it is. */
export interface OwnedToken {
  readonly tenant: string;
  readonly record: TokenRecord;
}

/** Keys that tenants made. */
export interface TokenStore {
  /** @throws EngineError LIMIT_REACHED when the store is full. */
  insert(tenant: string, record: TokenRecord): Promise<void>;
  /** Newest first. */
  list(tenant: string): Promise<readonly TokenRecord[]>;
  /** Whether there was one. */
  delete(tenant: string, token: string): Promise<boolean>;
  findByToken(token: string): Promise<OwnedToken | undefined>;
  findByBeta(beta: string): Promise<OwnedToken | undefined>;
}

/** Which engine runs a tenant's canvases; what the names mean is the caller's business. */
export interface CanvasRuntimeStore {
  /** Stays until it is changed. */
  save(tenant: string, runtime: string): Promise<void>;
  /** Undefined when nothing was chosen. */
  find(tenant: string): Promise<string | undefined>;
  /** Back to the default. */
  delete(tenant: string): Promise<void>;
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
