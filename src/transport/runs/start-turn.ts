import type { Canvas } from '../../canvas/load-canvas.js';
import { runTurn, type Session, type Turn } from '../../canvas/turn.js';
import { readFileValue } from '../../components/file-inputs.js';
import type { Services } from '../../components/services.js';
import type { SessionRecord, Stores } from '../../graph/service-ports.js';
import type { JsonObject } from '../../json.js';
import { bindFiles } from '../files/bound-files.js';
import { createId } from '../ids.js';
import { foreignSession, noAgent, noSession, notWaiting } from '../refusals.js';
import type { OpenCanvas } from './canvas-opener.js';
import { afterRun, newSession, withQuestion } from './conversation-record.js';
import type { LiveRun } from './live-run.js';
import type { EngineHooks, RunIdentity } from './live-run-options.js';
import { requireWaiting, sessionToResume } from './resume-from.js';
import type { RunHub, SessionClaim } from './run-hub.js';
import { type DefaultDocument, selectDocument } from './select-document.js';
import type { TurnRequest } from './turn-request.js';

export interface TurnStarterOptions {
  readonly stores: Stores;
  readonly hub: RunHub;
  readonly openCanvas: OpenCanvas;
  /** Services of every run; files, session and headers are added per run. */
  readonly services: Services;
  /** Nodes of one run that may work at once. */
  readonly concurrency: number;
  /** Milliseconds after which a run fails. */
  readonly timeoutMs: number;
  readonly now: () => number;
}

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

export function createTurnStarter(options: TurnStarterOptions): StartTurn {
  const { stores, hub, now } = options;
  return async (target, request) => {
    const { tenant, agentId } = target;
    const agent = await stores.agents.find(tenant, agentId);
    if (agent === undefined) throw noAgent();
    const known = (await sessionToResume(hub, target, request.resumeFrom)) ?? request.sessionId;
    const sessionId = known ?? createId();
    // Claimed before it is read: two requests must not both find it idle.
    const claim = hub.claim(tenant, sessionId);
    try {
      const session =
        known === undefined
          ? newSession(sessionId, agentId, selectDocument(agent, target.fallback, request), request, now())
          : await findSession(stores, target, known, request);
      return { session, live: await launch(options, tenant, session, request, claim) };
    } catch (error) {
      claim.release();
      throw error;
    }
  };
}

async function findSession(
  stores: Stores,
  { tenant, agentId }: TurnTarget,
  id: string,
  { resumeFrom, answersForm }: TurnRequest,
): Promise<SessionRecord> {
  const session = await stores.sessions.find(tenant, id);
  if (session === undefined) throw noSession();
  if (session.agentId !== agentId) throw foreignSession();
  if (answersForm && session.conversation?.waiting === undefined) throw notWaiting();
  if (resumeFrom !== undefined) requireWaiting(session, resumeFrom);
  return session;
}

async function launch(
  options: TurnStarterOptions,
  tenant: string,
  session: SessionRecord,
  request: TurnRequest,
  claim: SessionClaim,
): Promise<LiveRun> {
  const { stores, hub } = options;
  const canvas = options.openCanvas(session.dsl);
  const services = servicesFor(options, tenant, session, request.headers);
  const turn = await turnOf(request, session, services);
  const parentRun = session.conversation?.waiting === undefined ? undefined : session.lastRun;
  const identity: RunIdentity = {
    tenant,
    id: createId(),
    agentId: session.agentId,
    sessionId: session.id,
    messageId: createId(),
    ...(parentRun === undefined ? {} : { parentRun }),
  };
  const asked = withQuestion(session, identity, request, options.now());
  await stores.sessions.save(tenant, asked);
  const conversation = session.conversation ?? seeded(canvas, request.history);
  return hub.start(
    {
      identity,
      plan: canvas.plan,
      keepsTrace: request.returnsTrace,
      detached: request.detached,
      open: ({ run, signal, onSession }: EngineHooks) =>
        runTurn(canvas, turn, {
          run,
          signal,
          onSession,
          services,
          concurrency: options.concurrency,
          timeoutMs: options.timeoutMs,
          ...(conversation === undefined ? {} : { session: conversation }),
        }),
      keepConversation: async (end) => {
        // A session that was deleted while it ran stays deleted.
        if ((await stores.sessions.find(tenant, asked.id)) === undefined) return;
        await stores.sessions.save(tenant, afterRun(asked, end, options.now()));
      },
    },
    claim,
  );
}

function servicesFor(
  { stores, services }: TurnStarterOptions,
  tenant: string,
  session: SessionRecord,
  headers: JsonObject,
): Services {
  return {
    ...services,
    files: bindFiles(stores.files, tenant),
    session: { id: session.id, agent: session.agentId },
    headers,
  };
}

async function turnOf(request: TurnRequest, session: SessionRecord, services: Services): Promise<Turn> {
  const userId = request.userId ?? (session.userId === '' ? undefined : session.userId);
  return {
    query: request.query,
    inputs: request.inputs,
    files: await Promise.all(request.files.map((file) => readFileValue(file, services))),
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
