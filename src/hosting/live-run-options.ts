/** What a live run is made of, and what it reports. */

import type { Observable } from 'rxjs';
import type { Session } from '../canvas/turn.js';
import type { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import type { EventLog } from '../graph/log.js';
import type { Plan } from '../graph/plan.js';
import type { RunOutcome } from '../graph/run-options.js';
import type { Log } from '../logger.js';
import type { RunLog } from '../records/run-log.js';
import type { RunLaunch, RunRecord } from '../records/runs.js';
import type { SessionLease } from './leases.js';
import type { RunPast } from './run-past.js';
import type { Transcript } from './transcript.js';

/** What identifies a run. */
export interface RunIdentity {
  readonly tenant: string;
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Id of the turn. */
  readonly messageId: string;
  readonly parentRun?: string;
  /** Number of the event of the parent behind which it continues, when it is a fork. */
  readonly forkedAt?: number;
}

/** Hooks through which a run takes its way from the engine into the conversation. */
export interface EngineHooks {
  readonly run: string;
  readonly signal: AbortSignal;
  readonly log: EventLog;
  /** Number of the last event in the log. */
  readonly seq: number;
  /** Milliseconds since 1970, at the first start of the run. */
  readonly startedAt: number;
  readonly onSession: (session: Session, outcome: RunOutcome) => void;
}

/** What a run does: the engine's side, cold, one subscription is the run; or the reason why it cannot. */
export type RunWork =
  | { readonly plan: Plan; readonly open: (hooks: EngineHooks) => Observable<RunEvent> }
  | { readonly failure: EngineError };

export interface LiveRunOptions {
  readonly identity: RunIdentity;
  readonly work: RunWork;
  /** What the run did in a process that was lost. */
  readonly past?: RunPast | undefined;
  /** Milliseconds since 1970, at the first start of a run that is recovered. @default now */
  readonly startedAt?: number;
  readonly launch: RunLaunch;
  readonly log: RunLog;
  /** Of this process as the writer of the run; see `RunLog`. */
  readonly epoch: number;
  readonly lease: SessionLease;
  readonly maxLogBytes: number;
  /** How long the run may continue without clients; undefined: for ever. */
  readonly detachGraceMs: number | undefined;
  readonly keepsTrace: boolean;
  /** Stores the conversation that the run leaves; CONFLICT when another process has the run, else the run has failed when it cannot. */
  readonly storeConversation: (end: RunEndReport) => Promise<void>;
  /** Stores the record, unless another process has the run. */
  readonly saveRecord: (record: RunRecord) => Promise<void>;
  /** Called once when the run is over here, before its last event is delivered. */
  readonly whenOver: () => void;
  /** Aborted when unreachable stores are not waited for any more. */
  readonly closing: AbortSignal;
  /** Where operators read. */
  readonly logger: Log;
  readonly now: () => number;
}

/** How a run ended. */
export interface RunEndReport {
  readonly record: RunRecord;
  /** Why it failed; undefined when it did not. */
  readonly failure: RunRecord['error'];
  /** What the conversation is afterwards; undefined when the run never came to an end of its own. */
  readonly session: Session | undefined;
  readonly transcript: Transcript;
}
