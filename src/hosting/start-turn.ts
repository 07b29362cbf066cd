import { runFork } from '../canvas/fork-turn.js';
import type { Canvas } from '../canvas/load-canvas.js';
import { runTurn, type Session, type Turn } from '../canvas/turn.js';
import { readFileValues } from '../components/file-inputs.js';
import type { Services } from '../components/services.js';
import type { RunRecord, SessionRecord, Stores } from '../records/stores.js';
import { afterRun, newSession, withQuestion } from './conversation-record.js';
import { createId } from './ids.js';
import type { LiveRun } from './live-run.js';
import type { RunIdentity } from './live-run-options.js';
import { busySession, foreignSession, noAgent, noSession, notWaiting, wentOn } from './refusals.js';
import { requireWaiting, sessionToResume } from './resume-from.js';
import { engineOptions, servicesFor, type TurnStarterOptions } from './run-engine.js';
import { type DefaultDocument, selectDocument } from './select-document.js';
import type { SessionClaim } from './session-claims.js';
import type { TakeOver } from './take-over.js';
import type { TurnRequest } from './turn-request.js';

/** Whose agent, and which document when there is no session yet. */
export interface TurnTarget {
  readonly tenant: string;
  readonly agentId: string;
  /** What runs when the request does not say. */
  readonly fallback: DefaultDocument;
}

/**
 * Starts one turn of a conversation; resolves when the run is going on.
 *
 * @throws EngineError before anything runs: FORBIDDEN, NOT_FOUND, SESSION_BUSY, DOCUMENT_INVALID, LIMIT_REACHED, BAD_REQUEST.
 */
export type StartTurn = (target: TurnTarget, request: TurnRequest) => Promise<StartedTurn>;

/** A run that is going on, and the session as it was when it began. */
export interface StartedTurn {
  readonly live: LiveRun;
  readonly session: SessionRecord;
}

export function createTurnStarter(options: TurnStarterOptions, takeOver: TakeOver): StartTurn {
  const { stores, hub, now } = options;
  return async (target, request) => {
    const { tenant, agentId } = target;
    const agent = await stores.agents.find(tenant, agentId);
    if (agent === undefined) throw noAgent();
    const known = (await sessionToResume(hub, target, request.resumeFrom)) ?? request.sessionId;
    const sessionId = known ?? createId();
    const run = createId();
    // Claimed before it is read: two requests must not both find it idle.
    const claim = await hub.claim({ tenant, sessionId, agentId, run });
    let lost: RunRecord | undefined;
    try {
      const session =
        known === undefined
          ? newSession(sessionId, agentId, selectDocument(agent, target.fallback, request), request, now())
          : await findSession(stores, target, known, request);
      lost = await runningIn(stores, tenant, session);
      if (lost !== undefined) throw busySession();
      return { session, live: await launch(options, { tenant, run, session, request, claim }) };
    } catch (error) {
      await claim.release();
      if (lost !== undefined) void takeOver(tenant, lost);
      throw error;
    }
  };
}

async function findSession(
  stores: Stores,
  { tenant, agentId }: TurnTarget,
  id: string,
  { resumeFrom, origin, answersForm }: TurnRequest,
): Promise<SessionRecord> {
  const session = await stores.sessions.find(tenant, id);
  if (session === undefined) throw noSession();
  if (session.agentId !== agentId) throw foreignSession();
  if (answersForm && session.conversation?.waiting === undefined) throw notWaiting();
  if (resumeFrom !== undefined) requireWaiting(session, resumeFrom);
  // A copy has no last run yet.
  if (origin !== undefined && session.lastRun !== undefined && session.lastRun !== origin.run) throw wentOn(origin.run);
  return origin === undefined ? session : { ...session, dsl: origin.dsl };
}

/** The last run of a session that is free, if it has not ended: its process was lost. */
async function runningIn(
  stores: Stores,
  tenant: string,
  { lastRun, keptRun }: SessionRecord,
): Promise<RunRecord | undefined> {
  if (lastRun === undefined || lastRun === keptRun) return undefined;
  const record = await stores.runs.find(tenant, lastRun);
  return record?.status === 'running' ? record : undefined;
}

interface Launch {
  readonly tenant: string;
  readonly run: string;
  readonly session: SessionRecord;
  readonly request: TurnRequest;
  readonly claim: SessionClaim;
}

async function launch(options: TurnStarterOptions, { tenant, run, session, request, claim }: Launch): Promise<LiveRun> {
  const { stores, hub } = options;
  const canvas = options.openCanvas(session.dsl);
  const services = servicesFor(options, tenant, session, request.headers);
  const turn = await turnOf(request, session, services);
  const { origin } = request;
  const start = origin?.startOf(turn);
  const parentRun = origin?.run ?? (session.conversation?.waiting === undefined ? undefined : session.lastRun);
  const identity: RunIdentity = {
    tenant,
    id: run,
    agentId: session.agentId,
    sessionId: session.id,
    messageId: createId(),
    ...(parentRun === undefined ? {} : { parentRun }),
    ...(origin?.at === undefined ? {} : { forkedAt: origin.at }),
  };
  // Who goes on without another question has asked it before.
  const isAsked = origin !== undefined && request.query === '';
  const asked = isAsked
    ? { ...session, lastRun: identity.id }
    : withQuestion(session, identity, request, options.now());
  await stores.sessions.save(tenant, asked);
  // What asked an earlier run to stop must not reach this one.
  await stores.signals.clearCancel(session.id);
  const conversation = session.conversation ?? seeded(canvas, request.history);
  return hub.start(
    {
      identity,
      work: {
        plan: canvas.plan,
        open: (hooks) => {
          const running = { ...engineOptions(options, hooks, services), timeoutMs: options.timeoutMs };
          if (start !== undefined) return runFork(canvas, start, running);
          return runTurn(canvas, turn, {
            ...running,
            ...(conversation === undefined ? {} : { session: conversation }),
          });
        },
      },
      launch: { isDetached: request.detached, headers: request.headers },
      keepsTrace: request.returnsTrace,
      trace: request.trace,
      keepConversation: async (end) => {
        // A session that was deleted while it ran stays deleted.
        if ((await stores.sessions.find(tenant, asked.id)) === undefined) return;
        await stores.sessions.save(tenant, afterRun(asked, end, options.now()));
      },
    },
    claim,
  );
}

async function turnOf(request: TurnRequest, session: SessionRecord, services: Services): Promise<Turn> {
  const userId = request.userId ?? (session.userId === '' ? undefined : session.userId);
  return {
    query: request.query,
    inputs: request.inputs,
    files: await readFileValues(request.files, services),
    variables: request.variables,
    ...(userId === undefined ? {} : { userId }),
  };
}

/** A first turn that others came before, somewhere else; undefined when none did. */
function seeded(canvas: Canvas, history: TurnRequest['history']): Session | undefined {
  if (history.length === 0) return undefined;
  return {
    version: 1,
    variables: {
      ...canvas.plan.variables,
      history: history.map(({ role, content }) => [role, role === 'user' ? content : { content }]),
      'sys.history': history.map(({ role, content }) => `${role}: ${content}`),
    },
  };
}
