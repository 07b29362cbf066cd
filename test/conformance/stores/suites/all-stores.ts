import type { ChatStore } from '../../../../src/records/chats.js';
import type { LeaseStore } from '../../../../src/records/coordination.js';
import type { UsageStore } from '../../../../src/records/quotas.js';
import type { PlainStores } from '../../../../src/records/resources.js';
import { type CommitRun, commitInSteps } from '../../../../src/records/run-commit.js';
import type { RunLog } from '../../../../src/records/run-log.js';
import type { SharedStates } from '../../../../src/records/shared-states.js';
import type { Stores } from '../../../../src/records/stores.js';
import { agentRecord, runRecord } from '../../../stores/support/records.js';
import { describeAgentStore } from './agent-store.js';
import { describeCanvasRuntimeStore } from './canvas-runtime-store.js';
import { describeChatStore } from './chat-store.js';
import { describeFileStore } from './file-store.js';
import type { Given } from './given.js';
import { describeLeaseStore, type LeaseSubject } from './lease-store.js';
import { describeQuotas } from './quotas.js';
import { describeRepositories } from './repository.js';
import { describeRunCommit } from './run-commit.js';
import { describeRunLog } from './run-log.js';
import { describeRunLogFences } from './run-log-fences.js';
import { describeRunStore } from './run-store.js';
import { describeSessionStore } from './session-store.js';
import { describeSharedStates } from './shared-states.js';
import { describeSignals, type SignalSubject } from './signals.js';
import { describeTokenStore } from './token-store.js';
import { describeVersionStore } from './version-store.js';

/** An implementation of every port. */
export interface AllStores extends Omit<Stores, keyof PlainStores>, PlainStores {
  readonly leases: LeaseStore;
}

export interface StoreSubject extends AllStores, SignalSubject, Pick<LeaseSubject, 'expireAll'> {
  /** @default one part after another */
  readonly commit?: CommitRun;
  readonly usage: UsageStore;
  readonly sharedStates: SharedStates;
  readonly chats: ChatStore;
  /** These as another process has them. @default the same ones */
  readonly sharedStatesThere?: SharedStates;
  /** Agents and files as another process has them. @default the same ones */
  readonly storesThere?: Pick<AllStores, 'agents' | 'files'>;
  /** The log as another process has it. @default the same one */
  readonly logThere?: RunLog;
}

/** Runs the suite of every port over one implementation. */
export function describeAllStores(subject: () => StoreSubject): void {
  const given = givenBy(subject);
  describeRepositories(subject, given);
  describeAgentStore(() => subject().agents);
  describeVersionStore(() => subject().versions, given);
  describeSessionStore(() => subject().sessions, given);
  describeRunStore(() => subject().runs, given);
  describeRunLog(() => subject().log, given);
  describeRunLogFences(
    () => subject().log,
    () => subject().logThere ?? subject().log,
    given,
  );
  describeRunCommit(subject, () => subject().commit ?? commitInSteps(subject()), given);
  describeLeaseStore(subject);
  describeSignals(subject);
  describeFileStore(() => subject().files);
  describeQuotas(() => ({ stores: subject(), there: subject().storesThere ?? subject() }));
  describeTokenStore(() => subject().tokens);
  describeCanvasRuntimeStore(() => subject().canvasRuntimes);
  describeChatStore(() => subject().chats);
  describeSharedStates(
    () => subject().sharedStates,
    () => subject().sharedStatesThere ?? subject().sharedStates,
  );
}

/** Records that others belong to, in these stores. */
export function givenBy(stores: () => Pick<AllStores, 'agents' | 'runs'>): Given {
  return {
    async agent(tenant) {
      const agent = agentRecord();
      await stores().agents.insert(tenant, agent);
      return agent.id;
    },
    async run(tenant) {
      const run = runRecord(await this.agent(tenant));
      await stores().runs.save(tenant, run);
      return run.id;
    },
  };
}
