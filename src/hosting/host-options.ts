/** What a host works with, and its bounds. */
import type { LeaseStore, Signals } from '../records/coordination.js';
import type { Stores } from '../records/stores.js';
import type { VersionStore } from '../records/versions.js';

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

const MIB = 1024 * 1024;

/** What holds for a host that is given no limits: also the defaults of the server's settings. */
export const DEFAULT_LIMITS: HostLimits = {
  maxRuns: 10_000,
  runConcurrency: 5,
  runTimeoutMs: 3_600_000,
  runLogBytes: 256 * MIB,
  runHistoryBytes: 8 * MIB,
  detachGraceMs: 30_000,
  clientQueueBytes: 4 * MIB,
  leaseMs: 10_000,
};
