/** Runs that go on from other runs: what is kept of those, and where the new ones start. */
import { forkStart } from '../canvas/fork-turn.js';
import { EngineError } from '../errors.js';
import { forkAt, historyStart, type RunHistory } from '../graph/forks/fork.js';
import { migrateCheckpoint } from '../graph/forks/migrate-checkpoint.js';
import type { RunJournal, VersionStore } from '../records/durable-stores.js';
import type { AgentRecord, RunRecord, SessionRecord, Stores } from '../records/stores.js';
import type { OpenCanvas } from './canvas-opener.js';
import { findDocument } from './find-document.js';
import { badArgument, noSession } from './refusals.js';
import type { RunHub } from './run-hub.js';
import type { RunOrigin } from './run-origin.js';
import { splitUsage } from './run-usage.js';
import type { TurnRequest } from './turn-request.js';

export interface OriginPorts {
  readonly stores: Stores & { readonly versions: VersionStore; readonly journal?: RunJournal };
  readonly hub: RunHub;
  readonly openCanvas: OpenCanvas;
}

/** Where to go on. */
export interface OriginChoice extends Pick<TurnRequest, 'version' | 'isReleased' | 'migrates'> {
  /** Number of an event of the run. @default the last one */
  readonly at?: number;
}

/**
 * Where a run goes on from another one, and the session of that one.
 *
 * Without a version the document is that of the session. One that is named may have another graph: then its nodes must be there for
 * every position of the run, and the caller must say that the state is to be migrated.
 *
 * @throws EngineError HISTORY_GONE when what the run did is not kept (that far back), PLAN_CHANGED, NOT_FOUND, BAD_REQUEST for a number
 * that the run has not come to.
 */
export async function findOrigin(
  { stores, hub, openCanvas }: OriginPorts,
  tenant: string,
  agent: AgentRecord,
  record: RunRecord,
  choice: OriginChoice,
): Promise<{ readonly origin: RunOrigin; readonly session: SessionRecord }> {
  const lastSeq = hub.find(tenant, record.id)?.lastSeq ?? record.lastSeq;
  const { at } = choice;
  if (at !== undefined && at > lastSeq) {
    throw badArgument(`\`at\` must be the number of an event of the run, which has ${lastSeq}; received ${at}.`);
  }
  const session = await stores.sessions.find(tenant, record.sessionId);
  if (session === undefined) throw noSession();
  const history = await loadHistory(stores.journal, tenant, record.id);
  const before = openCanvas(session.dsl);
  const reached = forkAt(before.plan, history, at);
  const isOther = choice.version !== undefined || choice.isReleased;
  const dsl = isOther ? await findDocument(stores.versions, tenant, agent, 'draft', choice) : session.dsl;
  const { plan } = isOther ? openCanvas(dsl) : before;
  if (plan.hash !== before.plan.hash && !choice.migrates) {
    const message = `Run "${record.id}" was started with another version of the graph. Go on with the one that it was started with, or say \`"migrate": true\` to keep what nodes have given that exist in both.`;
    throw new EngineError('PLAN_CHANGED', message);
  }
  const checkpoint = migrateCheckpoint(before.plan, plan, reached);
  return {
    session,
    origin: {
      run: record.id,
      ...(at === undefined ? {} : { at: Math.max(at, historyStart(history)) }),
      dsl,
      startOf: (turn) => forkStart(plan, checkpoint, turn),
    },
  };
}

async function loadHistory(journal: RunJournal | undefined, tenant: string, run: string): Promise<RunHistory> {
  const kept = await journal?.load(tenant, run);
  const contents = kept === undefined ? undefined : splitUsage(kept).contents;
  if (contents?.checkpoint === undefined) {
    throw new EngineError('HISTORY_GONE', `No checkpoint for run ${run}: what it did is not kept (any more).`);
  }
  return { checkpoint: contents.checkpoint, records: contents.records };
}
