/** What a host works with, and its bounds. */
import type { Services } from '../components/services.js';
import type { Durability } from '../graph/log.js';
import type { Log } from '../logger.js';
import type { LeaseStore, Signals } from '../records/coordination.js';
import type { UsageStore } from '../records/quotas.js';
import type { CommitRun } from '../records/run-commit.js';
import type { RunLog } from '../records/run-log.js';
import type { SaleStore } from '../records/sales.js';
import type { SteerStore } from '../records/steers.js';
import type { Stores } from '../records/stores.js';
import type { TicketStore } from '../records/tickets.js';
import type { VersionStore } from '../records/versions.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { OpenCanvas } from './canvases.js';

/** What a host stores, and how it agrees with other processes. */
export interface HostStores extends Stores {
  readonly versions: VersionStore;
  /** Which process has which run. */
  readonly leases: LeaseStore;
  /** Messages between processes. */
  readonly signals: Signals;
  /** Counts what tenants store. @default sessions have no quota */
  readonly usage?: UsageStore | undefined;
  /** What tools look up. @default the tools for it fail */
  readonly sales?: SaleStore | undefined;
  readonly tickets?: TicketStore | undefined;
  /** What people change of runs at work. @default nothing can be changed */
  readonly steers?: SteerStore | undefined;
  /** Stores what a run did in one step. @default one part after another */
  readonly commit?: CommitRun | undefined;
  /** What distinguishes these stores from others that share the same leases. @default nothing */
  readonly home?: string;
}

const MIB = 1024 * 1024;

/** What holds for a host that is given no limits: also the defaults of the server's settings. */
export const DEFAULT_LIMITS = {
  /** Runs at work at once. */
  maxRuns: 10_000,
  /** Nodes of one run that may work at once. */
  runConcurrency: 5,
  /** Milliseconds after which a run fails. */
  runTimeoutMs: 3_600_000,
  /** Steps (nodes that finished, rounds of bodies) after which a run fails. */
  maxSteps: 100_000,
  /** Bytes of events of one run. */
  runLogBytes: 256 * MIB,
  /** Bytes of events of one run that may wait to be stored; above it the run is paused, down to the sockets of its models. */
  runUnstoredBytes: MIB,
  /** Bytes of events after which a run stores another snapshot of its state, if that is no larger. */
  runHistoryBytes: 8 * MIB,
  /** Bytes of what a model is asked that the log tells of each call; 0: nothing. */
  runDetailBytes: 16 * 1024,
  /** Milliseconds without a client after which a run is cancelled; 0: never. */
  detachGraceMs: 30_000,
  /** Bytes that wait for one client. */
  clientQueueBytes: 4 * MIB,
  /** Milliseconds after which a lease that is not renewed expires. */
  leaseMs: 10_000,
};

/** What of the time that a server has to stop is left to release runs, end connections and close stores. */
export const STOPPING_MS = 6_000;

/** What of that time is left to the end of the process itself, which a busy machine makes late: timers, signals and the exit. */
export const EXIT_MS = 1_500;

/** Bounds of a host. */
export type HostLimits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };

/** What a host is made of. Everything but the stores and the services has a default. */
export interface HostOptions {
  readonly stores: HostStores;
  /** Services of every run: the models, and what else components may use. Files and the session are added per run. */
  readonly services: Services;
  /** Compiles stored documents. @default with the components that are built in */
  readonly openCanvas?: OpenCanvas;
  /** @default {@link DEFAULT_LIMITS} */
  readonly limits?: Partial<HostLimits>;
  /** Whether several tenants use the host, or visitors of their chat pages, of whom none may take all places for runs. @default false */
  readonly isShared?: boolean;
  /** When a finished node is stored: before its successors start, soon after, or only when its run ends. @default 'sync' */
  readonly durability?: Durability;
  /** Watches the runs and counts them. @default none */
  readonly telemetry?: Telemetry;
  /** @default writes nothing */
  readonly logger?: Log;
  /** Clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** What the parts of a host work with: its options, complete. */
export interface HostParts extends Omit<Required<HostOptions>, 'limits' | 'telemetry'> {
  readonly limits: HostLimits;
  readonly telemetry: Telemetry | undefined;
  /** The logs of the stores as they are stored: without texts that earlier events have. */
  readonly storedLog: RunLog;
}
