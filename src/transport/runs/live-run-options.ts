/** What a live run is told, and what it tells. */
import type { Observable } from 'rxjs';
import type { Session } from '../../canvas/turn.js';
import type { RunEvent } from '../../graph/events.js';
import type { Plan } from '../../graph/plan.js';
import type { RunOutcome } from '../../graph/run-options.js';
import type { RunLog, RunRecord } from '../../graph/service-ports.js';
import type { Log } from '../log.js';
import type { Transcript } from './transcript.js';

/** What tells one run from another. */
export interface RunIdentity {
  readonly tenant: string;
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Id of the turn. */
  readonly messageId: string;
  readonly parentRun?: string;
}

/** Hooks through which a run takes its way from the engine into the conversation. */
export interface EngineHooks {
  readonly run: string;
  readonly signal: AbortSignal;
  readonly onSession: (session: Session, outcome: RunOutcome) => void;
}

export interface LiveRunOptions {
  readonly identity: RunIdentity;
  readonly plan: Plan;
  /** The engine's side: cold, one subscription is the run. */
  readonly open: (hooks: EngineHooks) => Observable<RunEvent>;
  readonly log: RunLog;
  readonly maxLogBytes: number;
  /** How long the run may go on without clients; undefined: for ever. */
  readonly detachGraceMs: number | undefined;
  readonly keepsTrace: boolean;
  /** Keeps the conversation that the run leaves; when it cannot, the run has failed. */
  readonly keepConversation: (end: RunEndReport) => Promise<void>;
  /** Called once when the run is over, before its last event is shown to anyone. */
  readonly whenEnded: (record: RunRecord) => Promise<void>;
  readonly journal: Log;
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
