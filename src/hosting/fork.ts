/** Runs that start from another run: the state that they start with, and the session that they belong to. */
import { EngineError } from '../errors.js';
import { forkAt, migrateCheckpoint } from '../graph/fork.js';
import type { Checkpoint } from '../graph/state.js';
import type { JsonObject } from '../json.js';
import type { AgentRecord } from '../records/agents.js';
import type { RunRecord } from '../records/runs.js';
import type { SessionRecord } from '../records/sessions.js';
import { findDocument, versionAsked } from './canvases.js';
import { newSession } from './conversation.js';
import { withForkChange } from './fork-change.js';
import { createId } from './ids.js';
import { foreignRun, noRun, noSession, wentOn } from './refusals.js';
import { loadHistory } from './run-history.js';
import type { RunHub } from './run-hub.js';
import type { StartCommand, TurnRequest } from './start-command.js';

/** Where a run starts that continues another one. */
export interface RunOrigin {
  /** The run that it continues. */
  readonly run: string;
  /** Number of the event of that run behind which it starts; absent when it starts where that one ended. */
  readonly at?: number;
  /** The document that it runs, which becomes that of its session. */
  readonly dsl: JsonObject;
  /** Which one that is: `draft`, `published`, or the id of a version. */
  readonly version?: string;
  /** The state of that run there, as one of the plan of `dsl`. */
  readonly checkpoint: Checkpoint;
}

/** A run's origin, and the session that the run belongs to. */
export interface FoundOrigin {
  readonly origin: RunOrigin;
  readonly session: SessionRecord;
}

/**
 * The origin of a fork, and its session: a copy of the other run's as it was when that run was asked; the other one is left alone.
 *
 * @throws EngineError NOT_FOUND for another agent's run, BAD_REQUEST for a change of what the run does not have, else as {@link findOrigin}.
 */
export async function forkOrigin(
  hub: RunHub,
  agent: AgentRecord,
  { tenant, fork, turn }: StartCommand & { readonly fork: NonNullable<StartCommand['fork']> },
): Promise<FoundOrigin> {
  const record = await hub.record(tenant, fork.run);
  if (record === undefined || record.agentId !== agent.id) throw noRun();
  const { origin, session, seq } = await findOrigin(hub, tenant, agent, record, { ...turn, at: fork.at });
  const { plan } = hub.parts.openCanvas(origin.dsl);
  const checkpoint = withForkChange(plan, origin.checkpoint, fork);
  return {
    origin: { ...origin, at: seq, checkpoint },
    session: copySession(session, record, origin, turn, hub.parts.now()),
  };
}

/**
 * The origin of a turn that resumes a run which failed or was cancelled: nodes that had finished are not run again, the one that
 * failed is. The turn belongs to the session of that run. Undefined for a run that waits or succeeded.
 *
 * @throws EngineError FORBIDDEN for a run of another agent, CONFLICT when the session has had other runs since, else as {@link findOrigin}.
 */
export async function resumedOrigin(
  hub: RunHub,
  agent: AgentRecord,
  { tenant, turn }: StartCommand,
  run: string,
): Promise<FoundOrigin | undefined> {
  const record = await hub.record(tenant, run);
  if (record?.status !== 'failed' && record?.status !== 'cancelled') return undefined;
  if (record.agentId !== agent.id) throw foreignRun();
  const found = await findOrigin(hub, tenant, agent, record, turn);
  if (found.session.lastRun !== run) throw wentOn(run);
  return found;
}

/** What of a run to start from. */
interface OriginChoice extends Pick<TurnRequest, 'version' | 'isReleased' | 'migrates'> {
  /** Number of an event of the run. @default the last one */
  readonly at?: number | undefined;
}

/**
 * Where a run starts that continues another one, and the session of that one.
 *
 * Without a version the document is that of the session. One that is named may have another graph: then its nodes must be there for
 * every position of the run, and the caller must ask for the state to be migrated.
 *
 * @throws EngineError HISTORY_GONE when what the run did is not stored (that far back), PLAN_CHANGED, NOT_FOUND, BAD_REQUEST for a number
 * that the run has not come to.
 */
async function findOrigin(
  hub: RunHub,
  tenant: string,
  agent: AgentRecord,
  record: RunRecord,
  choice: OriginChoice,
): Promise<FoundOrigin & { readonly seq: number }> {
  const { stores, openCanvas } = hub.parts;
  const session = await stores.sessions.find(tenant, record.sessionId);
  if (session === undefined) throw noSession();
  const before = openCanvas(session.dsl);
  const history = await loadHistory(stores.log, tenant, record.id, choice.at);
  const { seq } = history;
  const reached = forkAt(before.plan, history, seq);
  const isOther = choice.version !== undefined || choice.isReleased;
  const version = isOther ? versionAsked(agent, 'draft', choice) : session.documentVersion;
  const dsl = isOther ? await findDocument(stores.versions, tenant, agent, 'draft', choice) : session.dsl;
  const { plan } = isOther ? openCanvas(dsl) : before;
  if (plan.hash !== before.plan.hash && !choice.migrates) {
    const message = `Run "${record.id}" was started with another version of the graph. Go on with the one that it was started with, or say \`"migrate": true\` to keep what nodes have given that exist in both.`;
    throw new EngineError('PLAN_CHANGED', message);
  }
  return {
    session,
    seq,
    origin: {
      ...{ run: record.id, dsl },
      ...(version === undefined ? {} : { version }),
      checkpoint: migrateCheckpoint(before.plan, plan, reached),
    },
  };
}

/** The session as it was when the run was asked; its question is left out when another one is asked now. */
function copySession(
  session: SessionRecord,
  { messageId }: RunRecord,
  { dsl, version }: RunOrigin,
  { query, name, userId }: TurnRequest,
  now: number,
): SessionRecord {
  const { messages, references } = session;
  const asked = messages.findIndex(({ id, role }) => id === messageId && role === 'user');
  const end = asked < 0 ? messages.length : query === '' ? asked + 1 : asked;
  const dropped = messages.slice(end).filter(({ role }) => role === 'assistant').length;
  const about = { query: '', userId: userId ?? session.userId, page: session.page, version };
  const copy = newSession(createId(), session.agentId, dsl, about, now);
  return {
    ...copy,
    name: name ?? session.name,
    source: session.source,
    messages: messages.slice(0, end),
    references: references.slice(0, Math.max(0, references.length - dropped)),
  };
}
