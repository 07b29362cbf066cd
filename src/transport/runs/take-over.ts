import type { Canvas } from '../../canvas/load-canvas.js';
import { continueTurn } from '../../canvas/turn.js';
import { EngineError, toEngineError } from '../../errors.js';
import type { JournalContents, RunJournal } from '../../graph/durable-ports.js';
import type { LoggedEvent, RunLaunch, RunRecord, SessionRecord } from '../../graph/service-ports.js';
import type { Log } from '../log.js';
import { afterRun } from './conversation-record.js';
import { endIn } from './last-event.js';
import type { RunWork } from './live-run-options.js';
import { engineOptions, servicesFor, type TurnStarterOptions } from './run-engine.js';
import { type RunPast, readPast } from './run-past.js';
import { splitUsage } from './run-usage.js';
import type { SessionClaim } from './session-claims.js';

export interface TakeOverOptions extends TurnStarterOptions {
  /** Undefined when runs do not outlive their process; those that were lost then end as failed. */
  readonly runJournal: RunJournal | undefined;
  readonly journal: Log;
}

/** Takeovers of one run: a run that ends its process must not end it for ever. */
const MAX_LOSSES = 5;

/** Goes on with a run whose process was lost, unless somebody else does already; never rejects. */
export type TakeOver = (tenant: string, lost: RunRecord) => Promise<void>;

/**
 * Takes lost runs over: each goes on where its journal ends, its events where its log ends. What cannot go on ends as failed, in its log
 * and its session, so that nobody waits for it.
 */
export function createTakeOver(options: TakeOverOptions): TakeOver {
  const { hub, stores, journal } = options;
  return async (tenant, { id, agentId, sessionId }) => {
    let claim: SessionClaim | undefined;
    try {
      if (hub.find(tenant, id) !== undefined) return;
      claim = await hub.tryClaim({ tenant, sessionId, agentId, run: id });
      // Looked at again now that nobody else can change it.
      const record = claim === undefined ? undefined : await stores.runs.find(tenant, id);
      if (claim === undefined) return;
      if (record?.status !== 'running') await claim.release();
      else await goOn(options, tenant, record, claim);
    } catch (error) {
      journal.error({ run: id, err: error }, 'a lost run could not be taken over; trying again');
      // Its lease ends at once, so the next look finds it again.
      await claim?.abandon();
    }
  };
}

async function goOn(options: TakeOverOptions, tenant: string, record: RunRecord, claim: SessionClaim): Promise<void> {
  const { stores, hub, journal, runJournal, now } = options;
  const { launch: before = { isDetached: false, headers: {} } } = record;
  const launch: RunLaunch = { ...before, losses: (before.losses ?? 0) + 1 };
  const kept = await loadJournal(runJournal, tenant, record.id);
  const past = await readPast(stores.log, tenant, record, kept?.usage);
  if (past.last !== undefined) {
    await finish(options, tenant, record, past.last, claim);
    return;
  }
  const session = await stores.sessions.find(tenant, record.sessionId);
  const work = workOf(options, { tenant, record: { ...record, launch }, session, past, kept });
  journal.warn({ run: record.id, after: past.lastSeq }, 'a lost run is taken over');
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
      launch,
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

type Kept = ReturnType<typeof splitUsage>;

/** A journal that cannot be read is as good as none: the run ends with the reason. */
async function loadJournal(
  runJournal: RunJournal | undefined,
  tenant: string,
  run: string,
): Promise<(Partial<Kept> & { readonly problem?: EngineError }) | undefined> {
  try {
    const contents = await runJournal?.load(tenant, run);
    return contents === undefined ? undefined : splitUsage(contents);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'CHECKPOINT_INVALID') throw error;
    return { problem: error };
  }
}

/** It had ended, and only its record does not say so yet. */
async function finish(
  { stores, now }: TakeOverOptions,
  tenant: string,
  { launch: _, ...record }: RunRecord,
  last: LoggedEvent,
  claim: SessionClaim,
): Promise<void> {
  await stores.runs.save(tenant, { ...record, ...endIn(last), finishedAt: now(), lastSeq: last.seq });
  await stores.log.end(tenant, record.id);
  await claim.release();
}

interface Lost {
  readonly tenant: string;
  readonly record: RunRecord;
  readonly session: SessionRecord | undefined;
  readonly past: RunPast;
  readonly kept: Awaited<ReturnType<typeof loadJournal>>;
}

function workOf(options: TakeOverOptions, { tenant, record, session, past, kept }: Lost): RunWork {
  const { openCanvas, timeoutMs, now } = options;
  if (kept?.problem !== undefined) return { failure: kept.problem };
  if ((record.launch?.losses ?? 0) > MAX_LOSSES) return { failure: lostTooOften(record.id) };
  const contents: JournalContents | undefined = kept?.contents;
  if (session === undefined || contents?.checkpoint === undefined) return { failure: lostForGood(record.id) };
  let canvas: Canvas;
  try {
    canvas = openCanvas(session.dsl);
  } catch (error) {
    return { failure: toEngineError(error, 'INTERNAL') };
  }
  const services = servicesFor(options, tenant, session, record.launch?.headers ?? {});
  const leftMs = Math.max(1, timeoutMs - (now() - past.startedAt));
  return {
    plan: canvas.plan,
    open: (hooks) => continueTurn(canvas, contents, { ...engineOptions(options, hooks, services), timeoutMs: leftMs }),
  };
}

function lostTooOften(run: string): EngineError {
  const message = `Run "${run}" lost its process ${MAX_LOSSES + 1} times, as if it were the reason; it is not taken over again.`;
  return new EngineError('RUN_LOST', message);
}

function lostForGood(run: string): EngineError {
  const message = `The process that run "${run}" was in was lost before anything of it was kept, so it cannot go on; ask again.`;
  return new EngineError('RUN_LOST', message);
}
