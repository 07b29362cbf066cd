/** A host: runs that outlive their clients and, with durable stores, their process. */

import type { Observable } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { type RunTimeline, TimelineFold } from '../canvas/timeline.js';
import { SILENT_LOG } from '../logger.js';
import { requireObject } from '../operators/invalid-option.js';
import type { RunRecord } from '../records/runs.js';
import { createCanvasOpener } from './canvases.js';
import type { EventFrame } from './event-frame.js';
import { DEFAULT_LIMITS, type HostOptions } from './host-options.js';
import { LogFolds } from './log-folds.js';
import { createRecover, OrphanScan } from './recover.js';
import { wholeLog } from './repeated-texts.js';
import { type RunState, readState } from './run-history.js';
import { type ClientCursor, type LiveFilter, RunHub } from './run-hub.js';
import { createStart, type StartedTurn } from './start.js';
import { type ForkPoint, readStartCommand, type StartCommand } from './start-command.js';

/** How much a host has to do. */
export interface HostLoad {
  /** Runs at work. */
  readonly runs: number;
  /** The most sessions that one of its tenants has, as far as it knows. */
  readonly sessions: number;
  /** Events that are not stored yet; and stored ones that clients have not been sent. */
  readonly queues: { readonly log: number; readonly clients: number };
}

/** Runs that outlive their clients and, with durable stores, their process. */
export interface Host {
  /**
   * Starts a turn; resolves when its run is at work in this process.
   *
   * @throws EngineError before anything runs: BAD_REQUEST, FORBIDDEN, NOT_FOUND, SESSION_BUSY, CONFLICT, DOCUMENT_INVALID, LIMIT_REACHED,
   * QUOTA_EXCEEDED; HISTORY_GONE and PLAN_CHANGED for a run that is forked or resumed.
   */
  start(command: StartCommand): Promise<StartedTurn>;
  /** Answers the form that a session waits with. @throws EngineError NOT_FOUND when it does not wait, else as `start`. */
  answer(command: StartCommand): Promise<StartedTurn>;
  /** Starts a run behind an event of another one. @throws EngineError as `start`. */
  fork(command: StartCommand, point: ForkPoint): Promise<StartedTurn>;
  /** Events of a run after those that a client has, whatever process it is in. Errors: NOT_FOUND, LIMIT_REACHED. */
  follow(tenant: string, run: string, client: ClientCursor): Observable<EventFrame>;
  /** Cancels the runs that match, here and in other processes. Gives those that another process was asked to cancel. */
  cancel(tenant: string, which: LiveFilter): Promise<readonly RunRecord[]>;
  /** Resolves when a run is over, in whatever process it is, at the latest after `patienceMs`. */
  whenOver(tenant: string, run: string, patienceMs: number): Promise<void>;
  /**
   * Emits when runs of a tenant's agents may have changed, in whatever process, at most twice a second; in any case a second after the beginning.
   * What another process says may be lost, so a list looks by itself once in a while. It goes on until it is unsubscribed.
   */
  runChanges(tenant: string): Observable<void>;
  /** Says that the caller has changed records of a tenant's runs, such as by deleting one. */
  noteRunChange(tenant: string): void;
  /** A run, at work or not; undefined when there is none. */
  record(tenant: string, run: string): Promise<RunRecord | undefined>;
  /** The projection of a run's events into RAGFlow's format. @throws EngineError NOT_FOUND. */
  projection(tenant: string, run: string): Promise<RagflowProjection>;
  /** What each node of a run did so far; undefined when nothing of its log is stored. */
  timeline(tenant: string, run: string): Promise<RunTimeline | undefined>;
  /**
   * Where a run stood after the event `at`, by default the last one.
   *
   * @throws EngineError NOT_FOUND, BAD_REQUEST for a number that it has not come to, HISTORY_GONE, PLAN_CHANGED.
   */
  state(tenant: string, run: string, at?: number): Promise<RunState>;
  /** Resumes runs whose process was lost: those that there are, and from then on those that there will be, until `close`. */
  recover(): void;
  /**
   * Admits a session that the caller stores itself, without a run.
   *
   * @param page names the key of the chat page that makes it. @default no page does
   * @throws EngineError QUOTA_EXCEEDED
   */
  admitSession(tenant: string, page?: string): Promise<void>;
  readonly load: HostLoad;
  /**
   * Takes no more runs, gives those at work `graceMs` to end, then cancels them, or releases those that another process can recover.
   * The stores stay open: they belong to the caller.
   */
  close(graceMs: number): Promise<void>;
}

/** Makes a host. It does nothing until it is given something to start or is asked to recover. */
export function createHost(options: HostOptions): Host {
  requireObject('createHost', 'options', options, 'an object with "stores" and "services"');
  requireObject('createHost', 'stores', options.stores, 'stores, such as createMemoryStores() gives');
  requireObject('createHost', 'services', options.services, 'the services of nodes, such as { models }');
  const stores = { ...options.stores, log: wholeLog(options.stores.log) };
  const { services, telemetry, logger = SILENT_LOG, now = Date.now } = options;
  const { openCanvas = createCanvasOpener({}), durability = 'sync', isShared = false } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const hub = new RunHub({
    ...{ stores, openCanvas, durability, isShared, telemetry, logger, now, limits, storedLog: options.stores.log },
    services: { ...services, detailBytes: limits.runDetailBytes, ...(telemetry && { trace: telemetry.trace }) },
  });
  const recover = createRecover(hub);
  const start = createStart(hub, recover);
  const timelines = new LogFolds<TimelineFold>(stores.log, { maxRuns: 8 });
  const scan = new OrphanScan(hub, recover);
  return {
    start,
    answer: async (command) => start({ ...command, turn: { ...readStartCommand(command).turn, answersForm: true } }),
    fork: (command, fork) => start({ ...command, fork }),
    follow: (tenant, run, client) => hub.follow(tenant, run, client),
    cancel: (tenant, which) => hub.cancel(tenant, which),
    whenOver: (tenant, run, patienceMs) => hub.whenOver(tenant, run, patienceMs),
    runChanges: (tenant) => hub.changes.of(tenant),
    noteRunChange: (tenant) => hub.changes.note(tenant),
    record: (tenant, run) => hub.record(tenant, run),
    projection: (tenant, run) => hub.projection(tenant, run),
    async timeline(tenant, run) {
      const projection = await hub.projection(tenant, run);
      const fold = await timelines.read(tenant, run, () => new TimelineFold((node) => projection.describe(node)));
      return fold?.timeline;
    },
    state: (tenant, run, at) => readState(hub, tenant, run, at),
    recover: () => scan.start(),
    admitSession: async (tenant, page) => hub.sessionQuota.admit(tenant, page),
    get load() {
      return { runs: hub.size, queues: hub.queues, sessions: hub.sessionQuota.most };
    },
    async close(graceMs) {
      scan.close();
      await hub.close(graceMs);
    },
  };
}
