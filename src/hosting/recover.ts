import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { continueTurn } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import type { Checkpoint } from '../graph/state.js';
import type { Log } from '../logger.js';
import type { LeaseStore } from '../records/coordination.js';
import type { RunLog } from '../records/run-log.js';
import type { RunLaunch, RunRecord } from '../records/runs.js';
import { findProjection } from './canvases.js';
import { claimSession } from './conversation.js';
import type { HostStores } from './host-options.js';
import { SESSION_LEASES, type SessionLease } from './leases.js';
import { endIn } from './live-run.js';
import type { RunWork } from './live-run-options.js';
import { type ClaimedRun, claimedElsewhere, type RunHub } from './run-hub.js';
import { type PastOptions, type RunPast, readPast } from './run-past.js';
import { engineOptions, type StartOptions } from './start.js';
import { servicesOfRun } from './tenant-services.js';

export interface RecoverOptions extends StartOptions {
  readonly logger: Log;
}

/** Recoveries of one run without a node that finishes: a run that ends its process, or cannot be recovered, must not be retried for ever. */
const MAX_CRASHES = 5;

/** Resumes a run whose process was lost, unless another process does already; never rejects. */
export type Recover = (tenant: string, lost: RunRecord) => Promise<void>;

/**
 * Recovers orphaned runs: each resumes at its newest snapshot, its events where its log ends. A run that cannot be resumed ends as failed, in its log
 * and its session, so that no client waits for it.
 */
export function createRecover(options: RecoverOptions): Recover {
  const { hub, logger } = options;
  return async (tenant, { id, agentId, sessionId }) => {
    let lease: SessionLease | undefined;
    try {
      if (hub.find(tenant, id) !== undefined) return;
      lease = await hub.tryLease({ tenant, sessionId, agentId, run: id });
      if (lease === undefined) return;
      const claimed = await claim(options, tenant, id);
      if (claimed === undefined) await lease.release();
      else
        await countCrash(options, tenant, claimed, (counted) =>
          resume(options, tenant, counted, lease as SessionLease),
        );
    } catch (error) {
      logger.error({ run: id, err: error }, 'orphaned run could not be resumed; will retry');
      // Its lease ends at once, so the next look finds it again.
      await lease?.abandon();
    }
  };
}

/** Makes this process the writer of a run that has not ended, before anything of it is read; undefined when there is no such run. */
async function claim({ stores }: RecoverOptions, tenant: string, run: string): Promise<ClaimedRun | undefined> {
  try {
    const epoch = await stores.log.claim(tenant, run);
    const record = await stores.runs.find(tenant, run);
    return record?.status === 'running' ? { epoch, record } : undefined;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Counts before trying: what fails on the way, or ends the process, has been counted then. */
async function countCrash(
  { stores }: RecoverOptions,
  tenant: string,
  { epoch, record }: ClaimedRun,
  attempt: (counted: ClaimedRun) => Promise<void>,
): Promise<void> {
  const { launch = { isDetached: false, headers: {} } } = record;
  const counted = { ...record, epoch, launch: { ...launch, crashes: (launch.crashes ?? 0) + 1 } };
  if (!(await stores.runs.replace(tenant, record, counted))) throw claimedElsewhere(record.id);
  try {
    await attempt({ epoch, record: counted });
  } catch (error) {
    // A store that is away says nothing about the run. While it cannot be told, the loss stays counted.
    if (EngineError.is(error) && error.retryable) {
      await stores.runs.replace(tenant, counted, { ...record, epoch }).catch(() => {});
    }
    throw error;
  }
}

async function resume(
  options: RecoverOptions,
  tenant: string,
  claimed: ClaimedRun,
  lease: SessionLease,
): Promise<void> {
  const { hub, logger, stores } = options;
  const { epoch, record } = claimed;
  const { launch = { isDetached: false, headers: {} } } = record;
  // What it has may be what ends its process: it is left alone then, but for its numbers.
  const isHopeless = (launch.crashes ?? 0) > MAX_CRASHES;
  const kept = isHopeless ? { problem: lostTooOften(record.id) } : await loadSnapshot(stores.log, tenant, record.id);
  const projection = await findProjection(options.stores.sessions, options.openCanvas, tenant, record);
  const past = await readLog(options, tenant, record, {
    projection,
    after: kept.checkpoint?.seq ?? 0,
    onlyNumbers: isHopeless,
  });
  if (past instanceof EngineError || past.isOver) {
    const end = past instanceof EngineError ? failed(past) : endOf(past, projection);
    await finish(options, tenant, claimed, end, lease);
    return;
  }
  await claimSession(stores.sessions, { ...record, tenant, epoch }).catch((error: unknown) => {
    if (EngineError.is(error) && error.code === 'CONFLICT') throw error;
    // What is wrong with the session ends the run; see `workOf`.
    finalError(error);
  });
  const work = await workOf(options, { tenant, record, past, kept });
  logger.warn({ run: record.id, after: past.lastSeq }, 'resuming an orphaned run');
  const { id, agentId, sessionId, messageId, parentRun, forkedAt } = record;
  await hub.start(
    {
      identity: {
        ...{ tenant, id, agentId, sessionId, messageId },
        ...(parentRun === undefined ? {} : { parentRun }),
        ...(forkedAt === undefined ? {} : { forkedAt }),
      },
      work,
      past,
      startedAt: record.startedAt,
      launch: noteProgress(launch, past),
      keepsTrace: false,
      claimed,
    },
    lease,
  );
}

/** A long run may lose many processes, as long as it gets on in between. */
function noteProgress(launch: RunLaunch, { finished }: RunPast): RunLaunch {
  return finished > (launch.finished ?? 0) ? { ...launch, finished, crashes: 1 } : launch;
}

/** The newest snapshot of a run, or what is wrong with it. */
interface Kept {
  readonly checkpoint?: Checkpoint | undefined;
  readonly problem?: EngineError;
}

async function loadSnapshot(log: RunLog, tenant: string, run: string): Promise<Kept> {
  try {
    return { checkpoint: await log.snapshot(tenant, run) };
  } catch (error) {
    return { problem: finalError(error) };
  }
}

/** A log that cannot be read cannot be told that its run has ended, either. */
async function readLog(
  { stores }: RecoverOptions,
  tenant: string,
  record: RunRecord,
  options: PastOptions,
): Promise<RunPast | EngineError> {
  try {
    return await readPast(stores.log, tenant, record.id, options);
  } catch (error) {
    return finalError(error);
  }
}

/** It had ended, and only its record does not say so yet; or nothing but its record can say so. */
async function finish(
  { stores, hub, now }: RecoverOptions,
  tenant: string,
  { epoch, record }: ClaimedRun,
  end: Pick<RunRecord, 'status'> & Partial<RunRecord>,
  lease: SessionLease,
): Promise<void> {
  const { launch: _, ...rest } = record;
  const ended: RunRecord = { ...rest, ...end, finishedAt: now() };
  if (!(await stores.runs.replace(tenant, record, ended))) throw claimedElsewhere(record.id);
  await stores.log.end(tenant, record.id, epoch);
  hub.count(ended);
  await lease.release();
}

function failed({ code, message }: EngineError): Pick<RunRecord, 'status' | 'error'> {
  return { status: 'failed', error: { code, message } };
}

function endOf(
  { last, lastSeq }: RunPast,
  projection: RagflowProjection,
): Pick<RunRecord, 'status' | 'error' | 'pending' | 'lastSeq'> {
  if (last !== undefined) return { ...endIn(last, projection), lastSeq };
  return { ...failed(new EngineError('INTERNAL', 'The last event of the run cannot be read.')), lastSeq };
}

interface Lost {
  readonly tenant: string;
  readonly record: RunRecord;
  readonly past: RunPast;
  readonly kept: Kept;
}

async function workOf(options: RecoverOptions, { tenant, record, past, kept }: Lost): Promise<RunWork> {
  const { stores, openCanvas, timeoutMs, now } = options;
  const problem = kept.problem ?? past.problem;
  if (problem !== undefined) return { failure: problem };
  const { checkpoint } = kept;
  try {
    const session = await stores.sessions.find(tenant, record.sessionId);
    if (session === undefined || checkpoint === undefined) return { failure: lostForGood(record.id) };
    const canvas = openCanvas(session.dsl);
    const contents = { checkpoint, records: past.changes };
    const services = servicesOfRun(options, tenant, session, record.launch?.headers ?? {});
    const leftMs = Math.max(1, timeoutMs - (now() - record.startedAt));
    return {
      plan: canvas.plan,
      open: (hooks) =>
        continueTurn(canvas, contents, past, { ...engineOptions(options, hooks, services), timeoutMs: leftMs }),
    };
  } catch (error) {
    return { failure: finalError(error) };
  }
}

/** What is wrong with what is kept is a reason to end the run; a store that is away is one to try again, and is thrown. */
function finalError(thrown: unknown): EngineError {
  const error = toEngineError(thrown, 'INTERNAL');
  if (error.retryable) throw error;
  return error;
}

function lostTooOften(run: string): EngineError {
  const message = `Run "${run}" lost its process ${MAX_CRASHES + 1} times without getting on, as if it were the reason; it is not taken over again.`;
  return new EngineError('RUN_LOST', message);
}

function lostForGood(run: string): EngineError {
  const message = `The process that run "${run}" was in was lost before anything of it was kept, so it cannot go on; ask again.`;
  return new EngineError('RUN_LOST', message);
}

export interface OrphanScanOptions {
  readonly hub: RunHub;
  readonly stores: HostStores;
  readonly recover: Recover;
  readonly leaseMs: number;
  readonly logger: Log;
}

/** Expired leases that one scan takes. */
const MAX_FOUND = 1_000;

/** Runs that are recovered side by side. */
const AT_ONCE = 16;

/** Scans during the time of a lease. */
const SCANS_PER_LEASE = 4;

/** Finds orphans, runs whose lease expired, and has them recovered: at once, then at regular intervals. */
export class OrphanScan {
  readonly #options: OrphanScanOptions;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: OrphanScanOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#scan();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #scan(): Promise<void> {
    const { logger, leaseMs } = this.#options;
    try {
      await this.#recoverAll();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'the scan for orphaned runs failed; trying again');
      this.#isFailing = true;
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#scan(), leaseMs / SCANS_PER_LEASE).unref();
  }

  async #recoverAll(): Promise<void> {
    const { leases } = this.#options.stores;
    const found = [...(await leases.expired(SESSION_LEASES, MAX_FOUND))];
    const next = found.values();
    let failure: { readonly error: unknown } | undefined;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const lease of next) {
          if (this.#isClosed) return;
          // One that cannot be recovered must not keep the others from it.
          await this.#recover(lease).catch((error: unknown) => {
            if (EngineError.is(error) && error.retryable) throw error;
            failure ??= { error };
          });
        }
      }),
    );
    if (failure !== undefined) throw failure.error;
  }

  async #recover({ tenant, name, owner, data }: Awaited<ReturnType<LeaseStore['expired']>>[number]): Promise<void> {
    const { stores, recover, hub } = this.#options;
    const { leases, runs, home = '' } = stores;
    // Servers may share leases without sharing the other stores.
    if (data.home !== home || typeof data.run !== 'string') return;
    // A process that could not renew its leases for a while is not lost.
    if (hub.hasLease(tenant, name.slice(SESSION_LEASES.length))) return;
    const record = await runs.find(tenant, data.run);
    if (record?.status === 'running') await recover(tenant, record);
    // It ended, or its process was lost before it began. Released only if the expired lease is still the one that was found.
    else await leases.release(tenant, name, owner);
  }
}
