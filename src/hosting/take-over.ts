import { continueTurn } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import type { JournalContents, RunJournal } from '../records/durable-stores.js';
import type { LoggedEvent, RunLaunch, RunRecord } from '../records/stores.js';
import { afterRun } from './conversation-record.js';
import { endIn } from './last-event.js';
import type { RunWork } from './live-run-options.js';
import type { Log } from './log.js';
import { engineOptions, servicesFor, type TurnStarterOptions } from './run-engine.js';
import { type PastOptions, type RunPast, readPast } from './run-past.js';
import { splitUsage } from './run-usage.js';
import type { SessionClaim } from './session-claims.js';

export interface TakeOverOptions extends TurnStarterOptions {
  /** Undefined when runs do not outlive their process; those that were lost then end as failed. */
  readonly runJournal: RunJournal | undefined;
  readonly logger: Log;
}

/** Takeovers of one run without a node that finishes: what ends its process, or cannot be taken over, must not be tried for ever. */
const MAX_LOSSES = 5;

/** Goes on with a run whose process was lost, unless somebody else does already; never rejects. */
export type TakeOver = (tenant: string, lost: RunRecord) => Promise<void>;

/**
 * Takes lost runs over: each goes on where its journal ends, its events where its log ends. What cannot go on ends as failed, in its log
 * and its session, so that nobody waits for it.
 */
export function createTakeOver(options: TakeOverOptions): TakeOver {
  const { hub, stores, logger } = options;
  return async (tenant, { id, agentId, sessionId }) => {
    let claim: SessionClaim | undefined;
    try {
      if (hub.find(tenant, id) !== undefined) return;
      claim = await hub.tryClaim({ tenant, sessionId, agentId, run: id });
      // Looked at again now that nobody else can change it.
      const record = claim === undefined ? undefined : await stores.runs.find(tenant, id);
      if (claim === undefined) return;
      if (record?.status !== 'running') await claim.release();
      else await countLoss(options, tenant, record, (counted) => goOn(options, tenant, counted, claim as SessionClaim));
    } catch (error) {
      logger.error({ run: id, err: error }, 'a lost run could not be taken over; trying again');
      // Its lease ends at once, so the next look finds it again.
      await claim?.abandon();
    }
  };
}

/** Counts before trying: what fails on the way, or ends the process, has been counted then. */
async function countLoss(
  { stores }: TakeOverOptions,
  tenant: string,
  record: RunRecord,
  attempt: (counted: RunRecord) => Promise<void>,
): Promise<void> {
  const { launch = { isDetached: false, headers: {} } } = record;
  const counted = { ...record, launch: { ...launch, losses: (launch.losses ?? 0) + 1 } };
  await stores.runs.save(tenant, counted);
  try {
    await attempt(counted);
  } catch (error) {
    // A store that is away says nothing about the run. While it cannot be told, the loss stays counted.
    if (EngineError.is(error) && error.retryable) await stores.runs.save(tenant, record).catch(() => {});
    throw error;
  }
}

async function goOn(options: TakeOverOptions, tenant: string, record: RunRecord, claim: SessionClaim): Promise<void> {
  const { stores, hub, logger, runJournal, now } = options;
  const { launch = { isDetached: false, headers: {} } } = record;
  // What it has may be what ends its process: it is left alone then, but for its numbers.
  const isHopeless = (launch.losses ?? 0) > MAX_LOSSES;
  const kept = isHopeless ? { problem: lostTooOften(record.id) } : await loadJournal(runJournal, tenant, record.id);
  const past = await readLog(options, tenant, record, { usage: kept?.usage, onlyNumbers: isHopeless });
  if (past instanceof EngineError || past.last !== undefined) {
    await finish(options, tenant, record, past instanceof EngineError ? past : (past.last as LoggedEvent), claim);
    return;
  }
  const work = await workOf(options, { tenant, record, past, kept });
  logger.warn({ run: record.id, after: past.lastSeq }, 'a lost run is taken over');
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
      launch: noteProgress(launch, past),
      keepsTrace: false,
      keepConversation: async (end) => {
        const found = await stores.sessions.find(tenant, sessionId);
        // The process may have been lost after it had kept the conversation.
        if (found === undefined || found.keptRun === id) return;
        await stores.sessions.save(tenant, afterRun(found, end, now()));
      },
    },
    claim,
  );
}

/** A long run may lose many processes, as long as it gets on in between. */
function noteProgress(launch: RunLaunch, { finished }: RunPast): RunLaunch {
  return finished > (launch.finished ?? 0) ? { ...launch, finished, losses: 1 } : launch;
}

/** What is in a journal, or what is wrong with it. */
type Kept = Partial<ReturnType<typeof splitUsage>> & { readonly problem?: EngineError };

async function loadJournal(runJournal: RunJournal | undefined, tenant: string, run: string): Promise<Kept | undefined> {
  try {
    const contents = await runJournal?.load(tenant, run);
    return contents === undefined ? undefined : splitUsage(contents);
  } catch (error) {
    return { problem: finalError(error) };
  }
}

/** A log that cannot be read cannot be told that its run has ended, either. */
async function readLog(
  { stores }: TakeOverOptions,
  tenant: string,
  record: RunRecord,
  options: PastOptions,
): Promise<RunPast | EngineError> {
  try {
    return await readPast(stores.log, tenant, record, options);
  } catch (error) {
    return finalError(error);
  }
}

/** It had ended, and only its record does not say so yet; or nothing but its record can say so. */
async function finish(
  { stores, hub, now }: TakeOverOptions,
  tenant: string,
  { launch: _, ...record }: RunRecord,
  end: LoggedEvent | EngineError,
  claim: SessionClaim,
): Promise<void> {
  const ended: RunRecord = { ...record, ...endOf(end), finishedAt: now() };
  await stores.runs.save(tenant, ended);
  await stores.log.end(tenant, record.id);
  hub.count(ended);
  await claim.release();
}

function endOf(end: LoggedEvent | EngineError): ReturnType<typeof endIn> & Partial<Pick<RunRecord, 'lastSeq'>> {
  if (end instanceof EngineError) return { status: 'failed', error: { code: end.code, message: end.message } };
  try {
    return { ...endIn(end), lastSeq: end.seq };
  } catch (error) {
    const message = `The last event of the run cannot be read: ${toEngineError(error, 'INTERNAL').message}`;
    return { status: 'failed', error: { code: 'INTERNAL', message }, lastSeq: end.seq };
  }
}

interface Lost {
  readonly tenant: string;
  readonly record: RunRecord;
  readonly past: RunPast;
  readonly kept: Kept | undefined;
}

async function workOf(options: TakeOverOptions, { tenant, record, past, kept }: Lost): Promise<RunWork> {
  const { stores, openCanvas, timeoutMs, now } = options;
  const problem = kept?.problem ?? past.problem;
  if (problem !== undefined) return { failure: problem };
  const contents: JournalContents | undefined = kept?.contents;
  try {
    const session = await stores.sessions.find(tenant, record.sessionId);
    if (session === undefined || contents?.checkpoint === undefined) return { failure: lostForGood(record.id) };
    const canvas = openCanvas(session.dsl);
    const services = servicesFor(options, tenant, session, record.launch?.headers ?? {});
    const leftMs = Math.max(1, timeoutMs - (now() - past.startedAt));
    return {
      plan: canvas.plan,
      open: (hooks) =>
        continueTurn(canvas, contents, { ...engineOptions(options, hooks, services), timeoutMs: leftMs }),
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
  const message = `Run "${run}" lost its process ${MAX_LOSSES + 1} times without getting on, as if it were the reason; it is not taken over again.`;
  return new EngineError('RUN_LOST', message);
}

function lostForGood(run: string): EngineError {
  const message = `The process that run "${run}" was in was lost before anything of it was kept, so it cannot go on; ask again.`;
  return new EngineError('RUN_LOST', message);
}
