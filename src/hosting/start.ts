/** Starts: a command becomes a run that is at work in this process. */
import type { Observable, Subscription } from 'rxjs';
import { forkStart } from '../canvas/fork-turn.js';
import type { Canvas } from '../canvas/load-canvas.js';
import { runFrom, runTurn, type Session, type Turn, type TurnOptions } from '../canvas/turn.js';
import { readFileValues } from '../components/file-inputs.js';
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { type AgentRecord, isAssistant } from '../records/agents.js';
import { sessionTaken } from '../records/run-commit.js';
import type { RunIdentity, RunLaunch, RunRecord, RunTurn } from '../records/runs.js';
import type { SessionRecord } from '../records/sessions.js';
import { findDocument, versionAsked } from './canvases.js';
import { newSession, withoutQuestion, withQuestion } from './conversation.js';
import { forkOrigin, type RunOrigin, resumedOrigin } from './fork.js';
import type { HostParts, HostStores } from './host-options.js';
import { createId } from './ids.js';
import type { SessionLease } from './leases.js';
import type { EngineHooks, RunWork } from './live-run.js';
import { foreignRun, foreignSession, noAgent, noRun, noSession, notWaiting, wentOn } from './refusals.js';
import type { RunHub } from './run-hub.js';
import { readStartCommand, type StartCommand } from './start-command.js';
import { servicesOfRun } from './tenant-services.js';
import type { Transcript } from './transcript.js';

/** A run at work in this process, as the one who started it sees it. */
export interface StartedRun {
  readonly identity: RunIdentity;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** What is known about the run at this moment. */
  readonly record: RunRecord;
  /** What it answered so far. */
  readonly transcript: Transcript;
  /** Resolves with the run's record after its last event was delivered, or when it is released to another process; never rejects. */
  readonly ended: Promise<RunRecord>;
  readonly clients: {
    /** Counts a client, which keeps the run from being cancelled as abandoned, until the subscription is ended. */
    attach(): Subscription;
    /** Emits once when there was no client for `graceMs` on end. */
    abandoned(graceMs: number): Observable<unknown>;
  };
  /** Stops the run at once; its last event is that it was cancelled. Does nothing when it is over. */
  cancel(): void;
}

/** A run that is at work, and the session as it was when it began. */
export interface StartedTurn {
  readonly live: StartedRun;
  readonly session: SessionRecord;
}

/** Makes `start` of a host. `recover` gets runs that turn out to be orphans on the way. */
export function createStart(
  hub: RunHub,
  recover: (tenant: string, orphan: RunRecord) => Promise<void>,
): (command: StartCommand) => Promise<StartedTurn> {
  const { stores } = hub.parts;
  return async (given) => {
    const command = readStartCommand(given);
    const { tenant, agentId, turn, isChat = false } = command;
    const agent = await stores.agents.find(tenant, agentId);
    // A chat has limits and frames of its own, so nothing but a chat starts it.
    if (agent === undefined || isAssistant(agent) !== isChat) throw noAgent();
    const base = await findBase(hub, agent, command);
    const { sessionId } = base;
    if (command.page !== undefined) await requireMadeBy(command.page, stores, tenant, base);
    const run = createId();
    // Leased before it is read: two requests must not both find it idle.
    const isNew = base.session !== undefined;
    // An id that clients choose may be chosen twice at the same time.
    const isNamed = isNew && sessionId === turn.sessionId;
    if (isNew) await hub.sessionQuota.admit(tenant, base.session?.page);
    const isVisitor = command.page !== undefined;
    const lease = await hub.lease({ tenant, sessionId, agentId, run, isVisitor }, isNew && !isNamed);
    let orphan: RunRecord | undefined;
    try {
      if (isNamed && (await stores.sessions.find(tenant, sessionId)) !== undefined) throw sessionTaken();
      const session = base.session ?? (await findSession(stores, command, base));
      orphan = await runningIn(stores, tenant, session);
      if (orphan !== undefined) throw sessionTaken();
      const launched = { tenant, run, session, isNew, isChat, origin: base.origin, turn, lease };
      return { session, live: await launch(hub, launched) };
    } catch (error) {
      // What may be stored all the same is found by its lease.
      if (mayBeStored(error)) await lease.abandon(false);
      else await lease.release();
      if (orphan !== undefined) void recover(tenant, orphan);
      throw error;
    }
  };
}

/** Whether the start of a run may be stored although it failed: its answer was lost, or the host was closed meanwhile. */
function mayBeStored(error: unknown): boolean {
  return EngineError.is(error) && (error.retryable || error.code === 'CONFLICT');
}

/** What a turn starts from. */
interface Base {
  readonly sessionId: string;
  /** A session of its own, not stored yet; absent when the session exists. */
  readonly session?: SessionRecord;
  readonly origin?: RunOrigin;
}

async function findBase(hub: RunHub, agent: AgentRecord, command: StartCommand): Promise<Base> {
  const { stores, now } = hub.parts;
  const { tenant, agentId, fallback, fork, turn } = command;
  if (fork !== undefined) {
    const { origin, session } = await forkOrigin(hub, agent, { ...command, fork });
    return { sessionId: session.id, session, origin };
  }
  if (turn.resumeFrom !== undefined) {
    const resumed = await resumedOrigin(hub, agent, command, turn.resumeFrom);
    if (resumed !== undefined) return { sessionId: resumed.session.id, origin: resumed.origin };
    return { sessionId: await sessionOfRun(hub, command, turn.resumeFrom) };
  }
  const { sessionId, makesSession = false } = turn;
  if (sessionId !== undefined) {
    const isThere = !makesSession || (await stores.sessions.find(tenant, sessionId)) !== undefined;
    if (isThere) return { sessionId };
  }
  const dsl = await findDocument(stores.versions, tenant, agent, fallback, turn);
  const { query, name, userId } = turn;
  const about = { query, name, userId, page: command.page };
  // A chat has no versions.
  const version = command.isChat === true ? undefined : versionAsked(agent, fallback, turn);
  const session = newSession(sessionId ?? createId(), agentId, dsl, { ...about, version }, now());
  return { sessionId: session.id, session };
}

/** Before it is leased, so that the answer does not depend on what goes on in it. @throws EngineError NOT_FOUND when another key made it. */
async function requireMadeBy(page: string, { sessions }: HostStores, tenant: string, base: Base): Promise<void> {
  const session = base.session ?? (await sessions.find(tenant, base.sessionId));
  if (session?.page !== page) throw noSession();
}

/** @throws EngineError NOT_FOUND, FORBIDDEN for a run of another agent, SESSION_BUSY while it is at work. */
async function sessionOfRun(hub: RunHub, { tenant, agentId }: StartCommand, run: string): Promise<string> {
  const record = await hub.record(tenant, run);
  if (record === undefined) throw noRun();
  if (record.agentId !== agentId) throw foreignRun();
  if (record.status === 'running') throw sessionTaken();
  return record.sessionId;
}

async function findSession(
  { sessions }: HostStores,
  { tenant, agentId, turn }: StartCommand,
  { sessionId, origin }: Base,
): Promise<SessionRecord> {
  const session = await sessions.find(tenant, sessionId);
  if (session === undefined) throw noSession();
  if (session.agentId !== agentId) throw foreignSession();
  const { conversation, lastRun } = session;
  if (turn.answersForm && conversation?.waiting === undefined) throw notWaiting();
  if (origin !== undefined) {
    if (lastRun !== origin.run) throw wentOn(origin.run);
    const { dsl, version } = origin;
    return { ...session, dsl, ...(version === undefined ? {} : { documentVersion: version }) };
  }
  // Only the state that the session waits in is stored with it.
  const { resumeFrom } = turn;
  if (resumeFrom !== undefined && (conversation?.waiting === undefined || lastRun !== resumeFrom)) {
    throw new EngineError('NOT_FOUND', `No checkpoint for run ${resumeFrom}`);
  }
  return session;
}

/** The last run of a session that is free, if it has not ended: its process was lost. */
async function runningIn(
  { runs }: HostStores,
  tenant: string,
  { lastRun, keptRun }: SessionRecord,
): Promise<RunRecord | undefined> {
  if (lastRun === undefined || lastRun === keptRun) return undefined;
  const record = await runs.find(tenant, lastRun);
  return record?.status === 'running' ? record : undefined;
}

interface Launch {
  readonly tenant: string;
  readonly run: string;
  readonly session: SessionRecord;
  /** Whether the session is not stored yet. */
  readonly isNew: boolean;
  readonly isChat: boolean;
  readonly origin: RunOrigin | undefined;
  readonly turn: StartCommand['turn'];
  readonly lease: SessionLease;
}

async function launch(hub: RunHub, launched: Launch): Promise<StartedRun> {
  const { tenant, run, session, isNew, isChat, origin, turn, lease } = launched;
  const { stores, now } = hub.parts;
  const { query, inputs, files, userId, variables, history, headers, detached: isDetached } = turn;
  const launching: RunLaunch = {
    ...{ isDetached, headers },
    turn: { query, inputs, files, variables, history, ...(userId === undefined ? {} : { userId }) },
    ...(origin === undefined ? {} : { origin: origin.checkpoint }),
  };
  const work = await workOfTurn(hub.parts, { tenant, session, launch: launching });
  const parentRun = origin?.run ?? (session.conversation?.waiting === undefined ? undefined : session.lastRun);
  const user = userId ?? session.userId;
  const identity: RunIdentity = {
    tenant,
    id: run,
    agentId: session.agentId,
    sessionId: session.id,
    messageId: createId(),
    ...(parentRun === undefined ? {} : { parentRun }),
    ...(origin?.at === undefined ? {} : { forkedAt: origin.at }),
    ...(session.documentVersion === undefined ? {} : { documentVersion: session.documentVersion }),
    ...(user === '' ? {} : { userId: user }),
    ...(isChat && { isChat }),
  };
  // A turn that continues a run without another question repeats one that is recorded already.
  const hasQuestion = origin === undefined || turn.query !== '';
  const begun = hasQuestion ? withQuestion(session, identity, turn, now()) : withoutQuestion(session, identity);
  // A request to cancel an earlier run of the session must not reach this one.
  if (!isNew) await stores.signals.clearCancel(session.id);
  return hub.start(
    {
      identity,
      work,
      // Refused when another process has got the session while this one was stopped for longer than its lease.
      session: { ...(!isNew && { before: session }), after: begun },
      launch: launching,
      storesTrace: turn.returnsTrace,
    },
    lease,
    turn.trace,
  );
}

/** What a turn needs to begin. */
export interface TurnStart {
  readonly tenant: string;
  /** As it was before the turn, or with its question. */
  readonly session: SessionRecord;
  readonly launch: RunLaunch;
  /** Milliseconds since 1970, at the first start of a run that begins anew. @default it begins now */
  readonly startedAt?: number;
}

/** The engine's side of a turn that begins, for the first time or anew. @throws EngineError what `loadCanvas` and reading files throw. */
export async function workOfTurn(
  parts: HostParts,
  { tenant, session, launch: { turn = NO_TURN, origin, headers }, startedAt }: TurnStart,
): Promise<Extract<RunWork, { plan: unknown }>> {
  const canvas = parts.openCanvas(session.dsl);
  const services = servicesOfRun(parts, tenant, session, headers);
  const asked = await readTurn(turn, session, services);
  const start = origin && forkStart(canvas.plan, origin, asked);
  const conversation = session.conversation ?? seeded(canvas, turn.history);
  return {
    plan: canvas.plan,
    open: (hooks) => {
      const running = engineOptions(parts, hooks, services, startedAt);
      if (start !== undefined) return runFrom(canvas, () => start, running);
      return runTurn(canvas, asked, { ...running, ...(conversation && { session: conversation }) });
    },
  };
}

const NO_TURN: RunTurn = { query: '', inputs: {}, files: [], variables: {}, history: [] };

/** What the engine is given for every run; one that was started before, at `startedAt`, has the rest of its time. */
export function engineOptions(
  { limits, durability, now }: HostParts,
  hooks: EngineHooks,
  services: Services,
  startedAt?: number,
): Omit<TurnOptions, 'session'> {
  // A run that is durable only at its end stores no snapshots: it is not recovered.
  const log = durability === 'exit' ? { ...hooks.log, snapshot: () => {} } : hooks.log;
  const { runConcurrency: concurrency, runTimeoutMs, runHistoryBytes: historyBytes, maxSteps } = limits;
  const timeoutMs = startedAt === undefined ? runTimeoutMs : Math.max(1, runTimeoutMs - (now() - startedAt));
  const { run, signal, seq, startedAt: at, onSession } = hooks;
  return {
    ...{ run, signal, seq, onSession, log, durability, historyBytes, timeoutMs, maxSteps, services, concurrency, now },
    startedAt: at,
  };
}

const NO_FILES: readonly Json[] = [];

async function readTurn(turn: RunTurn, session: SessionRecord, services: Services): Promise<Turn> {
  const { query, inputs, files, variables } = turn;
  const userId = turn.userId ?? (session.userId === '' ? undefined : session.userId);
  const values = files.length === 0 ? NO_FILES : await readFileValues(files, services);
  return { query, inputs, files: values, variables, ...(userId === undefined ? {} : { userId }) };
}

/** The conversation of a first turn that has a history from elsewhere; undefined when it has none. */
function seeded(canvas: Canvas, history: RunTurn['history']): Session | undefined {
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
