import type { RunRecord, SessionRecord } from '../records/stores.js';
import { findOrigin, type OriginPorts } from './find-origin.js';
import { createId } from './ids.js';
import { noAgent, noRun } from './refusals.js';
import type { RunOrigin } from './run-origin.js';
import type { StartedTurn, StartTurn, TurnTarget } from './start-turn.js';
import type { TurnRequest } from './turn-request.js';

/** Which run to fork, and where. */
export interface ForkPoint {
  readonly run: string;
  /** Number of an event of the run, as clients see it. @default the last one */
  readonly at?: number;
}

/** Starts a run from an earlier point of another one; resolves when it is going on. @throws EngineError as {@link createFork}. */
export type ForkRun = (target: TurnTarget, point: ForkPoint, request: TurnRequest) => Promise<StartedTurn>;

export interface ForkOptions extends OriginPorts {
  readonly startTurn: StartTurn;
  readonly now: () => number;
}

/**
 * Makes forks: runs with an id, a log and a session of their own that go on from a point of another run, whatever has become of that.
 *
 * The session is a copy of the other run's, as it was when that run was asked; the other one is left alone.
 *
 * @throws EngineError from the function it gives: NOT_FOUND for another agent's run, as `findOrigin`, else as `startTurn`.
 */
export function createFork({ startTurn, now, ...ports }: ForkOptions): ForkRun {
  const { stores, hub } = ports;
  return async (target, { run, at }, request) => {
    const { tenant, agentId } = target;
    const agent = await stores.agents.find(tenant, agentId);
    if (agent === undefined) throw noAgent();
    const record = await hub.record(tenant, run);
    if (record === undefined || record.agentId !== agentId) throw noRun();
    const lastSeq = hub.find(tenant, run)?.lastSeq ?? record.lastSeq;
    const { session, origin } = await findOrigin(ports, tenant, agent, record, { ...request, at: at ?? lastSeq });
    const copy = copySession(session, record, origin, request, now());
    await stores.sessions.save(tenant, copy);
    const { resumeFrom: _, ...turn } = request;
    try {
      return await startTurn(target, { ...turn, sessionId: copy.id, origin });
    } catch (error) {
      // A fork that was refused leaves nothing behind.
      await stores.sessions.delete(tenant, copy.id);
      throw error;
    }
  };
}

/** The session as it was when the run was asked; its question is left out when another one is asked now. */
function copySession(
  session: SessionRecord,
  { messageId }: RunRecord,
  { dsl }: RunOrigin,
  { query, name, userId }: TurnRequest,
  now: number,
): SessionRecord {
  const { messages, references } = session;
  const asked = messages.findIndex(({ id, role }) => id === messageId && role === 'user');
  const end = asked < 0 ? messages.length : query === '' ? asked + 1 : asked;
  const dropped = messages.slice(end).filter(({ role }) => role === 'assistant').length;
  const { conversation: _, lastRun: __, keptRun: ___, ...rest } = session;
  return {
    ...rest,
    id: createId(),
    name: name ?? session.name,
    userId: userId ?? session.userId,
    messages: messages.slice(0, end),
    references: references.slice(0, Math.max(0, references.length - dropped)),
    dsl,
    tokens: 0,
    durationMs: 0,
    round: 0,
    errors: null,
    createdAt: now,
    updatedAt: now,
  };
}
