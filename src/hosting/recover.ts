import { from, lastValueFrom, mergeMap } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { continueTurn } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import { readEvent } from '../graph/log.js';
import type { Checkpoint } from '../graph/state.js';
import type { LeaseStore } from '../records/coordination.js';
import type { RunLaunch, RunRecord } from '../records/runs.js';
import { findProjection } from './canvases.js';
import { SESSION_LEASES, type SessionLease } from './leases.js';
import type { RunWork } from './live-run.js';
import { endIn } from './live-run.js';
import type { RunHub } from './run-hub.js';
import { type RunPast, readPast } from './run-past.js';
import { engineOptions } from './start.js';
import { servicesOfRun } from './tenant-services.js';

/** Recoveries of one run without a node that finishes: a run that ends its process, or cannot be recovered, must not be retried for ever. */
const MAX_CRASHES = 5;

/** Resumes a run whose process was lost, unless another process does already; never rejects. */
export type Recover = (tenant: string, lost: RunRecord) => Promise<void>;

/** How a run counts as started when its record has no launch. */
const NO_LAUNCH: RunLaunch = { isDetached: false, headers: {} };

/**
 * Recovers orphaned runs: each resumes at its newest snapshot, its events where its log ends. A run that cannot be resumed ends as failed, in its log
 * and its session, so that no client waits for it.
 */
export function createRecover(hub: RunHub): Recover {
  const { stores, logger } = hub.parts;
  return async (tenant, { id, agentId, sessionId }) => {
    let lease: SessionLease | undefined;
    try {
      if (hub.find(tenant, id) !== undefined) return;
      lease = await hub.leases.acquire({ tenant, sessionId, agentId, run: id });
      if (lease === undefined) return;
      // Looked at again now that no other process can change it.
      const record = await stores.runs.find(tenant, id);
      if (record?.status === 'running') await resumeCounted(hub, tenant, record, lease);
      else await lease.release();
    } catch (error) {
      logger.error({ run: id, err: error }, 'orphaned run could not be resumed; will retry');
      // Its lease ends at once, so the next look finds it again.
      await lease?.abandon();
    }
  };
}

/** Counts before trying: what fails on the way, or ends the process, has been counted then. */
async function resumeCounted(hub: RunHub, tenant: string, record: RunRecord, lease: SessionLease): Promise<void> {
  const { runs } = hub.parts.stores;
  const { launch = NO_LAUNCH } = record;
  const counted = { ...launch, crashes: (launch.crashes ?? 0) + 1 };
  await runs.save(tenant, { ...record, launch: counted });
  try {
    await resume(hub, tenant, record, counted, lease);
  } catch (error) {
    // That a store is away is no fault of the run. While it cannot be reached, the loss stays counted.
    if (EngineError.is(error) && error.retryable) await runs.save(tenant, record).catch(() => {});
    throw error;
  }
}

async function resume(
  hub: RunHub,
  tenant: string,
  record: RunRecord,
  launch: RunLaunch,
  lease: SessionLease,
): Promise<void> {
  const { stores, openCanvas, logger } = hub.parts;
  const { id, agentId, sessionId, messageId, parentRun, forkedAt, startedAt } = record;
  // What it has may be what ends its process: it is left alone then, but for its numbers.
  const isHopeless = (launch.crashes ?? 0) > MAX_CRASHES;
  const snapshot = isHopeless ? lostTooOften(id) : await orFinalError(stores.log.snapshot(tenant, id));
  const projection = await findProjection(stores.sessions, openCanvas, tenant, record);
  const after = snapshot === undefined || snapshot instanceof EngineError ? 0 : snapshot.seq;
  // The end of the run cannot be written to a log that cannot be read, either.
  const past = await orFinalError(readPast(stores.log, tenant, id, { projection, after, onlyNumbers: isHopeless }));
  if (past instanceof EngineError || past.isOver) {
    const end = past instanceof EngineError ? failed(past) : endOf(past, projection);
    await finish(hub, tenant, { ...record, ...end }, lease);
    return;
  }
  const work = await workOf(hub, { tenant, record, past, snapshot });
  logger.warn({ run: id, after: past.lastSeq }, 'resuming an orphaned run');
  await hub.start(
    {
      identity: {
        ...{ tenant, id, agentId, sessionId, messageId },
        ...(parentRun === undefined ? {} : { parentRun }),
        ...(forkedAt === undefined ? {} : { forkedAt }),
      },
      work,
      past,
      startedAt,
      launch: noteProgress(launch, past),
      keepsTrace: false,
    },
    lease,
  );
}

/** A long run may lose many processes, as long as it gets on in between. */
function noteProgress(launch: RunLaunch, { finished }: RunPast): RunLaunch {
  return finished > (launch.finished ?? 0) ? { ...launch, finished, crashes: 1 } : launch;
}

/** Stores the end in the record alone: the log has it already, or cannot be read. */
async function finish(
  hub: RunHub,
  tenant: string,
  { launch: _, ...record }: RunRecord,
  lease: SessionLease,
): Promise<void> {
  const { stores, now } = hub.parts;
  const ended: RunRecord = { ...record, finishedAt: now() };
  await stores.runs.save(tenant, ended);
  await stores.log.end(tenant, record.id);
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
  /** The newest one of the run, or what is wrong with it. */
  readonly snapshot: Checkpoint | EngineError | undefined;
}

async function workOf(hub: RunHub, { tenant, record, past, snapshot }: Lost): Promise<RunWork> {
  const { stores, openCanvas, now } = hub.parts;
  if (snapshot instanceof EngineError) return { failure: snapshot };
  if (past.problem !== undefined) return { failure: past.problem };
  const open = async (): Promise<RunWork> => {
    const session = await stores.sessions.find(tenant, record.sessionId);
    if (session === undefined || snapshot === undefined) return { failure: lostForGood(record.id) };
    const canvas = openCanvas(session.dsl);
    const history = { checkpoint: snapshot, events: past.changes.map(readEvent) };
    const services = servicesOfRun(hub.parts, tenant, session, record.launch?.headers ?? {});
    return {
      plan: canvas.plan,
      open: (hooks) => {
        const options = engineOptions(hub.parts, hooks, services);
        const leftMs = Math.max(1, hub.parts.limits.runTimeoutMs - (now() - record.startedAt));
        return continueTurn(canvas, history, past, { ...options, timeoutMs: leftMs });
      },
    };
  };
  const work = await orFinalError(open());
  return work instanceof EngineError ? { failure: work } : work;
}

/** What is wrong with what is stored is a reason to end the run; a store that is away is one to try again, and is thrown. */
async function orFinalError<T>(work: Promise<T>): Promise<T | EngineError> {
  try {
    return await work;
  } catch (thrown) {
    const error = toEngineError(thrown, 'INTERNAL');
    if (error.retryable) throw error;
    return error;
  }
}

function lostTooOften(run: string): EngineError {
  const message = `Run "${run}" lost its process ${MAX_CRASHES + 1} times without getting on, as if it were the reason; it is not taken over again.`;
  return new EngineError('RUN_LOST', message);
}

function lostForGood(run: string): EngineError {
  const message = `The process that run "${run}" was in was lost before anything of it was kept, so it cannot go on; ask again.`;
  return new EngineError('RUN_LOST', message);
}

/** Expired leases that one scan takes. */
const MAX_FOUND = 1_000;

/** Runs that are recovered side by side. */
const AT_ONCE = 16;

/** Scans during the time of a lease. */
const SCANS_PER_LEASE = 4;

type ExpiredLease = Awaited<ReturnType<LeaseStore['expired']>>[number];

/** Finds orphans, runs whose lease expired, and has them recovered: at once, then at regular intervals. */
export class OrphanScan {
  readonly #hub: RunHub;
  readonly #recoverRun: Recover;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(hub: RunHub, recover: Recover) {
    this.#hub = hub;
    this.#recoverRun = recover;
  }

  start(): void {
    void this.#scan();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #scan(): Promise<void> {
    const { logger, limits } = this.#hub.parts;
    try {
      await this.#recoverAll();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'the scan for orphaned runs failed; trying again');
      this.#isFailing = true;
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#scan(), limits.leaseMs / SCANS_PER_LEASE).unref();
  }

  async #recoverAll(): Promise<void> {
    const found = await this.#hub.parts.stores.leases.expired(SESSION_LEASES, MAX_FOUND);
    const failures: unknown[] = [];
    const attempt = async (lease: ExpiredLease): Promise<void> => {
      if (this.#isClosed) return;
      // One that cannot be recovered must not keep the others from it.
      await this.#recover(lease).catch((error: unknown) => {
        if (EngineError.is(error) && error.retryable) throw error;
        failures.push(error);
      });
    };
    await lastValueFrom(from(found).pipe(mergeMap(attempt, AT_ONCE)), { defaultValue: undefined });
    if (failures.length > 0) throw failures[0];
  }

  async #recover({ tenant, name, owner, data }: ExpiredLease): Promise<void> {
    const { leases, runs, home = '' } = this.#hub.parts.stores;
    // Servers may share leases without sharing the other stores.
    if (data.home !== home || typeof data.run !== 'string') return;
    // A process that could not renew its leases for a while is not lost.
    if (this.#hub.leases.has(tenant, name.slice(SESSION_LEASES.length))) return;
    const record = await runs.find(tenant, data.run);
    if (record?.status === 'running') await this.#recoverRun(tenant, record);
    // It ended, or its process was lost before it began. Released only if the expired lease is still the one that was found.
    else await leases.release(tenant, name, owner);
  }
}
