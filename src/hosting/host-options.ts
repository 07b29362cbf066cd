/** What a host works with, and its bounds. */
import type { LeaseStore, Signals, VersionStore } from '../records/durable-stores.js';
import type { Stores } from '../records/stores.js';

/** What a host stores, and how it agrees with other processes. */
export interface HostStores extends Stores {
  readonly versions: VersionStore;
  /** Which process has which run. */
  readonly leases: LeaseStore;
  /** Messages between processes. */
  readonly signals: Signals;
  /** What tells these stores from others that share the same leases. @default nothing */
  readonly home?: string;
}

/** Bounds of a host. */
export interface HostLimits {
  /** Runs at work at once. */
  readonly maxRuns: number;
  /** Nodes of one run that may work at once. */
  readonly runConcurrency: number;
  /** Milliseconds after which a run fails. */
  readonly runTimeoutMs: number;
  /** Bytes of events of one run. */
  readonly runLogBytes: number;
  /** Bytes of a run's journal that forks may go back in. */
  readonly runHistoryBytes: number;
  /** Milliseconds without a client after which a run is cancelled; 0: never. */
  readonly detachGraceMs: number;
  /** Bytes that wait for one client. */
  readonly clientQueueBytes: number;
  /** Milliseconds after which a lease that is not renewed expires. */
  readonly leaseMs: number;
}
