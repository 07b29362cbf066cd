import { from, lastValueFrom, mergeMap, race, switchMap, timer } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { continueTurn } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import { readEvent } from '../graph/log.js';
import type { Checkpoint } from '../graph/state.js';
import type { LeaseStore } from '../records/coordination.js';
import type { RunIdentity, RunLaunch, RunRecord } from '../records/runs.js';
import { findProjection } from './canvases.js';
import { claimSession } from './conversation.js';
import { SESSION_LEASES, type SessionLease } from './leases.js';
import type { RunWork } from './live-run.js';
import { claimedElsewhere } from './refusals.js';
import type { RunHub } from './run-hub.js';
import { type RunPast, readPast } from './run-past.js';
import { endIn } from './run-record.js';
import { engineOptions, workOfTurn } from './start.js';
import { servicesOfRun } from './tenant-services.js';

/** Losses after which a run is a suspect, when no node of it finished or stored a step in between: it may be what ends its processes. */
const SUSPECT_AFTER = 3;

/** Losses of processes that tried a suspect after which it is given up: a run that ends its process must not be recovered for ever. */
const MAX_TRIALS = 3;

/**
 * Resumes a run whose process was lost, unless another process does already, or this one has no room for it; never rejects.
 *
 * @param isLoss whether a process was lost, rather than released the run. @default true
 */
export type Recover = (tenant: string, lost: RunRecord, isLoss?: boolean) => Promise<void>;

/** How a run counts as started when its record has no launch. */
const NO_LAUNCH: RunLaunch = { isDetached: false, headers: {} };

/**
 * Recovers orphaned runs: each resumes at its newest snapshot, its events where its log ends; without a snapshot it begins anew. A run that
 * cannot be resumed ends as failed, in its log and its session, so that no client waits for it.
 *
 * A process that is lost takes all its runs with it, of which one may be the reason. So a loss alone gives no run up. A run whose process was
 * lost three times without a node of it finishing, or storing a step of its work, is a suspect, and a process tries one suspect at a time, each
 * for the time of a lease. What survives its trial, or gets on so, is no suspect any more. A run is given up when three processes were lost while they tried it.
 */
export function createRecover(hub: RunHub): Recover {
  const { logger } = hub.parts;
  const trial = new Trial(hub);
  return async (tenant, { id, agentId, sessionId, launch = NO_LAUNCH }, isLoss = true) => {
    const isSuspect = crashesOf(launch, isLoss) >= SUSPECT_AFTER;
    // Those that are left find a process with room, or the next scan of this one.
    if (hub.find(tenant, id) !== undefined || !hub.hasRoom(tenant) || (isSuspect && !trial.take(id))) return;
    let lease: SessionLease | undefined;
    try {
      lease = await hub.leases.acquire({ tenant, sessionId, agentId, run: id });
      if (lease === undefined) return;
      const lost = await claim(hub, tenant, id);
      if (lost === undefined) await lease.release();
      else await resumeCounted(hub, tenant, lost, isLoss, lease);
      trial.begin(tenant, id);
    } catch (error) {
      trial.end(id);
      logger.error({ run: id, err: error }, 'orphaned run could not be resumed; will retry');
      // Its lease ends at once, so the next look finds it again.
      await lease?.abandon(true);
    } finally {
      if (lease === undefined) trial.end(id);
    }
  };
}

/** The suspect that this process tries, if any. */
class Trial {
  readonly #hub: RunHub;
  #run: string | undefined = undefined;

  constructor(hub: RunHub) {
    this.#hub = hub;
  }

  /** False while another one is tried. */
  take(run: string): boolean {
    this.#run ??= run;
    return this.#run === run;
  }

  /** Lets the suspect run for the time of a lease, after which it is none any more. Does nothing for other runs. */
  begin(tenant: string, run: string): void {
    if (this.#run !== run) return;
    const live = this.#hub.find(tenant, run);
    const { launch } = live?.record ?? {};
    if (live === undefined || launch?.isTried !== true) {
      this.end(run);
      return;
    }
    const { limits, logger } = this.#hub.parts;
    const { crashes: _, isTried: __, trials: ___, ...survived } = launch;
    race(from(live.ended), timer(limits.leaseMs).pipe(switchMap(() => live.relaunch(survived)))).subscribe({
      error: (error: unknown) => {
        logger.warn({ run, err: error }, 'it could not be stored that a run has survived its trial');
        this.end(run);
      },
      complete: () => this.end(run),
    });
  }

  end(run: string): void {
    if (this.#run === run) this.#run = undefined;
  }
}

/** How often its process was lost since it got on, this time included. */
function crashesOf({ crashes = 0 }: RunLaunch, isLoss: boolean): number {
  return crashes + (isLoss ? 1 : 0);
}

/** The launch of a run that is recovered. */
function counted(launch: RunLaunch, isLoss: boolean): RunLaunch {
  const { isTried = false, trials = 0, ...rest } = launch;
  const crashes = crashesOf(launch, isLoss);
  return {
    ...rest,
    ...(crashes > 0 && { crashes }),
    ...(trials > 0 || (isTried && isLoss) ? { trials: trials + (isTried && isLoss ? 1 : 0) } : {}),
    ...(crashes >= SUSPECT_AFTER && { isTried: true }),
  };
}

/** A run that this process has claimed. */
interface Claimed {
  readonly epoch: number;
  /** As it was stored before. */
  readonly record: RunRecord;
}

/** Makes this process the writer of a run before anything of it is read; undefined when there is none that has not ended. */
async function claim({ parts }: RunHub, tenant: string, run: string): Promise<Claimed | undefined> {
  const { log, runs } = parts.stores;
  try {
    const epoch = await log.claim(tenant, run);
    const record = await runs.find(tenant, run);
    return record?.status === 'running' ? { epoch, record } : undefined;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Counts before trying: what fails on the way, or ends the process, has been counted then. */
async function resumeCounted(
  hub: RunHub,
  tenant: string,
  { epoch, record }: Claimed,
  isLoss: boolean,
  lease: SessionLease,
): Promise<void> {
  const { runs } = hub.parts.stores;
  const { launch = NO_LAUNCH } = record;
  const lost = { ...record, epoch, launch: counted(launch, isLoss) };
  if (!(await runs.replace(tenant, record, lost))) throw claimedElsewhere(record.id);
  try {
    await resume(hub, tenant, lost, lease);
  } catch (error) {
    // That a store is away is no fault of the run. While it cannot be reached, the loss stays counted.
    if (EngineError.is(error) && error.retryable) {
      await runs.replace(tenant, lost, { ...record, epoch }).catch(() => {});
    }
    throw error;
  }
}

async function resume(
  hub: RunHub,
  tenant: string,
  record: RunRecord & Pick<Claimed, 'epoch'>,
  lease: SessionLease,
): Promise<void> {
  const { stores, openCanvas, logger } = hub.parts;
  const { id, sessionId, startedAt, epoch, launch = NO_LAUNCH } = record;
  // What it has may be what ends its process: it is left alone then, but for its numbers.
  const isHopeless = (launch.trials ?? 0) >= MAX_TRIALS;
  const snapshot = isHopeless ? lostTooOften(record) : await orFinalError(stores.log.snapshot(tenant, id));
  const projection = await findProjection(stores.sessions, openCanvas, tenant, record);
  const after = snapshot === undefined || snapshot instanceof EngineError ? 0 : snapshot.seq;
  // The end of the run cannot be written to a log that cannot be read, either.
  const past = await orFinalError(readPast(stores.log, tenant, id, { projection, after, onlyNumbers: isHopeless }));
  if (past instanceof EngineError || past.isOver) {
    const end = past instanceof EngineError ? failed(past) : endOf(past, projection);
    await finish(hub, tenant, record, end, lease);
    return;
  }
  // What is wrong with the session ends the run; see `workOf`.
  const problem = await orFinalError(claimSession(stores.sessions, { tenant, id, sessionId }, epoch));
  if (problem?.code === 'CONFLICT') throw problem;
  const work = await workOf(hub, { tenant, record, past, snapshot });
  logger.warn({ run: id, after: past.lastSeq }, 'resuming an orphaned run');
  await hub.start(
    {
      identity: identityOf(tenant, record),
      work,
      past,
      startedAt,
      launch: noteProgress(launch, past),
      storesTrace: false,
      claimed: record,
    },
    lease,
  );
}

function identityOf(tenant: string, record: RunRecord): RunIdentity {
  const { id, agentId, sessionId, messageId, parentRun, forkedAt, documentVersion, userId, isChat } = record;
  return {
    ...{ tenant, id, agentId, sessionId, messageId },
    ...(parentRun === undefined ? {} : { parentRun }),
    ...(forkedAt === undefined ? {} : { forkedAt }),
    ...(documentVersion === undefined ? {} : { documentVersion }),
    ...(userId === undefined ? {} : { userId }),
    ...(isChat === undefined ? {} : { isChat }),
  };
}

/** A long run may lose many processes, as long as it gets on in between. */
function noteProgress(launch: RunLaunch, { finished }: RunPast): RunLaunch {
  if (finished <= (launch.finished ?? 0)) return launch;
  const { isTried: _, trials: __, crashes = 0, ...rest } = launch;
  return { ...rest, finished, ...(crashes > 0 && { crashes: 1 }) };
}

/** Stores the end in the record alone: the log has it already, or cannot be read. */
async function finish(
  hub: RunHub,
  tenant: string,
  record: RunRecord & Pick<Claimed, 'epoch'>,
  end: Pick<RunRecord, 'status'> & Partial<RunRecord>,
  lease: SessionLease,
): Promise<void> {
  const { stores, now } = hub.parts;
  const { launch: _, ...rest } = record;
  const ended: RunRecord = { ...rest, ...end, finishedAt: now() };
  if (!(await stores.runs.replace(tenant, record, ended))) throw claimedElsewhere(record.id);
  await stores.log.end(tenant, record.id, record.epoch);
  hub.count(ended);
  hub.changes.note(tenant);
  await lease.release();
}

function failed({ code, message }: EngineError): Pick<RunRecord, 'status' | 'error'> {
  return { status: 'failed', error: { code, message } };
}

function endOf(
  { last, lastSeq }: RunPast,
  projection: RagflowProjection,
): Pick<RunRecord, 'status' | 'error' | 'pending' | 'lastSeq'> {
  try {
    if (last !== undefined) return { ...endIn(last, projection), lastSeq };
  } catch {
    // An end without what an end has is none; tried again, it would be read for ever.
  }
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
  const { stores, openCanvas } = hub.parts;
  if (snapshot instanceof EngineError) return { failure: snapshot };
  if (past.problem !== undefined) return { failure: past.problem };
  const open = async (): Promise<RunWork> => {
    const { startedAt, launch = NO_LAUNCH } = record;
    const session = await stores.sessions.find(tenant, record.sessionId);
    if (session === undefined) return { failure: lostForGood(record.id) };
    if (snapshot === undefined) {
      // It had not begun: nothing of it was stored, so nothing of it was delivered.
      const isNew = past.lastSeq === 0 && launch.turn !== undefined;
      return isNew
        ? workOfTurn(hub.parts, { tenant, session, launch, startedAt })
        : { failure: lostForGood(record.id) };
    }
    const canvas = openCanvas(session.dsl);
    const history = { checkpoint: snapshot, events: past.changes.map(readEvent) };
    const services = servicesOfRun(hub.parts, tenant, session, launch.headers);
    return {
      plan: canvas.plan,
      open: (hooks) => continueTurn(canvas, history, past, engineOptions(hub.parts, hooks, services, startedAt)),
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

function lostTooOften({ id, launch: { crashes = MAX_TRIALS } = NO_LAUNCH }: RunRecord): EngineError {
  const message = `Run "${id}" lost its process ${crashes} times without a step that was stored, the last ${MAX_TRIALS} times as the only suspect there, as if it were the reason; it is not recovered again.`;
  return new EngineError('RUN_LOST', message);
}

function lostForGood(run: string): EngineError {
  const message = `The process of run "${run}" was lost, and what the run needs to continue is not stored any more; ask again.`;
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
    if (!this.#hub.hasRoom(tenant)) return;
    // Servers may share leases without sharing the other stores.
    if (data.home !== home || typeof data.run !== 'string') return;
    // A process that could not renew its leases for a while is not lost.
    if (this.#hub.leases.has(tenant, name.slice(SESSION_LEASES.length))) return;
    const record = await runs.find(tenant, data.run);
    if (record?.status === 'running') await this.#recoverRun(tenant, record, data.isReleased !== true);
    // It ended, or its process was lost before it began. Released only if the expired lease is still the one that was found.
    else await leases.release(tenant, name, owner);
  }
}
